"""Extraction: MB of XML per second and core, against wikipedia2vec's ``build-dump-db`` and bare decoding.

Both programs read the same dump in the same run with the same number of processes; ours also counts words and
contexts. Wall-clock and processor time are given: the latter does not change when the machine is shared.
"""

from __future__ import annotations

import bz2
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.peers import peer_python
from pboh.corpus.readers import bz2_blocks
from pboh.files.writing import write_json

RESULTS = Path(__file__).parent / "results" / "extract.json"
REPOSITORY = Path(__file__).parent.parent
WORKERS = 2


def dump(folder: Path) -> Path:
    """$PBOH_BENCH_DUMP, the first part of the sample dump, or the tests' small world forty times over."""
    if given := os.environ.get("PBOH_BENCH_DUMP"):
        return Path(given)
    shared = Path(os.environ.get("PBOH_SHARED", REPOSITORY.parent / "shared")) / "corpus"
    if found := sorted(shared.glob("*-pages-articles-multistream1.xml-*.bz2")):
        return found[0]
    head, *pages = (REPOSITORY / "tests" / "data" / "world.xml").read_text("utf-8").split("  <page>")
    end = "</mediawiki>\n"
    many = ("  <page>" + page.replace(end, "") for page in pages)
    copies = [re.sub("</title>", f" {copy}</title>", page) for page in many for copy in range(40)]
    path = folder / "world-pages-articles.xml.bz2"
    streams = ["".join(copies[at : at + 100]) for at in range(0, len(copies), 100)]
    path.write_bytes(b"".join(bz2.compress(part.encode()) for part in [head, *streams, end]))
    return path


def run(command: list[str]) -> dict[str, float]:
    """Wall-clock and processor seconds of a command and all its processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()[-500:]}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}


def ours(source: Path, folder: Path, workers: int) -> dict[str, Any]:
    """One extraction from nothing."""
    out, figures = folder / f"ours-{workers}", folder / "figures.json"
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "extract", str(source)]
    command += ["--out", str(out), "--workers", str(workers), "--json", str(figures)]
    measured: dict[str, Any] = run(command)
    said = json.loads(figures.read_text())
    megabytes = said["megabytes"]
    measured |= {name: said[name] for name in ("megabytes", "pages", "links", "peak_memory_megabytes")}
    measured["megabytes_per_second"] = round(megabytes / measured["seconds"], 1)
    measured["megabytes_per_second_and_core"] = round(megabytes / measured["processor_seconds"], 1)
    return measured


def decoding(source: Path) -> dict[str, float]:
    """The floor: decoding the file, nothing else, in one process."""
    size = source.stat().st_size
    bz2_blocks.decode(source, 0, 1)  # loads the compiled search
    wall, processor = time.monotonic(), time.process_time()
    for start in range(0, size, 8 << 20):
        bz2_blocks.decode(source, start, min(start + (8 << 20), size))
    return {
        "seconds": round(time.monotonic() - wall, 2),
        "processor_seconds": round(time.process_time() - processor, 2),
    }


def peer(source: Path, folder: Path, workers: int) -> dict[str, Any]:
    """wikipedia2vec reads one dump file into its own database of paragraphs and links."""
    python = peer_python("wikipedia2vec")
    program = python.parent / "wikipedia2vec"
    command = [
        str(program),
        "build-dump-db",
        str(source),
        str(folder / "peer.db"),
        "--pool-size",
        str(workers),
    ]
    return run(command)


def main() -> dict[str, Any]:
    """Measure, print a table, write the results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = dump(folder)
        # other programs running at the same time slow down both sides: say how many there were
        results: dict[str, Any] = {"dump": source.name, "workers": WORKERS, "processors": os.cpu_count()}
        results["load of the machine before"] = round(os.getloadavg()[0], 1)
        results["decoding"] = decoding(source)
        results["ours, 1 worker"] = ours(source, folder, 1)
        results[f"ours, {WORKERS} workers"] = fast = ours(source, folder, WORKERS)
        try:
            results["wikipedia2vec build-dump-db"] = slow = peer(source, folder, WORKERS)
        except RuntimeError as error:
            results["wikipedia2vec build-dump-db"], slow = {"skipped": str(error)}, {}
    one = results["ours, 1 worker"]
    results["speed-up of two workers"] = round(one["seconds"] / fast["seconds"], 2)
    results["share of decoding"] = round(
        results["decoding"]["processor_seconds"] / one["processor_seconds"], 2
    )
    if slow:
        results["times faster than wikipedia2vec"] = round(slow["seconds"] / fast["seconds"], 1)
        used = slow["processor_seconds"] / fast["processor_seconds"]
        results["times less processor time"] = round(used, 1)
    write_json(RESULTS, results)
    show(results)
    return results


def show(results: dict[str, Any]) -> None:
    print(f"{results['dump']}, {results[f'ours, {WORKERS} workers']['megabytes']:,.0f} MB of XML")
    for name, value in results.items():
        if isinstance(value, dict):
            cells = (f"{key.replace('_', ' ')} {number}" for key, number in value.items())
            print(f"  {name:30} {', '.join(cells)}")
        elif isinstance(value, float):
            print(f"  {name:30} {value}")


if __name__ == "__main__":
    main()
