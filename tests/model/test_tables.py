"""Co-occurrence from document lists equals counting by hand."""

import numpy as np
import pytest

from pboh.model.pair_kernels import cooccurrences
from pboh.model.tables import head_table


def twin(entities, lists):
    """N(e,e′) = |documents(e) ∩ documents(e′)|."""
    return {
        (i, j): n
        for i, e in enumerate(entities)
        for j, f in enumerate(entities)
        if i != j and (n := len(set(lists[e]) & set(lists[f])))
    }


@pytest.mark.parametrize("long", [100, 20, 0])  # no heads, some, all
@pytest.mark.parametrize("seed", range(10))
def test_equals_set_intersection(seed, long):
    rng = np.random.default_rng(seed)
    documents = 50
    lists = [sorted(rng.choice(documents, rng.integers(0, 30), replace=False).tolist()) for _ in range(40)]
    offsets = np.cumsum([0, *(len(x) for x in lists)]).astype(np.int64)
    flat = np.asarray([d for x in lists for d in x], np.uint32)
    entities = np.sort(rng.choice(40, 25, replace=False)).astype(np.int32)
    slot = np.zeros(documents, np.int32)
    heads, pairs = head_table(offsets, flat, long)
    start, other, count = cooccurrences(entities, offsets, flat, heads, pairs, slot)
    got = {(i, int(other[k])): int(count[k]) for i in range(25) for k in range(start[i], start[i + 1])}
    assert got == twin(entities.tolist(), lists)
    assert not slot.any()  # scratch memory is left as found
    assert all((np.diff(other[start[i] : start[i + 1]]) > 0).all() for i in range(25))


def test_no_entities_no_pairs():
    offsets, documents = np.zeros(1, np.int64), np.empty(0, np.uint32)
    heads, pairs = head_table(offsets, documents)
    nobody = np.empty(0, np.int32)
    start, other, _ = cooccurrences(nobody, offsets, documents, heads, pairs, np.zeros(3, np.int32))
    assert start.tolist() == [0]
    assert other.size == 0
