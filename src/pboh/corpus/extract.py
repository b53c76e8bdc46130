"""``pboh extract``: dumps in, Parquet tables out; stopped at any moment, it goes on where it was.

This module loads quickly, so that worker processes start while everything else is still loading.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pboh.errors import InputError
from pboh.files.progress import Report, silent
from pboh.files.workers import PeakMemory, Workers

TABLES = ("pages", "entities", "links", "context_words", "own_words", "words", "texts")


@dataclass(frozen=True, slots=True)
class Options:
    """Everything the result depends on, beside the files; a chunk's size follows from theirs if not given."""

    window: int = 50
    red_links: Literal["keep", "drop"] = "keep"
    language: str | None = None
    texts: bool = True
    conventions: Path | None = None
    chunk_size: int | None = None


def extract(
    inputs: Sequence[str | Path],
    out: str | Path,
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    workers: int | None = None,
    memory: int = 2 << 30,
    report: Report = silent,
) -> dict[str, Any]:
    """Write the corpus folder ``out`` and return its figures; what an earlier run finished is kept.

    ``memory`` bounds all processes together: it sets how much the sorting of titles may hold, and how many
    workers there may be.
    """
    started = time.monotonic()
    if not inputs:
        raise InputError("no dump was given", todo="Name at least one dump file")
    if options.window < 0 or (workers is not None and workers < 1):
        raise InputError("the window and the number of workers must be positive")
    count = _affordable(workers or len(os.sched_getaffinity(0)), memory)
    with Workers(count) as pool, PeakMemory(pool.processes) as peak:
        pool.start("pboh.corpus.scan")
        from pboh.corpus.passes import run  # noqa: PLC0415 - loads while the workers do

        figures = run(inputs, Path(out), options, pool, memory, report)
        figures["peak_memory_megabytes"] = round(peak.megabytes, 1)
    figures["seconds"] = round(time.monotonic() - started, 2)
    return figures


def _affordable(workers: int, memory: int) -> int:
    """Workers that fit: each may hold a chunk's text several times over (measured: 350 MB)."""
    return max(1, min(workers, int((memory - (300 << 20)) / (400 << 20))))
