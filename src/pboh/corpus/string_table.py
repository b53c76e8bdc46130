"""Numbers for strings of bytes in order of appearance: the table behind words, titles and targets of links.

A dictionary of Python would need an object for every word of every page; here a string is looked up where it
stands, by compiled code.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pboh.corpus.compiled import Number, compiled
from pboh.corpus.instructions import eight_bytes

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]

LONGEST = 1024
"""Bytes a name may have."""


class StringTable(NamedTuple):
    """The names known, one behind the other: name k is ``letters[bounds[k] : bounds[k + 1]]``.

    ``table`` finds them by open addressing: pairs of a key and a number (0: free). ``size`` says how many.
    """

    table: Uint64
    bounds: Int64
    letters: Bytes
    size: Int64

    @classmethod
    def empty(cls, room: int = 1 << 12) -> StringTable:
        """Room for some names."""
        table = np.zeros(4 * room, dtype=np.uint64)
        bounds = np.zeros(room + 1, dtype=np.int64)
        return cls(
            table, bounds, np.empty(max(4 * LONGEST, 16 * room), dtype=np.uint8), np.zeros(1, np.int64)
        )

    @classmethod
    def of(cls, texts: Iterable[str]) -> StringTable:
        """The given names, numbered in their order."""
        names = cls.empty()
        for text in texts:
            names, _ = names.add(text)
        return names

    def add(self, text: str) -> tuple[StringTable, int]:
        """The names with this one among them, and its number."""
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        names = self.with_room(data.size)
        return names, int(numbered(names, data, 0, data.size, True))

    def with_room(self, length: int = LONGEST, count: int = 1) -> StringTable:
        """The same names, with room for so many more that have so many bytes together."""
        names = self
        while not has_room(names, length, count):
            table = np.zeros(2 * names.table.size, dtype=np.uint64)
            _rehash(names.table, table)
            bounds = grown(names.bounds, 2 * names.bounds.size - 1)
            names = StringTable(table, bounds, grown(names.letters, 2 * names.letters.size), names.size)
        return names

    def strings(self, first: int = 0) -> tuple[Int64, Bytes]:
        """The names from a number on, as UTF-8: where each begins (and the last one ends), and the bytes."""
        bounds = self.bounds[first : self.size[0] + 1]
        return bounds - bounds[0], self.letters[bounds[0] : bounds[-1]]

    def texts(self, first: int = 0) -> list[str]:
        """The names from a number on."""
        bounds, letters = self.strings(first)
        data = letters.tobytes()
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]


def grown(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    """The same content in a longer array."""
    larger = np.empty(room, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@compiled
def has_room(names: StringTable, length: int = LONGEST, count: int = 1) -> Number:
    """Whether so many more names fit that have so many bytes together."""
    size = names.size[0]
    return size + count + 1 < names.bounds.size and names.bounds[size] + length < names.letters.size


@compiled
def _mixed(key: np.uint64) -> np.uint64:
    """Spread a key's bits (Fibonacci hashing)."""
    key = (key ^ key >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ key >> np.uint64(32)


@compiled
def folded(hashed: np.uint64, packed: np.uint64) -> np.uint64:
    """The hash of a name with eight more bytes, packed into a number."""
    return _mixed(hashed * np.uint64(0xD6E8FEB86659FD93) + packed + np.uint64(1))


@compiled
def key_of(hashed: np.uint64, packed: np.uint64, length: Number) -> np.uint64:
    """The key of a name: of at most seven bytes the name itself and its length, of others a hash.

    ``hashed`` stands for as many eights of bytes as there are, ``packed`` holds those behind them.
    """
    if length < 8:
        return packed | np.uint64(length) << np.uint64(56)
    return folded(hashed, packed) | np.uint64(1 << 63)


@compiled
def slot_of(table: Uint64, key: np.uint64) -> np.uint64:
    """Where to look for a key first."""
    return _mixed(key) & np.uint64(table.size // 2 - 1)


@compiled
def found_at_once(names: StringTable, key: np.uint64, data: Bytes, start: Number, end: Number) -> Number:
    """The number of the name ``data[start:end]`` if it is where it is looked for first, else -1.

    Most names are; this is small enough to become part of a loop, while :func:`look_up` is called.
    """
    slot = slot_of(names.table, key)
    number = names.table[2 * slot + 1]
    if names.table[2 * slot] == key and number and _is_name(names, number, data, start, end):
        return np.int64(number) - 1
    return -1


@compiled
def look_up(names: StringTable, key: np.uint64, data: Bytes, start: Number, end: Number, add: bool) -> Number:
    """The number of the name ``data[start:end]``; that of a new one is the next, and it may be added."""
    table, bounds, letters, size = names.table, names.bounds, names.letters, names.size[0]
    mask = np.uint64(table.size // 2 - 1)
    slot = slot_of(table, key)
    while table[2 * slot + 1]:
        number = table[2 * slot + 1]
        if table[2 * slot] == key and _is_name(names, number, data, start, end):
            return np.int64(number) - 1
        slot = (slot + np.uint64(1)) & mask
    if add:
        for k in range(end - start):
            letters[bounds[size] + k] = data[start + k]
        bounds[size + 1] = bounds[size] + end - start
        table[2 * slot], table[2 * slot + 1] = key, size + 1
        names.size[0] = size + 1
    return size


@compiled
def _is_name(names: StringTable, number: np.uint64, data: Bytes, start: Number, end: Number) -> Number:
    """Whether ``data[start:end]`` is the name before this number, known that their keys are the same.

    Eight bytes are compared at once, the last eight first: with them, no byte behind the names is read.
    """
    here, rest = np.uint64(start), np.uint64(end - start)
    if rest < np.uint64(8):
        return True
    there, next_one = np.uint64(names.bounds[number - np.uint64(1)]), np.uint64(names.bounds[number])
    if next_one - there != rest:
        return False
    last, k = rest - np.uint64(8), np.uint64(0)
    differing = eight_bytes(names.letters, there + last) ^ eight_bytes(data, here + last)
    while k < last:
        differing |= eight_bytes(names.letters, there + k) ^ eight_bytes(data, here + k)
        k += np.uint64(8)
    return differing == 0


@compiled
def hashed_bytes(data: Bytes, start: Number, end: Number) -> tuple[np.uint64, np.uint64]:
    """What :func:`key_of` needs of a name."""
    hashed, packed = np.uint64(0), np.uint64(0)
    while end - start >= 8:
        hashed = folded(hashed, eight_bytes(data, start))
        start += 8
    for k in range(start, end):
        packed |= np.uint64(data[k]) << np.uint64(8 * (k - start))
    return hashed, packed


@compiled
def numbered(names: StringTable, data: Bytes, start: int, end: int, add: bool) -> Number:
    """:func:`look_up` of a name whose key is not known."""
    hashed, packed = hashed_bytes(data, start, end)
    key = key_of(hashed, packed, end - start)
    number = found_at_once(names, key, data, start, end)
    return number if number >= 0 else look_up(names, key, data, start, end, add)


@compiled
def _rehash(smaller: Uint64, larger: Uint64) -> None:
    """Put every name into a larger table."""
    mask = np.uint64(larger.size // 2 - 1)
    for pair in range(smaller.size // 2):
        if smaller[2 * pair + 1]:
            slot = slot_of(larger, smaller[2 * pair])
            while larger[2 * slot + 1]:
                slot = (slot + np.uint64(1)) & mask
            larger[2 * slot], larger[2 * slot + 1] = smaller[2 * pair], smaller[2 * pair + 1]
