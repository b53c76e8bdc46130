"""What benchmarks share: where data is, a model to measure, timing, and results as JSON and a table."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
DATA = ROOT / "data"  # git-ignored: models and corpora made for measuring


def shared() -> Path | None:
    """The folder with the sample dump and the public test sets, if it is here."""
    folder = Path(os.environ.get("PBOH_SHARED", ROOT.parent / "shared"))
    return folder if (folder / "corpus").is_dir() else None


def sample_model() -> Path:
    """A model of the sample dump ($PBOH_MODEL, or trained now), or of the small world without it."""
    if "PBOH_MODEL" in os.environ:
        return Path(os.environ["PBOH_MODEL"])
    folder = shared()
    dumps: list[Path] = [ROOT / "tests" / "data" / "world.xml"]
    extra: list[str] = []
    if folder:
        dumps = sorted((folder / "corpus").glob("enwiki-sample-pages-articles-multistream[12].xml*.bz2"))
        extra = ["--crosswikis", str(folder / "corpus" / "crosswikis-sample.bz2")]
    out = DATA / ("sample-model" if folder else "world-model")
    pboh("train", *map(str, dumps), "--out", str(out), *extra)
    return out


def pboh(*arguments: str) -> None:
    """Run a pboh command."""
    subprocess.run([sys.executable, "-c", "from pboh.cli import main; main()", *arguments], check=True)


def best_of(function: Callable[[], Any], repeats: int = 3) -> float:
    """Seconds of the fastest of several calls: the one least disturbed by the rest of the machine."""
    times = []
    for _ in range(repeats):
        began = perf_counter()
        function()
        times.append(perf_counter() - began)
    return min(times)


def power_law(draw: np.random.Generator, size: int, upper: int, exponent: float) -> np.ndarray:
    """Numbers below ``upper``, the k-th with a frequency of about k^-exponent."""
    u = draw.random(size)
    top = float(upper) ** (1 - exponent)
    return np.minimum(((1 + u * (top - 1)) ** (1 / (1 - exponent))).astype(np.int64) - 1, upper - 1)


def save(name: str, results: Mapping[str, Any]) -> dict[str, Any]:
    """Write results beside a note of the machine; returns them."""
    machine = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({**results, "machine": machine}, indent=2) + "\n")
    return dict(results)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a title, as Markdown."""
    print(f"\n{title}\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for row in rows:
        print("| " + " | ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in row) + " |")
