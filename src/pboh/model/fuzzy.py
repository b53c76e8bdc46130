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

from collections.abc import Iterator, Mapping

import numpy as np

from pboh.model.fuzzy_kernels import (
    count_postings,
    fill_postings,
    find_alike,
    find_closest,
    gram_table,
    list_grams,
)
from pboh.model.tables import offsets_of_sizes, run_starts, sums_of_runs
from pboh.text.hashing import Array

INDEX = ("grams", "rank", "start", "postings", "sketch", "order", "bounds")
AT_A_TIME = 1 << 18  # names whose grams are sorted together


def build_index(blob: Array, offsets: Array) -> dict[str, Array]:
    """Index the UTF-8 names ``blob[offsets[i]:offsets[i + 1]]``; the arrays can be stored and mapped.

    grams     u8[G]    the distinct grams of all names, ascending
    rank      u4[G]    how rare each is, 0 = the fewest names (ties by gram)
    start     i8[G+1]  by rank: where its names begin in ``postings``
    postings  u4[]     places of names that have the gram among their rarer half, ascending
    sketch    u8[N]    by place: a bit for every gram of the name, several grams to a bit
    order     u4[N]    name at each place; places are sorted by the number of grams, then by name
    bounds    i8[S+1]  first place with at least that many grams
    """
    parts: dict[str, list[Array]] = {}
    for name, array in index_parts(blob, offsets):
        parts.setdefault(name, []).append(array)
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def index_parts(blob: Array, offsets: Array, held: int = 1 << 40) -> Iterator[tuple[str, Array]]:
    """The arrays of :func:`build_index`, of which ``postings`` may come in parts of about ``held`` bytes."""
    blob, offsets = np.ascontiguousarray(blob, np.uint8), np.ascontiguousarray(offsets, np.int64)
    names = len(offsets) - 1
    steps = (offsets[first : first + AT_A_TIME + 1] for first in range(0, len(offsets), AT_A_TIME))
    longest = max(int(np.diff(some).max(initial=0)) for some in steps)
    buffer = np.empty(longest + 1, np.uint64)
    sizes = np.zeros(names, np.uint16 if len(buffer) < 2**16 else np.uint32)
    grams, frequency = _frequencies(blob, offsets, buffer, sizes)
    rank = np.empty(len(grams), np.uint32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(len(grams), dtype=np.uint32)
    order = np.argsort(sizes, kind="stable").astype(np.uint32)
    bounds = offsets_of_sizes(np.bincount(sizes, minlength=1))
    del sizes
    yield from (("grams", grams), ("rank", rank), ("order", order), ("bounds", bounds))

    keys, place = gram_table(grams)
    ranks = rank[place] if len(grams) else place.astype(np.uint32)
    count = np.zeros(len(grams), np.int64)
    count_postings(blob, offsets, buffer, keys, ranks, count)
    start = offsets_of_sizes(count)
    yield "start", start
    sketch = np.zeros(names, np.uint64)
    yield "postings", np.empty(0, np.uint32)
    for low, high in _stretches(start, held // 4):
        postings, free = np.empty(start[high] - start[low], np.uint32), start[low:high] - start[low]
        fill_postings(blob, offsets, order, buffer, keys, ranks, low, free, postings, sketch)
        yield "postings", postings
    yield "sketch", sketch


def _stretches(start: Array, most: int) -> Iterator[tuple[int, int]]:
    """Neighbouring lists that have ``most`` entries together, or a single one that has more."""
    low = 0
    while low < len(start) - 1:
        high = max(low + 1, int(np.searchsorted(start, start[low] + most, side="right")) - 1)
        yield low, high
        low = high


def closest(index: Mapping[str, Array], blob: Array, offsets: Array, query: str) -> tuple[int, float] | None:
    """Name at the smallest trigram distance of ``query``, and that distance; None if none is below 0.5.

    Of names at the same distance the one with the lower number wins.
    """
    letters = np.frombuffer(query.encode("utf-8", "surrogatepass"), np.uint8)
    arrays = (index[name] for name in INDEX)
    name, shared, union = find_closest(*(_read_only(array) for array in (letters, blob, offsets, *arrays)))
    return None if name < 0 else (int(name), 1 - shared / union)


def alike(
    index: Mapping[str, Array], blob: Array, offsets: Array, queries: Array, most: int
) -> tuple[Array, Array]:
    """Pairs of a name among ``queries`` and another name of the index at a distance below 0.5.

    Of each name at most ``most`` pairs, those of the most similar size first.
    """
    arrays = (queries, blob, offsets, *(index[name] for name in INDEX))
    left, right = find_alike(*[*map(_read_only, arrays), most])
    return left, right


def _read_only(array: Array) -> Array:
    """Mapped and ordinary arrays as one type, so that the kernel is compiled once."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _frequencies(blob: Array, offsets: Array, buffer: Array, sizes: Array) -> tuple[Array, Array]:
    """The grams of all names, ascending, and the number of names that have each; fills ``sizes``."""
    parts = [(np.empty(0, np.uint64), np.empty(0, np.int64))]
    for first in range(0, len(sizes), AT_A_TIME):
        last = min(first + AT_A_TIME, len(sizes))
        out = np.empty(int(offsets[last] - offsets[first]), np.uint64)
        used = list_grams(blob, offsets, first, last, buffer, sizes, out)
        parts.append(np.unique(out[:used], return_counts=True))
    grams, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(grams, kind="stable")
    starts = run_starts(grams[order])
    return grams[order][starts], sums_of_runs(counts[order], starts)
