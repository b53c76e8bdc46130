"""Words around links and at the beginning of pages, counted per entity: N(w,e) of the paper, Section 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numba import njit

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Rows = tuple[Int32, Int32, Int32]

_ROWS_AT_ONCE = 2 << 20


def windows(
    before: Int64, after: Int64, page_start: Int64, page_end: Int64, size: int
) -> tuple[Int64, Int64]:
    """First and last token of the two windows of each link, ``size`` tokens each way inside its page."""
    firsts = np.stack([np.maximum(page_start, before - size), after], axis=1)
    lasts = np.stack([before, np.minimum(page_end, after + size)], axis=1)
    return firsts.ravel(), np.maximum(firsts, lasts).ravel()


def count_words(tokens: Int32, entities: Int32, firsts: Int64, lasts: Int64, names: Int32) -> Iterator[Rows]:
    """Rows (entity, word, count) sorted by entity and word, of the tokens in the given stretches.

    ``entities[k]`` owns the stretch ``tokens[firsts[k]:lasts[k]]``; ``names`` are the numbers that
    words have in the result, in the same order.
    """
    order = np.argsort(entities, kind="stable")
    entities, firsts, lasts = entities[order], firsts[order], lasts[order]
    room = max(_ROWS_AT_ONCE, names.size)
    counts = np.zeros(names.size, dtype=np.int32)
    marks = np.zeros((names.size >> 6) + 1, dtype=np.uint64)
    groups = np.zeros((marks.size >> 6) + 1, dtype=np.uint64)
    here = 0
    while here < entities.size:
        rows = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))
        here, written = _count(tokens, entities, firsts, lasts, here, counts, marks, groups, names, *rows)
        if written:
            yield rows[0][:written], rows[1][:written], rows[2][:written]


# The place of the only bit that is set, looked up by six bits of a product (de Bruijn).
_SPREAD = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, dtype=np.int64)
for _place in range(64):
    _PLACES[(int(_SPREAD) << _place & (1 << 64) - 1) >> 58] = _place


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _lowest(bits: np.uint64) -> np.int64:
    """The place of the lowest bit that is set."""
    lowest = bits & (~bits + np.uint64(1))
    return _PLACES[(lowest * _SPREAD) >> np.uint64(58)]  # type: ignore[no-any-return, unused-ignore]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _count(
    tokens: Int32,
    entities: Int32,
    firsts: Int64,
    lasts: Int64,
    here: int,
    counts: Int32,
    marks: Uint64,
    groups: Uint64,
    names: Int32,
    out_entity: Int32,
    out_word: Int32,
    out_count: Int32,
) -> tuple[int, int]:
    """N(w,e) = number of tokens w in the stretches of e, for whole entities from stretch ``here`` on.

    A bit of ``marks`` says that a word was seen, a bit of ``groups`` that one of 64 words was: read from the
    lowest bit, they give the words in order without sorting. All are zero before and after. Returns the
    stretch to go on from and the number of rows written.
    """
    one = np.uint64(1)
    written = 0
    while here < entities.size:
        entity = entities[here]
        there, most = here, 0
        while there < entities.size and entities[there] == entity:
            most += lasts[there] - firsts[there]
            there += 1
        if written + min(most, counts.size) > out_word.size:
            break
        for stretch in range(here, there):
            for k in range(firsts[stretch], lasts[stretch]):
                word = np.uint64(tokens[k])
                counts[word] += 1
                marks[word >> np.uint64(6)] |= one << (word & np.uint64(63))
                groups[word >> np.uint64(12)] |= one << (word >> np.uint64(6) & np.uint64(63))
        for high in range(groups.size if most else 0):
            group, groups[high] = groups[high], 0
            while group:
                middle = high << 6 | _lowest(group)
                group &= group - one
                mark, marks[middle] = marks[middle], 0
                while mark:
                    low = middle << 6 | _lowest(mark)
                    mark &= mark - one
                    out_entity[written], out_word[written] = entity, names[low]
                    out_count[written], counts[low] = counts[low], 0
                    written += 1
        here = there
    return here, written
