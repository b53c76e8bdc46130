"""Open addressing over strings: the compiled half of :class:`~pboh.corpus.string_table.StringTable`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.text.hash_kernels import EMPTY, Array, hash_units, slot_of
from pboh.text.utf8_kernels import Bytes, Int64, Number, Uint64

LONGEST = 1024
"""Letters of a string that kernels may add without asking for room."""


class Strings(NamedTuple):
    """Strings one behind the other: string k is ``letters[bounds[k] : bounds[k + 1]]``, bytes or code points.

    ``table`` finds them by open addressing: rows of a hash, by which alone a string is known, and a number.
    ``size`` says how many there are; ``single`` is where :func:`number_string` puts its one string.
    """

    table: Uint64
    bounds: Int64
    letters: Array
    size: Int64
    single: Int64


@njit(cache=True, nogil=True)
def has_room(strings: Strings, length: int = LONGEST) -> Number:
    """Whether one more string of ``length`` letters fits."""
    size = strings.size[0]
    return size + 2 < strings.bounds.size and strings.bounds[size] + length < strings.letters.size


@njit(cache=True, nogil=True)
def number_strings(
    strings: Strings, data: Array, begins: Array, ends: Array, first: int, add: bool, numbers: Int64
) -> int:
    """Number the strings ``data[begins[k]:ends[k]]`` from ``first`` on; new ones get the next number.

    Returns how many are numbered: not all when new ones are added and there is no room for the next. All is
    one function: a call for every word would cost more than the work.
    """
    keys, places = strings.table[:, 0], strings.table[:, 1]
    bounds, letters, size = strings.bounds, strings.letters, strings.size[0]
    for k in range(first, begins.size):
        begin, end = begins[k], ends[k]
        if add and (size + 2 >= bounds.size or bounds[size] + end - begin >= letters.size):
            strings.size[0] = size
            return k
        key = hash_units(data, begin, end)
        slot = slot_of(keys, key)
        known = keys[slot] == key
        numbers[k] = np.int64(places[slot]) if known else size
        if add and not known:
            for at in range(end - begin):
                letters[bounds[size] + at] = data[begin + at]
            bounds[size + 1] = bounds[size] + end - begin
            keys[slot], places[slot] = key, size
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
    for row in range(len(smaller)):
        if smaller[row, 0] != EMPTY:
            slot = slot_of(larger[:, 0], smaller[row, 0])
            larger[slot, 0], larger[slot, 1] = smaller[row, 0], smaller[row, 1]
