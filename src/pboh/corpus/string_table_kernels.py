"""Open addressing over byte strings: the compiled half of :class:`~pboh.corpus.string_table.StringTable`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.corpus.utf8_kernels import Bytes, Int64, Number, Uint64

LONGEST = 1024
"""Bytes of a string that kernels may add without asking for room."""


class Strings(NamedTuple):
    """Strings one behind the other: string k is ``letters[bounds[k] : bounds[k + 1]]``.

    ``table`` finds them by open addressing: pairs of a key and a number (0: free). ``size`` says how many
    there are; ``single`` is where :func:`number_string` puts its one string.
    """

    table: Uint64
    bounds: Int64
    letters: Bytes
    size: Int64
    single: Int64


@njit(cache=True, nogil=True)
def has_room(strings: Strings, length: int = LONGEST) -> Number:
    """Whether one more string of ``length`` bytes fits."""
    size = strings.size[0]
    return size + 2 < strings.bounds.size and strings.bounds[size] + length < strings.letters.size


@njit(cache=True, nogil=True)
def _mixed(key: np.uint64) -> np.uint64:
    """Spread a key's bits (Fibonacci hashing)."""
    key = (key ^ key >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ key >> np.uint64(32)


@njit(cache=True, nogil=True)
def number_strings(
    strings: Strings, data: Bytes, begins: Int64, ends: Int64, first: int, add: bool, numbers: Int64
) -> int:
    """Number the strings ``data[begins[k]:ends[k]]`` from ``first`` on; new ones get the next number.

    Returns how many are numbered: not all when new ones are added and there is no room for the next. The key
    of a string is, up to seven bytes, the string itself and its length, of longer ones a hash. All is one
    function: a call for every word would cost more than the work.
    """
    table, bounds, letters, size = strings.table, strings.bounds, strings.letters, strings.size[0]
    one, eight, mask = np.uint64(1), np.uint64(8), np.uint64(table.size // 2 - 1)
    for k in range(first, begins.size):
        start, length = np.uint64(begins[k]), np.uint64(ends[k] - begins[k])
        if add and (size + 2 >= bounds.size or bounds[size] + np.int64(length) >= letters.size):
            strings.size[0] = size
            return k
        key = packed = np.uint64(0)
        for at in range(length):
            packed |= np.uint64(data[start + at]) << eight * (at & np.uint64(7))
            if at & np.uint64(7) == np.uint64(7):
                key, packed = _mixed(key * np.uint64(0xD6E8FEB86659FD93) + packed + one), np.uint64(0)
        if length < eight:
            key = packed | length << np.uint64(56)
        else:
            key = _mixed(key * np.uint64(0xD6E8FEB86659FD93) + packed + one) | np.uint64(1 << 63)
        slot = _mixed(key) & mask
        number = table[slot << one | one]
        while number:
            if table[slot << one] == key:
                there = np.uint64(bounds[number - one])
                differs = length >= eight and np.uint64(bounds[number]) - there != length
                if length >= eight and not differs:
                    for at in range(length):
                        differs |= letters[there + at] != data[start + at]
                if not differs:
                    break
            slot = (slot + one) & mask
            number = table[slot << one | one]
        numbers[k] = np.int64(number) - 1 if number else size
        if add and not number:
            for at in range(length):
                letters[np.uint64(bounds[size]) + at] = data[start + at]
            bounds[size + 1] = bounds[size] + np.int64(length)
            table[slot << one], table[slot << one | one] = key, size + 1
            size += 1
    strings.size[0] = size
    return begins.size


@njit(cache=True, nogil=True)
def number_string(strings: Strings, data: Bytes, start: int, end: int, add: bool) -> Number:
    """The number of the string ``data[start:end]``, which may be added: there must be room."""
    single = strings.single
    single[0], single[1] = start, end
    number_strings(strings, data, single[0:1], single[1:2], 0, add, single[2:3])
    return single[2]


@njit(cache=True, nogil=True)
def rehash(smaller: Uint64, larger: Uint64) -> None:
    """Put every string into a larger table."""
    mask = np.uint64(larger.size // 2 - 1)
    for pair in range(smaller.size // 2):
        if smaller[2 * pair + 1]:
            slot = _mixed(smaller[2 * pair]) & mask
            while larger[2 * slot + 1]:
                slot = (slot + np.uint64(1)) & mask
            larger[2 * slot], larger[2 * slot + 1] = smaller[2 * pair], smaller[2 * pair + 1]
