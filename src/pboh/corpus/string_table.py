"""Numbers for strings in order of appearance: the table behind words, titles and targets of links.

A dictionary of Python would need an object for every word of every page; here a string is looked up where it
is, by compiled code.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pboh.corpus.string_table_kernels import LONGEST, Strings, has_room, number_string, rehash
from pboh.text.hash_kernels import EMPTY
from pboh.text.utf8_kernels import Int64, Uint64

Array = npt.NDArray[Any]


class StringTable(Strings):
    """Strings and their numbers; kernels take it as it is."""

    @classmethod
    def empty(cls, room: int = 1 << 12, unit: type[np.generic] = np.uint8) -> StringTable:
        """Room for some strings (a power of two) of UTF-8, or of another unit."""
        letters = np.empty(max(4 * LONGEST, 16 * room), dtype=unit)
        bounds = np.zeros(room + 1, dtype=np.int64)
        return cls(_slots(2 * room), bounds, letters, np.zeros(1, np.int64), np.zeros(3, np.int64))

    @classmethod
    def of(cls, texts: Iterable[str]) -> StringTable:
        """The given strings, numbered in their order."""
        strings = cls.empty()
        for text in texts:
            strings, _ = strings.add(text)
        return strings

    def add(self, text: str) -> tuple[StringTable, int]:
        """The table, one of UTF-8, with this string in it, and its number."""
        data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        strings = self.with_room(data.size)
        return strings, int(number_string(strings, data, 0, data.size, True))

    def with_room(self, length: int = LONGEST) -> StringTable:
        """The same strings, with room for one more that has ``length`` letters."""
        strings = self
        while not has_room(strings, length):
            table = _slots(2 * len(strings.table))
            rehash(strings.table, table)
            bounds = grown(strings.bounds, 2 * strings.bounds.size - 1)
            letters = grown(strings.letters, 2 * strings.letters.size)
            strings = StringTable(table, bounds, letters, strings.size, strings.single)
        return strings

    def strings(self, first: int = 0) -> tuple[Int64, Array]:
        """The strings from a number on: where each begins (and the last one ends), and the letters."""
        bounds = self.bounds[first : self.size[0] + 1]
        return bounds - bounds[0], self.letters[bounds[0] : bounds[-1]]

    def texts(self) -> list[str]:
        """The strings of a table of UTF-8, decoded."""
        bounds, letters = self.strings()
        data = letters.tobytes()
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]


def _slots(count: int) -> Uint64:
    """A table with free slots only (a power of two)."""
    return np.full((count, 2), EMPTY, np.uint64)


def grown(array: Array, room: int) -> Array:
    """The same content in a longer array."""
    larger = np.empty(room, dtype=array.dtype)
    larger[: array.size] = array
    return larger
