"""Kernels that count on which pages candidates occur together (see :mod:`pboh.model.tables`)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, first_at_least


@njit(cache=True, nogil=True, inline="always")
def by_document(entities, offsets, documents, slot):  # type: ignore[no-untyped-def]
    """Turn the candidates' document lists around: which candidates occur in each document.

    ``slot`` (one zero per document of the corpus) then holds 1 + the row of every document touched; the
    caller clears it. Returns ``start`` and ``members`` (CSR over the documents touched) and ``row``, the
    touched document of every incidence.
    """
    total = 0
    for i in range(entities.size):
        total += offsets[entities[i] + 1] - offsets[entities[i]]
    row = np.empty(total, np.int32)
    touched, at = 0, 0
    for i in range(entities.size):
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            d = documents[k]
            if slot[d] == 0:
                touched += 1
                slot[d] = touched
            row[at] = slot[d] - 1
            at += 1
    start = np.zeros(touched + 1, np.int32)
    for k in range(total):
        start[row[k] + 1] += 1
    for d in range(touched):
        start[d + 1] += start[d]
    fill = start[:-1].copy()
    members = np.empty(total, np.int32)
    at = 0
    for i in range(entities.size):
        for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
            members[fill[row[at]]] = i
            fill[row[at]] += 1
            at += 1
    return start, members, row


@njit(cache=True, nogil=True)
def cooccurrences(entities, offsets, documents, heads, head_pairs, slot):  # type: ignore[no-untyped-def]
    """N(e,e′) > 0 of all pairs of ``entities`` as a symmetric sparse matrix (start, other, count).

    ``heads`` are the ascending head entities and ``head_pairs`` their counts. ``slot`` is scratch memory, one
    zero per document, left as found. Memory follows the incidences and the pairs that were seen, never
    (number of candidates)². The diagonal is left out: e = e′ has a rule of its own.
    """
    u = entities.size
    rank = np.empty(u, np.int64)
    light, heavy = np.empty(u, np.int64), np.empty(u, np.int64)
    lights, heavies = 0, 0
    for i in range(u):
        at = first_at_least(heads, 0, heads.size, entities[i])
        if at < heads.size and heads[at] == entities[i]:
            rank[i] = at
            heavy[heavies] = i
            heavies += 1
        else:
            light[lights] = i
            lights += 1
    light, heavy = light[:lights], heavy[:heavies]
    begin, members, row = by_document(entities[light], offsets, documents, slot)
    beside = np.zeros((heavy.size, u), np.int32)
    for h in range(heavy.size):
        e = entities[heavy[h]]
        for k in range(offsets[e], offsets[e + 1]):
            d = slot[documents[k]]
            if d > 0:
                for m in range(begin[d - 1], begin[d]):
                    beside[h, light[members[m]]] += 1
        for g in range(heavy.size):
            if g != h:
                beside[h, heavy[g]] = head_pairs[rank[heavy[h]], rank[heavy[g]]]
    for m in range(light.size):
        e = entities[light[m]]
        for k in range(offsets[e], offsets[e + 1]):
            slot[documents[k]] = 0
    return _rows(entities, offsets, light, heavy, begin, members, row, beside)


@njit(cache=True, nogil=True, inline="always")
def _rows(entities, offsets, light, heavy, begin, members, row, beside):  # type: ignore[no-untyped-def]
    """Collect the rows of the sparse matrix, columns ascending (found by scanning, cheaper than sorting)."""
    u = entities.size
    start = np.zeros(u + 1, np.int64)
    tally = np.zeros(u, np.int32)
    other, count = np.empty(1024 + 16 * u, np.int32), np.empty(1024 + 16 * u, np.int32)
    used, at, h = 0, 0, 0
    for i in range(u):
        if h < heavy.size and heavy[h] == i:
            for j in range(u):
                tally[j] = beside[h, j]
            h += 1
        else:
            for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
                for k in range(begin[row[at]], begin[row[at] + 1]):
                    tally[light[members[k]]] += 1
                at += 1
            for g in range(heavy.size):
                tally[heavy[g]] = beside[g, i]
        if used + u > other.size:
            other, count = _grown(other, used, u), _grown(count, used, u)
        tally[i] = 0
        for j in range(u):
            if tally[j] > 0:
                other[used] = j
                count[used] = tally[j]
                tally[j] = 0
                used += 1
        start[i + 1] = used
    return start, other[:used], count[:used]


@njit(cache=True, nogil=True, inline="always")
def _grown(array, used, more):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * array.size + more, np.int32)
    for k in range(used):
        larger[k] = array[k]
    return larger


@njit(cache=True, nogil=True)
def pairs_of_heads(heads, offsets, documents, mark):  # type: ignore[no-untyped-def]
    """|documents(h) ∩ documents(g)| of all heads: mark one list, read the others."""
    table = np.zeros((heads.size, heads.size), np.int32)
    for h in range(heads.size):
        for k in range(offsets[heads[h]], offsets[heads[h] + 1]):
            mark[documents[k]] = True
        for g in range(h):
            shared = 0
            for k in range(offsets[heads[g]], offsets[heads[g] + 1]):
                shared += mark[documents[k]]
            table[h, g] = table[g, h] = shared
        for k in range(offsets[heads[h]], offsets[heads[h] + 1]):
            mark[documents[k]] = False
    return table


@njit(cache=True, nogil=True)
def learned_couplings(entities: Array, offsets: Array, others: Array, values: Array) -> Array:
    """λ(e, u) between all ascending ``entities`` from rows of learned parameters, 0 where there is none."""
    table = np.zeros((entities.size, entities.size), np.float32)
    for i in range(entities.size):
        low, high = offsets[entities[i]], offsets[entities[i] + 1]
        for j in range(entities.size):
            low = first_at_least(others, low, high, entities[j])
            if low == high:
                break
            if others[low] == entities[j]:
                table[i, j] = values[low]
    return table
