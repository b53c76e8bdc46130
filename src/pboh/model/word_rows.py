"""Which rows of N(w,e) a model keeps when there are more than it may have.

A word that was seen twice says much about an entity with a dozen links, and little about one with a million.
So entities keep every row until many words were counted around their links; from there on, the smallest
N(w,e) that is kept grows by one with every doubling of these words.
"""

from __future__ import annotations

import numpy as np

from pboh.text.hashing import Array

STEPS = 4
"""Degrees to a doubling."""
COUNTS = 96
"""Larger N(w,e) are not told apart, and always kept."""


def degrees(total: Array) -> Array:
    """How many words were counted around the links of entities, in quarters of doublings."""
    return np.asarray(np.floor(STEPS * np.log2(np.maximum(total, 1).astype(np.float64))), np.int64)


def least_counts(degree: Array, free: int) -> Array:
    """The smallest N(w,e) kept of entities, if those up to the degree ``free`` keep all of their rows."""
    return np.asarray(np.clip((degree - free + STEPS - 1) // STEPS + 1, 1, COUNTS - 1), np.uint8)


def count_rows(rows: Array, degree: Array, count: Array) -> None:
    """Add rows to a table ``rows[degree, N(w,e)]`` of how many there are."""
    width = rows.shape[1]
    cells = degree * width + np.minimum(count, width - 1)
    rows += np.bincount(cells, minlength=rows.size).reshape(rows.shape)


def free_degree(rows: Array, most: int) -> int:
    """Up to which degree entities can keep all of their rows, if ``most`` are kept in all."""
    at_least = rows[:, ::-1].cumsum(axis=1)[:, ::-1]
    degree = np.arange(len(rows))
    lowest = -STEPS * COUNTS
    for free in range(len(rows), lowest, -1):
        if at_least[degree, least_counts(degree, free)].sum() <= most:
            return free
    return lowest
