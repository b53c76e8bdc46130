"""The graph that names come from: who is whose neighbour, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pboh.errors import InputError
from pboh.text.hashing import Array

Edge = Sequence[Any]
"""Two ends, each the number of a row or a name, which means every row of that name."""
MOST_ENDS = 1_000  # rows that one name of an edge may mean


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Undirected edges: the neighbours of row i are ``other[start[i]:start[i + 1]]``, ascending."""

    start: Array
    other: Array

    @classmethod
    def of(cls, names: Sequence[str], edges: Iterable[Edge]) -> Neighbours:
        """Neighbours by edges between rows or names."""
        given = list(edges)
        columns = _numbers(given)
        if columns is None:
            return cls._by_name(names, given)
        bad = np.flatnonzero((columns < 0) | (columns >= len(names)))
        if bad.size:
            raise _no_row(int(bad[0]) // 2, int(columns.flat[bad[0]]), len(names))
        return cls.between(len(names), columns[:, 0], columns[:, 1])

    @classmethod
    def _by_name(cls, names: Sequence[str], edges: list[Edge]) -> Neighbours:
        rows: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            rows.setdefault(name, []).append(row)
        left, right = list[int](), list[int]()
        for number, edge in enumerate(edges):
            one, two = (_rows(number, end, rows, len(names)) for end in _two_ends(number, edge))
            left += [row for row in one for _ in two]
            right += [row for _ in one for row in two]
        return cls.between(len(names), np.asarray(left, np.int64), np.asarray(right, np.int64))

    @classmethod
    def between(cls, size: int, left: Array, right: Array) -> Neighbours:
        """Neighbours by two columns of row numbers; directions, repetitions and loops do not matter."""
        keep = left != right
        a, b = left[keep], right[keep]
        key = np.sort(np.concatenate([a * size + b, b * size + a]))
        key = key[np.r_[True, key[1:] != key[:-1]]] if key.size else key
        start = np.searchsorted(key, np.arange(size + 1, dtype=np.int64) * size)
        return cls(start, (key % max(size, 1)).astype(np.int32))

    def __getitem__(self, row: int) -> Array:
        return self.other[self.start[row] : self.start[row + 1]]

    @property
    def degree(self) -> Array:
        """Number of neighbours of every row."""
        return np.diff(self.start)


def _numbers(edges: list[Edge]) -> Array | None:
    """Edges between rows as two columns; None if they are something else."""
    try:
        columns: Array = np.asarray(edges)
    except ValueError:  # of different lengths
        return None
    if columns.size == 0:
        return np.empty((0, 2), np.int64)
    return columns.astype(np.int64) if columns.dtype.kind in "iu" and columns.shape[1:] == (2,) else None


def _two_ends(number: int, edge: Edge) -> tuple[Any, Any]:
    if not isinstance(edge, str | bytes):
        with suppress(TypeError, ValueError):
            left, right = edge
            return left, right
    raise InputError(f"edge {number} is {edge!r:.80}, not a pair of rows or names")


def _rows(number: int, end: Any, rows: dict[str, list[int]], size: int) -> list[int]:
    """The rows that one end of an edge means."""
    if isinstance(end, str):
        if end in rows:
            return rows[end][:MOST_ENDS]
        raise InputError(f"edge {number} names {end!r:.80}, which is not among the names")
    if isinstance(end, bool) or not isinstance(end, int | np.integer):
        raise InputError(f"edge {number} ends at {end!r:.80}, which is neither a row nor a name")
    if not 0 <= end < size:
        raise _no_row(number, int(end), size)
    return [int(end)]


def _no_row(number: int, row: int, size: int) -> InputError:
    return InputError(f"edge {number} ends at row {row}, and there are {size:,} names")
