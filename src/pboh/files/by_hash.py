"""Rows brought into the order of a 64-bit hash without holding them all: an external sort.

Hashes are uniform, so their top bits cut any number of rows into parts of equal size. Rows wait in memory
until there are too many, and then in one file per part; a part is sorted in memory by whoever reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pboh.files.writing import disk_errors

Array = np.ndarray[Any, Any]

FILES = 256
"""Parts that rows are kept in on disk: one for each value of the top byte."""


class ByHash:
    """Collects rows (key, other columns) and gives them back in parts, by ascending ranges of keys.

    ``held`` bytes of rows are kept in memory at most, and no part is much larger than an eighth of that.
    Within a part, rows are in the order in which they were added.
    """

    def __init__(self, folder: Path, held: int, **columns: str) -> None:
        self._row = np.dtype([("key", "<u8"), *columns.items()])
        self._folder, self._most = folder, held
        self._held: list[Array] = []
        self._bytes = 0
        self._spilled = False

    def add(self, keys: Array, **columns: Array | int | float) -> None:
        """Add rows."""
        rows = np.empty(keys.size, self._row)
        rows["key"] = keys
        for name, values in columns.items():
            rows[name] = values
        self._held.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > self._most:
            self._spill()

    def parts(self) -> Iterator[tuple[int, int, Array]]:
        """First and last key of each part, and its rows; parts cover all possible keys and come only once."""
        if not self._spilled:
            yield from self._split(0, 64, self._gathered())
            return
        self._spill()
        for part in range(FILES):
            path = self._folder / f"{part:03}"
            rows = np.fromfile(path, self._row) if path.exists() else np.empty(0, self._row)
            path.unlink(missing_ok=True)
            yield from self._split(part << 56, 56, rows)
        self._folder.rmdir()

    def _gathered(self) -> Array:
        """What is held, which is then no longer held."""
        rows, self._held, self._bytes = self._held, [], 0
        return np.concatenate([np.empty(0, self._row), *rows])

    def _spill(self) -> None:
        """Append what is held to the files."""
        self._spilled = True
        self._folder.mkdir(exist_ok=True)
        rows, ends = _grouped(self._gathered(), 56, FILES)
        for part, (start, end) in enumerate(pairwise([0, *ends])):
            if start < end:
                with disk_errors(self._folder), (self._folder / f"{part:03}").open("ab") as file:
                    file.write(rows[start:end].data)

    def _split(self, first: int, bits: int, rows: Array) -> Iterator[tuple[int, int, Array]]:
        """Rows whose keys agree with ``first`` in all but the last ``bits`` bits, in parts that are small."""
        pieces = 1
        while pieces * self._most < 8 * rows.nbytes and pieces < FILES:
            pieces *= 2
        size = (1 << bits) // pieces
        rows, ends = _grouped(rows, size.bit_length() - 1, pieces)
        for piece, (start, end) in enumerate(pairwise([0, *ends])):
            low = first + piece * size
            yield low, low + size - 1, rows[start:end]


def _grouped(rows: Array, shift: int, groups: int) -> tuple[Array, list[int]]:
    """Rows by the ``groups`` values of their keys' bits from ``shift`` on, and where each group ends."""
    if groups == 1:
        return rows, [rows.size]
    group = ((rows["key"] >> np.uint64(shift)) & np.uint64(groups - 1)).astype(np.uint8)
    rows = rows[np.argsort(group, kind="stable")]
    return rows, np.cumsum(np.bincount(group, minlength=groups)).tolist()
