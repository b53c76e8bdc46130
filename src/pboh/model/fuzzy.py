"""The closest name by letter trigrams: the paper's rescue of unknown names, exact, over millions of names.

**Letter trigrams** of a name are the *set* of all runs of three code points in it, spaces and punctuation
included, without padding; a name of one or two code points has one gram, itself; an empty name has none
and is never close to anything. Callers lower-case. The distance of two names is 1 − |A ∩ B| / |A ∪ B|, and a
name is found only below 0.5 (section "Candidate Selection").

The index is a prefix filter. A Jaccard similarity above ½ means that more than half of either set is
shared. So, with grams ordered from rare to frequent the same way everywhere, the rarer halves of the two sets
must meet: only that half of each name is indexed, and frequent trigrams have almost no entries. Names are
numbered by the size of their gram set, so one range of a posting list holds the names of one size, and each
size has a sharper bound of its own. Of the names left, a 64-bit sketch of the gram set rules out nearly all
that share too little, and the others are verified on their text. A gram is three code points in one 64-bit
integer: no hash can collide.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit, uint64

from pboh.files.progress import Report, silent

Array = np.ndarray[Any, Any]

BLOCK = 1_000_000  # names between two progress reports

BITS = uint64(21)  # of a code point
GRAM = uint64(2**63 - 1)
NO_LETTER = uint64(2**21 - 1)  # no code point: stands for the letters that a shorter name lacks
EMPTY = uint64(2**64 - 1)


def build_index(blob: Array, offsets: Array, report: Report = silent) -> dict[str, Array]:
    """Index the UTF-8 names ``blob[offsets[i]:offsets[i + 1]]``; the arrays can be stored and mapped.

    grams     u8[G]    the distinct grams of all names, ascending
    rank      u4[G]    how rare each is, 0 = the fewest names (ties by gram)
    start     i8[G+1]  by rank: where its names begin in ``postings``
    postings  u4[]     places of names that have the gram among their rarer half, ascending
    sketch    u8[N]    by place: a bit for every gram of the name, several grams to a bit
    order     u4[N]    name at each place; places are sorted by the number of grams, then by name
    bounds    i8[S+1]  first place with at least that many grams
    """
    blob, offsets = np.ascontiguousarray(blob, np.uint8), np.ascontiguousarray(offsets, np.int64)
    names = len(offsets) - 1
    buffer = np.empty(int(np.diff(offsets).max(initial=0)) + 1, np.uint64)
    sizes = np.zeros(names, np.uint16 if len(buffer) < 2**16 else np.uint32)
    keys, counts = np.full(1 << 16, EMPTY), np.zeros(1 << 16, np.uint32)
    done = used = 0
    while done < names:
        stop = min(done + BLOCK, names)
        done, used = _count_grams(blob, offsets, done, stop, buffer, sizes, keys, counts, used)
        if 2 * used > len(keys):
            keys, counts = _grow(keys, counts)
        report(done, 3 * names, "trigrams counted")
    grams, rank = _rank(keys, counts)
    _replace_counts(keys, counts, grams, rank)
    order = np.argsort(sizes, kind="stable").astype(np.uint32)
    bounds = np.zeros(int(sizes.max(initial=0)) + 2, np.int64)
    np.cumsum(np.bincount(sizes, minlength=len(bounds) - 1), out=bounds[1:])
    del sizes

    free = np.zeros(len(grams) + 1, np.int64)
    for first in range(0, names, BLOCK):
        _count_postings(blob, offsets, first, min(first + BLOCK, names), buffer, keys, counts, free)
        report(names + first, 3 * names, "postings counted")
    start = np.concatenate([[0], np.cumsum(free[:-1])])
    postings, sketch, free = np.empty(start[-1], np.uint32), np.zeros(names, np.uint64), start[:-1].copy()
    for first in range(0, names, BLOCK):
        places = order[first : first + BLOCK]
        _fill_postings(blob, offsets, places, first, buffer, keys, counts, free, postings, sketch)
        report(2 * names + first, 3 * names, "postings written")
    report(3 * names, 3 * names)
    return {
        "grams": grams, "rank": rank, "start": start, "postings": postings,
        "sketch": sketch, "order": order, "bounds": bounds,
    }  # fmt: skip


def closest(
    index: Mapping[str, Array], blob: Array, offsets: Array, query: str, priority: Array | None = None
) -> tuple[int, float] | None:
    """Name at the smallest trigram distance of ``query``, and that distance; None if none is below 0.5.

    Of names at the same distance the one with the larger ``priority`` wins, then the lower number.
    """
    letters = np.frombuffer(query.encode("utf-8", "surrogatepass"), np.uint8)
    weight = np.zeros(0, np.float64) if priority is None else priority
    arrays = (index[name] for name in ("grams", "rank", "start", "postings", "sketch", "order", "bounds"))
    name, shared, union = _closest(
        *(_read_only(array) for array in (letters, blob, offsets, weight, *arrays))
    )
    return None if name < 0 else (int(name), 1 - shared / union)


def grams_of(name: str) -> frozenset[str]:
    """Letter trigrams of a name, as the definition says it."""
    if len(name) < 3:
        return frozenset([name] if name else [])
    return frozenset(name[i : i + 3] for i in range(len(name) - 2))


def _read_only(array: Array) -> Array:
    """Mapped and ordinary arrays as one type, so that the kernel is compiled once."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


