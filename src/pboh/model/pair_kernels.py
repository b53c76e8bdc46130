"""Kernels that count on which pages candidates occur together (see :mod:`pboh.model.tables`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, first_at_least

MEMBERSHIPS = 64  # heads with the longest lists: one bit of every document's word says whether it is in each


class Scratch(NamedTuple):
    """Memory that :func:`cooccurrences` works in and keeps between documents; one thread at a time.

    12⅛ bytes per document of the corpus: 85 MB for 7 million, whatever the number of heads.
    """

    state: Array  # of every document: 0 or, while counting, 1 + its row; then two words of membership bits
    touched: Array  # which documents have a row, as bits, small enough for the processor's cache
    column: Array  # the membership bit of every head, −1 for those with shorter lists
    filled: Array  # which bits have been set in all documents; each is when it is first needed

    @classmethod
    def of(cls, documents: int, heads: Array, offsets: Array) -> Scratch:
        """Fresh memory; the longest lists get bits."""
        longest = np.argsort(offsets[heads] - offsets[heads + 1], kind="stable")[:MEMBERSHIPS]
        column = np.full(heads.size, -1, np.int8)
        column[longest] = np.arange(longest.size)
        state, touched = np.zeros((documents, 3), np.uint32), np.zeros(documents // 8 + 1, np.uint8)
        return cls(state, touched, column, np.zeros(MEMBERSHIPS, np.bool_))


@njit(cache=True, nogil=True, inline="always")
def by_document(entities, offsets, documents, state):  # type: ignore[no-untyped-def]
    """Turn the candidates' document lists around: which candidates occur in each document.

    ``state`` then holds 1 + the row of every document touched; the caller clears that. Returns ``start`` and
    ``members`` (CSR over the documents touched), and the row and the membership bits of every incidence.
    """
    total = 0
    for i in range(entities.size):
        total += offsets[entities[i] + 1] - offsets[entities[i]]
    row, bits = np.empty(total, np.int32), np.empty(total, np.uint64)
    touched, at = 0, 0
    for i in range(entities.size):
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            d = documents[k]
            if state[d, 0] == 0:
                touched += 1
                state[d, 0] = touched
            row[at] = state[d, 0] - 1
            bits[at] = state[d, 1] | np.uint64(state[d, 2]) << np.uint64(32)
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
    return start, members, row, bits


@njit(cache=True, nogil=True)
def cooccurrences(entities, offsets, documents, heads, head_pairs, scratch):  # type: ignore[no-untyped-def]
    """N(e,e′) > 0 of all pairs of ``entities`` as a symmetric sparse matrix (start, other, count).

    ``heads`` are the ascending head entities and ``head_pairs`` their counts. Memory beside ``scratch``
    follows the incidences and the pairs that were seen, never (number of candidates)². The diagonal is left
    out: e = e′ has a rule of its own.
    """
    u = entities.size
    rank = np.empty(u, np.int64)
    light, heavy = np.empty(u, np.int64), np.empty(u, np.int64)
    lights, heavies = 0, 0
    for i in range(u):
        at = first_at_least(heads, 0, heads.size, entities[i])
        if at < heads.size and heads[at] == entities[i]:
            rank[heavies] = at
            heavy[heavies] = i
            heavies += 1
        else:
            light[lights] = i
            lights += 1
    light, heavy, rank = light[:lights], heavy[:heavies], rank[:heavies]
    lists = entities, offsets, documents, light, heavy
    if heavy.size:
        _fill_bits(lists, scratch.column[rank], scratch)
    begin, members, row, bits = by_document(entities[light], offsets, documents, scratch.state)
    beside = np.zeros((heavy.size, u), np.int32)
    for h in range(heavy.size):
        for g in range(heavy.size):
            if g != h:
                beside[h, heavy[g]] = head_pairs[rank[h], rank[g]]
    if heavy.size and light.size:
        _test_longest(lists, scratch.column[rank], bits, beside)
        _read_others(lists, scratch.column[rank], begin, members, scratch, beside)
    for m in range(light.size):
        e = entities[light[m]]
        for k in range(offsets[e], offsets[e + 1]):
            scratch.state[documents[k], 0] = 0
    return _rows(entities, offsets, light, heavy, begin, members, row, beside)


@njit(cache=True, nogil=True)
def _fill_bits(lists, column, scratch):  # type: ignore[no-untyped-def]
    """Set the membership bits of heads that are candidates for the first time."""
    entities, offsets, documents, _, heavy = lists
    for h in range(heavy.size):
        if column[h] >= 0 and not scratch.filled[column[h]]:
            e, bit = entities[heavy[h]], np.uint32(1) << np.uint32(column[h] & 31)
            word = 1 + (column[h] >> 5)
            for k in range(offsets[e], offsets[e + 1]):
                scratch.state[documents[k], word] |= bit
            scratch.filled[column[h]] = True


@njit(cache=True, nogil=True)
def _test_longest(lists, column, bits, beside):  # type: ignore[no-untyped-def]
    """Count the documents of each light candidate that are in the longest lists, without reading these."""
    entities, offsets, _, light, _ = lists
    longest = np.flatnonzero(column >= 0)
    shift, shared = column[longest].astype(np.uint64), np.zeros(longest.size, np.uint64)
    at = 0
    for i in light:
        shared[:] = 0
        for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
            for c in range(shift.size):
                shared[c] += (bits[at] >> shift[c]) & np.uint64(1)
            at += 1
        for c in range(shift.size):
            beside[longest[c], i] = shared[c]


@njit(cache=True, nogil=True)
def _read_others(lists, column, begin, members, scratch, beside):  # type: ignore[no-untyped-def]
    """Read the other heads' lists; mostly one bit says that no light candidate is in a document."""
    entities, offsets, documents, light, heavy = lists
    others = np.flatnonzero(column < 0)
    if others.size == 0:
        return
    touched, state, low = scratch.touched, scratch.state, np.uint32(7)
    for i in light:
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            d = documents[k]
            touched[d >> 3] |= np.uint8(1 << (d & low))
    for h in others:
        for k in range(offsets[entities[heavy[h]]], offsets[entities[heavy[h]] + 1]):
            d = documents[k]
            if touched[d >> 3] >> (d & low) & 1:
                row = np.int64(state[d, 0]) - 1
                for m in range(begin[row], begin[row + 1]):
                    beside[h, light[members[m]]] += 1
    for i in light:
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            touched[documents[k] >> 3] = 0


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
