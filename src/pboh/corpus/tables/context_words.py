"""Words around links and at the beginning of pages, counted per entity: N(w,e) of the paper, Section 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pboh.corpus.compiled import compiled
from pboh.corpus.instructions import lowest

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Rows = tuple[Int32, Int32, Int32]

_ROWS_AT_ONCE = 1 << 20


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
    words have in the result, in the same order. Rows must be used before the next are asked for: these
    are written over them.
    """
    order = _order(entities)
    entities, firsts, lasts = entities[order], firsts[order], lasts[order]
    room = max(_ROWS_AT_ONCE, names.size)
    rows = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))
    counts = np.zeros(names.size, dtype=np.int32)
    marks = np.zeros((names.size >> 6) + 1, dtype=np.uint64)
    groups = np.zeros((marks.size >> 6) + 1, dtype=np.uint64)
    here = 0
    while here < entities.size:
        here, written = _count(tokens, entities, firsts, lasts, here, counts, marks, groups, names, *rows)
        if written:
            yield rows[0][:written], rows[1][:written], rows[2][:written]


def _order(numbers: Int32) -> Int64:
    """``np.argsort(numbers, kind="stable")`` of numbers from zero: halves of 16 bits need no comparisons."""
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    high = (numbers >> 16).astype(np.uint16)
    return order[np.argsort(high[order], kind="stable")]


@compiled
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
    stretch to go on from and the number of rows written. Places are unsigned, as a negative one would have
    to be looked for at every step.
    """
    one, six = np.uint64(1), np.uint64(6)
    written = np.uint64(0)
    while here < entities.size:
        entity = entities[here]
        there, most = here, 0
        while there < entities.size and entities[there] == entity:
            most += lasts[there] - firsts[there]
            there += 1
        if np.int64(written) + min(most, counts.size) > out_word.size:
            break
        for stretch in range(here, there):
            for k in range(np.uint64(firsts[stretch]), np.uint64(lasts[stretch])):
                word = np.uint64(tokens[k])
                counts[word] += 1
                marks[word >> six] |= one << (word & np.uint64(63))
                groups[word >> np.uint64(12)] |= one << (word >> six & np.uint64(63))
        begin = written
        for high in range(np.uint64(groups.size if most else 0)):
            group, groups[high] = groups[high], 0
            while group:
                middle = high << six | lowest(group)
                group &= group - one
                mark, marks[middle] = marks[middle], 0
                while mark:
                    low = middle << six | lowest(mark)
                    mark &= mark - one
                    out_word[written] = names[low]
                    out_count[written], counts[low] = counts[low], 0
                    written += one
        out_entity[begin:written] = entity
        here = there
    return here, int(written)
