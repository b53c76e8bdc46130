"""Words around links and at the beginning of pages, counted per entity: N(w,e) of the paper, Section 3."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pboh.corpus.tables.context_kernels import count_stretches

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
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
    order = np.argsort(entities, kind="stable")
    entities, firsts, lasts = entities[order], firsts[order], lasts[order]
    room = max(_ROWS_AT_ONCE, names.size)
    rows = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))
    counts = np.zeros(names.size, dtype=np.int32)
    marks = np.zeros((names.size >> 6) + 1, dtype=np.uint64)
    groups = np.zeros((marks.size >> 6) + 1, dtype=np.uint64)
    here = 0
    while here < entities.size:
        here, written = count_stretches(
            tokens, entities, firsts, lasts, here, counts, marks, groups, names, *rows
        )
        if written:
            yield rows[0][:written], rows[1][:written], rows[2][:written]
