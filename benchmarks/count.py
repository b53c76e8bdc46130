"""Counting a synthetic power-law corpus at three sizes, and one with very long posting lists, within 1 GB."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common import power_law
from pboh.counts import count
from pboh.files.writing import folder_size, write_json

RESULTS = Path(__file__).parent / "results" / "count.json"
MEMORY = 1 << 30
PAGES = 5_000  # at ×1
SIZES = (1, 4, 16)
WORDS_PER_LINK = 20
VOCABULARY = 50_000
CHUNK = 20_000  # pages a file


def write(folder: Path, number: int, **columns: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), folder / f"{number:05}.parquet", compression="zstd")


def ints(values: Any) -> pa.Array:
    return pa.array(values, pa.int32())


def write_corpus(
    folder: Path, pages: int, entities: int, links: np.ndarray, words: int, hubs: Any = ()
) -> None:
    """A corpus folder of articles: how many links each has, and on which share of pages each hub stands."""
    draw = np.random.default_rng(7)
    titles = [f"Entity {number:08}" for number in range(entities)]
    own = draw.permutation(entities)[:pages]
    red = ~np.isin(np.arange(entities), own)
    page_of = pa.array(np.zeros(entities, np.int32), mask=red)  # any number will do: only null has a meaning
    write(folder / "entities", 0, entity=ints(range(entities)), title=titles, page=page_of)
    kinds, targets = ["article"] * pages, pa.nulls(pages, pa.string())
    write(folder / "pages", 0, page=ints(range(pages)), title=[titles[e] for e in own], kind=kinds,
          target=targets, entity=ints(own))  # fmt: skip
    write(folder / "words", 0, word=ints(range(VOCABULARY)), text=[f"word{w:06}" for w in range(VOCABULARY)],
          count=pa.array(np.arange(VOCABULARY, 0, -1), pa.int64()))  # fmt: skip
    shuffle = draw.permutation(entities)
    for number, start in enumerate(range(0, pages, CHUNK)):
        here = links[start : start + CHUNK]
        page = np.repeat(np.arange(start, start + len(here)), here)
        entity = shuffle[power_law(draw, len(page), entities, 0.8)]
        for hub, share in enumerate(hubs):
            chosen = np.flatnonzero(draw.random(len(here)) < share) + start
            page, entity = np.concatenate([page, chosen]), np.concatenate([entity, np.full(len(chosen), hub)])
        write(folder / "links", number, page=ints(page), entity=ints(entity),
              anchor=pa.array(titles).take(pa.array(entity)))  # fmt: skip
        keys = np.repeat(entity, words) * VOCABULARY + power_law(draw, len(entity) * words, VOCABULARY, 0.9)
        keys, counts = np.unique(keys, return_counts=True)
        write(folder / "context_words", number, entity=ints(keys // VOCABULARY), word=ints(keys % VOCABULARY),
              count=ints(counts))  # fmt: skip
    write_json(folder / "corpus.json", {"format": "pboh-corpus", "version": 1, "language": "en"})


def measure(corpus: Path, out: Path) -> dict[str, Any]:
    """Count in this very process and watch the disk meanwhile."""
    spilled, stop = [0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.25):
            try:
                spilled[0] = max(spilled[0], folder_size(out / "steps" / "spill"))
            except OSError:
                continue  # a file vanished while we looked

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    used = time.process_time()
    manifest = count([corpus], out, memory=MEMORY)
    stop.set()
    totals = manifest["totals"]
    steps = json.loads((out / "steps/steps.json").read_text())
    return {
        "raw_pairs": totals["pairs"],
        "distinct_pairs": totals["distinct_pairs"],
        "incidences": totals["incidences"],
        "longest_list": totals["longest_list"],
        "context_tokens": totals["context_tokens"],
        "seconds": manifest["seconds"],
        "cpu_seconds": round(time.process_time() - used, 1),
        "pair_seconds": steps["distinct_pairs"]["seconds"],
        "word_seconds": steps["word_sums"]["seconds"],
        "peak_memory_megabytes": round(peak_of_this_program(), 1),
        "memory_limit_megabytes": MEMORY >> 20,
        "disk_megabytes": round(folder_size(out) / 1e6, 1),
        "spilled_megabytes": round(spilled[0] / 1e6, 1),
    }


def peak_of_this_program() -> float:
    """Largest resident size since exec in MB; getrusage would include the process we were forked from."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024  # type: ignore[index]


def in_own_process(corpus: Path, out: Path) -> dict[str, Any]:
    """Measure in a fresh process, so that memory is that of counting alone."""
    command = [sys.executable, "-m", "benchmarks.count", str(corpus), str(out)]
    found: dict[str, Any] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def power_law_run(folder: Path, size: int) -> dict[str, Any]:
    draw = np.random.default_rng(size)
    pages = PAGES * size
    links = np.minimum(draw.lognormal(3.2, 0.9, pages), 2000).astype(np.int64)
    write_corpus(folder / "corpus", pages, pages * 8, links, WORDS_PER_LINK)
    return {"size": size, "pages": pages, **in_own_process(folder / "corpus", folder / "counts")}


def long_lists_run(folder: Path) -> dict[str, Any]:
    """1.2 million pages; five entities stand on 100,000 to 1,000,000 of them."""
    pages = 1_200_000
    links = np.random.default_rng(1).poisson(6, pages)
    hubs = (0.84, 0.5, 0.25, 0.15, 0.09)
    write_corpus(folder / "corpus", pages, pages * 2, links, 1, hubs)
    return {"pages": pages, **in_own_process(folder / "corpus", folder / "counts")}


def main() -> dict[str, Any]:
    result: dict[str, Any] = {"power_law": []}
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            row = power_law_run(Path(folder), size)
        result["power_law"].append(row)
        print(row, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        result["long_lists"] = long_lists_run(Path(folder))
    print(result["long_lists"], flush=True)
    first, last = result["power_law"][0], result["power_law"][-1]
    result["pairs_ratio"] = round(last["raw_pairs"] / first["raw_pairs"], 2)
    result["seconds_ratio"] = round(last["seconds"] / first["seconds"], 2)
    result["cpu_ratio"] = round(last["cpu_seconds"] / first["cpu_seconds"], 2)
    write_json(RESULTS, result)
    return result


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(Path(sys.argv[1]), Path(sys.argv[2]))))
    else:
        main()
