"""One training with much memory and one with little: what each stage held, and whether the models are equal.

``python -m benchmarks memory --folder FOLDER`` trains on the sample dump with 8 GB and with 1 GB, watched by
``pboh train`` itself and from outside, and compares all files. A training that is there already, with its
``training.json``, is not done again.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import DATA, ROOT, save, shared, table
from benchmarks.process_tree import Watch
from pboh.files.writing import checksum
from pboh.model.store import read_manifest

LIMITS = ("8GB", "1GB")
OWN = ("created", "checksum")
"""What two trainings never share in ``model.json``: the moment, and the checksum that follows from it."""


def trained(folder: Path, memory: str) -> dict[str, Any]:
    """What a training with this limit said about itself, and what was seen from outside."""
    said, seen, log = (folder / name for name in ("training.json", "watched.json", "log"))
    if not said.exists():
        folder.mkdir(parents=True, exist_ok=True)
        log.touch()

        def stage() -> str:
            return re.findall(r"% (\w+)", "start% start " + log.read_text())[-1]

        watch = Watch([folder], stage, lambda used: seen.write_text(json.dumps(used)) and None)
        here = shared()
        assert here, "the sample dump is not here"
        dumps = sorted((here / "corpus").glob("enwiki-sample-pages-articles-multistream[12].xml*.bz2"))
        command = [*map(str, dumps), "--crosswikis", str(here / "corpus" / "crosswikis-sample.bz2")]
        command += ["--out", str(folder / "model"), "--memory", memory, "--json", str(said)]
        run = f"exec {sys.executable} -c 'from pboh.cli import main; main()' train \"$@\" 2>{log}"
        watch.run(["sh", "-c", run, "sh", *command], ROOT)
    stages = json.loads(said.read_text())["stages"]
    return {"stages": stages, "watched": json.loads(seen.read_text()) if seen.exists() else {}}


def compared(one: Path, other: Path) -> dict[str, Any]:
    """How many files of two models are equal, and which are not; of ``model.json``, what differs in it."""
    names = {path.name for model in (one, other) for path in model.iterdir() if path.is_file()}
    different = [
        name
        for name in sorted(names)
        if not all((model / name).exists() for model in (one, other))
        or checksum(one / name) != checksum(other / name)
    ]
    both = [{k: v for k, v in read_manifest(model).items() if k not in OWN} for model in (one, other)]
    said = sorted(key for key in both[0].keys() | both[1].keys() if both[0].get(key) != both[1].get(key))
    return {"files": len(names), "different": different, "model.json": said}


def main(folder: Path | None = None) -> dict[str, Any]:
    """Train both, unless they are there; prints and returns the figures."""
    place = (folder or DATA) / "memory"
    made = {memory: trained(place / memory, memory) for memory in LIMITS}
    difference = compared(*(place / memory / "model" for memory in LIMITS))
    stages = list(made[LIMITS[0]]["stages"])
    rows = [
        (memory, *(f"{one['stages'][stage]['memory_megabytes']:,.0f}" for stage in stages))
        for memory, one in made.items()
    ]
    table("Peak memory of all processes, MB", ("--memory", *stages), rows)
    print(f"{difference['files']} files; different: {difference['different']}, {difference['model.json']}")
    return save("memory", {**made, "compared": difference})
