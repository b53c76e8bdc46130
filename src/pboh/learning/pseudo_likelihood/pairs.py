"""Which pairs of entities get a λ: those that stand together in enough documents, counted in bounded memory.

No table of all pairs is ever made: entities are taken one after the other and the documents that link one are
walked through its later partners. Memory is the documents, the pairs that are kept, and one tally per entity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.inference.bethe import Bethe
from pboh.inference.bethe_kernels import bethe_of_all
from pboh.learning.pseudo_likelihood.kernels import Array, Documents, Names, Pairs


class Cooccurrence(NamedTuple):
    """The kept pairs {e, u}, e ≤ u: ``other`` of row e is its partners u, ascending, with ``documents``."""

    offsets: Array
    other: Array
    documents: Array
    marginal: Array  # c_e = Σ over the documents of e of n_d − 1, n_d = distinct entities
    total: int  # N_ep = Σ_d n_d·(n_d − 1)


@njit(cache=True, nogil=True)
def _sets(docs, names):  # type: ignore[no-untyped-def]
    """Distinct entities of every document ascending, each with its links: (offsets, entity, times)."""
    count = docs.offsets.size - 1
    offsets = np.zeros(count + 1, np.int64)
    entity = np.empty(docs.gold.size, np.int32)
    times = np.zeros(docs.gold.size, np.int32)
    used = 0
    for d in range(count):
        a, b = docs.offsets[d], docs.offsets[d + 1]
        linked = np.empty(b - a, np.int32)
        for i in range(a, b):
            linked[i - a] = names.entity[docs.gold[i]]
        for e in np.sort(linked):
            if used == offsets[d] or entity[used - 1] != e:
                entity[used] = e
                used += 1
            times[used - 1] += 1
        offsets[d + 1] = used
    return offsets, entity[:used], times[:used]


@njit(cache=True, nogil=True)
def _frequent(offsets, entity, times, frequency, smallest):  # type: ignore[no-untyped-def]
    """The same sets without entities that stand in fewer than ``smallest`` documents: they have no pair."""
    kept_offsets = np.zeros_like(offsets)
    used = 0
    for d in range(offsets.size - 1):
        for k in range(offsets[d], offsets[d + 1]):
            if frequency[entity[k]] >= smallest:
                entity[used], times[used] = entity[k], times[k]
                used += 1
        kept_offsets[d + 1] = used
    return kept_offsets, entity[:used], times[:used]


@njit(cache=True, nogil=True)
def _postings(offsets, entity, size):  # type: ignore[no-untyped-def]
    """Documents of every entity, ascending: (start, document)."""
    start = np.zeros(size + 1, np.int64)
    for k in range(entity.size):
        start[entity[k] + 1] += 1
    start = np.cumsum(start)
    document = np.empty(entity.size, np.int32)
    free = start[:-1].copy()
    for d in range(offsets.size - 1):
        for k in range(offsets[d], offsets[d + 1]):
            document[free[entity[k]]] = d
            free[entity[k]] += 1
    return start, document


@njit(cache=True, nogil=True)
def _rows(offsets, entity, times, start, document, smallest, row, other, count, write):  # type: ignore[no-untyped-def]
    """Partners u ≥ e of every entity e in at least ``smallest`` documents; sizes first, then with ``write``.

    Entities are visited in ascending order and so are those of a document: ``after[d]`` always points to the
    first entity of document d that has not been visited. {e, e} counts documents that link e twice.
    """
    size = start.size - 1
    after = offsets[:-1].copy()
    tally = np.zeros(size, np.int32)
    touched = np.empty(size, np.int32)
    used = 0
    for e in range(size):
        found = 0
        for p in range(start[e], start[e + 1]):
            d = document[p]
            here = after[d]
            after[d] += 1
            for k in range(here if times[here] > 1 else here + 1, offsets[d + 1]):
                u = entity[k]
                if tally[u] == 0:
                    touched[found] = u
                    found += 1
                tally[u] += 1
        if write:
            for u in np.sort(touched[:found]):
                if tally[u] >= smallest:
                    other[used], count[used] = u, tally[u]
                    used += 1
        else:
            for t in range(found):
                used += tally[touched[t]] >= smallest
        for t in range(found):
            tally[touched[t]] = 0
        row[e + 1] = used
    return used


def cooccurring(docs: Documents, names: Names, entities: int, smallest: int) -> Cooccurrence:
    """Pairs of entities linked together in at least ``smallest`` documents (the paper: 7), counted."""
    offsets, entity, times = _sets(docs, names)
    sizes = np.diff(offsets)
    marginal = np.bincount(entity, np.repeat(sizes - 1, sizes), entities)
    total = int((sizes * (sizes - 1)).sum())
    frequency = np.bincount(entity, minlength=entities)
    offsets, entity, times = _frequent(offsets, entity, times, frequency, smallest)
    start, document = _postings(offsets, entity, entities)
    rows = np.zeros(entities + 1, np.int64)
    none = np.empty(0, np.int32)
    arguments = (offsets, entity, times, start, document, smallest, rows)
    kept = _rows(*arguments, none, none, False)
    other, count = np.empty(kept, np.int32), np.empty(kept, np.int32)
    _rows(*arguments, other, count, True)
    return Cooccurrence(rows, other, count, marginal, total)


@njit(cache=True, nogil=True)
def _both_ways(rows, other, offsets, partner, parameter):  # type: ignore[no-untyped-def]
    free = offsets[:-1].copy()
    for e in range(rows.size - 1):  # smaller partners first: they arrive in ascending order
        for k in range(rows[e], rows[e + 1]):
            if other[k] != e:
                at = free[other[k]]
                partner[at], parameter[at] = e, k
                free[other[k]] += 1
    for e in range(rows.size - 1):
        for k in range(rows[e], rows[e + 1]):
            partner[free[e]], parameter[free[e]] = other[k], k
            free[e] += 1


def both_ways(rows: Array, other: Array) -> Pairs:
    """Full rows from pairs e ≤ u: each pair is found from either entity and leads to the one λ they share."""
    size = rows.size - 1
    degree = np.diff(rows) + np.bincount(other, minlength=size)
    loops = np.repeat(np.arange(size, dtype=np.int32), np.diff(rows)) == other
    degree -= np.bincount(other[loops], minlength=size)
    offsets = np.concatenate(([0], np.cumsum(degree)))
    partner, parameter = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    _both_ways(rows, other, offsets, partner, parameter)
    return Pairs(offsets, partner, parameter)


def bethe(pairs: Cooccurrence, backoff: float, delta: float = 0.5, self_pair: float = 0.01) -> Array:
    """λ(e,u) − λ(unseen) of the kept pairs, as :class:`pboh.inference.bethe.Bethe` defines it.

    A constant added to all λ changes no conditional, so pairs without a parameter and unseen ones are both 0.
    """
    owner = np.repeat(np.arange(pairs.offsets.size - 1), np.diff(pairs.offsets))
    c_e, c_u = pairs.marginal[owner], pairs.marginal[pairs.other]
    n = np.where(owner == pairs.other, self_pair * c_e, pairs.documents)
    shared = Bethe(float(pairs.total), backoff, delta, self_pair)
    return np.asarray(bethe_of_all(n, c_e, c_u, shared), np.float32)
