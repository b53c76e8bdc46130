"""Annotate a Spark DataFrame of documents on all executors: the same rows as `pboh annotate` writes.

Every Python worker opens the model once and keeps it; workers of one machine share its pages of memory.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from filelock import FileLock

from pboh.annotation.arrow import annotate_batch, schema, to_arrow
from pboh.annotation.rows import Options, annotator
from pboh.counts.spark import SPARK_ERRORS, first_line, open_session
from pboh.errors import InputError, MissingExtraError, ModelError, OutputError
from pboh.files.writing import written_aside
from pboh.linker import model_folder
from pboh.model.store import MANIFEST, fingerprint, read_manifest

try:
    from pyspark import SparkFiles
    from pyspark.sql import DataFrame, SparkSession, functions, types
except ImportError:
    raise MissingExtraError.of("pyspark", "spark") from None

STARTER = "starter"  # the name under which executors find the model that comes with pboh
BATCH_ROWS = 64  # documents are large beside the rows Spark expects; it sends 10,000 at a time otherwise


def annotate(
    df: DataFrame,
    model: str | Path | None = None,
    text: str = "text",
    id: str = "id",
    mentions: str | None = None,
    **options: Any,
) -> DataFrame:
    """Link the documents of ``df``: a row for every row, with id, kept columns, mentions and error.

    ``model`` is a folder that every executor sees, or the name of one that was sent to them (:func:`ship`,
    ``--archives``, ``--files``); None is the starter model, which comes with pboh. ``mentions`` names a
    column of given mentions; without it they are found. ``options`` are those of
    :class:`pboh.annotation.Options`: keep, candidates, threshold, only, overlapping, paper, settings.
    """
    asked = Options(text=text, id=id, mentions=mentions, **{"keep": (), **options})
    wanted = dict.fromkeys([text, id, *asked.keep, *([mentions] if mentions else [])])
    if missing := [name for name in wanted if name not in df.columns]:
        raise InputError(f"there is no column {missing[0]}; there are {', '.join(df.columns)}")
    if not isinstance(df.schema[text].dataType, types.StringType):
        raise InputError(f"column {text} is {df.schema[text].dataType.simpleString()}, not text")
    carried = [types.StructField("id", df.schema[id].dataType), *(df.schema[name] for name in asked.keep)]
    ours = schema(asked, pa.string())
    answers = [types.StructField(name, _spark_type(ours.field(name).type)) for name in ("mentions", "error")]
    work = _Work(None if model is None else str(model), asked)
    return df.select(*(functions.col(f"`{name}`") for name in wanted)).mapInArrow(
        work, types.StructType([*carried, *answers])
    )


class _Work:
    """What a Python worker does with a partition."""

    def __init__(self, model: str | None, options: Options) -> None:
        self._model, self._options = model, options

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        this = annotator(locate(self._model), self._options)
        for batch in batches:
            kinds = batch.schema
            kept = [pa.field(name, kinds.field(name).type) for name in self._options.keep]
            out = schema(self._options, kinds.field(self._options.id).type, kept)
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield to_arrow(annotate_batch(this, batch.slice(start, BATCH_ROWS)), out)


def _spark_type(kind: pa.DataType) -> types.DataType:
    """Spark's word for an Arrow type of our schema."""
    if pa.types.is_list(kind):
        return types.ArrayType(_spark_type(kind.value_type))
    if pa.types.is_struct(kind):
        return types.StructType([types.StructField(field.name, _spark_type(field.type)) for field in kind])
    return {
        pa.string(): types.StringType(),
        pa.int32(): types.IntegerType(),
        pa.float64(): types.DoubleType(),
    }[kind]


# -- models on executors --------------------------------------------------------------------------------


def pack(model: str | Path | None, archive: str | Path) -> Path:
    """Write a model folder as a zip archive, for ``spark-submit --archives`` or ``--files``."""
    folder = model_folder(model)
    base = read_manifest(folder).get("base", {}).get("model", STARTER)
    if base != STARTER:
        what = f"this model borrows from {base}, which would not be in the archive"
        raise ModelError(what, where=folder, todo="Put both on a file system that all executors see")
    out = Path(archive)
    if out.suffix != ".zip":
        raise InputError(f"the archive is called {out.name}", todo="End it with .zip")
    with (
        written_aside(out) as aside,
        zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zip,
    ):
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            zip.write(file, file.relative_to(folder))
    return out


