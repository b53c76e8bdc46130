"""Stores what was tuned or calibrated in a model's description, with the documents that chose it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pboh.evaluation.datasets import Dataset
from pboh.evaluation.leakage import fingerprints
from pboh.files.writing import check_outputs
from pboh.inference.settings import Settings
from pboh.linker import model_folder
from pboh.model.derived import to_change
from pboh.model.store import MANIFEST, read_manifest
from pboh.model.writing import changing, write_manifest


class Target(NamedTuple):
    """A model folder that results can be stored in, and its description."""

    folder: Path
    info: dict[str, Any]


def target(model: str | Path | None, out: Path | None = None) -> Target:
    """Where results go: the model itself, or a folder ``out`` that borrows everything else from it.

    Refuses what cannot be written, such as the model inside the package, before anything is computed.
    """
    _, folder, info = to_change(model_folder(model), out)
    check_outputs(folder / MANIFEST)
    return Target(folder, info)


def store(into: Target, datasets: Sequence[Dataset], settings: Settings, **fitted: Any) -> None:
    """Make all ``settings`` the model's own, add what was ``fitted``, and record what may not judge it."""
    with changing(into.folder):  # and read again: it may have changed while this was computed
        info = read_manifest(into.folder) if (into.folder / MANIFEST).exists() else into.info
        before = info.get("tuned_on", {})
        tuned_on = {
            "datasets": sorted({*before.get("datasets", ()), *(dataset.name for dataset in datasets)}),
            "documents": sorted({*before.get("documents", ()), *fingerprints(datasets)}),
        }
        stored = {"settings": settings.record(), "tuned_on": tuned_on, **fitted}
        write_manifest(into.folder / MANIFEST, info | stored)


def store_calibration(into: Target, datasets: Sequence[Dataset], fitted: dict[str, Any]) -> None:
    """Store what ``calibrate`` fitted; answers less probable than its threshold are withheld from now on."""
    settings = Settings.stored(into.info).change(threshold=fitted["calibration"]["threshold"])
    store(into, datasets, settings, **fitted)
