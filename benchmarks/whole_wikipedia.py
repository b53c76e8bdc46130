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

from benchmarks.common import DATA, save, table
from benchmarks.process_tree import Usage
from benchmarks.rehearsal import Rehearsal, generate_step
from benchmarks.service import as_request, serving
from pboh.evaluation.datasets import read_dataset
from pboh.files.writing import folder_size, parse_size
from pboh.linker import load
from pboh.train import HELD_OUT, train, work_folder

MEMORY = "4GB"
LINKED, REQUESTS, CONNECTIONS = 200, 400, 4
STEPS = ("generate", "train", "link", "serve")


# -- the steps, each in a process of its own --------------------------------------------------------


def model_of(rehearsal: Rehearsal) -> Path:
    return rehearsal.folder / "model"


def train_step(rehearsal: Rehearsal, memory: str, workers: str) -> dict[str, Any]:
    said = "start"
    rehearsal.say(said)

    def report(done: float, total: float | None = None, detail: str = "") -> None:
        nonlocal said
        stage = detail.split(":", maxsplit=1)[0]
        if stage not in (said, "", "done"):
            said = stage
            rehearsal.say(stage)

    made = train(
        [rehearsal.dump], model_of(rehearsal), memory=parse_size(memory), workers=int(workers), report=report
    )
    return {name: made.get(name) for name in ("totals", "model_megabytes", "held_out", "fitted")}


def link_step(rehearsal: Rehearsal) -> dict[str, Any]:
    """Raw text, and given mentions, of pages that were set aside."""
    linker, pages = load(model_of(rehearsal)), _pages(rehearsal)
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
    with serving(model_of(rehearsal), 1) as server:
        return server.measure(requests, CONNECTIONS, REQUESTS)


def _pages(rehearsal: Rehearsal) -> list[Any]:
    return list(read_dataset(f"{model_of(rehearsal) / HELD_OUT}#0:{LINKED}"))


# -- all of it --------------------------------------------------------------------------------------


def main(
    scale: float = 0.01,
    folder: Path | None = None,
    keep: bool = False,
    memory: str = MEMORY,
    workers: int = 2,
) -> dict[str, Any]:
    """Run what is not done yet; prints and returns the figures."""
    rehearsal = Rehearsal((folder or DATA) / f"whole-wikipedia-{scale:g}", "benchmarks.whole_wikipedia")
    model = model_of(rehearsal)
    disk = [model, work_folder(model), model.with_name(f".{model.name}.tmp")]
    options = {"generate": (f"{scale!r}", str(workers)), "train": (memory, str(workers))}
    done = {step: rehearsal.run(step, *options.get(step, ()), disk=disk) for step in STEPS}
    used = {stage: asdict(Usage(**usage)) for stage, usage in rehearsal.record["used"].items()}
    results = {"scale": scale, "memory": memory, "workers": workers, **done, "stages": used}
    results["dump_megabytes"] = done["generate"]["bytes"] / 1e6
    results["model_megabytes"] = folder_size(model) / 1e6
    show(results)
    if not keep:
        shutil.rmtree(rehearsal.folder)
    return save(f"whole_wikipedia_{scale:g}" + ("" if memory == MEMORY else f"_{memory}"), results)


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
    print(json.dumps(STEP[sys.argv[1]](Rehearsal(Path(sys.argv[2]), ""), *sys.argv[3:])))
