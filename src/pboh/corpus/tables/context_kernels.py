"""Words counted per entity: N(w,e) of the paper."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.utf8_kernels import Int32, Int64, Number, Uint64

# multiplied by a single bit, a de Bruijn sequence has other six bits at its top for every place of that bit
_DE_BRUIJN = 0x03F79D71B4CB0A89
_PLACES = np.zeros(64, dtype=np.uint64)
for _place in range(64):
    _PLACES[(_DE_BRUIJN << _place & 0xFFFFFFFFFFFFFFFF) >> 58] = _place


@njit(cache=True, nogil=True)
def _lowest(bits: np.uint64) -> Number:
    """The place of the lowest bit that is set (one must be)."""
    single = bits & (~bits + np.uint64(1))
    return _PLACES[single * np.uint64(_DE_BRUIJN) >> np.uint64(58)]


@njit(cache=True, nogil=True)
def count_stretches(
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
                middle = high << six | _lowest(group)
                group &= group - one
                mark, marks[middle] = marks[middle], 0
                while mark:
                    low = middle << six | _lowest(mark)
                    mark &= mark - one
                    out_word[written] = names[low]
                    out_count[written], counts[low] = counts[low], 0
                    written += one
        out_entity[begin:written] = entity
        here = there
    return here, int(written)