# ---------------------------------------------------------------------------------------------- grams


@njit(cache=True, nogil=True, inline="always")
def _letter(blob, at, stop):  # type: ignore[no-untyped-def]
    """Code point of UTF-8 at ``at`` and where the next begins; a damaged byte is a letter of its own."""
    head = uint64(blob[at])
    if head < 0xC0 or head >= 0xF8:
        return head, at + 1
    more = 1 if head < 0xE0 else 2 if head < 0xF0 else 3
    if at + more >= stop:
        return head, at + 1
    letter = head & uint64(0x3F >> more)
    for k in range(1, more + 1):
        letter = (letter << uint64(6)) | uint64(blob[at + k] & 0x3F)
    return letter, at + more + 1


@njit(cache=True, nogil=True)
def _grams(blob, at, stop, out):  # type: ignore[no-untyped-def]
    """Write the distinct grams of a name to ``out``, ascending; returns how many there are."""
    gram, letters, n = GRAM, 0, 0
    while at < stop:
        letter, at = _letter(blob, at, stop)
        gram = ((gram << BITS) | letter) & GRAM
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


@njit(cache=True, nogil=True, inline="always")
def _slot(keys, gram):  # type: ignore[no-untyped-def]
    """Slot of a gram in an open-addressing table, or the empty one where it belongs."""
    mask = uint64(len(keys) - 1)
    slot = ((gram * uint64(0x9E3779B97F4A7C15)) >> uint64(32)) & mask
    while keys[slot] != gram and keys[slot] != EMPTY:
        slot = (slot + uint64(1)) & mask
    return slot


@njit(cache=True, nogil=True)
def _count_grams(blob, offsets, name, stop, buffer, sizes, keys, counts, used):  # type: ignore[no-untyped-def]
    """Count the names of every gram, until ``stop`` or until the table is half full."""
    while name < stop and 2 * used <= len(keys):
        n = _grams(blob, offsets[name], offsets[name + 1], buffer)
        sizes[name] = n
        for k in range(n):
            slot = _slot(keys, buffer[k])
            if keys[slot] == EMPTY:
                keys[slot] = buffer[k]
                used += 1
            counts[slot] += 1
        name += 1
    return name, used


@njit(cache=True, nogil=True)
def _grow(keys, counts):  # type: ignore[no-untyped-def]
    """Move the table to one four times as large."""
    more_keys = np.full(4 * len(keys), EMPTY, np.uint64)
    more_counts = np.zeros(4 * len(keys), np.uint32)
    for i in range(len(keys)):
        if keys[i] != EMPTY:
            slot = _slot(more_keys, keys[i])
            more_keys[slot], more_counts[slot] = keys[i], counts[i]
    return more_keys, more_counts


