"""Documents annotated on Spark are, row by row, what `pboh annotate` writes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pboh.annotation import Options
from pboh.annotation import annotate as annotate_here
from pboh.errors import InputError, ModelError, OutputError

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TEXTS = (
    "Müller scored for Bayern in Paris and Georgia won.",
    "Mercury is closer to the Sun than Venus. 🙂 Apple shipped Java to Jordan.",
    "",
    None,
    "Zidane met Beckenbauer in Madrid.",
)
ON_EXECUTORS = """
import json, os, sys
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pboh.cli import program
from pboh.integrations.spark import annotate, ship
folder, model, common = sys.argv[1:]
master = "local-cluster[2,1,1024]"
os.environ["PYSPARK_PYTHON"] = sys.executable
session = SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
df = session.read.parquet(f"{folder}/in.parquet").repartition(6)
annotate(df, ship(session, model), keep=("year",), candidates=2).write.parquet(f"{folder}/sent")
tasks = session.sparkContext.parallelize(range(6), 6)
roots = tasks.map(lambda _: os.path.abspath(SparkFiles.getRootDirectory()))
print(json.dumps(sorted(set(roots.collect()))))
command = ["annotate", f"file://{folder}/in.parquet", "--out", f"file://{folder}/seen", "--model", common]
command += ["--json", f"{folder}/figures.json", "--keep-columns", "year"]
command += ["--engine", "spark", "--master", master]
program("annotate")(command, standalone_mode=False)
"""


def documents(folder: Path, number: int = 40) -> Path:
    rows = [
        {"id": k, "text": TEXTS[k % 5] and f"{TEXTS[k % 5]} {k}", "year": [k], "mentions": None}
        for k in range(number)
    ]
    rows[0]["mentions"] = [{"start": 0, "end": 6}]
    rows[1]["mentions"] = [{"start": 0, "end": 600}]
    pq.write_table(pa.Table.from_pylist(rows), folder / "in.parquet", row_group_size=9)
    return folder / "in.parquet"


def in_order(rows: Any) -> list[dict[str, Any]]:
    return sorted((row.asDict(recursive=True) for row in rows), key=lambda row: row["id"])


@pytest.mark.parametrize("given", [None, "mentions"])
def test_rows_equal_those_of_pboh_annotate(spark, world_model, tmp_path, given):
    from pboh.integrations.spark import annotate

    source = documents(tmp_path)
    options = {"keep": ("year",), "candidates": 2, "threshold": 0.2}
    plain = tmp_path / "plain.parquet"
    annotate_here([source], plain, world_model, Options(mentions=given, **options), workers=1)
    df = spark.read.parquet(str(source)).repartition(5)
    made = annotate(df, world_model, mentions=given, **options)
    assert made.columns == pq.read_schema(plain).names
    found = in_order(made.collect())
    assert found == pq.read_table(plain).to_pylist()
    assert sum(row["error"] is not None for row in found) == (9 if given else 8)


def test_the_starter_model_and_wrong_columns(spark, tmp_path):
    from pboh.integrations.spark import annotate

    df = spark.createDataFrame([(1, "Paris is the capital of France.", 2.0)], "k INT, t STRING, x DOUBLE")
    [row] = annotate(df, text="t", id="k").collect()
    assert "France" in {mention.entity for mention in row.mentions}
    with pytest.raises(InputError, match="no column text; there are k, t, x"):
        annotate(df, id="k")
    with pytest.raises(InputError, match="column x is double, not text"):
        annotate(df, text="x", id="k")
    with pytest.raises(Exception, match="cannot see a model of that name"):
        annotate(df, "nowhere", text="t", id="k").collect()


def test_archives_are_unpacked_once_by_whoever_comes_first(spark, world_model, tmp_path):
    from pboh.integrations.spark import locate, pack

    archive = pack(world_model, tmp_path / "model.zip")
    with ThreadPoolExecutor(8) as threads:
        [folder] = set(threads.map(lambda _: locate(str(archive)), range(8)))
    names = {path.name for path in Path(folder).iterdir()}
    assert names == {path.name for path in world_model.iterdir()}
    assert locate(str(world_model)) == str(world_model)
    shutil.copytree(world_model, tmp_path / "outer" / "model")
    assert locate(str(tmp_path / "outer")) == str(tmp_path / "outer" / "model")
    spark.sparkContext.addFile(str(archive))  # what --files does
    assert locate("model.zip") is not None
    assert locate(None) is None
    with pytest.raises(ModelError):
        pack(tmp_path / "none", tmp_path / "x.zip")
    with pytest.raises(InputError, match="End it with"):
        pack(world_model, tmp_path / "x.tar")


def test_several_executors_that_were_sent_the_model_or_see_it(spark, small_cluster, world_model, tmp_path):
    """local-cluster mode: executors are processes of their own. They get an archive, then a path."""
    from pboh.integrations.spark import annotate_files

    source, model = documents(tmp_path), shutil.copytree(world_model, tmp_path / "model")
    (tmp_path / "job.py").write_text(ON_EXECUTORS)
    run = subprocess.run(
        [sys.executable, tmp_path / "job.py", tmp_path, model, world_model],
        capture_output=True, text=True, check=False, env=small_cluster,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    assert len(json.loads(run.stdout.splitlines()[0])) == 2  # both executors, each with a folder of its own
    options = {"sent": Options(mentions=None, keep=("year",), candidates=2), "seen": Options(keep=("year",))}
    plain = {}
    for name, how in options.items():
        plain[name] = annotate_here([source], tmp_path / f"{name}.parquet", world_model, how, workers=1)
        found = sorted(pq.read_table(tmp_path / name).to_pylist(), key=lambda row: row["id"])
        assert found == pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
    counted = json.loads((tmp_path / "figures.json").read_text())
    for name in ("documents", "mentions", "linked", "failed_rows"):
        assert counted[name] == plain["seen"][name], name
    with pytest.raises(OutputError, match="something of that name already exists"):
        annotate_files(
            [f"file://{source}"], f"file://{tmp_path}/seen", world_model, options["seen"], session=spark
        )
