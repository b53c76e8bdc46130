"""The option ``--only FILE``: answers restricted to entities that a file names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pboh.errors import InputError
from pboh.files.progress import console

if TYPE_CHECKING:
    from pboh.inference.entities import EntitySet
    from pboh.linker import Linker


def read_only(linker: Linker, path: Path | None) -> EntitySet | None:
    """The set that a file of titles means; titles the model does not know are reported."""
    if path is None:
        return None
    try:
        lines = path.read_bytes().decode("utf-8-sig", "replace").splitlines()
    except OSError as reason:
        raise InputError(f"the file cannot be read ({reason.strerror})", where=path) from None
    titles = [line.strip() for line in lines if line.strip()]
    only = linker.only(titles)
    if not len(only):
        raise InputError(f"the model knows none of its {len(titles)} titles", where=path)
    if only.unknown:
        shown = ", ".join(only.unknown[:3]) + (" …" if len(only.unknown) > 3 else "")
        what = f"{path}: the model does not know {len(only.unknown):,} of {len(titles):,} titles ({shown})"
        console.print(what, style="yellow", soft_wrap=True, markup=False)
    return only
