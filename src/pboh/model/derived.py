"""Folders that borrow: a model with something added, whose arrays lie in the folder of another model.

``model.json`` names the other model and says by a checksum which one it was. That is how entities or ids are
added to a model that cannot be written to, that others use, or that comes with the package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pboh.errors import ModelError, OutputError
from pboh.model.store import FORMAT, MANIFEST, VERSION, Model, open_model, read_manifest
from pboh.model.writing import changing

STARTER = Path(__file__).parents[1] / "starter"
"""The small model that comes with the package."""
_STARTER = "starter"  # what descriptions call it, wherever that lies
# how entities are numbered, in a model's own arrays or in its parcel
_NUMBERING = ("title_blob", "title_offsets", "titles")


def to_change(model: Path, out: Path | None) -> tuple[Model, Path, dict[str, Any]]:
    """The model to add something to, the folder that it goes into, and the description there.

    Without ``out`` that is the model's own folder; ``out`` may be new, or borrow from the model already.
    """
    base = open_model(model)
    if not base.entities:
        raise ModelError("the model is empty", where=model)
    if out is None:
        if _is_starter(model):
            what = "the starter model belongs to the installation"
            raise OutputError(what, where=model, todo="Write a model beside it: --out FOLDER")
        return base, model, read_manifest(model)
    if not (out / MANIFEST).exists():
        if out.exists() and (not out.is_dir() or any(out.glob("[!.]*"))):
            what, todo = "the folder is not empty and contains no model", "Choose another --out"
            raise OutputError(what, where=out, todo=todo)
        return base, out, _borrowed(base)
    info = read_manifest(out)
    if "base" not in info or info["base"]["fingerprint"] != numbering(base.info):
        raise OutputError("the folder contains another model", where=out, todo="Choose another --out")
    return open_model(out), out, info


@contextmanager
def changing_or_deriving(model: Path, out: Path | None) -> Iterator[tuple[Model, Path, dict[str, Any]]]:
    """The same, held for this process alone until the change is made."""
    _, folder, _ = to_change(model, out)  # it may refuse
    with changing(folder):
        yield to_change(model, out)


def numbering(info: dict[str, Any]) -> str:
    """What tells a model's numbering of entities from another's; overlays do not change it."""
    if "base" in info:
        return str(info["base"]["fingerprint"])
    entries = {**info.get("parcel", {}), **info["arrays"]}
    sums = [entries[name]["sha256"] for name in _NUMBERING if name in entries]
    return hashlib.sha256(repr(sums).encode()).hexdigest()


def starter_folder() -> Path:
    """Folder of the model inside the package."""
    if not (STARTER / "model.json").is_file():
        todo = "Name a model: pboh.load(MODEL), or --model MODEL; train one with: pboh train DUMP --out MODEL"
        raise ModelError("this installation comes without a starter model", where=STARTER, todo=todo)
    return STARTER


def base_folder(info: dict[str, Any]) -> Path:
    """Folder of the model another one borrows from."""
    named = info["base"]["model"]
    return starter_folder() if named == _STARTER else Path(named)


def open_base(folder: Path, info: dict[str, Any]) -> Model:
    """The model that ``folder`` borrows from, if it is still the same."""
    base = open_model(base_folder(info))
    if numbering(base.info) != info["base"]["fingerprint"]:
        raise ModelError(
            f"{base.folder}, from which this model borrows, is another model now", where=folder,
            todo="Make it again with: pboh entities add FILE --model MODEL --out FOLDER",
        )  # fmt: skip
    return base


def _borrowed(base: Model) -> dict[str, Any]:
    """The description of a new folder that borrows from a model."""
    named = _STARTER if _is_starter(base.folder) else str(base.folder.resolve())
    own = ("arrays", "parcel", "overlays", "base")
    info = {key: value for key, value in base.info.items() if key not in own}
    head = {"format": FORMAT, "version": VERSION}
    return {**head, **info, "base": {"model": named, "fingerprint": numbering(base.info)}, "arrays": {}}


def _is_starter(folder: Path) -> bool:
    return folder.resolve() == STARTER.resolve()
