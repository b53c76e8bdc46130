"""Steps on a generated dump, each in a process that is watched, that can be stopped and continued."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT
from benchmarks.generated_dump import generate
from benchmarks.process_tree import Watch
from pboh.files.progress import progress
from pboh.files.writing import read_json, write_json


class Rehearsal:
    """A folder with a dump, what is made of it, and what was recorded so far.

    ``module`` does a step when it is run with the step's name, the folder and further arguments, and prints
    the step's figures as JSON.
    """

    def __init__(self, folder: Path, module: str) -> None:
        self.folder, self.dump, self._module = folder, folder / "dump", module
        self._record = folder / "rehearsal.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.record: dict[str, Any] = {"done": {}, "used": {}}
        if self._record.exists():
            self.record = read_json(self._record, "the rehearsal's record")

    def save(self) -> None:
        """Write the record."""
        write_json(self._record, self.record)

    def stage(self) -> str:
        """What a process of ours says it is doing."""
        try:
            return (self.folder / "stage").read_text() or "start"
        except OSError:
            return "start"

    def say(self, stage: str) -> None:
        """Say what is being done."""
        (self.folder / "stage").write_text(stage)

    def run(self, step: str, *options: str, disk: Sequence[Path] = ()) -> dict[str, Any]:
        """Do a step in a process of its own, unless it is done; returns its figures.

        ``disk`` are the folders whose size is recorded.
        """
        if step not in self.record["done"]:
            print(f"{step} …", flush=True)
            self.say(step)
            watch = Watch(disk, self.stage, self._used)
            watch.known(self.record["used"])
            command = [sys.executable, "-m", self._module, step, str(self.folder), *options]
            printed = watch.run(command, ROOT)
            self.record["done"][step] = json.loads(printed.splitlines()[-1])
            self.save()
        figures: dict[str, Any] = self.record["done"][step]
        return figures

    def _used(self, used: dict[str, Any]) -> None:
        self.record["used"] = used
        self.save()


def generate_step(rehearsal: Rehearsal, scale: str, workers: str) -> dict[str, Any]:
    """Write the dump."""
    with progress("generate", continues=True) as report:
        return generate(rehearsal.dump, float(scale), workers=int(workers), report=report)
