"""The model folder: one ``.npy`` per array, mapped and shared, and ``model.json`` that vouches for them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from pboh.document import Facts
from pboh.errors import ModelError, OutputError
from pboh.files.kernel_cache import user_cache
from pboh.files.mapped import note_mapping
from pboh.files.writing import (
    checksum,
    read_json,
    restore,
    written_aside,
)
from pboh.model import types
from pboh.model.overlays.opening import FOLDER, Overlay, stacked
from pboh.text.hashing import Array, look_up, string_at

FORMAT = "pboh-model"
VERSION = 1
MANIFEST = "model.json"
SMALL = 16 << 20  # bytes of files that are compared with their checksums at every opening
LARGE = 1 << 30  # bytes whose first check takes seconds

ARRAYS: dict[str, tuple[str, int]] = {
    # what a model consists of: number type and dimensions of every array
    "title_blob": ("|u1", 1),  # UTF-8 of all titles, by entity
    "title_offsets": ("<i8", 1),
    "title_hash": ("<u8", 1),  # titles and redirects, by hash
    "title_buckets": ("<u4", 1),
    "title_entity": ("<u4", 1),
    "entity_occurrences": ("<u4", 1),  # links to the entity
    "entity_marginal": ("<i8", 1),  # c_e = Σ_e′ N(e,e′)
    "posting_offsets": ("<i8", 1),  # documents that link an entity, ascending
    "posting_document": ("<u4", 1),
    "head_entity": ("<i4", 1),  # entities with very long lists, and N(e,e′) among them
    "head_pairs": ("<i4", 2),
    "word_hash": ("<u8", 1),  # vocabulary, by hash
    "word_buckets": ("<u4", 1),
    "word_id": ("<i4", 1),
    "word_background": ("<f4", 1),  # p(w)
    "context_offsets": ("<i8", 1),  # N(w,e), words ascending within an entity
    "context_word": ("<i4", 1),
    "context_count": ("<u2", 1),
    "context_total": ("<f4", 1),  # Z_e
    "context_mass": ("<f4", 2),  # Σ_w N(w,e) of the kept words, per smallest count
    "context_types": ("<f4", 2),  # number of kept words, per smallest count
    "name_hash": ("<u8", 1),  # name forms, by hash
    "name_buckets": ("<u4", 1),
    "name_offsets": ("<u4", 1),
    "name_entity": ("<u4", 1),
    "name_layer": ("|u1", 1),
    "name_count": ("<f4", 1),
    # a model may also have entity_page (number of the wiki's page) and entity_id (Q-number), 0 = none,
    # what pboh.model.types describes, and vectors (pboh.model.vectors)
}
_REBUILD = "Copy the model again, or build it again with: pboh build COUNTS --out MODEL"


@dataclass(frozen=True, slots=True)
class Model:
    """An opened model: its description and its arrays, mapped from disk and never written."""

    folder: Path
    info: dict[str, Any]
    arrays: dict[str, Array]
    overlays: tuple[Overlay, ...] = ()

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __reduce__(self) -> tuple[Any, ...]:
        return shared_model, (self.folder,)

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    @property
    def entities(self) -> int:
        """How many entities the arrays describe; those of overlays have the numbers from there on."""
        return len(self.arrays["title_offsets"]) - 1

    def title(self, entity: int) -> str:
        """Title of an entity."""
        if entity >= self.entities:
            return self.overlay(entity).title(entity)
        return string_at(self.arrays["title_blob"], self.arrays["title_offsets"], entity)

    def titled(self, titles: list[str]) -> Array:
        """Own entities of these titles, −1 where there is none; elsewhere, a redirect is another thing."""
        at = look_up(self.arrays["title_hash"], self.arrays["title_buckets"], titles)
        out = np.full(len(titles), -1, np.int64)
        for k in np.flatnonzero(at >= 0).tolist():
            entity = int(self.arrays["title_entity"][at[k]])
            out[k] = entity if self.title(entity) == titles[k] else -1
        return out

    def id(self, entity: int) -> str | None:
        """Id of an entity elsewhere: its Wikidata item (``pboh entities ids``), or what it was added with."""
        if entity >= self.entities:
            return self.overlay(entity).id(entity)
        number = int(self.arrays["entity_id"][entity]) if "entity_id" in self.arrays else 0
        return f"Q{number}" if number else None

    def facts(self, entity: int) -> Facts:
        """Type of an entity (see :mod:`pboh.formats.types`), how probable that is, and its description."""
        if entity < self.entities:
            return types.facts_at(self.arrays, entity)
        facts = self.overlay(entity).facts(entity)
        return facts._replace(type="unknown") if not facts.type and "entity_type" in self.arrays else facts

    def type_codes(self, entities: Array) -> Array:
        """Codes of the types of entities, 0 (unknown) also for numbers that are none."""
        codes = np.zeros(entities.shape, np.uint8)
        for first, table in self._type_tables():
            own = (entities >= first) & (entities < first + table.size)
            codes[own] = table[entities[own] - first]
        return codes

    def _type_tables(self) -> Iterator[tuple[int, Array]]:
        """The types that the model and its overlays know, and the number of the first entity of each."""
        parts = [(0, self.arrays), *((overlay.first, overlay.arrays) for overlay in self.overlays)]
        yield from ((first, arrays["entity_type"]) for first, arrays in parts if "entity_type" in arrays)

    @property
    def has_types(self) -> bool:
        """Whether the types of its entities are known, or at least those of an overlay."""
        return any(True for _ in self._type_tables())

    def links(self, entity: int) -> int:
        """How many links of the corpus lead to an entity; none to one that was added."""
        return int(self.arrays["entity_occurrences"][entity]) if entity < self.entities else 0

    def documents(self, entity: int) -> int:
        """How many documents of the corpus link an entity."""
        if entity >= self.entities:
            return 0
        first, last = self.arrays["posting_offsets"][entity : entity + 2].tolist()
        return int(last - first)

    def overlay(self, entity: int) -> Overlay:
        """The overlay that brought an entity."""
        return next(overlay for overlay in reversed(self.overlays) if entity >= overlay.first)


def fingerprint(folder: Path) -> str:
    """Tells models apart: by their descriptions, which hold the checksums of the rest, and by their files."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("[!.]*") if path.is_file()):
        digest.update(f"{file.relative_to(folder)}\t{file.stat().st_size}\n".encode())
        if file.suffix == ".json":
            digest.update(file.read_bytes())
    return digest.hexdigest()


