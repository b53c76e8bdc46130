"""The spaCy component on the small world: detection, linking, options, storage, scores and pictures."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy import displacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

from pboh.document import Document, Mention
from pboh.errors import InputError, ModelError
from pboh.integrations.spacy import PbohLinker, displacy_ents
from small_world import WHAT

TEXT = "Müller scored a late goal when Bayern beat Dortmund in the Bundesliga."
FOUND = {"Bayern": "FC Bayern Munich", "Dortmund": "Borussia Dortmund", "Bundesliga": "Bundesliga"}


def make(model, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("pboh", config={"model": str(model), "threshold": 0.0, **config})
    return nlp


def links(doc) -> dict[str, str]:
    return {ent.text: ent.kb_id_ for ent in doc.ents}


@pytest.fixture(scope="module")
def nlp(world_model):
    return make(world_model)


@pytest.fixture(scope="module")
def with_ruler(world_model):
    """Behind a component that finds entities of its own."""

    def build(*names: str, patterns=(), **config):
        nlp = spacy.blank("en")
        ruler = nlp.add_pipe("entity_ruler")
        ruler.add_patterns([*({"label": "ORG", "pattern": name} for name in names), *patterns])
        nlp.add_pipe("pboh", config={"model": str(world_model), "threshold": 0.0, **config})
        return nlp

    return build


# -- linking -----------------------------------------------------------------------------------------------


def test_a_blank_pipeline_finds_and_links(nlp, linker):
    doc = nlp(TEXT)
    assert {**links(doc), **FOUND} == links(doc)
    assert {ent.label_ for ent in doc.ents} == {"ENTITY"}
    expected = {(m.start, m.end): m.entity.title for m in linker.with_settings(threshold=0.0).link(TEXT)}
    assert {(e.start_char, e.end_char): e.kb_id_ for e in doc.ents} == expected


def test_found_entities_have_the_labels_of_spacy(typed_model, nlp):
    text = "Hemingway wrote A Moveable Feast in Paris; Bayern won the FIFA World Cup; Tiger and Macintosh."
    doc = make(typed_model, mentions="all", detect_threshold=0.0, entities=list(WHAT))(text)
    assert links(doc) == links(
        make(typed_model, mentions="all", detect_threshold=0.0, entities=list(WHAT), label="X")(text)
    )
    labels = {ent.kb_id_: ent.label_ for ent in doc.ents}
    expected = {
        "Ernest Hemingway": "PERSON", "A Moveable Feast": "WORK_OF_ART", "Paris": "GPE",
        "FC Bayern Munich": "ORG", "FIFA World Cup": "EVENT", "Macintosh": "PRODUCT", "Tiger": "ENTITY",
    }  # fmt: skip
    assert expected.items() <= labels.items()
    german = {"person": "PER", "place": "LOC", "species": "MISC", "unknown": "MISC"}
    doc = make(
        typed_model, mentions="all", detect_threshold=0.0, entities=list(WHAT), labels=german, label="X"
    )(text)
    labels = {ent.kb_id_: ent.label_ for ent in doc.ents}
    assert {labels[t] for t in ("Ernest Hemingway", "Paris", "Tiger")} == {"PER", "LOC", "MISC"}
    with pytest.raises(InputError, match=r"'PERSON' is not a type"):
        make(typed_model, labels={"PERSON": "PER"})


def test_entities_say_what_they_are_after_storage_too(typed_model):
    doc = make(typed_model)("Hemingway wrote A Moveable Feast in Paris.")
    read = Doc(doc.vocab).from_bytes(doc.to_bytes())
    for one in (doc, read):
        mention = next(ent for ent in one.ents if ent.text == "Paris")._.pboh
        assert mention.entity.description == "capital of France" and mention.entity.type == "place"
        assert mention.to_dict()["url"] == "https://en.wikipedia.org/wiki/Paris"
        assert "town in Texas" in {c.entity.description for c in mention.candidates}


def test_answers_are_restricted_by_type(typed_model, world_model, with_ruler):
    doc = make(typed_model, types=["place"], detect_threshold=0.0)(TEXT)
    assert links(doc) == {"Dortmund": "Dortmund"}
    assert doc.ents[0]._.pboh.explain().entity.title == "Dortmund"
    with pytest.raises(InputError, match="does not know the types of its entities"):
        make(world_model, types=["place"])
    with pytest.raises(InputError, match="'city' is not a type"):
        make(typed_model, types=["city"])
    kept = with_ruler("Dortmund", model=str(typed_model), types=["place"])(TEXT)
    assert [(e.label_, e.kb_id_) for e in kept.ents] == [("ORG", "Dortmund")]


def detection(doc, name):
    return next((ent._.pboh.detection for ent in doc.ents if ent.text == name), 0.0)


def test_spans_of_a_group_are_weighed(finding_model):
    nlp = make(finding_model, hints="ner", detect_threshold=0.0)
    sure = {}
    for score in (None, 0.05, 0.99):
        doc = nlp.make_doc(TEXT)
        if score is not None:
            doc.spans["ner"] = [doc.char_span(31, 37, label="CLUB")]
            doc.spans["ner"].attrs["scores"] = [score]
        doc = nlp.get_pipe("pboh")(doc)
        sure[score] = detection(doc, "Bayern")
        read = Doc(doc.vocab).from_bytes(doc.to_bytes())
        for ent in read.ents:
            if ent.text == "Bayern":
                assert (ent.label_ == "CLUB") is (score is not None)
                assert ent._.pboh.explain().score == pytest.approx(ent._.pboh.score)
    assert sure[0.05] < sure[None] < sure[0.99]


def test_a_recogniser_may_leave_its_scores_on_spans(finding_model):
    nlp = make(finding_model, hints="ner", detect_threshold=0.0)
    Span.set_extension("score", default=None, force=True)
    try:
        sure = []
        for score in (0.05, None):
            doc = nlp.make_doc(TEXT)
            span = doc.char_span(31, 37, label="CLUB")
            span._.score = score
            doc.spans["ner"] = [span]
            sure.append(detection(nlp.get_pipe("pboh")(doc), "Bayern"))
        assert sure[0] < sure[1], "without a score it is believed"
    finally:
        Span.remove_extension("score")


def test_entities_of_an_earlier_component_may_be_weighed_instead_of_kept(finding_model, with_ruler):
    kept = with_ruler("late goal", "Bayern", model=str(finding_model), detect=True)(TEXT)
    weighed = with_ruler("late goal", "Bayern", model=str(finding_model), hints="ents")(TEXT)
    assert "late goal" in links(kept) and "late goal" not in links(weighed)
    assert {e.text: e.label_ for e in weighed.ents}["Bayern"] == "ORG"
    assert links(weighed)["Bayern"] == "FC Bayern Munich" and 0 < detection(weighed, "Bayern") < 1


def test_behind_an_ner_only_its_entities_are_linked(with_ruler):
    doc = with_ruler("Bayern")(TEXT)
    assert [(e.text, e.label_, e.kb_id_) for e in doc.ents] == [("Bayern", "ORG", "FC Bayern Munich")]


def test_an_ner_that_found_nothing_is_believed(with_ruler):
    doc = with_ruler("Nothing of the kind")(TEXT)
    assert doc.ents == ()


def test_detection_works_around_entities_that_are_there(with_ruler):
    doc = with_ruler("late goal", "Bayern", detect=True)(TEXT)
    assert {**links(doc), **FOUND, "late goal": "NIL"} == links(doc)
    assert {e.text: e.label_ for e in doc.ents}["Bayern"] == "ORG"
    assert {e.text: e.label_ for e in doc.ents}["Dortmund"] == "ENTITY"
    assert with_ruler("Bayern", detect=False)(TEXT).ents[0].kb_id_ == "FC Bayern Munich"


def test_without_detection_a_blank_pipeline_links_what_it_is_given(world_model):
    nlp = make(world_model, detect=False)
    assert nlp(TEXT).ents == ()
    doc = nlp.make_doc(TEXT)
    doc.ents = [doc.char_span(31, 37, label="ORG")]
    assert links(nlp(doc)) == {"Bayern": "FC Bayern Munich"}


def test_entities_without_an_answer_are_nil(with_ruler):
    doc = with_ruler("late goal", "Bayern")(TEXT)
    assert links(doc) == {"late goal": "NIL", "Bayern": "FC Bayern Munich"}
    assert doc.ents[0]._.pboh.entity is None
    assert links(with_ruler("late goal", nil="")(TEXT)) == {"late goal": ""}


def test_unsure_answers_are_withheld(with_ruler):
    (ent,) = with_ruler("Müller", threshold=1.0)(TEXT).ents
    assert ent.kb_id_ == "NIL"
    assert "Gerd Müller" in {c.entity.title for c in ent._.pboh.candidates}
    (ent,) = with_ruler("Müller", threshold=0.0)(TEXT).ents
    assert ent.kb_id_.endswith("Müller")


def test_detection_has_a_threshold_of_its_own(world_model):
    every = make(world_model, detect_threshold=0.0)(TEXT)
    none = make(world_model, detect_threshold=1.0)(TEXT)
    assert len(every.ents) > len(none.ents)


@pytest.mark.parametrize("detect", [True, False])
def test_discarded_labels_are_nil_and_stay_out_of_it(with_ruler, detect):
    patterns = [{"label": "MISC", "pattern": "Bayern beat Dortmund"}]
    doc = with_ruler("Bundesliga", patterns=patterns, labels_discard=["MISC"], detect=detect)(TEXT)
    assert {**links(doc), "Bayern beat Dortmund": "NIL", "Bundesliga": "Bundesliga"} == links(doc)
    discarded = next(ent for ent in doc.ents if ent.label_ == "MISC")
    assert discarded._.pboh is None


def test_identifiers_of_an_earlier_component_can_be_kept(with_ruler):
    text = "Mercury and Venus"
    earlier = [
        {"label": "X", "pattern": "Mercury", "id": "a"}, {"label": "X", "pattern": "Venus", "id": "b"}
    ]  # fmt: skip

    def link(overwrite, known):
        nlp = with_ruler(patterns=earlier, overwrite=overwrite)
        doc = nlp.get_pipe("entity_ruler")(nlp.make_doc(text))
        for token in doc.ents[0]:
            token.ent_kb_id_ = known
        return nlp.get_pipe("pboh")(doc)

    assert link(True, "Q1").ents[0].kb_id_ != "Q1"
    assert link(False, "Q1").ents[0].kb_id_ == "Q1"  # unknown to the model, and kept
    assert not link(False, "NIL").ents[0]._.pboh.clamped
    for known, other in (
        ("Mercury (mythology)", "Venus (mythology)"), ("Mercury (planet)", "Venus")
    ):  # fmt: skip
        doc = link(False, known)
        assert [ent.kb_id_ for ent in doc.ents] == [known, other], "the rest is resolved beside it"
        assert doc.ents[0]._.pboh.clamped


def test_settings_of_the_model_can_be_changed(world_model, with_ruler):
    component = make(world_model, settings={"system": "localmention", "layers": {"last": 0.0}}).get_pipe(
        "pboh"
    )
    assert component.linker.settings.system == "localmention"
    assert component.linker.settings.layers["last"] == 0.0


def test_answers_can_be_restricted(world_model):
    nlp = make(world_model, entities=["Gerd Müller", "Borussia Dortmund", "Nobody"])
    doc = nlp(TEXT)
    assert set(links(doc).values()) <= {"Gerd Müller", "Borussia Dortmund"}
    ent = next(ent for ent in doc.ents if ent.text == "Dortmund")
    assert ent._.pboh.explain().entity.title == "Borussia Dortmund"
    everything = make(world_model)(TEXT)
    assert set(links(everything).values()) > {"Borussia Dortmund"}


@pytest.mark.parametrize(
    ("option", "value"),
    [("detect", "sometimes"), ("kb_id", "number"), ("alignment_mode", "near"), ("threshold", 2.0)],
)
def test_wrong_options_are_named(world_model, option, value):
    with pytest.raises((InputError, ValueError), match=option):
        make(world_model, **{option: value})


def test_odd_documents(nlp, with_ruler):
    assert nlp("").ents == ()
    assert nlp(" \n ").ents == ()
    assert links(nlp("🙂🙂 Bayern beat Dortmund 🙂")) == {k: FOUND[k] for k in ("Bayern", "Dortmund")}
    assert with_ruler("Bayern")("").ents == ()


# -- tokens ------------------------------------------------------------------------------------------------


def glued(nlp, text, *words):
    """A document tokenised so that names do not fall on tokens."""
    doc = Doc(nlp.vocab, words=list(words), spaces=[True] * (len(words) - 1) + [False])
    assert doc.text == text
    return nlp.get_pipe("pboh")(doc)


def test_mentions_are_moved_to_token_boundaries(world_model):
    nlp = make(world_model)
    doc = glued(
        nlp, "The Dortmund-based striker of Bayern", "The", "Dortmund-based", "striker", "of", "Bayern"
    )
    assert [e.text for e in doc.ents] == ["Dortmund-based", "Bayern"]
    assert doc.ents[0]._.pboh.text == "Dortmund-based"
    assert doc.ents[0]._.pboh.explain().entity == doc.ents[0]._.pboh.entity
    assert dict(nlp.get_pipe("pboh").alignment) == {"exact": 1, "moved": 1}


def test_no_mention_is_lost_in_silence(world_model, caplog):
    nlp = make(world_model, alignment_mode="strict")
    with caplog.at_level(logging.WARNING, logger="pboh.spacy"):
        doc = glued(nlp, "Dortmund-based striker of Bayern", "Dortmund-based", "striker", "of", "Bayern")
    assert [e.text for e in doc.ents] == ["Bayern"]
    assert nlp.get_pipe("pboh").alignment["lost"] == 1
    assert "Dortmund" in caplog.text
    nlp = make(world_model)
    doc = glued(nlp, "Bayern/Dortmund won", "Bayern/Dortmund", "won")
    assert len(doc.ents) == 1, "two names in one token: the surer one stays"
    assert nlp.get_pipe("pboh").alignment == {"moved": 1, "lost": 1}


@settings(max_examples=25)
@given(st.sets(st.integers(1, len(TEXT) - 1)), st.sampled_from(["strict", "contract", "expand"]))
def test_however_a_text_is_tokenised_every_mention_is_accounted_for(world_model, linker, nlp, cuts, mode):
    component = PbohLinker(nlp.vocab, model=str(world_model), threshold=0.0, alignment_mode=mode)
    edges = [0, *sorted(cuts), len(TEXT)]
    words = [TEXT[a:b] for a, b in pairwise(edges)]
    doc = component(Doc(nlp.vocab, words=words, spaces=[False] * len(words)))
    counts = component.alignment
    found = linker.with_settings(threshold=0.0).link(TEXT)
    assert counts.total() == len(found)
    assert len(doc.ents) == counts["exact"] + counts["moved"] == len(doc._.pboh_document)
    assert all(ent._.pboh.entity.title == ent.kb_id_ for ent in doc.ents)
    if mode == "expand":
        assert counts["lost"] == 0 or len(doc.ents) > 0


# -- Span._.pboh -------------------------------------------------------------------------------------------


def test_spans_carry_their_mention(nlp, linker):
    doc = nlp(TEXT)
    ent = next(ent for ent in doc.ents if ent.text == "Bayern")
    mention = ent._.pboh
    assert isinstance(mention, Mention)
    assert (mention.start, mention.end, mention.text) == (31, 37, "Bayern")
    assert mention.entity.title == ent.kb_id_
    assert 0 < mention.probability <= 1
    assert mention.candidates[0].entity == mention.entity
    expected = next(m for m in linker.with_settings(threshold=0.0).link(TEXT) if m.start == 31)
    assert mention.explain() == expected.explain()
    assert doc[0:1]._.pboh is None or doc[0:1].text in links(doc)
    assert doc[1:2]._.pboh is None


def test_explanations_of_given_entities(with_ruler, linker):
    doc = with_ruler("Bayern", "Dortmund")(TEXT)
    expected = linker.with_settings(threshold=0.0).disambiguate(TEXT, [(31, 37), (43, 51)])
    for ent, mention in zip(doc.ents, expected, strict=True):
        assert ent._.pboh.explain() == mention.explain()
        other = ent._.pboh.candidates[-1].entity
        assert ent._.pboh.explain(other) == mention.explain(other)


def test_documents_can_be_had_as_our_own(nlp):
    doc = nlp(TEXT)
    document = doc._.pboh_document
    assert isinstance(document, Document)
    assert [(m.start, m.end, m.entity.title) for m in document] == [
        (e.start_char, e.end_char, e.kb_id_) for e in doc.ents
    ]


def test_how_many_candidates_are_kept(world_model):
    for count in (0, 2):
        doc = make(world_model, candidates=count, detect_threshold=0.0)(TEXT)
        assert max(len(ent._.pboh.candidates) for ent in doc.ents) == count


def test_a_second_run_replaces_the_first(world_model, nlp):
    doc = nlp(TEXT)
    doc.ents = [doc.ents[-1]]
    doc = nlp.get_pipe("pboh")(doc)
    assert len(doc._.pboh_document) == 1


def stored_and_read(doc, vocab, way):
    if way == "bytes":
        return Doc(vocab).from_bytes(doc.to_bytes())
    if way == "pickle":
        return pickle.loads(pickle.dumps(doc))
    packed = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    return next(iter(DocBin().from_bytes(packed).get_docs(vocab)))


@pytest.mark.parametrize("way", ["bytes", "pickle", "docbin"])
def test_answers_survive_storage(nlp, way):
    doc = nlp(TEXT)
    read = stored_and_read(doc, nlp.vocab, way)
    assert links(read) == links(doc)
    for before, after in zip(doc.ents, read.ents, strict=True):
        assert after._.pboh == before._.pboh
        assert after._.pboh.explain() == before._.pboh.explain()


def test_answers_move_along_with_spans(nlp):
    doc = nlp("The weather was fine. " + TEXT)
    sentence = doc[5:].as_doc(copy_user_data=True)
    merged = Doc.from_docs([nlp("Bayern won."), doc])
    for copy in (sentence, merged):
        ent = next(e for e in reversed(copy.ents) if e.text == "Bayern")
        assert ent._.pboh.entity.title == "FC Bayern Munich"
        assert ent._.pboh.explain().entity == ent._.pboh.entity
    assert merged.ents[-1]._.pboh.explain() == doc.ents[-1]._.pboh.explain(), "as part of its own text"
    assert [e.text for e in merged.ents] == [m.text for m in merged._.pboh_document]


def test_json_of_a_document_has_the_answers(nlp):
    data = nlp(TEXT).to_json(underscore=["pboh"])
    assert "FC Bayern Munich" in {span["value"]["entity"][0] for span in data["underscore_span"]["pboh"]}


# -- pipelines ---------------------------------------------------------------------------------------------


def test_streams_give_the_same_answers(nlp):
    texts = [TEXT, "", "Paris of Troy judged the goddesses.", TEXT]
    expected = [links(nlp(text)) for text in texts]
    assert [links(doc) for doc in nlp.pipe(texts, batch_size=2)] == expected


@pytest.mark.slow
def test_streams_on_two_processes(nlp):
    texts = [TEXT, "Paris of Troy judged the goddesses."] * 4
    docs = list(nlp.pipe(texts, n_process=2, batch_size=2))
    assert [links(doc) for doc in docs] == [links(nlp(text)) for text in texts]
    assert docs[0].ents[0]._.pboh == nlp(TEXT).ents[0]._.pboh


def test_a_document_that_fails_goes_to_the_error_handler(nlp, monkeypatch):
    component = nlp.get_pipe("pboh")

    class Fails(type(component.linker)):
        def link(self, text, **options):
            if "fails" in text:
                raise RuntimeError("no")
            return super().link(text, **options)

    failing = Fails(component.linker.model, component.linker.settings)
    monkeypatch.setattr(component, "linker", failing)
    failed = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.extend(doc.text for doc in docs))
    try:
        assert len(list(nlp.pipe([TEXT, "this fails", TEXT]))) == 2
    finally:
        nlp.set_error_handler(spacy.util.raise_error)
    assert failed == ["this fails"]


def test_the_component_can_be_pickled(nlp):
    component = pickle.loads(pickle.dumps(nlp.get_pipe("pboh")))
    assert links(component(nlp.make_doc(TEXT))) == links(nlp(TEXT))


def test_the_pipeline_says_what_it_assigns(nlp):
    summary = nlp.analyze_pipes()["summary"]["pboh"]
    assert {"doc.ents", "token.ent_kb_id", "span._.pboh"} <= set(summary["assigns"])
    assert summary["requires"] == []
    assert "nel_micro_f" in summary["scores"]


@pytest.mark.slow
def test_saved_pipelines_load_without_naming_pboh(nlp, tmp_path):
    """spaCy finds the component by its entry point, and no model is copied."""
    nlp.to_disk(tmp_path / "pipeline")
    assert sum(f.stat().st_size for f in (tmp_path / "pipeline" / "pboh").rglob("*")) < 10_000
    script = (
        "import sys, spacy\n"
        "assert 'numba' not in sys.modules\n"
        "spacy.blank('en')\n"
        "assert 'numba' not in sys.modules, 'other pipelines must not pay for ours'\n"
        "nlp = spacy.load(sys.argv[1])\n"
        "print({e.text: e.kb_id_ for e in nlp(sys.argv[2]).ents})"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "pipeline"), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == str(links(nlp(TEXT)))


def test_configuration_survives_the_disk(world_model, tmp_path):
    nlp = make(world_model, label="THING", threshold=0.25, labels_discard=["DATE"], settings={"tau": 0.7})
    assert nlp.config["components"]["pboh"]["label"] == "THING"
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.get_pipe("pboh").cfg == nlp.get_pipe("pboh").cfg
    assert again.get_pipe("pboh").linker.settings == nlp.get_pipe("pboh").linker.settings
    changed = spacy.load(tmp_path, config={"components": {"pboh": {"threshold": 0.5}}})
    assert changed.get_pipe("pboh").cfg["threshold"] == 0.5
    assert changed.get_pipe("pboh").cfg["label"] == "THING"


def test_bytes_restore_what_was_left_open(world_model, nlp):
    saved = make(world_model, label="THING", nil="")
    other = make(world_model, nil="-")
    for component in (
        other.get_pipe("pboh").from_bytes(saved.get_pipe("pboh").to_bytes()),
        other.from_bytes(saved.to_bytes()).get_pipe("pboh"),
    ):
        assert component.cfg["label"] == "THING"
        assert component.cfg["nil"] == "-", "what a component was given itself goes first"


def test_a_missing_model_is_an_error_that_helps(world_model, tmp_path):
    with pytest.raises(ModelError, match="no model folder"):
        make(tmp_path / "nowhere")
    nlp = make(world_model)
    nlp.to_disk(tmp_path / "pipeline")
    config = {"components": {"pboh": {"model": str(tmp_path / "gone")}}}
    with pytest.raises(ModelError, match=r"spacy\.load"):
        spacy.load(tmp_path / "pipeline", config=config)


def test_another_model_is_noticed(world_model, caplog):
    component = make(world_model).get_pipe("pboh")
    component.from_bytes(component.to_bytes())
    assert not caplog.text
    digest = component.to_bytes().split(b'"sha256":"')[1][:64]
    component.from_bytes(component.to_bytes().replace(digest, b"0" * 64))
    assert "is not the model" in caplog.text


# -- scores and pictures -----------------------------------------------------------------------------------


def example(nlp, text, *golds):
    doc = nlp.make_doc(text)
    doc.ents = [
        Span(doc, *((s := doc.char_span(text.index(name), text.index(name) + len(name))).start, s.end),
             label="ENTITY", kb_id=title)
        for name, title in golds
    ]  # fmt: skip
    return Example(nlp.make_doc(text), doc)


def test_scores_come_from_spacy(nlp):
    right = example(nlp, TEXT, *FOUND.items())
    assert nlp.evaluate([right])["nel_micro_f"] == 1.0
    half = example(nlp, TEXT, ("Bayern", "FC Bayern Munich"), ("Dortmund", "Dortmund"))
    scores = nlp.evaluate([half])
    assert scores["nel_micro_p"] == scores["nel_micro_r"] == 0.5


def test_gold_entities_can_be_scored(world_model):
    golds = [("Müller", "Gerd Müller"), ("late goal", "NIL"), ("Bayern", "FC Bayern Munich")]
    for use, correct in ((True, {0.5, 1.0}), (False, {0.0, 1.0})):
        nlp = make(world_model, use_gold_ents=use, detect_threshold=1.0)
        scores = nlp.evaluate([example(nlp, TEXT, *golds)])
        assert scores["nel_micro_f"] in correct
        assert ("ENTITY" in scores["nel_f_per_type"]) == use


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name == "href"]


def rendered(*arguments, **options) -> list[str]:
    reader = Links()
    reader.feed(displacy.render(*arguments, style="ent", jupyter=False, **options))
    return reader.addresses


def test_displacy_shows_links(nlp):
    doc = nlp(TEXT)
    template = "https://en.wikipedia.org/wiki/{}"
    assert template.format("FC Bayern Munich") in rendered(doc, options={"kb_url_template": template})
    assert template.format("FC_Bayern_Munich") in rendered(displacy_ents(doc), manual=True)


def test_displacy_links_of_odd_titles(nlp):
    doc = nlp(TEXT)
    ent = next(ent for ent in doc.ents if ent.text == "Bayern")
    for token in ent:
        token.ent_kb_id_ = '"Weird" <b>&?'
    addresses = rendered(displacy_ents(doc, "https://example.org/{}"), manual=True)
    assert "https://example.org/%22Weird%22_%3Cb%3E%26%3F" in addresses
    assert "<b>&" not in displacy.render(displacy_ents(doc), style="ent", manual=True, jupyter=False)


def test_displacy_shows_unlinked_entities_without_a_link(with_ruler):
    assert rendered(displacy_ents(with_ruler("late goal")(TEXT)), manual=True) == []
