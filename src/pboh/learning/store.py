"""Stores what was tuned or calibrated in a model's description, with the documents that chose it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pboh.errors import OutputError
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.leakage import fingerprints
from pboh.files.writing import write_json
from pboh.linker import STARTER, model_folder
from pboh.model.store import MANIFEST, read_manifest


def writable_model(path: Path) -> Path:
    """The folder of a model that results can be stored in; refuses others before anything is computed."""
    folder = model_folder(path)
    if folder == STARTER:
        todo = f"Copy {STARTER} to a folder of your own and name that, or store nothing"
        raise OutputError("the model inside the package cannot be changed", where=path, todo=todo)
    read_manifest(folder)
    if not os.access(folder, os.W_OK):
        raise OutputError(
            "permission denied", where=folder, todo="Copy the model to a folder you may write to"
        )
    return folder


def store(folder: Path, datasets: Sequence[Dataset], settings: dict[str, Any], **fitted: Any) -> None:
    """Make ``settings`` the model's own, add what was ``fitted``, and record what may not judge it."""
    info = read_manifest(folder)
    before = info.get("tuned_on", {})
    tuned_on = {
        "datasets": sorted({*before.get("datasets", ()), *(dataset.name for dataset in datasets)}),
        "documents": sorted({*before.get("documents", ()), *fingerprints(datasets)}),
    }
    write_json(folder / MANIFEST, {**info, "settings": settings, "tuned_on": tuned_on, **fitted})


def store_calibration(folder: Path, datasets: Sequence[Dataset], fitted: Mapping[str, Any]) -> None:
    """Store what ``calibrate`` fitted; answers less probable than its threshold are withheld from now on."""
    settings = read_manifest(folder).get("settings", {})
    store(folder, datasets, {**settings, "threshold": fitted["calibration"]["threshold"]}, **fitted)
