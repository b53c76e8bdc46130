"""Kernels that count on which pages candidates occur together (see :mod:`pboh.model.tables`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, first_at_least, helper

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


@njit(cache=True, nogil=True)
def cooccurrences(entities, offsets, documents, heads, head_pairs, scratch):  # type: ignore[no-untyped-def]
    """N(e,e′) > 0 of all pairs of ``entities`` as a symmetric sparse matrix (start, other, count).

    ``heads`` are the ascending head entities and ``head_pairs`` their counts. Memory beside ``scratch``
    follows the incidences and the pairs that were seen, never (number of candidates)². The diagonal is left
    out: e = e′ has a rule of its own.
    """
    state, touched, column, filled = scratch
    u, heavies, total = entities.size, 0, 0
    rank, heavy = np.empty(u, np.int64), np.empty(u, np.int64)  # place among the heads or −1; who has one
    for i in range(u):
        e = entities[i]
        rank[i] = first_at_least(heads, 0, heads.size, e)
        if rank[i] < heads.size and heads[rank[i]] == e:
            _fill_bits(column[rank[i]], offsets[e], offsets[e + 1], documents, state, filled)
            heavy[heavies] = i
            heavies += 1
        else:
            rank[i] = -1
            total += offsets[e + 1] - offsets[e]
    owner, page = np.empty(total, np.int32), np.empty(total, np.uint32)  # of every incidence of the others
    at = 0
    for i in range(u):
        if rank[i] < 0:
            for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
                owner[at], page[at] = i, documents[k]
                at += 1
    row, bits = np.empty(total, np.int32), np.empty(total, np.uint64)
    start, members = _by_page(owner, page, state, row, bits)
    beside = np.zeros((heavies, u), np.int32)
    marked = False
    for h in range(heavies):
        own, e = rank[heavy[h]], entities[heavy[h]]
        for g in range(heavies):
            beside[h, heavy[g]] = head_pairs[own, rank[heavy[g]]]
        if column[own] >= 0:
            _test_bits(column[own], entities, offsets, rank, bits, beside, h)
        elif total > 0:
            if not marked:
                for at in range(total):
                    touched[page[at] >> 3] |= 1 << (page[at] & 7)
                marked = True
            _read_list(offsets[e], offsets[e + 1], documents, touched, state, start, members, beside, h)
    for at in range(total):
        state[page[at], 0] = 0
        touched[page[at] >> 3] = 0
    return _rows(owner, row, start, members, heavy[:heavies], beside)


@helper
def _fill_bits(column, first, last, documents, state, filled):  # type: ignore[no-untyped-def]
    """Set the membership bit of a head that is a candidate for the first time."""
    if column >= 0 and not filled[column]:
        filled[column] = True
        for k in range(first, last):
            state[documents[k], 1 + (column >> 5)] |= np.uint32(1) << np.uint32(column & 31)


@helper
def _by_page(owner, page, state, row, bits):  # type: ignore[no-untyped-def]
    """Turn the candidates' document lists around: ``members[start[r]:start[r + 1]]`` occur in row r.

    ``state`` then holds 1 + the row of every document touched; the caller clears that. ``row`` and ``bits``
    become the row and the membership bits of every incidence.
    """
    rows = 0
    start, members = np.zeros(page.size + 2, np.int32), np.empty(page.size, np.int32)
    for at in range(page.size):
        d = page[at]
        if state[d, 0] == 0:
            rows += 1
            state[d, 0] = rows
        row[at] = state[d, 0] - 1
        bits[at] = state[d, 1] | np.uint64(state[d, 2]) << np.uint64(32)
        start[row[at] + 2] += 1
    for r in range(rows):
        start[r + 1] += start[r]
    for at in range(page.size):
        members[start[row[at] + 1]] = owner[at]
        start[row[at] + 1] += 1
    return start, members


@helper
def _test_bits(column, entities, offsets, rank, bits, beside, h):  # type: ignore[no-untyped-def]
    """Count the documents of each light candidate that are in the list of a head, without reading it."""
    at, shift = 0, np.uint64(column)
    for i in range(entities.size):
        if rank[i] < 0:
            shared = np.uint64(0)
            for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
                shared += (bits[at] >> shift) & np.uint64(1)
                at += 1
            beside[h, i] = shared


@helper
def _read_list(first, last, documents, touched, state, start, members, beside, h):  # type: ignore[no-untyped-def]
    """Read the list of a head; mostly one bit says that no light candidate is in a document."""
    for k in range(first, last):
        d = documents[k]
        if touched[d >> 3] >> (d & 7) & 1:
            row = np.int64(state[d, 0])
            for m in range(start[row - 1], start[row]):
                beside[h, members[m]] += 1


@helper
def _rows(owner, row, begin, members, heavy, beside):  # type: ignore[no-untyped-def]
    """Collect the rows of the sparse matrix, columns ascending (found by scanning, cheaper than sorting)."""
    u = beside.shape[1]
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
            while at < owner.size and owner[at] == i:
                for k in range(begin[row[at]], begin[row[at] + 1]):
                    tally[members[k]] += 1
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


@helper
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
