"""The text of a page in a dump: its XML entities decoded by compiled code."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.corpus.utf8_kernels import Bytes, Number

_ORDINARY = np.ones(256, dtype=np.bool_)
"""Bytes of a text that are copied without a second look."""
_ORDINARY[:32] = False
_ORDINARY[[9, 10]] = True
_ORDINARY[list(b"<>&\xef")] = False


@njit(cache=True, nogil=True)
def unescape(data: Bytes, start: Number, out: Bytes) -> tuple[Number, Number]:
    """Copy text up to the next tag, ``&lt; &gt; &quot; &amp;`` decoded; returns where that is, and the size.

    The place is -1 if there is anything that MediaWiki does not write or that XML forbids or changes: other
    entities, controls, carriage returns, U+FFFE, U+FFFF, ``]]>``.
    """
    here, size, end, one = np.uint64(start), np.uint64(0), np.uint64(data.size), np.uint64(1)
    while here < end:
        byte = data[here]
        if byte == 60:  # <
            return np.int64(here), np.int64(size)
        length = one
        if byte == 38:  # &
            byte, length = _entity(data, np.int64(here))
            if not byte:
                return -1, 0
        elif not _ORDINARY[byte] and not _is_allowed(data, np.int64(here)):
            return -1, 0
        out[size] = byte
        here, size = here + length, size + one
        while here < end and _ORDINARY[data[here]]:
            out[size] = data[here]
            here, size = here + one, size + one
    return -1, 0


@njit(cache=True, nogil=True)
def _entity(data: Bytes, here: Number) -> tuple[np.uint8, np.uint64]:
    """The character of an entity that MediaWiki writes, and its length; 0 if it is another."""
    left = data.size - here
    if left > 3 and data[here + 2] == 116 and data[here + 3] == 59 and data[here + 1] in (103, 108):
        return np.uint8(60 if data[here + 1] == 108 else 62), np.uint64(4)
    if left > 4 and data[here + 1] == 97 and data[here + 2] == 109 and data[here + 3] == 112:
        return np.uint8(38 if data[here + 4] == 59 else 0), np.uint64(5)
    if left > 5 and data[here + 1] == 113 and data[here + 2] == 117 and data[here + 3] == 111:
        return np.uint8(34 if data[here + 4] == 116 and data[here + 5] == 59 else 0), np.uint64(6)
    return np.uint8(0), np.uint64(0)


@njit(cache=True, nogil=True)
def _is_allowed(data: Bytes, here: Number) -> bool:
    """Whether a byte that is not ordinary may stand there: no control, ``]]>``, U+FFFE or U+FFFF."""
    byte = data[here]
    if byte == 0xEF:
        return not (data.size - here > 2 and data[here + 1] == 0xBF and data[here + 2] >= 0xBE)
    return byte == 62 and not (data[here - 1] == 93 and data[here - 2] == 93)
