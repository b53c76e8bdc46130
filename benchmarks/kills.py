"""A training that is killed again and again: its model is the one of a training that nobody stopped.

``python -m benchmarks kills`` trains on the tiny dump once in peace. Then it kills trainings (SIGKILL) at
ten random moments of every stage and has each go on from what the kill left. A training whose stage was
over too soon for that is set aside and another one is begun. In the end all are completed and their files
compared, and nothing may lie beside the models.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.common import DATA, ROOT, save, shared, table
from pboh.files.writing import checksum
from pboh.train import STAGES, train

KILLED = [stage for stage in STAGES if stage != "ids"]  # the dump has no ids
KILLS = 10


def training(dump: str, model: str) -> None:
    """Train, and say by a file beside the model which stage it is in."""
    said, place = "", Path(model).parent.with_suffix(".stage")

    def report(done: float, total: float | None = None, detail: str = "") -> None:
        nonlocal said
        stage = detail.partition(":")[0]
        if stage not in (said, ""):
            said = stage
            place.write_text(stage)

    used = train([dump], model, report=report)["used"]
    print(json.dumps({stage: figures["seconds"] for stage, figures in used.items()}))


class Training:
    """A folder in which a model is trained, by one process after the other."""

    def __init__(self, folder: Path, dump: Path) -> None:
        self.folder, self.dump, self._stage = folder, dump, folder.with_suffix(".stage")

    def _start(self) -> subprocess.Popen[bytes]:
        self._stage.unlink(missing_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.kills", str(self.dump), str(self.folder / "model")]
        return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)

    def complete(self) -> dict[str, float]:
        """Let it come to its end; returns the seconds of its stages."""
        with _ended(self._start()) as process:
            printed, _ = process.communicate()
        self._stage.unlink()
        seconds: dict[str, float] = json.loads(printed.splitlines()[-1])
        return seconds

    def kill_in(self, stage: str, after: float) -> bool:
        """Kill it so many seconds after a stage has begun; says whether it was still in the stage."""
        order = ["", *STAGES]
        with _ended(self._start()) as process:
            while process.poll() is None and order.index(self._said()) < order.index(stage):
                time.sleep(0.01)
            end = time.monotonic() + after
            while process.poll() is None and self._said() == stage and time.monotonic() < end:
                time.sleep(0.01)
            return process.poll() is None and self._said() == stage

    def _said(self) -> str:
        try:
            said = self._stage.read_text()
        except FileNotFoundError:
            return ""
        return said if said in STAGES else ""

    def content(self) -> dict[str, str]:
        """Checksums of all that the model consists of; what says when it was made is left out."""
        files = {
            path.name: checksum(path) for path in self.folder.glob("model/*.*") if path.suffix != ".json"
        }
        described = json.loads((self.folder / "model" / "model.json").read_text())
        return {**files, "settings": json.dumps(described["settings"], sort_keys=True)}

    def copied(self, folder: Path) -> Training:
        """Another training that goes on from here."""
        shutil.copytree(self.folder, folder)
        return Training(folder, self.dump)


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is killed at the end of the block, if it still runs."""
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def main(folder: Path | None = None, kills: int = KILLS, dump: Path | None = None) -> dict[str, Any]:
    """Kill, complete and compare; prints and returns how often each stage was killed."""
    place, here = (folder or DATA) / "kills", shared()
    if dump is None:
        assert here, "the tiny dump is not here"
        dump = here / "corpus" / "enwiki-tiny-pages-articles.xml.bz2"
    shutil.rmtree(place, ignore_errors=True)
    peace, draw = Training(place / "peace", dump), random.Random(18)
    seconds = peace.complete()
    trainings, counts = [Training(place / "0", dump)], dict.fromkeys(KILLED, 0)
    for stage in KILLED:
        trainings[-1].kill_in(stage, 0.0)
        begun = trainings[-1].copied(place / f"before-{stage}")
        for _ in range(5 * kills):
            if counts[stage] == kills:
                break
            if trainings[-1].kill_in(stage, draw.uniform(0, seconds[stage])):
                counts[stage] += 1
            else:
                trainings.append(begun.copied(place / str(len(trainings))))
            print(f"{stage}: killed {counts[stage]} times, training {len(trainings)}", flush=True)
        shutil.rmtree(begun.folder)
    expected = peace.content()
    for one in trainings:
        one.complete()
        assert one.content() == expected, f"{one.folder} differs"
        assert [path.name for path in one.folder.iterdir()] == ["model"], f"{one.folder} was not cleaned up"
    table("Killed, continued and compared", ("stage", "s in peace", "kills"),
          [(stage, seconds[stage], counts[stage]) for stage in KILLED])  # fmt: skip
    results = {"kills": counts, "trainings": len(trainings), "files": len(expected), "seconds": seconds}
    shutil.rmtree(place)
    return save("kills", results)


if __name__ == "__main__":
    training(*sys.argv[1:])
