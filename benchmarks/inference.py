"""Speed of one document, end to end and by stage, on one core; how it grows; how long a cold start takes.

Documents are pages of the validation set with their links as mentions. Without the sample corpus the small
world of the tests stands in, which shows that the benchmark runs, not how fast the program is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.common import ROOT, best_of, sample_model, save, shared, table
from pboh.evaluation.datasets import read_dataset
from pboh.linker import Linker, load

Job = tuple[str, list[tuple[int, int]]]
COLD = """
import time; began = time.perf_counter()
from pboh.linker import load
linker = load({model!r}); opened = time.perf_counter()
linker.disambiguate("Paris is the capital of France.", [(0, 5), (24, 30)])
print(opened - began, time.perf_counter() - opened)
"""


def documents() -> list[Job]:
    folder = shared()
    if folder is None:
        sentence = "Müller scored for Bayern in Paris and Georgia won. "
        return [(sentence * k, [(51 * i, 51 * i + 6) for i in range(k)]) for k in (5, 20, 100)]
    dataset = read_dataset(f"{folder}/corpus/validation.jsonl.gz#150:1000")
    return [(d.text, [(m.start, m.end) for m in d.linked]) for d in dataset]


def measure(linker: Linker, jobs: list[Job], repeats: int = 5) -> dict[str, Any]:
    """Median milliseconds over documents, each at its best of several repeats; stages at that repeat."""
    totals, stages, rounds, converged = [], [], [], []
    for text, spans in jobs:
        best, timings = float("inf"), {}
        for _ in range(repeats):
            began = perf_counter()
            document = linker.disambiguate(text, spans, overlapping=True)
            spent = perf_counter() - began
            if spent < best:
                best, timings = spent, document.timings
        totals.append(1e3 * best)
        stages.append(
            {**{k: 1e3 * v for k, v in timings.items()}, "objects": 1e3 * (best - sum(timings.values()))}
        )
        rounds.append(document.rounds)
        converged.append(document.converged)
    return {
        "documents": len(jobs),
        "mentions": float(np.mean([len(spans) for _, spans in jobs])),
        "median_ms": float(np.median(totals)),
        "p95_ms": float(np.quantile(totals, 0.95)),
        "stages_ms": {k: float(np.median([s[k] for s in stages])) for k in stages[0]},
        "rounds": float(np.mean(rounds)),
        "converged": float(np.mean(converged)),
    }


def growth(linker: Linker, jobs: list[Job]) -> list[dict[str, Any]]:
    """Documents with the first n mentions of long pages."""
    rows = []
    for n in (5, 10, 20, 50, 100, 200, 500):
        cut = [(text, spans[:n]) for text, spans in jobs if len(spans) >= n][:15]
        if cut:
            result = measure(linker, cut, 3)
            propagation = result["stages_ms"]["propagation"]
            rows.append({"n": n, "median_ms": result["median_ms"], "propagation_ms": propagation})
    return rows


def cold_start(model: Path) -> dict[str, float]:
    """Seconds to import and open, and to the first answer: kernels cached, and nothing compiled yet."""

    def run(cache: str) -> tuple[float, float]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(ROOT / "src")}
        script = COLD.format(model=str(model))
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        first, second = done.stdout.split()[-2:]
        return float(first), float(second)

    with tempfile.TemporaryDirectory() as cache:
        first_open, first_call = run(cache)
        warm_open, warm_call = run(cache)
    return {
        "first_ever_seconds": first_open + first_call,
        "import_and_open_seconds": warm_open,
        "first_call_seconds": warm_call,
    }


def main() -> dict[str, Any]:
    model = sample_model()
    linker = load(model)
    jobs = documents()
    for text, spans in jobs[:20]:
        linker.disambiguate(text, spans, overlapping=True)
    typical = [job for job in jobs if 15 <= len(job[1]) <= 25] or jobs
    results = {
        "twenty_mentions": measure(linker, typical),
        "growth": growth(linker, sorted(jobs, key=lambda job: -len(job[1]))),
        "cold_start": cold_start(model),
        "reopen_ms": 1e3 * best_of(lambda: load(model)),
    }
    show(results)
    return save("inference", results)


def show(results: dict[str, Any]) -> None:
    one = results["twenty_mentions"]
    stages = one["stages_ms"]
    title = f"{one['documents']} documents of about 20 mentions, one core: median {one['median_ms']:.2f} ms"
    table(title, list(stages), [list(stages.values())])
    rows = [(r["n"], r["median_ms"], r["propagation_ms"]) for r in results["growth"]]
    table("Growth with the number of mentions (ms)", ("n", "end to end", "belief propagation"), rows)
    table("Cold start (seconds)", list(results["cold_start"]), [list(results["cold_start"].values())])


if __name__ == "__main__":
    main()