def _rank(keys: Array, counts: Array) -> tuple[Array, Array]:
    """Grams in ascending order, and how rare each is."""
    full = keys != EMPTY
    by_gram = np.argsort(keys[full])
    grams, frequency = keys[full][by_gram], counts[full][by_gram]
    rank = np.empty(len(grams), np.uint32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(len(grams), dtype=np.uint32)
    return grams, rank


@njit(cache=True, nogil=True)
def _replace_counts(keys, counts, grams, rank):  # type: ignore[no-untyped-def]
    for g in range(len(grams)):
        counts[_slot(keys, grams[g])] = rank[g]


@njit(cache=True, nogil=True)
def _rarer_half(buffer, n, keys, ranks):  # type: ignore[no-untyped-def]
    """Replace the n grams of a name by their ranks, rare first; returns the size of the rarer half."""
    for k in range(n):
        buffer[k] = ranks[_slot(keys, buffer[k])]
    _sort(buffer, n)
    return (n + 1) // 2


@njit(cache=True, nogil=True)
def _count_postings(blob, offsets, name, stop, buffer, keys, ranks, count):  # type: ignore[no-untyped-def]
    for i in range(name, stop):
        n = _grams(blob, offsets[i], offsets[i + 1], buffer)
        for k in range(_rarer_half(buffer, n, keys, ranks)):
            count[buffer[k]] += 1


@njit(cache=True, nogil=True)
def _fill_postings(blob, offsets, names, first, buffer, keys, ranks, free, postings, sketch):  # type: ignore[no-untyped-def]
    """Append places first, first + 1, … of ``names`` to the lists of their grams, and sketch the names."""
    for i in range(len(names)):
        name = np.int64(names[i])
        n = _grams(blob, offsets[name], offsets[name + 1], buffer)
        for k in range(n):
            sketch[first + i] |= _bit(buffer[k])
        for k in range(_rarer_half(buffer, n, keys, ranks)):
            postings[free[buffer[k]]] = first + i
            free[buffer[k]] += 1


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
def _closest(letters, blob, offsets, priority, grams, rank, start, postings, sketch, order, bounds):  # type: ignore[no-untyped-def]
    """(name, |A ∩ B|, |A ∪ B|) of the best name, name −1 when none is more than half alike.

    Sizes are tried from the most to the least promising: s grams are at most min(m,s)/max(m,s) alike.
    At least ``need`` grams must be shared to equal the best so far, so one of the m − need + 1 rarest is.
    """
    wanted, ranks = _ranked(letters, grams, rank)
    layers, (table, place) = _layers(wanted), _table(wanted)
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
                if common >= need and _better(name, common, m + s - common, best, shared, union, priority):
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
def _better(name, shared, union, best, best_shared, best_union, priority):  # type: ignore[no-untyped-def]
    """Whether a name is closer than the best so far, or as close and preferred."""
    if best < 0 or shared * best_union != best_shared * union:
        return shared * best_union > best_shared * union
    if len(priority) > 0 and priority[name] != priority[best]:
        return priority[name] > priority[best]
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
def _table(wanted):  # type: ignore[no-untyped-def]
    """A sparse hash table from grams of the query to their position."""
    slots = 64
    while slots < 4 * len(wanted):
        slots *= 2
    table, place = np.full(slots, EMPTY, np.uint64), np.zeros(slots, np.int64)
    for k in range(len(wanted)):
        slot = _slot(table, wanted[k])
        table[slot], place[slot] = wanted[k], k
    return table, place


@njit(cache=True, nogil=True)
def _overlap(blob, at, stop, table, place, mark, stamp, need):  # type: ignore[no-untyped-def]
    """Number of grams a name shares with the query; gives up when ``need`` cannot be reached any more."""
    gram, letters, common = GRAM, 0, 0
    while at < stop:
        letter, at = _letter(blob, at, stop)
        gram = ((gram << BITS) | letter) & GRAM
        letters += 1
        if letters >= 3 or (at >= stop and letters < 3):
            slot = _slot(table, gram)
            if table[slot] == gram and mark[place[slot]] != stamp:
                mark[place[slot]] = stamp
                common += 1
        if common + (stop - at) < need:  # every gram yet to come ends at another byte
            return 0
    return common
