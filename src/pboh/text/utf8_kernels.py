"""Characters in UTF-8, for compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Number = Any
"""A whole number of whatever width: numba's rules for them are not mypy's."""


@njit(cache=True, nogil=True)
def decoded(data: Bytes, at: int) -> tuple[np.int64, int]:
    """The code point at a byte, and where the next one is; the text is known to be UTF-8."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, at + 1
    if first < 0xE0:
        return (first & 0x1F) << 6 | np.int64(data[at + 1] & 0x3F), at + 2
    second = np.int64(data[at + 1] & 0x3F) << 6 | np.int64(data[at + 2] & 0x3F)
    if first < 0xF0:
        return (first & 0xF) << 12 | second, at + 3
    return (first & 0x7) << 18 | second << 6 | np.int64(data[at + 3] & 0x3F), at + 4


@njit(cache=True, nogil=True)
def put(code: Number, letters: Bytes, at: int) -> int:
    """Write a code point as UTF-8; returns where the next one goes."""
    if code < 0x80:
        letters[at] = code
        return at + 1
    if code < 0x800:
        letters[at] = 0xC0 | code >> 6
        letters[at + 1] = 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        letters[at] = 0xE0 | code >> 12
        letters[at + 1] = 0x80 | code >> 6 & 0x3F
        letters[at + 2] = 0x80 | code & 0x3F
        return at + 3
    letters[at] = 0xF0 | code >> 18
    letters[at + 1] = 0x80 | code >> 12 & 0x3F
    letters[at + 2] = 0x80 | code >> 6 & 0x3F
    letters[at + 3] = 0x80 | code & 0x3F
    return at + 4


@njit(cache=True, nogil=True)
def is_blank(byte: Number) -> Number:
    """Whether a byte is white space of ASCII."""
    return 9 <= byte <= 13 or 28 <= byte <= 32


@njit(cache=True, nogil=True)
def blank_at(data: Bytes, at: int) -> int:
    """How many bytes of white space are here; 0 if none (what it is: ``str.isspace``)."""
    byte = data[at]
    if byte < 128:
        return 1 if is_blank(byte) else 0
    if byte == 0xC2:
        return 2 if data[at + 1] in (0x85, 0xA0) else 0
    if byte == 0xE2:
        second, third = data[at + 1], data[at + 2]
        if second == 0x80:
            return 3 if third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
        return 3 if second == 0x81 and third == 0x9F else 0
    if byte == 0xE1:
        return 3 if data[at + 1] == 0x9A and data[at + 2] == 0x80 else 0
    return 3 if byte == 0xE3 and data[at + 1] == 0x80 and data[at + 2] == 0x80 else 0


@njit(cache=True, nogil=True)
def blank_before(data: Bytes, first: int, end: int) -> int:
    """How many bytes the white space has that ends here and begins at ``first`` or later; 0 if none does."""
    for length in range(1, 4):
        if end - length >= first and data[end - length] & 0xC0 != 0x80:
            return length if blank_at(data, end - length) == length else 0
    return 0


@njit(cache=True, nogil=True)
def stripped_end(data: Bytes, first: int, end: int) -> int:
    """Where a text ends without the white space at its end."""
    while first < end and blank_before(data, first, end):
        end -= blank_before(data, first, end)
    return end


@njit(cache=True, nogil=True)
def stripped(data: Bytes, first: int, end: int) -> tuple[int, int]:
    """Where a text begins and ends without the white space around it."""
    while first < end and blank_at(data, first):
        first += blank_at(data, first)
    return first, stripped_end(data, first, end)
