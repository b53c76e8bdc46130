"""DuckDB as training uses it: within a memory limit, and with sentences for failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pboh.errors import OutputError, PbohError


def open_database(spill: Path, memory: int, threads: int) -> duckdb.DuckDBPyConnection:
    """A database in memory that holds ``memory`` bytes at most and the rest in the folder ``spill``."""
    settings: dict[str, Any] = {
        "memory_limit": f"{memory >> 20}MiB",
        "threads": threads,
        "temp_directory": str(spill),
        "preserve_insertion_order": False,  # every table says its order itself
        "autoinstall_known_extensions": False,
    }
    database = duckdb.connect(config=settings)
    database.execute("SET enable_progress_bar = false")  # the caller reports
    return database


def arrow_batches(database: duckdb.DuckDBPyConnection, query: str, rows: int) -> Iterator[pa.RecordBatch]:
    """The result of a query, ``rows`` rows at a time."""
    result: Any = database.sql(query)
    # DuckDB 2 has the one, DuckDB 1 the other
    reader = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader
    return iter(reader(rows))


@contextmanager
def database_errors(where: Path, kind: type[PbohError]) -> Iterator[None]:
    """Turn what DuckDB raises into a sentence that says what to do, as an error of that kind."""
    try:
        yield
    except duckdb.Error as error:
        text = str(error).splitlines()[0]
        if re.search(r"no space left|file too large|disk quota|max_temp_directory", str(error), re.I):
            todo = "Free some space and run the same command again: what is finished is kept"
            raise OutputError("no space is left on the disk", where=where, todo=todo) from error
        if isinstance(error, duckdb.OutOfMemoryException):
            todo = "Raise --memory and run the same command again: what is finished is kept"
            raise kind(f"the memory limit is too small ({text})", todo=todo) from error
        raise kind(f"DuckDB failed: {text}") from error


def quoted(text: object) -> str:
    """A path or a text as SQL writes it."""
    return "'" + str(text).replace("'", "''") + "'"
