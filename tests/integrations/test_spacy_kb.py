"""spaCy's KnowledgeBase over our model, and spaCy's own entity_linker trained on it."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.kb import KnowledgeBase
from spacy.tokens import Span
from spacy.training import Example

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset
from pboh.integrations.spacy_kb import EntityVectors, PbohKnowledgeBase, project
from pboh.model.overlays.adding import add_entities
from pboh.text.hash_kernels import hash_units

DATA = Path(__file__).parent.parent / "data"
LENGTH = 96


@pytest.fixture(scope="module")
def kb(world_model):
    return PbohKnowledgeBase(spacy.blank("en").vocab, LENGTH, model=str(world_model))


def test_it_is_a_knowledge_base(kb, linker):
    assert isinstance(kb, KnowledgeBase)
    assert not kb.is_empty()
    assert len(kb) == kb.get_size_entities() == linker.model.entities
    assert kb.entity_vector_length == LENGTH


def test_candidates_are_those_of_the_model(kb, linker):
    (mention,) = linker.with_settings(coreference=0.0).disambiguate("Müller", [(0, 6)])
    expected = {c.entity.title: c.prior for c in mention.candidates}
    doc = spacy.blank("en")("Herta Müller and Müller in Paris")
    for candidates in (
        kb.get_alias_candidates("Müller"),
        kb.get_candidates(doc[3:4]),
        kb.get_candidates_batch([doc[0:2], doc[3:4]])[1],
    ):
        assert [c.prior_prob for c in candidates] == sorted((c.prior_prob for c in candidates), reverse=True)
        assert {c.entity_: c.prior_prob for c in candidates} == pytest.approx(expected, rel=1e-5)
        assert {c.alias_ for c in candidates} == {"Müller"}
        assert sum(c.prior_prob for c in candidates) == pytest.approx(1)
    best = kb.get_alias_candidates("Müller")[0]
    assert best.entity_freq == linker.model.links(linker.entity(best.entity_).index)
    np.testing.assert_allclose(best.entity_vector, kb.get_vector(best.entity_))
    assert kb.get_prior_prob(best.entity_, "Müller") == pytest.approx(best.prior_prob)


def test_unknown_names_and_titles(kb):
    assert kb.get_alias_candidates("Xyzzyq") == []
    assert kb.get_candidates_batch([]) == []
    assert not kb.contains_alias("Xyzzyq")
    assert kb.contains_alias("Müller")
    assert not kb.contains_entity("Xyzzyq")
    assert kb.contains_entity("FC Bayern Munich")
    assert kb.get_prior_prob("Xyzzyq", "Müller") == 0.0
    assert not np.any(kb.get_vector("Xyzzyq"))


def test_the_number_of_candidates_is_limited(world_model):
    kb = PbohKnowledgeBase(spacy.blank("en").vocab, 64, model=str(world_model), candidates=2)
    assert len(kb.get_alias_candidates("Müller")) == 2


def slow_projection(words, weights, length):
    """The formula, bit by bit."""
    out = np.zeros(length)
    for word, weight in zip(words.tolist(), weights.tolist(), strict=True):
        for j in range(length):
            bits = int(hash_units(np.asarray([word, j // 64], np.uint64), 0, 2))
            out[j] += weight if bits >> (j % 64) & 1 else -weight
    return out


@pytest.mark.parametrize("length", [1, 64, 100, 130])
def test_projection_does_what_its_formula_says(length):
    generator = np.random.default_rng(length)
    words, weights = generator.integers(0, 2**63, 20).astype(np.uint64), generator.random(20)
    out = np.zeros(length)
    project(words, weights, out)
    np.testing.assert_allclose(out, slow_projection(words, weights, length))


def test_projections_keep_angles():
    generator = np.random.default_rng(1)
    words = generator.integers(0, 2**63, 500).astype(np.uint64)
    first, second = generator.random((2, 500))
    second = 0.5 * first + second * generator.integers(0, 2, 500)
    length = 4096
    one, other = np.zeros((2, length))
    project(words, first, one)
    project(words, second, other)
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert cosine(one, other) == pytest.approx(cosine(first, second), abs=0.06)


def test_vectors_are_unit_vectors_of_what_is_written_about(kb, world_model):
    again = PbohKnowledgeBase(spacy.blank("en").vocab, LENGTH, model=str(world_model))
    titles = ["FC Bayern Munich", "Borussia Dortmund", "Mercury (planet)", "Venus"]
    vectors = np.asarray(kb.get_vectors(titles))
    assert vectors.shape == (4, LENGTH)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(vectors, again.get_vectors(titles))
    clubs, planets, mixed = vectors[0] @ vectors[1], vectors[2] @ vectors[3], vectors[:2] @ vectors[2:].T
    assert min(clubs, planets) > mixed.max() + 0.1
    np.testing.assert_array_equal(kb.get_vector("FC_Bayern_Munich"), kb.get_vector("FC Bayern Munich"))


def test_no_vector_is_zero(kb, linker):
    vectors = EntityVectors(linker.model, LENGTH)
    every = np.asarray([vectors[entity] for entity in range(linker.model.entities)])
    assert np.isfinite(every).all()
    np.testing.assert_allclose(np.linalg.norm(every, axis=1), 1, rtol=1e-5)


def test_storage_names_the_model_and_does_not_copy_it(kb, world_model, tmp_path):
    kb.to_disk(tmp_path / "kb")
    assert (tmp_path / "kb").stat().st_size < 1000
    vocab = spacy.blank("en").vocab
    again = PbohKnowledgeBase(vocab, LENGTH, model=str(world_model)).from_disk(tmp_path / "kb")
    copied = pickle.loads(pickle.dumps(kb))
    for other in (again, copied):
        assert [c.entity_ for c in other.get_alias_candidates("Müller")] == [
            c.entity_ for c in kb.get_alias_candidates("Müller")
        ]
    with pytest.raises(InputError, match="entity_vector_length = 96"):
        PbohKnowledgeBase(vocab, 64, model=str(world_model)).from_bytes(kb.to_bytes())
    with pytest.raises(InputError, match="not a knowledge base"):
        again.from_bytes(b"something else")


# -- spaCy's own linker ------------------------------------------------------------------------------------


def examples(nlp):
    """The documents of the small world, mentions as gold entities."""
    made = []
    for document in read_dataset(DATA / "world.jsonl"):
        doc = nlp.make_doc(document.text)
        doc.ents = [
            Span(doc, span.start, span.end, label="ENTITY", kb_id=mention.gold)
            for mention in document.linked
            if (span := doc.char_span(mention.start, mention.end)) is not None
        ]
        nlp.get_pipe("sentencizer")(doc)
        plain = doc.copy()
        plain.ents = []
        made.append(Example(plain, doc))
    return made


def pipeline(world_model, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    kb = {"@misc": "pboh.KnowledgeBase.v1", "model": str(world_model)}
    nlp.add_pipe("entity_linker", config={"generate_empty_kb": kb, "entity_vector_length": 64, **config})
    return nlp


@pytest.mark.slow
def test_spacys_linker_learns_with_our_knowledge_base(world_model, tmp_path):
    spacy.util.fix_random_seed(0)
    nlp = pipeline(world_model)
    data = examples(nlp)
    optimizer = nlp.initialize(lambda: data)
    losses = []
    for _ in range(15):
        random.shuffle(data)
        losses.append(nlp.update(data, sgd=optimizer)["entity_linker"])
    assert losses[-1] < 0.7 * losses[0], "vectors of entities can be predicted from their sentences"
    learned = nlp.evaluate(data)["nel_micro_f"]
    prior = pipeline(world_model, incl_context=False)
    prior.initialize(lambda: data)
    assert learned > prior.evaluate(data)["nel_micro_f"]
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).evaluate(data)["nel_micro_f"] == pytest.approx(learned, abs=0.02)


def test_the_knowledge_base_can_come_from_a_loader(world_model):
    """As ``[initialize.components.entity_linker.kb_loader]`` of a training configuration does."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component = nlp.add_pipe("entity_linker", config={"entity_vector_length": 64})
    loader = spacy.registry.resolve({"x": {"@misc": "pboh.KnowledgeBase.v1", "model": str(world_model)}})["x"]
    component.set_kb(loader)
    assert component.kb.contains_entity("FC Bayern Munich")
    assert component.kb.entity_vector_length == 64
    nlp.initialize(lambda: examples(nlp))
    nlp.config["initialize"]["components"]["entity_linker"] = {
        "kb_loader": {"@misc": "pboh.KnowledgeBase.v1", "model": str(world_model)}
    }
    nlp.initialize(lambda: examples(nlp))
    assert component.kb.contains_entity("FC Bayern Munich")


