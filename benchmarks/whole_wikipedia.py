"""The rehearsal of a whole Wikipedia: a generated dump is trained on, linked with and served.

``python -m benchmarks whole_wikipedia --scale 0.01 --folder FOLDER`` records for every stage the time,
processor time, peak memory of all processes and peak disk space. Run the same command again after a stop: it
goes on where it was, and adds up what the stages used. Without ``--keep``, everything but the figures is
removed at the end.
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.common import DATA, ROOT, save, table
from benchmarks.generated_dump import generate
from benchmarks.process_tree import Usage, Watch
from benchmarks.service import as_request, serving
from pboh.evaluation.datasets import read_dataset
from pboh.files.progress import progress
from pboh.files.writing import folder_size, parse_size, read_json, write_json
from pboh.linker import load
from pboh.train import HELD_OUT, train, work_folder

MEMORY = "4GB"
LINKED, REQUESTS, CONNECTIONS = 200, 400, 4
STEPS = ("generate", "train", "link", "serve")


class Rehearsal:
    """A folder with a dump, the model made of it, and what was recorded so far."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.dump, self.model = folder, folder / "dump", folder / "model"
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

    def run(self, step: str, *options: str) -> dict[str, Any]:
        """Do a step in a process of its own, unless it is done; returns its figures."""
        if step not in self.record["done"]:
            print(f"{step} …", flush=True)
            self.say("start" if step == "train" else step)
            watch = Watch([self.model, work_folder(self.model)], self.stage, self._used)
            watch.known(self.record["used"])
            command = [sys.executable, "-m", "benchmarks.whole_wikipedia", step, str(self.folder), *options]
            printed = watch.run(command, ROOT)
            self.record["done"][step] = json.loads(printed.splitlines()[-1])
            self.save()
        figures: dict[str, Any] = self.record["done"][step]
        return figures

    def _used(self, used: dict[str, Any]) -> None:
        self.record["used"] = used
        self.save()


# -- the steps, each in a process of its own --------------------------------------------------------


def generate_step(rehearsal: Rehearsal, scale: str, workers: str) -> dict[str, Any]:
    with progress("generate", continues=True) as report:
        return generate(rehearsal.dump, float(scale), workers=int(workers), report=report)


def train_step(rehearsal: Rehearsal, memory: str, workers: str) -> dict[str, Any]:
    said = ""

    def report(done: float, total: float | None = None, detail: str = "") -> None:
        nonlocal said
        stage = detail.split(":", maxsplit=1)[0]
        if stage not in (said, "", "done"):
            said = stage
            rehearsal.say(stage)

    made = train(
        [rehearsal.dump], rehearsal.model, memory=parse_size(memory), workers=int(workers), report=report
    )
    return {name: made.get(name) for name in ("totals", "model_megabytes", "held_out", "fitted")}


def link_step(rehearsal: Rehearsal) -> dict[str, Any]:
    """Raw text, and given mentions, of pages that were set aside."""
    linker, pages = load(rehearsal.model), _pages(rehearsal)
    result: dict[str, Any] = {"documents": len(pages), "mentions": sum(len(p.linked) for p in pages)}
    jobs = {
        "raw_text_ms": [lambda p=p: linker.link(p.text) for p in pages],
        "given_mentions_ms": [
            lambda p=p: linker.disambiguate(p.text, [(m.start, m.end) for m in p.linked], overlapping=True)
            for p in pages
        ],
    }
    for name, calls in jobs.items():
        times = []
        for call in [*calls[:20], *calls]:  # the first to warm up
            began = perf_counter()
            call()
            times.append(1e3 * (perf_counter() - began))
        median, late = np.quantile(times[-len(calls) :], [0.5, 0.99])
        result[name] = {"median": float(median), "p99": float(late)}
    return result


def serve_step(rehearsal: Rehearsal) -> dict[str, Any]:
    requests = [as_request((p.text, [(m.start, m.end) for m in p.linked])) for p in _pages(rehearsal)]
    with serving(rehearsal.model, 1) as server:
        return server.measure(requests, CONNECTIONS, REQUESTS)


def _pages(rehearsal: Rehearsal) -> list[Any]:
    return list(read_dataset(f"{rehearsal.model / HELD_OUT}#0:{LINKED}"))


# -- all of it --------------------------------------------------------------------------------------


def main(
    scale: float = 0.01,
    folder: Path | None = None,
    keep: bool = False,
    memory: str = MEMORY,
    workers: int = 2,
) -> dict[str, Any]:
    """Run what is not done yet; prints and returns the figures."""
    rehearsal = Rehearsal((folder or DATA) / f"whole-wikipedia-{scale:g}")
    options = {"generate": (f"{scale!r}", str(workers)), "train": (memory, str(workers))}
    done = {step: rehearsal.run(step, *options.get(step, ())) for step in STEPS}
    used = {stage: asdict(Usage(**usage)) for stage, usage in rehearsal.record["used"].items()}
    results = {"scale": scale, "memory": memory, "workers": workers, **done, "stages": used}
    results["dump_megabytes"] = done["generate"]["bytes"] / 1e6
    results["model_megabytes"] = folder_size(rehearsal.model) / 1e6
    show(results)
    if not keep:
        shutil.rmtree(rehearsal.folder)
    return save(f"whole_wikipedia_{scale:g}", results)


def show(results: dict[str, Any]) -> None:
    made = results["generate"]
    print(
        f"\n{made['articles']:,} articles, {made['pages']:,} pages, {made['links']:,} links, "
        f"{made['xml_bytes'] / 1e9:.2f} GB of XML in {made['bytes'] / 1e9:.2f} GB of bz2; "
        f"model {results['model_megabytes']:,.0f} MB"
    )
    rows = [
        (stage, *(f"{value:,.0f}" for value in usage.values())) for stage, usage in results["stages"].items()
    ]
    columns = ("stage", "s", "processor s", "peak memory, MB", "peak disk beside the dump, MB")
    table(f"A Wikipedia at scale {results['scale']:g}", columns, rows)
    for name in ("raw_text_ms", "given_mentions_ms"):
        one = results["link"][name]
        print(f"{name}: median {one['median']:.1f}, p99 {one['p99']:.1f}")


if __name__ == "__main__":
    STEP = {"generate": generate_step, "train": train_step, "link": link_step, "serve": serve_step}
    print(json.dumps(STEP[sys.argv[1]](Rehearsal(Path(sys.argv[2])), *sys.argv[3:])))
