"""The starter model: a small one that comes with the package."""

from __future__ import annotations

from pathlib import Path

from pboh.errors import ModelError

STARTER = Path(__file__).parents[1] / "starter"


def starter_folder() -> Path:
    """Folder of the model inside the package."""
    if not (STARTER / "model.json").is_file():
        todo = "Name a model: pboh.load(MODEL), or --model MODEL; train one with: pboh train DUMP --out MODEL"
        raise ModelError("this installation comes without a starter model", where=STARTER, todo=todo)
    return STARTER
