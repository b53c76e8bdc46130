"""The kernel that chooses which of overlapping names to keep."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, first_at_least


def best_cover(start: Array, end: Array, weight: Array) -> Array:
    """Choose spans that do not overlap and weigh most together; spans come in order of their end.

    best(k) = max(best(k−1), weight(k) + best(spans that end before k starts)): weighted interval scheduling.
    """
    taken = np.zeros(start.size, np.bool_)
    _best_cover(start, end, weight, np.zeros(start.size + 1), np.empty(start.size, np.int64), taken)
    return taken


@njit(cache=True, nogil=True)
def _best_cover(start, end, weight, best, before, taken):  # type: ignore[no-untyped-def]
    n = start.size
    for k in range(n):
        before[k] = first_at_least(end, 0, k, start[k] + 1)
        added = weight[k] + best[before[k]]
        best[k + 1] = added if added > best[k] else best[k]
    k = n
    while k > 0:
        if best[k] > best[k - 1]:
            taken[k - 1] = True
            k = before[k - 1]
        else:
            k -= 1


def strongest_rivals(start: Array, end: Array, weight: Array) -> Array:
    """The largest weight of another span that overlaps each one, 0 for none; spans ascend by their start."""
    out = np.zeros(start.size)
    _strongest_rivals(start, end, weight, out)
    return out


@njit(cache=True, nogil=True)
def _strongest_rivals(start, end, weight, out):  # type: ignore[no-untyped-def]
    for i in range(start.size):
        j = i + 1
        while j < start.size and start[j] < end[i]:
            out[i] = weight[j] if weight[j] > out[i] else out[i]
            out[j] = weight[i] if weight[i] > out[j] else out[j]
            j += 1
