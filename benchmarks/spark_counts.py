"""One corpus counted by DuckDB and by Spark with several executors: rows compared, times side by side.

``python -m benchmarks spark_counts --scale 0.05`` generates a dump, extracts it once and counts it twice.
It can be stopped and run again. Spark needs Java, and its executors are processes of this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.common import DATA, save, table
from benchmarks.rehearsal import Rehearsal, generate_step
from pboh.corpus.extract import extract
from pboh.files.writing import parse_size

MEMORY = "4GB"
EXECUTORS, EXECUTOR_MEGABYTES = 2, 1536
MASTER = f"local-cluster[{EXECUTORS},1,{EXECUTOR_MEGABYTES}]"
PARTITIONS = 16  # Spark's own default, 200, is for clusters
STEPS = ("generate", "extract", "duckdb", "spark", "compare")


def extract_step(rehearsal: Rehearsal, memory: str, workers: str) -> dict[str, Any]:
    out = rehearsal.folder / "corpus"
    made = extract([rehearsal.dump], out, workers=int(workers), memory=parse_size(memory))
    return {name: made[name] for name in ("pages", "links")}


def duckdb_step(rehearsal: Rehearsal, memory: str, workers: str) -> dict[str, Any]:
    return _count(rehearsal, "duckdb", "", "--memory", memory, "--workers", workers)


def spark_step(rehearsal: Rehearsal, memory: str) -> dict[str, Any]:
    settings = {"spark.sql.shuffle.partitions": PARTITIONS, "spark.ui.enabled": "false"}
    lines = "".join(f"{name} {value}\n" for name, value in settings.items())
    (rehearsal.folder / "spark-defaults.conf").write_text(lines)
    os.environ["SPARK_CONF_DIR"] = str(rehearsal.folder.resolve())
    return _count(rehearsal, "spark", "file://", "--memory", memory, "--engine", "spark", "--master", MASTER)


def _count(rehearsal: Rehearsal, name: str, scheme: str, *options: str) -> dict[str, Any]:
    """What ``pboh count`` says about the corpus."""
    folders, figures = (rehearsal.folder / one for one in ("corpus", name)), rehearsal.folder / f"{name}.json"
    corpus, out = (f"{scheme}{folder.resolve()}" for folder in folders)
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "count", corpus, "--out", out]
    command += ["--no-sums", "--json", str(figures), *options]
    subprocess.run(command, check=True, stdout=sys.stderr)
    found: dict[str, Any] = json.loads(figures.read_text())
    return found


def compare_step(rehearsal: Rehearsal, memory: str) -> dict[str, Any]:
    """How many rows each table has, and how many of them only one engine wrote."""
    database = duckdb.connect(
        config={"memory_limit": memory, "temp_directory": str(rehearsal.folder / "spill")}
    )
    one, other = (
        f"read_parquet('{rehearsal.folder}/{name}/{{}}/**/*.parquet')" for name in ("duckdb", "spark")
    )
    result: dict[str, Any] = {}
    for name in sorted(_tables(rehearsal.folder / "duckdb") | _tables(rehearsal.folder / "spark")):
        a, b = one.format(name), other.format(name)
        columns = ", ".join(row[0] for row in database.sql(f"DESCRIBE SELECT * FROM {a}").fetchall())
        rows = database.sql(f"SELECT count(*) FROM {a}").fetchall()[0][0]
        different = [
            database.sql(
                f"SELECT count(*) FROM (SELECT {columns} FROM {x} EXCEPT ALL SELECT {columns} FROM {y})"
            ).fetchall()[0][0]
            for x, y in ((a, b), (b, a))
        ]
        result[name] = {"rows": rows, "only_duckdb": different[0], "only_spark": different[1]}
    return result


def _tables(folder: Path) -> set[str]:
    """The folders with rows in them."""
    return {path.relative_to(folder).parts[0] for path in folder.rglob("*.parquet")} - {"steps"}


def main(
    scale: float = 0.002,
    folder: Path | None = None,
    keep: bool = False,
    memory: str = MEMORY,
    workers: int = 2,
) -> dict[str, Any]:
    """Run what is not done yet; prints and returns the figures."""
    rehearsal = Rehearsal((folder or DATA) / f"spark-counts-{scale:g}", "benchmarks.spark_counts")
    both = memory, str(workers)
    options = {"generate": (f"{scale!r}", str(workers)), "extract": both, "duckdb": both}
    disk = [rehearsal.folder / name for name in ("duckdb", "spark")]
    done = {step: rehearsal.run(step, *options.get(step, (memory,)), disk=disk) for step in STEPS}
    used = {step: rehearsal.record["used"][step] for step in STEPS}
    results = {"scale": scale, "master": MASTER, "memory": memory, **done, "stages": used}
    compared = [(name, *row.values()) for name, row in done["compare"].items()]
    table(f"Tables at scale {scale:g}", ("table", "rows", "only DuckDB", "only Spark"), compared)
    rows = [(step, *(f"{value:,.0f}" for value in usage.values())) for step, usage in used.items()]
    table("What it took", ("step", "s", "processor s", "peak memory, MB", "peak disk, MB"), rows)
    different = {name for name, row in done["compare"].items() if row["only_duckdb"] or row["only_spark"]}
    if different:
        raise AssertionError(f"the engines differ in {', '.join(sorted(different))}")
    if not keep:
        shutil.rmtree(rehearsal.folder)
    return save(f"spark_counts_{scale:g}" + ("" if memory == MEMORY else f"_{memory}"), results)


if __name__ == "__main__":
    STEP = {
        "generate": generate_step, "extract": extract_step, "duckdb": duckdb_step, "spark": spark_step,
        "compare": compare_step,
    }  # fmt: skip
    print(json.dumps(STEP[sys.argv[1]](Rehearsal(Path(sys.argv[2]), ""), *sys.argv[3:])))
