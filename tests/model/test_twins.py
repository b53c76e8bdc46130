"""Twins in a world made for it: same names and company, seldom on one page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.model.names import Layer
from pboh.model.tables import name_table, offsets_of_sizes
from pboh.model.twins import find_twins


@pytest.fixture
def model(linker):
    """Entities 0 and 1 are called A (10 and 6 links); 2 and 3 are called B and linked on the same pages."""
    model = linker.model
    rows = [(1, 0, 10), (1, 1, 6), (2, 2, 9), (2, 3, 8), (3, 3, 1), (4, 4, 5), (4, 0, 1)]
    keys, entities, counts = (np.asarray(column) for column in zip(*rows, strict=True))
    names = name_table(keys.astype(np.uint64), entities, np.full(len(rows), Layer.CASED), counts)
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


def test_who_is_not_alike_is_no_twin(model):
    assert find_twins(model, together=1.0, cosine=0.99999) == []
    assert find_twins(model, together=1.0, names=0.95) == []
    without = {name: array for name, array in model.arrays.items() if name != "vector_entity"}
    with pytest.raises(InputError, match="vectors"):
        find_twins(replace(model, arrays=without))
