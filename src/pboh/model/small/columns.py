"""Numbers as small compressed files: differences, logarithms, and planes of equal bytes under Zstandard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pboh.files.compression import zstd
from pboh.files.writing import checksum, disk_errors
from pboh.model.store import check_file
from pboh.text.hashing import Array

LEVEL = 19
STEP = 0.1  # of logarithms: values are right to 5 %
LEAST = 0.005  # the smallest value; larger ones up to e^20
AT_A_TIME = 1 << 20  # numbers


def differences(values: Array, starts: Array | None = None) -> Array:
    """Ascending numbers as steps from one to the next; at ``starts`` a list begins anew."""
    values = values.view(f"u{values.itemsize}")  # no number is negative
    steps = values.copy()
    steps[1:] -= values[:-1]
    if starts is not None:
        inside = starts[(starts > 0) & (starts < values.size)]
        steps[inside] = values[inside]
    return steps


def sums(steps: Array, starts: Array | None = None) -> Array:
    """The opposite of :func:`differences`."""
    total = np.cumsum(steps.astype(np.uint64), dtype=np.uint64)
    if starts is None or not steps.size:
        return total
    begins = starts[starts < steps.size]
    before = np.where(begins > 0, total[np.maximum(begins - 1, 0)], np.uint64(0))
    # lists of size 0 begin where the next one does, and take none of it
    return np.asarray(total - np.repeat(before, np.diff(np.append(begins, steps.size))))


def logarithms(values: Array) -> Array:
    """Positive values in steps of 10 %, as bytes from 1 on; 0 for 0."""
    logs = np.rint(np.log(np.maximum(values, LEAST) / LEAST) / STEP) + 1
    return np.where(values > 0, np.clip(logs, 1, 255), 0).astype(np.uint8)


def exponentials(codes: Array) -> Array:
    """The opposite of :func:`logarithms`, to 5 %."""
    return np.where(codes > 0, LEAST * np.exp(STEP * (codes.astype(np.float64) - 1)), 0.0).astype(np.float32)


class ColumnWriter:
    """Writes columns of unsigned integers as compressed planes of bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.columns: dict[str, dict[str, Any]] = {}

    def add(self, name: str, values: Array) -> None:
        """Write a column in as many bytes a value as its largest needs."""
        width = max(1, (int(values.max(initial=0)).bit_length() + 7) // 8)
        planes = np.empty((width, values.size), np.uint8)
        for first in range(0, values.size, AT_A_TIME):
            wide = np.ascontiguousarray(values[first : first + AT_A_TIME], np.uint64)
            planes[:, first : first + AT_A_TIME] = wide.view(np.uint8).reshape(-1, 8)[:, :width].T
        self.add_bytes(name, planes.reshape(-1), width)

    def add_bytes(self, name: str, data: Array, width: int = 1) -> None:
        """Write a file of bytes."""
        path = self.folder / f"{name}.zst"
        with disk_errors(path):
            path.write_bytes(zstd.compress(data.data, LEVEL) if data.size else b"")
        size = {"bytes": path.stat().st_size, "raw": data.size, "width": width}
        self.columns[name] = {**size, "sha256": checksum(path)}


class ColumnReader:
    """Reads what :class:`ColumnWriter` wrote."""

    def __init__(self, folder: Path, columns: dict[str, dict[str, Any]]) -> None:
        self.folder, self.columns = folder, columns

    def bytes(self, name: str) -> bytes:
        """What a file holds, if its checksum is right."""
        path = self.folder / f"{name}.zst"
        check_file(path, self.columns[name])
        return zstd.decompress(path.read_bytes()) if self.columns[name]["raw"] else b""

    def __call__(self, name: str, dtype: type[np.generic] = np.uint64) -> Array:
        """The values of a column."""
        planes = np.frombuffer(self.bytes(name), np.uint8).reshape(self.columns[name]["width"], -1)
        values = np.zeros((planes.shape[1], 8), np.uint8)
        values[:, : len(planes)] = planes.T
        return values.view(np.uint64)[:, 0].astype(dtype)
