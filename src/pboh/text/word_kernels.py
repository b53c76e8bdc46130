"""Kernel that finds where words start and end (see :mod:`pboh.text.words`)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Int32 = npt.NDArray[np.int32]

LONGEST_WORD = 60
BREAK, LETTER, UNSPACED, DIGIT = 0, 1, 2, 3


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def find_words(codes: Int32, kinds: npt.NDArray[np.uint8], starts: Int32, ends: Int32) -> int:
    """Write where words start and end; returns how many there are."""
    found = 0
    here = 0
    while here < codes.size:
        kind = kinds[codes[here]]
        if kind == BREAK:
            here += 1
            continue
        first = here
        if kind == UNSPACED:
            while here < codes.size and kinds[codes[here]] == UNSPACED:
                here += 1
            for start in range(first, max(here - 1, first + 1)):
                starts[found], ends[found] = start, min(start + 2, here)
                found += 1
            continue
        letters = False
        while here < codes.size and (kinds[codes[here]] == LETTER or kinds[codes[here]] == DIGIT):
            letters |= kinds[codes[here]] == LETTER
            here += 1
        length = here - first
        if (letters and 2 <= length <= LONGEST_WORD) or (not letters and length == 4):
            starts[found], ends[found] = first, here
            found += 1
    return found