def ship(session: SparkSession, model: str | Path) -> str:
    """Send a model of this machine to all executors; returns the name to pass to :func:`annotate`.

    Spark copies the archive to every executor and unpacks it there once, before the first task.
    """
    name = f"pboh-model-{fingerprint(model_folder(model))[:16]}"
    folder = Path(tempfile.mkdtemp(prefix="pboh-ship-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may ask for it until the end
    session.sparkContext.addArchive(f"{pack(model, folder / f'{name}.zip')}#{name}")
    return name


def locate(model: str | None) -> str | None:
    """The folder of a model on this executor: as named, or shipped under that name."""
    if model is None:
        return None
    for path in (Path(model).absolute(), Path(SparkFiles.get(model)).absolute()):
        if path.is_file() and zipfile.is_zipfile(path):
            path = _unpacked(path)  # noqa: PLW2901
        if (path / MANIFEST).is_file():
            return str(path)
        inner = sorted(path.glob(f"*/{MANIFEST}")) if path.is_dir() else []
        if len(inner) == 1:  # an archive with the folder itself in it
            return str(inner[0].parent)
    todo = "Name a folder that every executor sees, or send it with pboh.integrations.spark.ship"
    raise ModelError("this executor cannot see a model of that name", where=model, todo=todo)


def _unpacked(archive: Path) -> Path:
    """Folder beside an archive sent with ``--files``; several Python workers may want it at once."""
    folder = archive.with_name(f"{archive.name}.unpacked")
    with FileLock(archive.with_name(f".{archive.name}.lock")):
        if not folder.is_dir():
            aside = archive.with_name(f".{archive.name}.{os.getpid()}")
            with zipfile.ZipFile(archive) as zip:
                zip.extractall(aside)
            aside.replace(folder)
    return folder


# -- the command line -----------------------------------------------------------------------------------


def annotate_files(
    inputs: Sequence[str],
    out: str,
    model: str | None,
    options: Options,
    *,
    master: str | None = None,
    session: SparkSession | None = None,
) -> dict[str, Any]:
    """``pboh annotate --engine spark``: Parquet in, a folder of Parquet out, figures returned."""
    began, own = time.monotonic(), session is None
    session = session or open_session(master, "pboh annotate")
    try:
        df = session.read.parquet(*inputs)
        given = options.mentions if options.mentions in df.columns else None
        if given is None and options.mentions not in (None, "mentions"):
            raise InputError(f"there is no column {options.mentions}; there are {', '.join(df.columns)}")
        if options.id not in df.columns and options.id == "id":
            df = df.withColumn("id", functions.lit(None).cast("string"))
        named = {name: getattr(options, name) for name in options.__struct_fields__}
        annotate(df, model, **{**named, "mentions": given}).write.option("compression", "zstd").parquet(out)
        figures = _count(session.read.parquet(out))
    except SPARK_ERRORS as error:
        what = first_line(error)
        if "PATH_ALREADY_EXISTS" in what:
            raise OutputError(
                "something of that name already exists", where=out, todo="Choose another"
            ) from error
        raise InputError(f"Spark failed: {what}") from error
    finally:
        if own:
            session.stop()
    seconds = time.monotonic() - began
    rate = {"seconds": round(seconds, 2), "documents_per_second": round(figures["documents"] / seconds, 1)}
    return {**figures, **rate}


def _count(written: DataFrame) -> dict[str, Any]:
    [row] = written.selectExpr(
        "count_if(error IS NULL) AS documents",
        "coalesce(sum(size(mentions)) FILTER (WHERE error IS NULL), 0) AS mentions",
        "coalesce(sum(size(filter(mentions, m -> m.entity IS NOT NULL))) FILTER (WHERE error IS NULL), 0)"
        " AS linked",
        "count(error) AS failed_rows",
    ).collect()
    return dict(row.asDict())