# -- opening ----------------------------------------------------------------------------------------


class _File(msgspec.Struct):
    """What a description says of a file."""

    bytes: int
    sha256: str


class _Array(_File):
    """What it says of an array."""

    dtype: str
    shape: list[int]


class _Overlay(msgspec.Struct):
    name: str
    arrays: dict[str, _Array]


class _Base(msgspec.Struct):
    model: str
    fingerprint: str


class _Totals(msgspec.Struct):
    documents: int
    pairs: int
    distinct_pairs: int


class _Description(msgspec.Struct):
    """What every ``model.json`` must hold, and of which kind what it may hold has to be."""

    totals: _Totals
    arrays: dict[str, _Array]
    overlays: list[_Overlay] = []
    parcel: dict[str, _File] = {}
    base: _Base | None = None
    language: str | None = None
    settings: dict[str, Any] = {}


def read_manifest(folder: Path) -> dict[str, Any]:
    """``model.json`` of a model folder, checked for format, version and damage."""
    restore(folder)
    if not folder.is_dir():
        raise ModelError(
            "there is no model folder here", where=folder, todo="Train one with: pboh train DUMP --out MODEL"
        )
    path = folder / MANIFEST
    info: dict[str, Any] = read_json(path, "the model's description", ModelError)
    if not isinstance(info, dict) or info.get("format") != FORMAT:
        raise ModelError("this is not a pboh model", where=path)
    if info.get("version") != VERSION:
        raise ModelError(
            f"the model has format version {info.get('version')}, this program reads version {VERSION}",
            where=folder,
            todo="Build it again with: pboh build COUNTS --out MODEL",
        )
    stated = info.pop("checksum", None)
    if stated is not None and stated != digest(info):
        todo = "Restore it; if you changed it on purpose, remove its checksum"
        raise ModelError("the model's description was altered (its checksum differs)", where=path, todo=todo)
    try:
        msgspec.convert(info, _Description)
    except msgspec.ValidationError as reason:
        what = f"the model's description is damaged ({reason})"
        raise ModelError(what, where=path, todo=_REBUILD) from None
    return info


def digest(info: dict[str, Any]) -> str:
    """The checksum of a description."""
    return hashlib.sha256(msgspec.json.encode(info, order="deterministic")).hexdigest()


def own_arrays(folder: Path, info: dict[str, Any]) -> dict[str, Array]:
    """The arrays that lie in a model folder itself."""
    files = {folder / f"{name}.npy": entry for name, entry in info["arrays"].items()}
    _check_once(folder, files)
    return {path.stem: map_array(path, entry) for path, entry in files.items()}


def open_model(folder: str | Path) -> Model:
    """Map a model; costs milliseconds whatever its size, except the first time, when its files are checked.

    Mappings are private copy-on-write, so the files can never be altered through them and all
    processes share the same pages of memory.
    """
    folder = Path(folder)
    info = read_manifest(folder)
    arrays = own_arrays(folder, info)
    below: tuple[Overlay, ...] = ()
    if "parcel" in info:
        from pboh.model.small.compressed import open_parcel  # noqa: PLC0415  (only pruned models need it)

        arrays = open_parcel(folder, info).arrays | arrays
    elif "base" in info:
        from pboh.model.derived import open_base  # noqa: PLC0415

        base = open_base(folder, info)
        arrays, below = base.arrays | arrays, base.overlays
    missing = set(ARRAYS) - set(arrays)
    if missing:
        what = f"the model lacks {', '.join(sorted(missing))}"
        raise ModelError(what, where=folder / MANIFEST, todo=_REBUILD)
    _check_types(folder, arrays)
    return with_overlays(Model(folder, info, arrays, below))


