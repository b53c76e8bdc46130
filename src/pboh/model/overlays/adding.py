"""Overlays made, listed and removed, in a model's own folder or in one that borrows from it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pboh.errors import InputError
from pboh.files.writing import remove, written_aside
from pboh.model.derived import base_folder, changing_or_deriving
from pboh.model.overlays.entries import Compiled, compile_entries, read_entries
from pboh.model.overlays.opening import FOLDER
from pboh.model.store import MANIFEST, Model, read_manifest, with_overlays
from pboh.model.writing import changing, write_array, write_manifest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
        raise InputError(
            f"{name!r} is not a valid name for an overlay", todo="Use letters, digits, -, _ and ."
        )
    entries, notes = read_entries(source, skip_bad)
    with changing_or_deriving(model, out) as (base, folder, info):
        below = Model(folder, info, base.arrays, base.overlays)
        if replace:
            below = _without(below, name)
        if any(overlay.name == name for overlay in below.overlays):
            todo = "Choose another --name, or --replace it if it is the model's own"
            raise InputError(f"the model already has an overlay {name!r}", where=folder, todo=todo)
        compiled = compile_entries(below, entries)
        notes += [f"the model knows no {title!r}, which is linked" for title in compiled.unknown]
        return _written(folder, info, below, name, compiled), notes


def _without(model: Model, name: str) -> Model:
    """A model without its folder's overlay of that name; those of the models below stay."""
    own = model.info.get("overlays", [])
    info = _with_overlays(model.info, [overlay for overlay in own if overlay["name"] != name])
    lower = model.overlays[: len(model.overlays) - len(own)]
    return with_overlays(Model(model.folder, info, model.arrays, lower))


def _written(
    folder: Path, info: dict[str, Any], below: Model, name: str, compiled: Compiled
) -> dict[str, Any]:
    """Write the arrays, then the description that vouches for them; the model opens at any moment.

    ``info`` is the description so far. What it names is left alone until the new one is in its place, so an
    overlay that replaces another of its name gets a folder of another name.
    """
    home, used = folder / FOLDER, _folders(info)
    place = next(home / free for free in (name, f"{name}~") if free not in used)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    entry: dict[str, Any] = {"name": name, "created": created, **compiled.figures}
    if place.name != name:
        entry["folder"] = place.name
    try:
        remove(place)  # a run was killed
        with written_aside(place) as aside:
            aside.mkdir()
            entry["arrays"] = {n: write_array(aside / f"{n}.npy", a) for n, a in compiled.arrays.items()}
        write_manifest(folder / MANIFEST, _with_overlays(info, [*below.info.get("overlays", []), entry]))
        return entry
    finally:
        used = _folders(read_manifest(folder)) if (folder / MANIFEST).exists() else set()
        for left in home.glob("*"):
            if left.name not in used:
                remove(left)
        with suppress(OSError):
            home.rmdir()


def _folders(info: dict[str, Any]) -> set[str]:
    return {overlay.get("folder", overlay["name"]) for overlay in info.get("overlays", [])}


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
    read_manifest(model)
    with changing(model):
        info = read_manifest(model)
        kept = [overlay for overlay in info.get("overlays", []) if overlay["name"] != name]
        gone = [overlay for overlay in info.get("overlays", []) if overlay["name"] == name]
        if not gone:
            lower = [o["folder"] for o in overlays(model) if o["name"] == name]
            todo = f"List them with: pboh entities list --model {model}"
            todo = f"It belongs to {lower[0]}" if lower else todo
            raise InputError(f"the model has no overlay {name!r} of its own", where=model, todo=todo)
        write_manifest(model / MANIFEST, _with_overlays(info, kept))
        remove(model / FOLDER / gone[0].get("folder", name) if kept else model / FOLDER)
        return dict(gone[0])