# -- entities of one's own ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_model(world_model, tmp_path_factory):
    """The small world with two invented entities on top."""
    folder = tmp_path_factory.mktemp("own")
    lines = [
        {"title": "FC Moorland", "names": ["Moorland"], "id": "own:1",
         "description": "football club goal striker league captain scored", "links": ["Bundesliga"]},
        {"title": "Moorland (novel)", "names": ["Moorland"], "id": "own:2",
         "description": "novel writer prize letters printed", "links": ["Herta Müller"]},
    ]  # fmt: skip
    source = folder / "own.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    add_entities(world_model, source, out=folder / "model")
    return folder / "model"


def test_added_entities_have_candidates_and_vectors(own_model, kb):
    own = PbohKnowledgeBase(spacy.blank("en").vocab, LENGTH, model=str(own_model))
    assert len(own) == len(kb) + 2
    candidates = {c.entity_: c for c in own.get_alias_candidates("Moorland")}
    assert set(candidates) == {"FC Moorland", "Moorland (novel)"}
    assert candidates["FC Moorland"].entity_freq == 0
    club, novel = own.get_vectors(["FC Moorland", "Moorland (novel)"])
    assert club @ own.get_vector("FC Bayern Munich") > novel @ own.get_vector("FC Bayern Munich")
    np.testing.assert_array_equal(own.get_vector("Paris"), kb.get_vector("Paris"))


def test_identifiers_can_be_ids(own_model, world_model):
    nlp = spacy.blank("en")
    nlp.add_pipe("pboh", config={"model": str(own_model), "kb_id": "id", "threshold": 0.0})
    doc = nlp("The striker of Moorland scored a late goal against Bayern in the Bundesliga.")
    links = {ent.text: (ent.kb_id_, str(ent._.pboh.entity)) for ent in doc.ents}
    assert links["Moorland"] == ("own:1", "FC Moorland")
    assert links["Bayern"] == ("NIL", "FC Bayern Munich"), "it has no id, which is not a title's business"
    with pytest.raises(InputError, match="pboh entities ids"):
        spacy.blank("en").add_pipe("pboh", config={"model": str(world_model), "kb_id": "id"})
