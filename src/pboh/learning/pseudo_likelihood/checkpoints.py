"""Checkpoints: everything a killed run needs to go on as if nothing had happened."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from pboh.errors import InputError
from pboh.files.writing import write_json, written_aside
from pboh.learning.pseudo_likelihood.kernels import Array
from pboh.learning.pseudo_likelihood.learner import Learner, State

CHECKPOINT, BEST, FINISHED = "checkpoint.npz", "best.npz", "finished.json"


class Checkpoints:
    """A folder with the latest state of a run and its best parameters, each file replaced whole."""

    def __init__(self, folder: Path, recipe: dict[str, Any]) -> None:
        self.folder = folder
        self.recipe = msgspec.json.decode(msgspec.json.encode(recipe))  # what a file will give back

    def save(self, learner: Learner, better: bool) -> None:
        """Write the state aside and rename it; the best parameters first, so that neither is ever missing."""
        p = learner.parameters
        (self.folder / FINISHED).unlink(missing_ok=True)
        if better:
            rho, lam = p.values()
            self._write(BEST, rho=rho, lam=lam)
        meta = {"recipe": self.recipe, "state": asdict(learner.state)}
        self._write(CHECKPOINT, rho=p.rho, lam=p.lam, meta=np.frombuffer(msgspec.json.encode(meta), np.uint8))

    def _write(self, name: str, **arrays: Array) -> None:
        with written_aside(self.folder / name) as aside, aside.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]

    def resume(self, learner: Learner) -> bool:
        """Put a learner where the last checkpoint left it; False if there is none to go on from."""
        path = self.folder / CHECKPOINT
        if not path.exists():
            return False
        try:
            with np.load(path, allow_pickle=False) as saved:
                meta = msgspec.json.decode(saved["meta"].tobytes())
                if meta["recipe"] != self.recipe:
                    if (self.folder / FINISHED).exists():
                        return False
                    keys = {*meta["recipe"], *self.recipe}
                    other = sorted(k for k in keys if meta["recipe"].get(k) != self.recipe.get(k))
                    raise InputError(
                        f"the checkpoint was made with other {', '.join(other)}",
                        where=path,
                        todo="Use the same options and corpus, or start again with --restart",
                    )
                own = learner.parameters
                for array, known in ((own.rho, saved["rho"]), (own.lam, saved["lam"])):
                    if known.shape != array.shape:
                        raise ValueError("it has another number of parameters")
                    array[:] = known
                learner.state = State(**meta["state"])
        except (OSError, ValueError, KeyError, TypeError, msgspec.DecodeError) as reason:
            if isinstance(reason, InputError):
                raise
            raise InputError(
                f"the checkpoint cannot be read ({reason})", where=path, todo="Start again with --restart"
            ) from reason
        return True

    def best(self) -> tuple[Array, Array]:
        """ρ and λ at the lowest held-out loss."""
        with np.load(self.folder / BEST, allow_pickle=False) as saved:
            return saved["rho"], saved["lam"]

    def finish(self, figures: dict[str, Any]) -> None:
        """Note that the result was stored: a run with other options may now take this place."""
        write_json(self.folder / FINISHED, figures)

    def clear(self) -> None:
        """Forget an earlier run."""
        for name in (CHECKPOINT, BEST, FINISHED):
            (self.folder / name).unlink(missing_ok=True)
