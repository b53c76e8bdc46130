"""Documents per second of bulk annotation: one process and two, one Spark executor and two.

Texts are the beginnings of validation pages, about as long as a news article. Rates are those of the running
job, without what it takes to start processes; `first_seconds` is that start. Ratios hold within one run, on a
machine that has nothing else to do (`load_average` is that of the beginning).
Without the sample corpus the small world of the tests stands in; without Java there are no rows for Spark.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.common import sample_model, save, shared, table
from pboh.annotation import annotate
from pboh.linker import load

DOCUMENTS = int(os.environ.get("PBOH_BENCH_DOCUMENTS", "800"))
CHARACTERS = 2_000
PARTITIONS = 16
ON_SPARK = """
import json, os, sys
from time import perf_counter
from pyspark.sql import SparkSession
from pboh.integrations.spark import annotate
source, model, executors, partitions = sys.argv[1:]
os.environ["PYSPARK_PYTHON"] = sys.executable
master = f"local-cluster[{executors},1,1024]"
builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
# all executors first, and no waiting for the one that read a partition
builder = builder.config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
session = builder.config("spark.locality.wait", "0s").getOrCreate()
df = session.read.parquet(source).repartition(int(partitions))
number = df.count()
began = perf_counter()
annotate(df.limit(40).repartition(int(partitions)), model).write.format("noop").mode("overwrite").save()
first = perf_counter() - began
began = perf_counter()
annotate(df, model).write.format("noop").mode("overwrite").save()
seconds = perf_counter() - began
print(json.dumps({"documents_per_second": number / seconds, "first_seconds": first}))
session.stop()
"""


def texts() -> list[str]:
    """Beginnings of pages."""
    folder = shared()
    if folder is None:
        return ["Müller scored for Bayern in Paris and Georgia won. " * 20] * DOCUMENTS
    with gzip.open(folder / "corpus" / "validation.jsonl.gz", "rt") as file:
        pages = [json.loads(line)["text"] for line in file]
    parts = [page[at : at + CHARACTERS] for at in (0, CHARACTERS) for page in pages]
    return [part for part in parts if len(part) == CHARACTERS][:DOCUMENTS]


def one_by_one(model: Path, documents: list[str]) -> float:
    """Documents per second of a plain loop, the first ones not counted."""
    linker, some = load(model), documents[: max(100, len(documents) // 4)]
    linker.link(some[0])
    began = perf_counter()
    for text in some:
        linker.link(text)
    return len(some) / (perf_counter() - began)


def with_workers(source: Path, model: Path, workers: int, folder: Path) -> dict[str, float]:
    """Rate between the first finished part and the last one."""
    moments: list[tuple[float, float]] = []

    def report(done: float, total: float | None = None, detail: str = "") -> None:
        if detail.endswith("documents/s"):
            moments.append((perf_counter(), done))

    began = perf_counter()
    figures = annotate([source], folder / f"{workers}.parquet", model, workers=workers, report=report)
    first, last = moments[workers - 1], moments[-1]  # every worker has begun
    return {
        "documents_per_second": (last[1] - first[1]) / (last[0] - first[0]),
        "first_seconds": first[0] - began,
        "peak_memory_megabytes": figures["peak_memory_megabytes"],
        "mentions": figures["mentions"] / figures["documents"],
    }


def with_executors(source: Path, model: Path, executors: int) -> dict[str, float]:
    command = [sys.executable, "-c", ON_SPARK, str(source), str(model.resolve())]
    run = subprocess.run(
        [*command, str(executors), str(PARTITIONS)], stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(json.loads(run.stdout.splitlines()[-1]))


def main() -> dict[str, Any]:
    model, documents = sample_model(), texts()
    results: dict[str, Any] = {"documents": len(documents), "characters": CHARACTERS}
    results["load_average"] = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "in.parquet"
        pq.write_table(pa.table({"id": range(len(documents)), "text": documents}), source)
        results["loop"] = {"documents_per_second": one_by_one(model, documents)}
        for workers in (1, 2):
            results[f"workers_{workers}"] = with_workers(source, model, workers, folder)
        same = [(folder / f"{workers}.parquet").read_bytes() for workers in (1, 2)]
        assert same[0] == same[1], "two workers write another file than one"
        if shutil.which("java") or "JAVA_HOME" in os.environ:
            for executors in (1, 2):
                results[f"executors_{executors}"] = with_executors(source, model, executors)
    one = {name: results.get(name, {}).get("documents_per_second") for name in ("workers_1", "executors_1")}
    results["ratio_workers"] = results["workers_2"]["documents_per_second"] / one["workers_1"]
    if one["executors_1"]:
        results["ratio_executors"] = results["executors_2"]["documents_per_second"] / one["executors_1"]
    show(results)
    return save("annotate", results)


def show(results: dict[str, Any]) -> None:
    rows = [
        (name, *(value.get(column, "–") for column in ("documents_per_second", "first_seconds")))
        for name, value in results.items()
        if isinstance(value, dict)
    ]
    if results["load_average"] > 0.5:
        load = results["load_average"]
        print(f"\nload average {load:.1f}: the machine is busy, so rates and ratios mean little")
    title = f"{results['documents']} documents of {results['characters']} characters"
    table(title, ("how", "documents/s", "seconds to the first"), rows)
    print(f"\ntwo workers / one: {results['ratio_workers']:.2f}")
    if "ratio_executors" in results:
        print(f"two executors / one: {results['ratio_executors']:.2f}")


if __name__ == "__main__":
    main()
