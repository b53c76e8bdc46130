"""Inference alone at the size of a whole Wikipedia, on a model whose arrays are generated.

No text was ever counted for it, so it says how fast answers come, not how good they are. There is no index
for misspelt names in it. The model takes 8 GB and is removed afterwards unless ``--keep`` is given.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from benchmarks.common import DATA, ROOT, save, table
from benchmarks.generated_model import MENTIONS, documents, generate
from pboh.files.memory import peak_memory_megabytes
from pboh.files.writing import folder_size
from pboh.linker import load
from pboh.model.store import MANIFEST

TEXTS = 500


def forget(folder: Path) -> None:
    """Drop a folder's files from the page cache, and nothing else."""
    for path in folder.glob("*.npy"):
        with path.open("rb") as file:
            os.fdatasync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(folder: Path, scale: float, warm: int) -> dict[str, Any]:
    """Milliseconds of every document, by the clock and of the processor, after ``warm`` rounds."""
    began = perf_counter()
    linker = load(folder)
    opened = perf_counter() - began
    jobs = list(documents(scale, TEXTS))
    clock, processor, stages, candidates, rounds = [], [], [], [], []
    for turn in range(warm + 1):
        for text, spans in jobs:
            began, used = perf_counter(), thread_time()
            document = linker.disambiguate(text, spans)
            if turn == warm:
                processor.append(1e3 * (thread_time() - used))
                clock.append(1e3 * (perf_counter() - began))
                stages.append(document.timings)
                candidates.append(sum(len(m.candidates) for m in document.mentions))
                rounds.append(document.rounds)
    return {
        "open_seconds": opened,
        "documents": len(jobs),
        "mentions": MENTIONS,
        "candidates": float(np.mean(candidates)),
        "rounds": float(np.mean(rounds)),
        **{f"{name}_ms": _quantiles(some) for name, some in (("clock", clock), ("processor", processor))},
        "stages_ms": {k: 1e3 * float(np.median([s[k] for s in stages])) for k in stages[0]},
        "peak_memory_megabytes": peak_memory_megabytes(),
    }


def _quantiles(times: list[float]) -> dict[str, float]:
    first, median, late, worst = np.quantile(times, [0, 0.5, 0.99, 1])
    return {"least": first, "median": median, "p99": late, "most": worst}


def in_own_process(folder: Path, scale: float, warm: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.full_size", str(folder), str(scale), str(warm)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@contextmanager
def _removed(folder: Path, keep: bool) -> Iterator[None]:
    try:
        yield
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def main(scale: float = 1.0, folder: Path | None = None, keep: bool = False) -> dict[str, Any]:
    model = (folder or DATA) / f"full-size-{scale:g}"
    model.parent.mkdir(parents=True, exist_ok=True)
    with _removed(model, keep):
        if not (model / MANIFEST).exists():
            generate(model, scale)
        load(model)  # checksums are compared once
        warm = in_own_process(model, scale, 2)
        forget(model)
        cold = in_own_process(model, scale, 0)
        size = folder_size(model) / 1e9
    results = {"scale": scale, "model_gigabytes": size, "warm": warm, "cold": cold}
    rows = [
        (state, kind, *results[state][f"{kind}_ms"].values())
        for state in ("warm", "cold")
        for kind in ("clock", "processor")
    ]
    title = f"{TEXTS} documents of {MENTIONS} mentions, model of {size:.1f} GB (ms)"
    table(title, ("files", "time", "least", "median", "p99", "most"), rows)
    table("Stages, warm (ms)", list(warm["stages_ms"]), [list(warm["stages_ms"].values())])
    return save("full_size", results)


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))))
