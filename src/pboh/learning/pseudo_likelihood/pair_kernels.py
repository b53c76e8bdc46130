"""Kernel that counts in how many documents two entities occur together."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def partners(offsets, entity, times, start, document, smallest, row, other, count, write):  # type: ignore[no-untyped-def]
    """Partners u ≥ e of every entity e in at least ``smallest`` documents; sizes first, then with ``write``.

    Entities are visited in ascending order and so are those of a document: ``after[d]`` always points to the
    first entity of document d that has not been visited. {e, e} counts documents that link e twice.
    """
    size = start.size - 1
    after = offsets[:-1].copy()
    tally = np.zeros(size, np.int32)
    touched = np.empty(size, np.int32)
    used = 0
    for e in range(size):
        found = 0
        for p in range(start[e], start[e + 1]):
            d = document[p]
            here = after[d]
            after[d] += 1
            for k in range(here if times[here] > 1 else here + 1, offsets[d + 1]):
                u = entity[k]
                if tally[u] == 0:
                    touched[found] = u
                    found += 1
                tally[u] += 1
        if write:
            for u in np.sort(touched[:found]):
                if tally[u] >= smallest:
                    other[used], count[used] = u, tally[u]
                    used += 1
        else:
            for t in range(found):
                used += tally[touched[t]] >= smallest
        for t in range(found):
            tally[touched[t]] = 0
        row[e + 1] = used
    return used
