"""Words around links and at the beginning of pages, counted per entity: N(w,e) of the paper, Section 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from numba import njit

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Rows = tuple[Int32, Int32, Int32]

_ROWS_AT_ONCE = 2 << 20


def windows(
    before: Int64, after: Int64, page_start: Int64, page_end: Int64, size: int
) -> tuple[Int64, Int64]:
    """First and last token of the two windows of each link, ``size`` tokens each way inside its page."""
    firsts = np.stack([np.maximum(page_start, before - size), after], axis=1)
    lasts = np.stack([before, np.minimum(page_end, after + size)], axis=1)
    return firsts.ravel(), np.maximum(firsts, lasts).ravel()


def count_words(
    tokens: Int32, entities: Int32, firsts: Int64, lasts: Int64, vocabulary: int
) -> Iterator[Rows]:
    """Rows (entity, word, count) sorted by entity and word, of the tokens in the given stretches.

    ``entities[k]`` owns the stretch ``tokens[firsts[k]:lasts[k]]``; words are below ``vocabulary``.
    """
    order = np.argsort(entities, kind="stable")
    entities, firsts, lasts = entities[order], firsts[order], lasts[order]
    room = max(_ROWS_AT_ONCE, vocabulary)
    counts = np.zeros(vocabulary, dtype=np.int32)
    seen = np.empty(vocabulary, dtype=np.int32)
    here = 0
    while here < entities.size:
        rows = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))
        here, written = _count(tokens, entities, firsts, lasts, here, counts, seen, *rows)
        if written:
            yield rows[0][:written], rows[1][:written], rows[2][:written]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _count(
    tokens: Int32,
    entities: Int32,
    firsts: Int64,
    lasts: Int64,
    here: int,
    counts: Int32,
    seen: Int32,
    out_entity: Int32,
    out_word: Int32,
    out_count: Int32,
) -> tuple[int, int]:
    """N(w,e) = number of tokens w in the stretches of e, for whole entities from stretch ``here`` on.

    ``counts`` is zero before and after. Returns the stretch to go on from and the number of rows written.
    """
    written = 0
    while here < entities.size:
        entity = entities[here]
        there, most = here, 0
        while there < entities.size and entities[there] == entity:
            most += lasts[there] - firsts[there]
            there += 1
        if written + min(most, counts.size) > out_word.size:
            break
        distinct = 0
        for stretch in range(here, there):
            for k in range(firsts[stretch], lasts[stretch]):
                word = tokens[k]
                if counts[word] == 0:
                    seen[distinct] = word
                    distinct += 1
                counts[word] += 1
        seen[:distinct].sort()
        for k in range(distinct):
            word = seen[k]
            out_entity[written], out_word[written], out_count[written] = entity, word, counts[word]
            counts[word] = 0
            written += 1
        here = there
    return here, written
