"""Kernels of the trigram index: a name's grams, building, searching (see :mod:`pboh.model.fuzzy`)."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from pboh.text.hash_kernels import EMPTY, slot_of
from pboh.text.utf8_kernels import decoded

BITS = uint64(21)  # of a code point
GRAM = uint64(2**63 - 1)


# ---------------------------------------------------------------------------------------------- grams


@njit(cache=True, nogil=True)
def _grams(blob, at, stop, out):  # type: ignore[no-untyped-def]
    """Write the distinct grams of a name to ``out``, ascending; returns how many there are."""
    gram, letters, n = GRAM, 0, 0
    while at < stop:
        letter, at = decoded(blob, at)
        gram = ((gram << BITS) | uint64(letter)) & GRAM
        letters += 1
        if letters >= 3:
            out[n] = gram
            n += 1
    if letters in (1, 2):
        out[0] = gram
        return 1
    return _distinct(out, n)


@njit(cache=True, nogil=True)
def _distinct(values, n):  # type: ignore[no-untyped-def]
    """Sort the first n values and drop repetitions, in place; returns how many are left."""
    _sort(values, n)
    kept = min(n, 1)
    for i in range(1, n):
        if values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _sort(values, n):  # type: ignore[no-untyped-def]
    """Sort the first n values: by insertion, as names are short; a long text would be quadratic."""
    if n > 64:
        values[:n].sort()
        return
    for i in range(1, n):
        value, k = values[i], i
        while k > 0 and values[k - 1] > value:
            values[k] = values[k - 1]
            k -= 1
        values[k] = value


# ---------------------------------------------------------------------------------------------- build


@njit(cache=True, nogil=True)
def list_grams(blob, offsets, first, last, buffer, sizes, out):  # type: ignore[no-untyped-def]
    """Write the grams of the names ``first`` to ``last`` behind each other; returns how many there are."""
    used = 0
    for name in range(first, last):
        sizes[name] = _grams(blob, offsets[name], offsets[name + 1], buffer)
        for k in range(sizes[name]):
            out[used] = buffer[k]
            used += 1
    return used


@njit(cache=True, nogil=True)
def _rarer_half(buffer, n, keys, ranks):  # type: ignore[no-untyped-def]
    """Replace the n grams of a name by their ranks, rare first; returns the size of the rarer half."""
    for k in range(n):
        buffer[k] = ranks[slot_of(keys, buffer[k])]
    _sort(buffer, n)
    return (n + 1) // 2


@njit(cache=True, nogil=True)
def count_postings(blob, offsets, buffer, keys, ranks, count):  # type: ignore[no-untyped-def]
    """Count the names that have a gram, by its rank, among their rarer half."""
    for i in range(len(offsets) - 1):
        n = _grams(blob, offsets[i], offsets[i + 1], buffer)
        for k in range(_rarer_half(buffer, n, keys, ranks)):
            count[buffer[k]] += 1


@njit(cache=True, nogil=True)
def fill_postings(blob, offsets, names, buffer, keys, ranks, low, free, postings, sketch):  # type: ignore[no-untyped-def]
    """Append the places of ``names`` to the lists of their grams, and sketch the names.

    Only grams from rank ``low`` on, and as many as ``free`` says where lists end so far, have a list.
    """
    high = low + len(free)
    for i in range(len(names)):
        name = np.int64(names[i])
        n = _grams(blob, offsets[name], offsets[name + 1], buffer)
        for k in range(n):
            sketch[i] |= _bit(buffer[k])
        for k in range(_rarer_half(buffer, n, keys, ranks)):
            rank = np.int64(buffer[k])
            if low <= rank < high:
                postings[free[rank - low]] = i
                free[rank - low] += 1


@njit(cache=True, nogil=True, inline="always")
def _bit(gram):  # type: ignore[no-untyped-def]
    """Bit of a gram in a sketch."""
    return uint64(1) << ((gram * uint64(0x9E3779B97F4A7C15)) >> uint64(58))


# ---------------------------------------------------------------------------------------------- query


@njit(cache=True, nogil=True)
def _layers(wanted):  # type: ignore[no-untyped-def]
    """Sketches of the query in layers: layer l has the bits that more than l of its grams share."""
    layers = np.zeros(max(len(wanted), 1), np.uint64)
    used = 0
    for k in range(len(wanted)):
        bit, layer = _bit(wanted[k]), 0
        while layers[layer] & bit:
            layer += 1
        layers[layer] |= bit
        used = max(used, layer + 1)
    return layers[:used]


@njit(cache=True, nogil=True)
def _at_most(sketch, layers):  # type: ignore[no-untyped-def]
    """Upper bound of the grams that a name shares with the query: those whose bit is set in its sketch."""
    shared = 0
    for layer in layers:
        shared += _ones(sketch & layer)
    return shared


@njit(cache=True, nogil=True, inline="always")
def _ones(x):  # type: ignore[no-untyped-def]
    """Number of bits set (the compiler makes one instruction of it)."""
    x = x - ((x >> uint64(1)) & uint64(0x5555555555555555))
    x = (x & uint64(0x3333333333333333)) + ((x >> uint64(2)) & uint64(0x3333333333333333))
    x = (x + (x >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * uint64(0x0101010101010101)) >> uint64(56))


@njit(cache=True, nogil=True)
def _ranked(letters, grams, rank):  # type: ignore[no-untyped-def]
    """Grams of the query from rare to frequent, with their ranks; −1 for grams that no name has."""
    buffer = np.empty(len(letters) + 1, np.uint64)
    n = _grams(letters, 0, len(letters), buffer)
    ranks = np.full(n, -1, np.int64)
    for k in range(n):
        g = np.searchsorted(grams, buffer[k])
        if g < len(grams) and grams[g] == buffer[k]:
            ranks[k] = rank[g]
    by_rank = np.argsort(ranks, kind="mergesort")
    return buffer[:n][by_rank], ranks[by_rank]


@njit(cache=True, nogil=True)
def find_closest(letters, blob, offsets, grams, rank, start, postings, sketch, order, bounds):  # type: ignore[no-untyped-def]
    """(name, |A ∩ B|, |A ∪ B|) of the best name, name −1 when none is more than half alike.

    Sizes are tried from the most to the least promising: s grams are at most min(m,s)/max(m,s) alike.
    At least ``need`` grams must be shared to equal the best so far, so one of the m − need + 1 rarest is.
    """
    wanted, ranks = _ranked(letters, grams, rank)
    layers, (table, place) = _layers(wanted), gram_table(wanted)
    m = len(wanted)
    mark, stamp = np.zeros(m, np.int64), 0
    best, shared, union = np.int64(-1), 1, 2
    smaller, larger = m, m + 1
    while m > 0:
        if smaller * larger >= m * m:  # s/m against m/s
            s, smaller = smaller, smaller - 1
        else:
            s, larger = larger, larger + 1
        if min(m, s) * union < shared * max(m, s):
            break  # all sizes that are left promise less
        k, need = 0, _needed(m, s, best, shared, union)
        while k < m - need + 1 and need <= s < len(bounds) - 1:
            at, end = _places_of_size(ranks[k], s, start, postings, bounds)
            for here in postings[at:end]:
                if _at_most(sketch[here], layers) < need:
                    continue
                name, stamp = np.int64(order[here]), stamp + 1
                first, last = np.int64(offsets[name]), np.int64(offsets[name + 1])
                common = _overlap(blob, first, last, table, place, mark, stamp, need)
                if common >= need and _better(name, common, m + s - common, best, shared, union):
                    best, shared, union = name, common, m + s - common
                    need = _needed(m, s, best, shared, union)
            k += 1
    return best, shared, union


@njit(cache=True, nogil=True, inline="always")
def _needed(m, s, best, shared, union):  # type: ignore[no-untyped-def]
    """Fewest common grams with which sets of m and s are as alike as the best (more than ½ at first)."""
    if best < 0:
        return (m + s) // 3 + 1
    return -((-shared * (m + s)) // (union + shared))


@njit(cache=True, nogil=True, inline="always")
def _better(name, shared, union, best, best_shared, best_union):  # type: ignore[no-untyped-def]
    """Whether a name is closer than the best so far, or as close and of a lower number."""
    if best < 0 or shared * best_union != best_shared * union:
        return shared * best_union > best_shared * union
    return name < best


@njit(cache=True, nogil=True)
def _places_of_size(rank, size, start, postings, bounds):  # type: ignore[no-untyped-def]
    """Range of the postings of a gram whose names have ``size`` grams."""
    if rank < 0:
        return 0, 0
    low, high = start[rank], start[rank + 1]
    first = low + np.searchsorted(postings[low:high], np.uint32(bounds[size]))
    return first, low + np.searchsorted(postings[low:high], np.uint32(bounds[size + 1]))


@njit(cache=True, nogil=True)
def gram_table(wanted):  # type: ignore[no-untyped-def]
    """A sparse hash table from distinct grams to their position."""
    slots = 64
    while slots < 4 * len(wanted):
        slots *= 2
    table, place = np.full(slots, EMPTY, np.uint64), np.zeros(slots, np.int64)
    for k in range(len(wanted)):
        slot = slot_of(table, wanted[k])
        table[slot], place[slot] = wanted[k], k
    return table, place


@njit(cache=True, nogil=True)
def _overlap(blob, at, stop, table, place, mark, stamp, need):  # type: ignore[no-untyped-def]
    """Number of grams a name shares with the query; gives up when ``need`` cannot be reached any more."""
    gram, letters, common = GRAM, 0, 0
    while at < stop:
        letter, at = decoded(blob, at)
        gram = ((gram << BITS) | uint64(letter)) & GRAM
        letters += 1
        if letters >= 3 or (at >= stop and letters < 3):
            slot = slot_of(table, gram)
            if table[slot] == gram and mark[place[slot]] != stamp:
                mark[place[slot]] = stamp
                common += 1
        if common + (stop - at) < need:  # every gram yet to come ends at another byte
            return 0
    return common


@njit(cache=True, nogil=True)
def find_alike(queries, blob, offsets, grams, rank, start, postings, sketch, order, bounds, most):  # type: ignore[no-untyped-def]
    """Names more than half alike of each of some names of the index itself, at most ``most`` of each.

    Returns two columns: the query, and a name that is like it. The closest sizes are looked at first.
    """
    left, right, used = np.empty(64, np.uint32), np.empty(64, np.uint32), 0
    seen = np.full(len(order), -1, np.int64)
    for q in range(len(queries)):
        name = np.int64(queries[q])
        letters = blob[np.int64(offsets[name]) : np.int64(offsets[name + 1])]
        wanted, ranks = _ranked(letters, grams, rank)
        layers, (table, place) = _layers(wanted), gram_table(wanted)
        m, found = len(wanted), 0
        mark, stamp = np.zeros(m, np.int64), 0
        smaller, larger = m, m + 1
        while m > 0 and found < most:
            if smaller * larger >= m * m:
                s, smaller = smaller, smaller - 1
            else:
                s, larger = larger, larger + 1
            if 2 * min(m, s) <= max(m, s):
                break  # sets of these sizes cannot share more than half
            need = (m + s) // 3 + 1
            for k in range(m - need + 1):
                if s >= len(bounds) - 1:
                    break
                at, end = _places_of_size(ranks[k], s, start, postings, bounds)
                for here in postings[at:end]:
                    if seen[here] == q or _at_most(sketch[here], layers) < need:
                        continue
                    seen[here] = q
                    other, stamp = np.int64(order[here]), stamp + 1
                    if other == name:
                        continue
                    first, last = np.int64(offsets[other]), np.int64(offsets[other + 1])
                    if _overlap(blob, first, last, table, place, mark, stamp, need) < need:
                        continue
                    if used == len(left):
                        left, right = _doubled(left), _doubled(right)
                    left[used], right[used] = name, other
                    used += 1
                    found += 1
                    if found == most:
                        break
                if found == most:
                    break
    return left[:used], right[:used]


@njit(cache=True, nogil=True)
def _doubled(column):  # type: ignore[no-untyped-def]
    """A column with twice the room."""
    longer = np.empty(2 * len(column), column.dtype)
    longer[: len(column)] = column
    return longer