def _check_types(folder: Path, arrays: dict[str, Array]) -> None:
    wrong = types.wrong_with(arrays, len(arrays["title_offsets"]) - 1)
    if wrong:
        raise ModelError(f"a file of the model cannot be right: {wrong}", where=folder, todo=_REBUILD)


def shared_model(folder: Path) -> Model:
    """A model, opened once for this process as long as its description stays the same."""
    try:
        about = (folder / MANIFEST).stat()
        state = about.st_mtime_ns, about.st_size
    except OSError:
        state = 0, 0  # opening it will say what is wrong
    return _opened(folder, state)


@lru_cache(maxsize=8)
def _opened(folder: Path, state: tuple[int, int]) -> Model:
    return open_model(folder)


def with_overlays(model: Model) -> Model:
    """A model with the overlays of its folder, on top of those it has."""
    stack = model.overlays
    for entry in model.info.get("overlays", []):
        folder = model.folder / FOLDER / entry.get("folder", entry["name"])
        arrays = own_arrays(folder, entry)
        _check_types(folder, arrays)
        stack += (stacked(entry, arrays, stack, model.entities),)
    return Model(model.folder, model.info, model.arrays, stack)


def _check_once(folder: Path, files: dict[Path, dict[str, Any]]) -> None:
    """Compare files with their checksums: kernels rely on every offset and number in them.

    The files of a large model are compared once. They are known by size, times and place on the disk; as long
    as these stay the same, only that is looked at.
    """
    size, state = sum(entry["bytes"] for entry in files.values()), ""
    known = user_cache() / "checked" / hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
    if size > SMALL:
        with suppress(OSError):
            states = []
            for path, entry in files.items():
                now = path.stat()
                place = now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns
                states.append((path.name, entry["sha256"], place))
            state = hashlib.sha256(repr(states).encode()).hexdigest()
            if known.read_text() == state:
                return
    if size > LARGE:
        logging.getLogger("pboh").warning(f"checking the files of {folder}, once …")
    check_files(files)
    if state:
        with suppress(OSError, OutputError), written_aside(known) as aside:
            aside.write_text(state)


def check_files(files: dict[Path, dict[str, Any]]) -> None:
    """Compare files with their sizes and checksums, on all cores."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(check_file, files, files.values()))


def check_file(path: Path, entry: dict[str, Any]) -> None:
    """Compare a file of the model with the size and the checksum in its description."""
    try:
        size = path.stat().st_size
        what = f"has {size} bytes instead of {entry['bytes']}" if size != entry["bytes"] else ""
        if not what and checksum(path) != entry["sha256"]:
            what = "was altered (its checksum differs)"
    except FileNotFoundError:
        what = "is missing"
    except OSError as reason:
        what = f"cannot be read ({reason.strerror})"
    if what:
        raise ModelError(f"a file of the model {what}", where=path, todo=_REBUILD)


def map_array(path: Path, entry: dict[str, Any]) -> Array:
    """An array of a model, mapped, if it is what its entry in the description says."""
    try:
        # what is empty cannot be mapped
        array = np.load(path, mmap_mode=None if 0 in entry["shape"] else "c", allow_pickle=False)
    except (ValueError, OSError) as reason:
        what = f"a file of the model cannot be read ({reason})"
        raise ModelError(what, where=path, todo=_REBUILD) from reason
    if array.dtype.str != entry["dtype"] or list(array.shape) != entry["shape"]:
        raise ModelError("a file of the model is not what model.json says", where=path, todo=_REBUILD)
    note_mapping(array)
    return np.asarray(array)


def verify(folder: str | Path) -> None:
    """Compare every file with its checksum; raises :class:`ModelError` at the first that differs."""
    folder = Path(folder)
    info = open_model(folder).info
    files = {folder / f"{name}.npy": entry for name, entry in info["arrays"].items()}
    files |= {folder / f"{name}.zst": entry for name, entry in info.get("parcel", {}).items()}
    for overlay in info.get("overlays", []):
        place = folder / FOLDER / overlay.get("folder", overlay["name"])
        files |= {place / f"{name}.npy": entry for name, entry in overlay["arrays"].items()}
    check_files(files)
    if "parcel" in info:
        from pboh.model.small.compressed import unpacked_folder  # noqa: PLC0415

        if (place := unpacked_folder(info)).exists():
            verify(place)
    if "base" in info:
        from pboh.model.derived import base_folder  # noqa: PLC0415

        verify(base_folder(info))
