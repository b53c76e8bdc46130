"""Writes model folders: a new one whole, array by array, or arrays added to one that is there."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from pboh.errors import OutputError
from pboh.files.writing import (
    checksum,
    claimed,
    disk_errors,
    flush_to_disk,
    put_in_place,
    remove,
    restore,
    write_json,
)
from pboh.model.overlays.opening import FOLDER
from pboh.model.store import FORMAT, MANIFEST, VERSION, digest, map_array
from pboh.text.hashing import Array

SCRATCH = "scratch"  # folder beside a model that is being written


def write_array(path: Path, array: Array) -> dict[str, Any]:
    """Write one array; returns its entry in the manifest."""
    array = np.ascontiguousarray(array)
    with disk_errors(path), path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
        file.write(array.reshape(-1).view(np.uint8).data)  # np.save would not say why it fails
    return _entry(path, array.dtype, list(array.shape))


def _entry(path: Path, dtype: Any, shape: list[int]) -> dict[str, Any]:
    """What the manifest says of an array."""
    return {"dtype": dtype.str, "shape": shape, "bytes": path.stat().st_size, "sha256": checksum(path)}


class ArrayFile:
    """An array that is written as it comes, so that it is never held.

    The type of an array of two dimensions says how long its rows are: ``(96,)|i1``.
    """

    def __init__(self, path: Path, dtype: str) -> None:
        self._dtype, self._row = np.dtype(dtype).base, np.dtype(dtype).shape
        self.path, self.size = path, 0
        with disk_errors(path):
            self._file = path.open("wb")
            self._write_header()

    def append(self, values: Array) -> None:
        """Write more of it."""
        values = np.ascontiguousarray(values, self._dtype)
        with disk_errors(self.path):
            self._file.write(values.reshape(-1).data)
        self.size += len(values)

    def close(self) -> dict[str, Any]:
        """Finish the file; returns its entry in the manifest."""
        with disk_errors(self.path):
            self._file.seek(0)
            self._write_header()
            self._file.close()
        return _entry(self.path, self._dtype, [self.size, *self._row])

    def _write_header(self) -> None:
        """The header of a ``.npy``, which leaves room for any size."""
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": (self.size, *self._row)}
        np.lib.format.write_array_header_1_0(self._file, header)


class ModelWriter:
    """Writes a new model aside and puts it in its place when everything is there.

    It holds the place until then, so that nobody else writes there and what a killed run left can go.
    """

    def __init__(self, folder: Path) -> None:
        restore(folder)
        if folder.exists() and any(folder.iterdir()) and not (folder / MANIFEST).exists():
            what = "the folder is not empty and contains no model"
            raise OutputError(what, where=folder, todo="Choose another --out")
        if (folder / FOLDER).exists():
            raise OutputError(
                "the model there has entities added to it, which a new one would lose",
                where=folder,
                todo="Remove them with: pboh entities remove, or choose another --out",
            )
        self.folder = folder
        self.entries: dict[str, dict[str, Any]] = {}
        self._work, self._held = folder.with_name(f".{folder.name}.tmp"), ExitStack()
        if folder.exists():
            self._held.enter_context(claimed(folder, folder))
        self._held.enter_context(claimed(self._work, folder))
        self.aside = self._work / "model"
        with disk_errors(folder):
            for left_over in self._work.glob("[!.]*"):
                remove(left_over)
            self.aside.mkdir()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was written aside, and let others write."""
        shutil.rmtree(self._work, ignore_errors=True)
        self._held.close()

    def add(self, name: str, array: Array) -> None:
        """Write one array."""
        self.entries[name] = write_array(self.aside / f"{name}.npy", array)

    def add_all(self, arrays: Mapping[str, Array]) -> None:
        """Write several arrays."""
        for name, array in arrays.items():
            self.add(name, array)

    @contextmanager
    def stream(self, **dtypes: str) -> Iterator[list[ArrayFile]]:
        """Write several arrays as they come."""
        files = [ArrayFile(self.aside / f"{name}.npy", dtype) for name, dtype in dtypes.items()]
        yield files
        self.entries |= {name: file.close() for name, file in zip(dtypes, files, strict=True)}

    def drop(self, name: str) -> None:
        """Take an array back."""
        del self.entries[name]
        (self.aside / f"{name}.npy").unlink()

    def mapped(self, name: str) -> Array:
        """An array that was written, mapped."""
        return map_array(self.aside / f"{name}.npy", self.entries[name])

    def scratch(self, name: str) -> Path:
        """A place for what is needed only until the model is finished."""
        (self._work / SCRATCH).mkdir(exist_ok=True)
        return self._work / SCRATCH / name

    def finish(self, info: dict[str, Any]) -> None:
        """Write ``model.json`` and put the folder in its place, replacing an older model."""
        manifest = {"format": FORMAT, "version": VERSION, **info, "arrays": self.entries}
        write_manifest(self.aside / MANIFEST, manifest)
        with disk_errors(self.folder):
            put_in_place(self.aside, self.folder)


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Hold a model folder for this process alone while it is changed, rid of what a killed run left."""
    with claimed(folder, folder), disk_errors(folder):
        for left_over in folder.rglob(".*.tmp"):
            remove(left_over)
        try:
            yield
        finally:
            for left_over in folder.glob(".*.tmp"):
                remove(left_over)


def put_arrays(
    folder: Path, info: dict[str, Any], arrays: dict[str, Array], gone: Iterable[str] = (), **about: Any
) -> None:
    """Add arrays to a model folder that is held by :func:`changing`, and what there is to say ``about`` them.

    ``info`` is its description; arrays in ``gone`` are taken away. Killed at any moment, the model still
    opens, and on a full disk it stays as it was: new files are written aside, the description forgets the old
    ones, files are renamed, and the full description comes last.
    """
    gone = {*gone, *arrays} & set(info["arrays"])
    entries = {name: write_array(folder / f".{name}.npy.tmp", array) for name, array in arrays.items()}
    kept = {name: entry for name, entry in info["arrays"].items() if name not in gone}
    info = {key: value for key, value in info.items() if key not in about} | {"arrays": kept}
    full = folder / f".full.{MANIFEST}.tmp"  # nothing has to be written once the first file has changed
    write_manifest(full, {**info, **about, "arrays": {**kept, **entries}} if arrays else info)
    if gone:
        write_manifest(folder / MANIFEST, info)
    for name in arrays:
        flush_to_disk(folder / f".{name}.npy.tmp")
        (folder / f".{name}.npy.tmp").replace(folder / f"{name}.npy")
    for name in gone - set(arrays):
        (folder / f"{name}.npy").unlink(missing_ok=True)
    full.replace(folder / MANIFEST)


def write_manifest(path: Path, info: dict[str, Any]) -> None:
    """Write a ``model.json``, with a checksum of what it says."""
    write_json(path, {**info, "checksum": digest(info)})
