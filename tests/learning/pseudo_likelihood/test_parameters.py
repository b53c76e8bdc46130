"""Pairs that get a λ, their counts and their Bethe values equal counting by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from worlds import draw, world

from pboh.learning.pseudo_likelihood.parameters import bethe, both_ways, cooccurring


def by_hand(docs, names, smallest):
    """Documents per unordered pair; {e, e} counts documents with two links to e."""
    count = Counter()
    for a, b in zip(docs.offsets[:-1], docs.offsets[1:], strict=True):
        linked = Counter(names.entity[docs.gold[a:b]].tolist())
        count.update(combinations(sorted(linked), 2))
        count.update((e, e) for e, times in linked.items() if times > 1)
    return {pair: n for pair, n in count.items() if n >= smallest}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("smallest", [1, 2, 5])
def test_equals_counting_by_hand(seed, smallest):
    parameters = world(seed, entities=12, names=9, most=4)
    docs = draw(parameters, 40, seed, longest=5)
    found = cooccurring(docs, parameters.names, parameters.entities, smallest)
    got = {
        (e, int(found.other[k])): int(found.documents[k])
        for e in range(parameters.entities)
        for k in range(found.offsets[e], found.offsets[e + 1])
    }
    assert got == by_hand(docs, parameters.names, smallest)
    sets = [set(parameters.names.entity[docs.gold[a:b]].tolist())
            for a, b in zip(docs.offsets[:-1], docs.offsets[1:], strict=True)]  # fmt: skip
    assert found.total == sum(len(s) * (len(s) - 1) for s in sets)
    for e in range(parameters.entities):
        assert found.marginal[e] == sum(len(s) - 1 for s in sets if e in s)


@pytest.mark.parametrize("seed", range(5))
def test_a_pair_is_found_from_both_sides_and_rows_are_sorted(seed):
    parameters = world(seed, entities=12, names=9)
    docs = draw(parameters, 40, seed)
    found = cooccurring(docs, parameters.names, parameters.entities, 1)
    pairs = both_ways(found.offsets, found.other)
    rows = {
        e: dict(zip(pairs.other[a:b].tolist(), pairs.parameter[a:b].tolist(), strict=True))
        for e, (a, b) in enumerate(zip(pairs.offsets[:-1], pairs.offsets[1:], strict=True))
    }
    for e, row in rows.items():
        assert list(row) == sorted(row)
        assert all(rows[u][e] == number for u, number in row.items())
    assert sorted({n for row in rows.values() for n in row.values()}) == list(range(found.other.size))


def test_bethe_values():
    parameters = world(1, entities=5)
    docs = draw(parameters, 60, 2)
    found = cooccurring(docs, parameters.names, parameters.entities, 1)
    value = bethe(found, backoff=0.2, delta=0.5, self_pair=0.1)
    counts = by_hand(docs, parameters.names, 1)
    for e in range(5):
        for k in range(found.offsets[e], found.offsets[e + 1]):
            u = int(found.other[k])
            c_e, c_u = found.marginal[e], found.marginal[u]
            n = 0.1 * c_e if e == u else counts[e, u]
            smoothed = max(n - 0.5, 0) / found.total + 0.2 * c_e * c_u / found.total**2
            expected = np.log(smoothed / (c_e * c_u / found.total**2)) - np.log(0.2)
            assert value[k] == pytest.approx(expected, rel=1e-5)
