"""The kernel that chooses which of overlapping names to keep."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import first_at_least


@njit(cache=True, nogil=True)
def best_cover(start, end, weight):  # type: ignore[no-untyped-def]
    """Choose spans that do not overlap and weigh most together; spans come in order of their end.

    best(k) = max(best(k−1), weight(k) + best(spans that end before k starts)): weighted interval scheduling.
    """
    n = start.size
    best = np.zeros(n + 1)
    before = np.empty(n, np.int64)
    for k in range(n):
        before[k] = first_at_least(end, 0, k, start[k] + 1)
        added = weight[k] + best[before[k]]
        best[k + 1] = added if added > best[k] else best[k]
    taken = np.zeros(n, np.bool_)
    k = n
    while k > 0:
        if best[k] > best[k - 1]:
            taken[k - 1] = True
            k = before[k - 1]
        else:
            k -= 1
    return taken


@njit(cache=True, nogil=True)
def strongest_rivals(start, end, weight):  # type: ignore[no-untyped-def]
    """The largest weight of another span that overlaps each one, 0 for none; spans ascend by their start."""
    out = np.zeros(start.size)
    for i in range(start.size):
        j = i + 1
        while j < start.size and start[j] < end[i]:
            out[i] = weight[j] if weight[j] > out[i] else out[i]
            out[j] = weight[i] if weight[i] > out[j] else out[j]
            j += 1
    return out
