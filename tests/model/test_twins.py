"""Twins in a world made for it: same names and company, seldom on one page."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.linker import load
from pboh.model.build import BuildOptions, build_model
from pboh.model.names import Layer
from pboh.model.tables import name_table, offsets_of_sizes
from pboh.model.twins import Twins, find_twins, is_sure, merge_twins
from pboh.text.folding import fold
from pboh.text.hashing import hash_strings


@pytest.fixture
def model(linker):
    """Entities 0 and 1 are called A (10 and 6 links); 2 and 3 are called B and linked on the same pages."""
    model = linker.model
    rows = [(1, 0, 10), (1, 1, 6), (2, 2, 9), (2, 3, 8), (3, 3, 1), (4, 4, 5), (4, 0, 1)]
    keys, entities, counts = (np.asarray(column) for column in zip(*rows, strict=True))
    names = name_table(keys.astype(np.uint64), entities, np.full(len(rows), Layer.FOLDED), counts)
    vectors = np.zeros((model.entities, 3), np.int8)
    vectors[:5] = [[90, 10, 0], [90, 12, 1], [0, 80, 3], [0, 80, 4], [90, 11, 0]]
    pages = [[0, 1, 2], [2, 3], [4, 5], [4, 5], [9]]
    sizes = [len(page) for page in pages] + [0] * (model.entities - len(pages))
    changed = {
        "vector_entity": vectors,
        "posting_document": np.concatenate(pages).astype(np.uint32),
        "posting_offsets": offsets_of_sizes(np.asarray(sizes)),
        "entity_occurrences": np.bincount(entities, counts, model.entities).astype(np.uint32),
    }
    return replace(model, arrays=model.arrays | names | changed)


def test_twins_share_names_and_company_but_no_pages(model):
    apart = find_twins(model, together=0.9)
    assert [(t.first, t.second) for t in apart] == [(0, 1)]
    [twins] = [t for t in find_twins(model, together=0.5) if t.first == 0]
    assert twins.cosine == pytest.approx(0.9996, abs=1e-3)
    assert twins.names == pytest.approx(10 / 11) and twins.together == 0.5
    assert [(t.first, t.second) for t in find_twins(model, together=1.0)] == [(2, 3), (0, 1)]
    assert find_twins(model, together=0.4) == []


def test_a_rare_twin_behind_a_frequent_one_is_found(model):
    """Entity 1 has 6 of 206 links that say A, fewer than a tenth, but they are all of its own."""
    counts = model["name_count"].copy()
    counts[(model["name_entity"] == 0) & (counts == 10)] = 200
    many = replace(model, arrays=model.arrays | {"name_count": counts})
    assert [(t.first, t.second) for t in find_twins(many, together=0.9)] == [(0, 1)]


@pytest.fixture
def called(linker):
    """Entity 0 is called like the title of entity 1 in 3 of 8 links, entity 2 in one of 8."""
    title = hash_strings([fold(linker.model.title(1))])[0]
    rows = [(title, 0, 3), (title, 1, 4), (title, 2, 1)]
    keys, entities, counts = (np.asarray(column) for column in zip(*rows, strict=True))
    names = name_table(keys.astype(np.uint64), entities, np.full(len(rows), Layer.FOLDED), counts)
    return replace(linker.model, arrays=linker.model.arrays | names)


def test_a_twin_is_sure_if_its_title_is_a_name_of_the_other(called):
    pages = np.zeros(called.entities, np.uint32)
    for other, page, sure in ((0, 0, True), (0, 7, False), (2, 0, False), (3, 0, False)):
        pages[1] = page
        model = replace(called, arrays=called.arrays | {"entity_page": pages})
        assert is_sure(model, Twins(other, 1, 1.0, 1.0, 0.0)) == sure, (other, page)


def test_names_and_title_of_a_merged_twin_lead_to_the_other(world_model, tmp_path, monkeypatch):
    folder = shutil.copytree(world_model, tmp_path / "model")
    before = load(folder)
    one, other, third = sorted(range(3), key=lambda e: (-before.model.links(e), e))
    pairs = [Twins(one, other, 1.0, 1.0, 0.0), Twins(other, third, 1.0, 1.0, 0.0)]
    monkeypatch.setattr("pboh.model.twins.find_twins", lambda model: pairs)
    monkeypatch.setattr("pboh.model.twins.is_sure", lambda model, twins: True)
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


def test_who_is_not_alike_is_no_twin(model):
    assert find_twins(model, together=1.0, cosine=0.99999) == []
    assert find_twins(model, together=1.0, names=0.95) == []
    without = {name: array for name, array in model.arrays.items() if name != "vector_entity"}
    with pytest.raises(InputError, match="vectors"):
        find_twins(replace(model, arrays=without))


def test_most_of_a_judged_sample_are_one_entity():
    lines = (Path(__file__).parents[1] / "data" / "twins.tsv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines if not line.startswith("#"))
    judged = Counter(row[header.index("one")] for row in rows)
    assert judged == {"yes": 90, "doubtful": 5, "no": 5}, "as the documentation says"
