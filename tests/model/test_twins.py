"""Twins in a world made for it: same names and company, seldom on one page."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.learning.logistic import maximise, yes_or_no
from pboh.linker import load
from pboh.model.build import BuildOptions, build_model
from pboh.model.names import Layer
from pboh.model.tables import name_table, offsets_of_sizes
from pboh.model.twins import NEVER, PROBABLE, SURE, WEIGHTS, Twins, find_twins, merge_twins
from pboh.text.folding import fold
from pboh.text.hashing import hash_strings


@pytest.fixture
def model(linker):
    """Entities 0 and 1 are called A (10 and 6 links); 2 and 3 are called B and linked on the same pages.

    A is the title of 0 and B that of 2.
    """
    model = linker.model
    one, other = (int(hash_strings([fold(model.title(entity))])[0]) for entity in (0, 2))
    rows = [(one, 0, 10), (one, 1, 6), (other, 2, 9), (other, 3, 8), (3, 3, 1), (4, 4, 5), (4, 0, 1)]
    keys, entities, counts = (np.asarray(column, np.uint64) for column in zip(*sorted(rows), strict=True))
    entities, counts = entities.astype(np.int64), counts.astype(np.int64)
    names = name_table(keys, entities, np.full(len(rows), Layer.FOLDED), counts)
    vectors = np.zeros((model.entities, 3), np.int8)
    vectors[:5] = [[90, 10, 0], [90, 12, 1], [0, 80, 3], [0, 80, 4], [90, 11, 0]]
    pages = [[0, 1, 2], [2, 3], [4, 5], [4, 5], [9]]
    sizes = [len(page) for page in pages] + [0] * (model.entities - len(pages))
    changed = {
        "vector_entity": vectors,
        "posting_document": np.concatenate(pages).astype(np.uint32),
        "posting_offsets": offsets_of_sizes(np.asarray(sizes)),
        "entity_occurrences": np.bincount(entities, counts, model.entities).astype(np.uint32),
        "entity_page": np.zeros(model.entities, np.uint32),
    }
    return replace(model, arrays=model.arrays | names | changed)


def pairs(model, least=0.0):
    return {(twins.first, twins.second): twins for twins in find_twins(model, least)}


def test_what_speaks_for_two_entities_being_one(model):
    found = pairs(model)
    assert list(found) == [(2, 3), (0, 1)], "most linked first; 4 is called otherwise"
    twins = found[0, 1]
    assert twins.cosine == pytest.approx(0.9996, abs=1e-3) and twins.together == 0.5 and not twins.pages
    assert twins.called == 0 and twins.calling == pytest.approx(6 / 17), "of 16 links that say A"
    assert found[2, 3].together == 1 and found[2, 3].calling == pytest.approx(8 / 18)
    assert list(pairs(model, found[0, 1].probability)) == [
        (a, b) for (a, b), one in found.items() if one.probability >= found[0, 1].probability
    ]


def test_entities_with_a_page_each_are_less_probably_one(model):
    pages = model.arrays["entity_page"].copy()
    pages[[0, 1]] = 7
    both = replace(model, arrays=model.arrays | {"entity_page": pages})
    assert pairs(both)[0, 1].probability < pairs(model)[0, 1].probability
    without = {name: array for name, array in model.arrays.items() if name != "entity_page"}
    assert pairs(replace(model, arrays=without)) == pairs(model)


def test_a_rare_twin_behind_a_frequent_one_is_found(model):
    """Entity 1 has 6 of 206 links that say A, fewer than a tenth, but they are all of its own."""
    counts = model["name_count"].copy()
    counts[(model["name_entity"] == 0) & (counts == 10)] = 200
    many = replace(model, arrays=model.arrays | {"name_count": counts})
    assert (0, 1) in pairs(many)


def test_who_is_not_alike_is_no_twin(model):
    vectors = model["vector_entity"].copy()
    vectors[1] = [0, 0, 90]
    assert (0, 1) not in pairs(replace(model, arrays=model.arrays | {"vector_entity": vectors}))
    without = {name: array for name, array in model.arrays.items() if name != "vector_entity"}
    with pytest.raises(InputError, match="vectors"):
        find_twins(replace(model, arrays=without))


def test_names_and_title_of_a_merged_twin_lead_to_the_other(world_model, tmp_path, monkeypatch):
    folder = shutil.copytree(world_model, tmp_path / "model")
    before = load(folder)
    one, other, third = sorted(range(3), key=lambda e: (-before.model.links(e), e))
    pairs = [Twins(*both, 1.0, 1.0, False, 1.0, 0.0) for both in ((one, other), (other, third))]
    monkeypatch.setattr("pboh.model.twins.find_twins", lambda model, least: pairs)
    assert merge_twins(folder) == 2
    after = load(folder)
    for entity in (one, other, third):
        title = before.model.title(entity)
        assert after.entity(title).index == one
        [mention] = after.disambiguate(title, [(0, len(title))])
        assert {c.entity.index for c in mention.candidates}.isdisjoint({other, third})
    assert after.model.links(one) == sum(before.model.links(e) for e in (one, other, third))


def test_without_vectors_nothing_is_merged(world_counts, tmp_path):
    with pytest.raises(InputError, match="vectors"):
        build_model(world_counts, tmp_path / "model", BuildOptions(vectors=0, merge_twins=True))
    made = build_model(world_counts, tmp_path / "model", BuildOptions(merge_twins=True))
    assert made["totals"]["merged_twins"] == 0
    assert load(tmp_path / "model").entity("Tbilisi").title == "Tbilisi"


def judged(drawn_again: bool) -> tuple[list[Twins], np.ndarray, np.ndarray]:
    """Pairs judged by hand: what is known of them, whether they are one, and how many each stands for."""
    lines = (Path(__file__).parents[1] / "data" / "twins.tsv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines if not line.startswith("#"))
    table = [dict(zip(header, row, strict=True)) for row in rows]
    table = [row for row in table if (row["stands_for"] == "0") == drawn_again]
    known = ("called", "calling", "pages", "cosine", "together")
    told = [Twins(0, 1, *(float(row[name]) for name in known)) for row in table]
    one = np.asarray([{"yes": 1.0, "doubtful": 0.5, "no": 0.0}[row["one"]] for row in table])
    return told, one, np.asarray([float(row["stands_for"]) for row in table])


def test_weights_are_those_of_judged_pairs():
    told, one, times = judged(drawn_again=False)
    columns = np.asarray([[1.0, *twins[2:]] for twins in told])
    columns[:, 1:3] = np.log(columns[:, 1:3] + NEVER)
    ridge = np.asarray([0.001, 1, 1, 1, 1, 1])

    def fitted(some):
        return maximise(yes_or_no(columns[some], one[some], times[some] / times[some].mean()), ridge)[0]

    assert list(WEIGHTS.values()) == pytest.approx(fitted(np.ones(one.size, bool)).tolist(), abs=0.02)
    part, probability = np.random.default_rng(0).permutation(one.size) % 10, np.zeros(one.size)
    for left_out in range(10):
        mine = part == left_out
        probability[mine] = 1 / (1 + np.exp(-columns[mine] @ fitted(~mine)))
    sure, listed = probability >= SURE, probability >= PROBABLE
    assert np.average(one[sure] == 1, weights=times[sure]) > 0.95
    assert np.average(one[listed] == 1, weights=times[listed]) > 0.65


def test_most_of_the_sure_ones_are_one():
    told, one, _ = judged(drawn_again=True)
    assert all(twins.probability >= SURE for twins in told)
    assert (len(one), (one == 1).sum(), (one == 0).sum()) == (58, 55, 1), "as the documentation says"
