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


def cooccurrences(
    entities: Array, offsets: Array, documents: Array, heads: Array, head_pairs: Array, scratch: Scratch
) -> tuple[Array, Array, Array]:
    """N(e,e′) > 0 of all pairs of ``entities`` as a symmetric sparse matrix (start, other, count).

    ``heads`` are the ascending head entities and ``head_pairs`` their counts. Memory beside ``scratch``
    follows the incidences and the pairs that were seen, never (number of candidates)². The diagonal is left
    out: e = e′ has a rule of its own.
    """
    u, first, last, heavy = entities.size, offsets[entities], offsets[entities + 1], np.empty(0, np.int64)
    if heads.size:
        place = np.minimum(np.searchsorted(heads, entities), heads.size - 1)
        heavy = np.flatnonzero(heads[place] == entities)
        last[heavy] = first[heavy]  # the lists of heads are not read with those of the others
    total = int((last - first).sum())
    (owner, row, members), page = np.empty((3, total), np.int32), np.empty(total, np.uint32)
    begin = np.zeros(total + 2, np.int32)
    _by_page(first, last, documents, scratch.state, owner, page, row, begin, members)
    beside = np.zeros((heavy.size, u), np.int32)
    if heavy.size:
        ends, own = offsets[entities[heavy] + 1], place[heavy]
        beside[:, heavy] = head_pairs[own[:, None], own]
        bits = np.empty(total, np.uint64)
        _beside_heads(first, last, heavy, ends, own, page, bits, documents, scratch, begin, members, beside)
    start, tally, progress = np.zeros(u + 1, np.int64), np.zeros(u, np.int32), np.zeros(4, np.int64)
    other, count = np.empty((2, 1024 + 16 * u), np.int32)
    rows = owner, page, row, begin, members, heavy, beside, scratch.state
    while not _write_rows(*rows, tally, progress, start, other, count):
        used, more = int(progress[3]), np.empty((2, 2 * other.size + u), np.int32)
        more[:, :used] = other[:used], count[:used]
        other, count = more
    return start, other[: start[u]], count[: start[u]]


@njit(cache=True, nogil=True)
def _by_page(first, last, documents, state, owner, page, row, begin, members):  # type: ignore[no-untyped-def]
    """Turn the lists ``documents[first[i]:last[i]]`` around.

    ``members[begin[r]:begin[r + 1]]`` then occur in the document of row r.

    ``owner``, ``page`` and ``row`` are those of every incidence. ``state`` then holds 1 + the row of every
    document touched; :func:`_write_rows` clears that.
    """
    rows, at = 0, 0
    for i in range(first.size):
        for k in range(first[i], last[i]):
            d = documents[k]
            if state[d, 0] == 0:
                rows += 1
                state[d, 0] = rows
            its_row = np.int64(state[d, 0]) - 1
            owner[at], page[at], row[at] = i, d, its_row
            begin[its_row + 2] += 1
            at += 1
    for r in range(rows):
        begin[r + 1] += begin[r]
    for at in range(owner.size):
        here = row[at] + 1
        members[begin[here]] = owner[at]
        begin[here] += 1


@njit(cache=True, nogil=True)
def _beside_heads(  # type: ignore[no-untyped-def]
    first, last, heavy, ends, own, page, bits, documents, scratch, begin, members, beside
):
    """Count the documents that each head shares with the light candidates.

    The list of head h, number ``own[h]``, ends at ``ends[h]``. ``bits`` become the membership bits of every
    incidence of the light ones.
    """
    state, touched, column, filled = scratch
    for h in range(heavy.size):
        bit = column[own[h]]
        if bit >= 0 and not filled[bit]:  # a candidate for the first time
            filled[bit] = True
            for k in range(first[heavy[h]], ends[h]):
                state[documents[k], 1 + (bit >> 5)] |= np.uint32(1) << np.uint32(bit & 31)
    for at in range(page.size):
        d = page[at]
        bits[at] = state[d, 1] | np.uint64(state[d, 2]) << np.uint64(32)
        touched[d >> 3] |= 1 << (d & 7)
    for h in range(heavy.size):
        if column[own[h]] >= 0:  # no need to read its list
            at, shift = 0, np.uint64(column[own[h]])
            for i in range(first.size):
                shared = np.int64(0)
                for _ in range(first[i], last[i]):
                    shared += np.int64((bits[at] >> shift) & np.uint64(1))
                    at += 1
                beside[h, i] += shared
        else:
            for k in range(first[heavy[h]], ends[h]):
                d = documents[k]
                if touched[d >> 3] >> (d & 7) & 1:  # mostly this says that no light candidate is in it
                    r = np.int64(state[d, 0])
                    for m in range(begin[r - 1], begin[r]):
                        beside[h, members[m]] += 1
    for at in range(page.size):
        touched[page[at] >> 3] = 0


@njit(cache=True, nogil=True)
def _write_rows(  # type: ignore[no-untyped-def]
    owner, page, row, begin, members, heavy, beside, state, tally, progress, start, other, count
):
    """Write the rows of the sparse matrix, columns ascending (found by scanning, cheaper than sorting).

    Returns whether there was room for all; to ``progress`` goes where to continue.
    """
    u = tally.size
    first, at, h, used = progress[0], progress[1], progress[2], progress[3]
    for i in range(first, u):
        if used + u > other.size:
            progress[0], progress[1], progress[2], progress[3] = i, at, h, used
            return False
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
        tally[i] = 0
        for j in range(u):
            if tally[j] > 0:
                other[used], count[used] = j, tally[j]
                tally[j] = 0
                used += 1
        start[i + 1] = used
    for at in range(page.size):
        state[page[at], 0] = 0
    return True


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
