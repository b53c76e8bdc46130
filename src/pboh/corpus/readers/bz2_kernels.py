"""Where the blocks and streams of a bz2 file begin: its marks, searched for at every bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

BLOCK = 0x314159265359  # the first digits of pi announce a block
END = 0x177245385090  # the digits of its square root announce the end of a stream


@njit(cache=True, nogil=True)
def _compare(data: npt.NDArray[np.uint8], at: int, positions: npt.NDArray[np.int64], found: int) -> int:
    """Add the marks that start in byte ``at`` to the ``found`` ones; returns how many there are then."""
    seven = np.int64(0)
    for k in range(at, at + 7):  # the last mark may end with the data
        seven = seven << 8 | (np.int64(data[k]) if k < data.size else 0)
    for shift in range(8):
        mark = seven >> (8 - shift) & 0xFFFFFFFFFFFF
        if mark in (BLOCK, END) and found < positions.size:
            position = at * 8 + shift
            positions[found] = position if mark == BLOCK else -position - 1
            found += 1
    return found


@njit(cache=True, nogil=True)
def find_marks(data: npt.NDArray[np.uint8], positions: npt.NDArray[np.int64]) -> int:
    """Write the bit positions of all marks, ``-position - 1`` for an end mark; returns how many there are."""
    found = 0
    # five whole bytes lie inside a mark at every shift, so every fourth pair of bytes hits every mark; nearly
    # all places are ruled out by looking at these
    likely = np.zeros(1 << 16, dtype=np.uint8)
    for shift in range(32):
        likely[BLOCK >> shift & 0xFFFF] = 1
        likely[END >> shift & 0xFFFF] = 1
    for pair in range(4, data.size - 1, 4):
        if likely[np.uint64(data[np.uint64(pair)]) << np.uint64(8) | np.uint64(data[np.uint64(pair + 1)])]:
            for at in range(pair - 4, min(pair, data.size - 5)):
                found = _compare(data, at, positions, found)
    return found
