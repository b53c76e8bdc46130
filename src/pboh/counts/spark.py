"""Run the same statistics on Spark: any master, any file system Spark can read and write."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count as numbers
from itertools import islice
from typing import Any

import pyarrow as pa

from pboh.counts.engine import ROWS_PER_BATCH, WRITE_AGAIN, Batches, Mapper
from pboh.errors import CorpusError, CountsError, InputError, MissingExtraError, OutputError

try:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
except ImportError:
    raise MissingExtraError.of("pyspark", "spark") from None

SPARK_ERRORS = (PySparkException, Py4JError)


def open_session(master: str | None = None, name: str = "pboh count") -> SparkSession:
    """A Spark session: the one `spark-submit` configured, or one on ``master``."""
    builder = SparkSession.builder.appName(name).config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):  # workers on this machine run in this very environment
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        return builder.getOrCreate()
    except SPARK_ERRORS as error:
        todo = "Check that Java 17 or newer is installed and that --master is right"
        raise InputError(f"Spark did not start: {first_line(error)}", todo=todo) from error


class Spark:
    """Spark behind the interface of an engine; folders are URIs that Spark's file systems understand."""

    local = False
    threads = 1

    def __init__(
        self, memory: int = 4 << 30, master: str | None = None, session: SparkSession | None = None
    ) -> None:
        self.memory = memory
        self._own = session is None
        self._session = session or open_session(master)
        self._scans = numbers()

    def read_text(self, path: str) -> str | None:
        with self._errors():
            at, system = self._file(path)
            if not system.exists(at):
                return None
            stream = system.open(at)
            try:
                return str(self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
            finally:
                stream.close()

    def write_text(self, path: str, text: str) -> None:
        with self._errors():
            at, system = self._file(path)
            aside, _ = self._file(f"{path}.tmp")
            stream = system.create(aside, True)
            try:
                stream.write(bytearray(text.encode()))
            finally:
                stream.close()
            system.delete(at, False)
            if not system.rename(aside, at):
                raise OutputError("this file cannot be written", where=path)

    def delete(self, path: str) -> None:
        with self._errors():
            at, system = self._file(path)
            system.delete(at, True)

    def files(self, path: str) -> list[tuple[str, int, int]]:
        with self._errors():
            at, system = self._file(path)
            if not system.exists(at):
                return []
            root = str(system.getFileStatus(at).getPath().toUri().getPath())
            found = []
            listing = system.listFiles(at, True)
            while listing.hasNext():
                status = listing.next()
                name = str(status.getPath().toUri().getPath())[len(root) :].lstrip("/") or "."
                hidden = any(part.startswith(("_", ".")) for part in name.split("/"))
                if name == "." or (name.endswith(".parquet") and not hidden):
                    found.append((name, int(status.getLen()), int(status.getModificationTime())))
            return sorted(found)

    def check(self, folder: str, columns: Sequence[str]) -> None:
        if not self.files(folder):
            raise CorpusError("the folder has no data files", where=folder, todo=WRITE_AGAIN)
        try:
            with self._errors():
                names = self._read(folder).columns
        except CountsError as error:
            raise CorpusError(f"the folder is damaged ({error})", where=folder, todo=WRITE_AGAIN) from error
        if missing := set(columns) - set(names):
            raise CorpusError(f"columns are missing: {', '.join(sorted(missing))}", where=folder)

    def scan(self, folder: str) -> str:
        name = f"scan_{next(self._scans)}"
        with self._errors():
            self._read(folder).createOrReplaceTempView(name)
        return name

    def view(self, name: str, sql: str) -> None:
        with self._errors():
            self._session.sql(sql).createOrReplaceTempView(name)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._errors():
            return [tuple(row) for row in self._session.sql(sql).collect()]

    def batches(self, sql: str, rows: int = ROWS_PER_BATCH, ordered: bool = False) -> Batches:
        with self._errors():
            frame = self._session.sql(sql)
            found = frame.toLocalIterator(prefetchPartitions=True)
            while some := list(islice(found, rows)):
                columns = [list(values) for values in zip(*some, strict=True)]
                yield pa.RecordBatch.from_arrays([pa.array(values) for values in columns], frame.columns)

    def write(self, sql: str, folder: str) -> None:
        with self._errors():
            self._write(self._session.sql(sql), folder)

    def write_mapped(self, sql: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        with self._errors():
            self._write(self._session.sql(sql).mapInArrow(function, _spark_schema(schema)), folder)

    def write_batches(self, batches: Batches, schema: pa.Schema, folder: str, **how: Any) -> None:
        raise NotImplementedError("what is made in this process is not on the cluster")

    def write_lines(self, path: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        with self._errors():
            lines = self._session.sparkContext.textFile(path).zipWithIndex()
            numbered = lines.map(lambda pair: (pair[1] + 1, pair[0]))
            frame = self._session.createDataFrame(numbered, "line BIGINT, text STRING")
            self._write(frame.mapInArrow(function, _spark_schema(schema)), folder)

    def close(self) -> None:
        if self._own:
            self._session.stop()

    @property
    def _jvm(self) -> Any:
        return self._session.sparkContext._jvm

    def _file(self, path: str) -> tuple[Any, Any]:
        """Hadoop's path and the file system it is on."""
        at = self._jvm.org.apache.hadoop.fs.Path(path)
        return at, at.getFileSystem(self._session.sparkContext._jsc.hadoopConfiguration())

    def _read(self, folder: str) -> DataFrame:
        return self._session.read.option("recursiveFileLookup", "true").parquet(folder)

    def _write(self, frame: DataFrame, folder: str) -> None:
        frame.write.mode("overwrite").option("compression", "zstd").parquet(folder)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what Spark raises into a sentence that says what to do."""
        try:
            yield
        except SPARK_ERRORS as error:
            if "No space left on device" in str(error):
                todo = "Free some space and run the same command again: what is finished is kept"
                raise OutputError("no space is left on a disk of the cluster", todo=todo) from error
            raise CountsError(f"Spark failed: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """What went wrong, without the Java stack trace."""
    cause = getattr(error, "java_exception", None)
    lines = str(cause if cause is not None else error).strip().splitlines()
    return lines[-1] if "Python worker" in lines[0] else lines[0]


def _spark_schema(schema: pa.Schema) -> str:
    kinds = {pa.string(): "STRING", pa.int32(): "INT", pa.int64(): "BIGINT"}
    return ", ".join(f"{column.name} {kinds[column.type]}" for column in schema)
