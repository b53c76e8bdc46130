"""``pboh add-entities``: overlays made, listed and removed, in a model's folder or in a folder beside it.

A folder beside a model borrows its arrays: ``model.json`` names the model and says by a checksum which one it
was. That is how entities are added to a model that cannot be written to, or must stay as it is for others.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pboh.errors import InputError, ModelError, OutputError
from pboh.files import disk_errors, write_json, written_aside
from pboh.model.entries import Compiled, compile_entries, read_entries
from pboh.model.overlay import FOLDER, open_overlays
from pboh.model.store import FORMAT, MANIFEST, VERSION, Model, open_model, read_manifest, write_array

STARTER = "starter"  # the name of the model that comes with the package, wherever that lies
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# how entities are numbered, in a model's own arrays or in its parcel
_NUMBERING = ("title_blob", "title_offsets", "titles")


def add_entities(
    model: Path,
    source: Path,
    name: str | None = None,
    *,
    out: Path | None = None,
    skip_bad: bool = False,
    replace: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """Put the entities of a file on top of a model; returns the overlay's description, and what to know.

    With ``out`` the model stays as it is and ``out`` becomes a model that borrows from it.
    """
    name = name or source.name.split(".")[0]
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name for an overlay", todo="Use letters, digits, -, _ and .")
    entries, notes = read_entries(source, skip_bad)
    base, info = _opened(model, out)
    folder = out or model
    own = [overlay["name"] for overlay in info.get("overlays", [])]
    if replace and name in own:
        info["overlays"] = [overlay for overlay in info["overlays"] if overlay["name"] != name]
        lower = base.overlays[: len(base.overlays) - len(own)]
        base = Model(folder, info, base.arrays, open_overlays(folder, info, lower, base.entities))
    elif any(overlay.name == name for overlay in base.overlays):
        todo = "Choose another --name, or --replace it if it is the model's own"
        raise InputError(f"the model has an overlay {name!r} already", where=folder, todo=todo)
    compiled = compile_entries(base, entries)
    notes += [f"the model knows no {title!r}, which is linked" for title in compiled.unknown]
    return _written(folder, info, name, compiled), notes


def _opened(model: Path, out: Path | None) -> tuple[Model, dict[str, Any]]:
    """The model to add to, and the description that will name the overlay."""
    base = open_model(model)
    if not base.entities:
        raise ModelError("the model is empty", where=model)
    if out is None:
        if _is_starter(model):
            what = "the starter model belongs to the installation"
            raise OutputError(what, where=model, todo="Write a model beside it: --out FOLDER")
        return base, read_manifest(model)
    if not (out / MANIFEST).exists():
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            what, todo = "the folder is not empty and holds no model", "Choose another --out"
            raise OutputError(what, where=out, todo=todo)
        return base, _borrowed(base)
    info = read_manifest(out)
    if "base" not in info or info["base"]["fingerprint"] != fingerprint(base.info):
        raise OutputError("the folder holds another model", where=out, todo="Choose another --out")
    return open_model(out), info


def _written(folder: Path, info: dict[str, Any], name: str, compiled: Compiled) -> dict[str, Any]:
    """Write the arrays, then the description that vouches for them; the model opens at any moment."""
    place = folder / FOLDER / name
    created = datetime.now(UTC).isoformat(timespec="seconds")
    entry: dict[str, Any] = {"name": name, "created": created, **compiled.figures}
    with disk_errors(folder):
        if place.exists():  # it is to be replaced, or a run was killed
            write_json(folder / MANIFEST, _with_overlays(info, info.get("overlays", [])))
            shutil.rmtree(place)
        with written_aside(place) as aside:
            aside.mkdir()
            entry["arrays"] = {n: write_array(aside / f"{n}.npy", a) for n, a in compiled.arrays.items()}
        write_json(folder / MANIFEST, _with_overlays(info, [*info.get("overlays", []), entry]))
    return entry


def _with_overlays(info: dict[str, Any], overlays: list[dict[str, Any]]) -> dict[str, Any]:
    rest = {key: value for key, value in info.items() if key != "overlays"}
    return {**rest, "overlays": overlays} if overlays else rest


def overlays(model: Path) -> list[dict[str, Any]]:
    """Descriptions of a model's overlays, lowest first, those of the models it borrows from included."""
    info = read_manifest(model)
    below = overlays(base_folder(info)) if "base" in info else []
    return [*below, *({**overlay, "folder": str(model)} for overlay in info.get("overlays", []))]


def remove_entities(model: Path, name: str) -> dict[str, Any]:
    """Take an overlay away; the model is then what it was before, to the last bit. Returns what it was."""
    info = read_manifest(model)
    kept = [overlay for overlay in info.get("overlays", []) if overlay["name"] != name]
    gone = [overlay for overlay in info.get("overlays", []) if overlay["name"] == name]
    if not gone:
        lower = [o for o in overlays(model) if o["name"] == name]
        todo = f"It belongs to {lower[0]['folder']}" if lower else f"List them with: pboh overlays {model}"
        raise InputError(f"the model has no overlay {name!r} of its own", where=model, todo=todo)
    with disk_errors(model):
        write_json(model / MANIFEST, _with_overlays(info, kept))
        shutil.rmtree(model / FOLDER / name, ignore_errors=True)
        if not kept:
            shutil.rmtree(model / FOLDER, ignore_errors=True)
    return dict(gone[0])


# -- folders that borrow ----------------------------------------------------------------------------


def fingerprint(info: dict[str, Any]) -> str:
    """What tells a model's numbering of entities from another's; overlays do not change it."""
    if "base" in info:
        return str(info["base"]["fingerprint"])
    entries = {**info.get("parcel", {}), **info["arrays"]}
    sums = [entries[name]["sha256"] for name in _NUMBERING if name in entries]
    return hashlib.sha256(repr(sums).encode()).hexdigest()


def base_folder(info: dict[str, Any]) -> Path:
    """Folder of the model another one borrows from."""
    named = info["base"]["model"]
    if named != STARTER:
        return Path(named)
    from pboh.linker import starter_folder  # noqa: PLC0415  (it opens models)

    return starter_folder()


def open_base(folder: Path, info: dict[str, Any]) -> Model:
    """The model that ``folder`` borrows from, if it is still the same."""
    base = open_model(base_folder(info))
    if fingerprint(base.info) != info["base"]["fingerprint"]:
        raise ModelError(
            f"{base.folder}, from which this model borrows, is another model now", where=folder,
            todo="Add the entities again: pboh add-entities MODEL FILE --out FOLDER",
        )  # fmt: skip
    return base


def _borrowed(base: Model) -> dict[str, Any]:
    """The description of a new folder that borrows from a model."""
    named = STARTER if _is_starter(base.folder) else str(base.folder.resolve())
    own = ("arrays", "parcel", "overlays", "base")
    info = {key: value for key, value in base.info.items() if key not in own}
    head = {"format": FORMAT, "version": VERSION}
    return {**head, **info, "base": {"model": named, "fingerprint": fingerprint(base.info)}, "arrays": {}}


def _is_starter(folder: Path) -> bool:
    from pboh.linker import STARTER as PACKAGED  # noqa: PLC0415  (it opens models)

    return folder.resolve() == PACKAGED.resolve()
