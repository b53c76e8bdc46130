"""Run the statistics on DuckDB: embedded, within a memory limit, spilling beside the output."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from pboh.errors import CorpusError, CountsError, InputError, OutputError
from pboh.files.compression import DAMAGE, decoded
from pboh.files.database import arrow_batches, database_errors, open_database, quoted
from pboh.files.memory import processors
from pboh.files.writing import claimed, disk_errors, remove, write_whole, written_aside

Batches = Iterator[pa.RecordBatch]
Mapper = Callable[[Batches], Batches]

# DuckDB's own limit leaves room for the interpreter, Arrow and buffers that DuckDB does not account for.
RESERVE, SHARE = 320 << 20, 4
LEAST_MEMORY = 512 << 20
BYTES_PER_THREAD = 256 << 20
ROWS_PER_BATCH = 4096
LINES_PER_BATCH = 50_000
WRITE_AGAIN = "Write the folder again with pboh extract (or pboh count)"


class Engine(Protocol):
    """What a SQL engine must do for us; paths are strings that only the engine interprets."""

    memory: int
    local: bool
    threads: int  # of this process

    def read_text(self, path: str) -> str | None:
        """Content of a small file, None when there is none."""

    def write_text(self, path: str, text: str) -> None:
        """Write a small file, whole or not at all."""

    def delete(self, path: str) -> None:
        """Remove a file or folder if it is there."""

    def files(self, path: str) -> list[tuple[str, int, int]]:
        """(name, bytes, time of change) of the data files at or below ``path``, sorted."""

    def check(self, folder: str, columns: Sequence[str]) -> None:
        """Raise CorpusError unless every data file of ``folder`` can be opened and has ``columns``."""

    def scan(self, folder: str) -> str:
        """SQL that stands for the rows of all Parquet files below ``folder``."""

    def view(self, name: str, sql: str) -> None:
        """Make ``name`` stand for a query."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Result of a small query."""

    def batches(self, sql: str, rows: int = ROWS_PER_BATCH, ordered: bool = False) -> Batches:
        """Result of a query, some rows at a time; ``ordered``: in the order of the table it reads."""

    def write(self, sql: str, folder: str) -> None:
        """Write the result of a query as Parquet files, in its order, whole or not at all."""

    def write_mapped(self, sql: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        """Write what a Python function makes of the batches of a query, in any order."""

    def write_batches(self, batches: Batches, schema: pa.Schema, folder: str, **how: Any) -> None:
        """Write batches as Parquet in their order, whole or not at all; only if the engine is local."""

    def write_lines(self, path: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        """Write what a Python function makes of batches (line, text) of a text file, plain or .bz2."""

    def close(self) -> None:
        """Give back what the engine holds."""


class DuckDB:
    """The default engine: one process, local folders, never more than ``memory`` bytes."""

    local = True

    def __init__(self, out: Path, memory: int = 4 << 30, threads: int | None = None) -> None:
        if memory < LEAST_MEMORY:
            raise InputError(
                f"{memory >> 20} MB of memory is too little to count with", todo="Use at least --memory 512MB"
            )
        self.memory = memory - max(RESERVE, memory // SHARE)  # what it does not account for grows with it
        self._out, self._spill = out, out / "steps" / "spill"
        self._claim = ExitStack()
        self._claim.enter_context(_claimed(out))
        shutil.rmtree(self._spill, ignore_errors=True)
        for left_over in [*out.rglob(".*.tmp")]:
            remove(left_over)
        self.threads = max(1, min(threads or processors(), self.memory // BYTES_PER_THREAD))
        self._database = open_database(self._spill, self.memory, self.threads)

    def read_text(self, path: str) -> str | None:
        try:
            return Path(path).read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"this file cannot be read ({error})", where=path) from error

    def write_text(self, path: str, text: str) -> None:
        write_whole(Path(path), text)

    def delete(self, path: str) -> None:
        with disk_errors(Path(path)):
            if Path(path).is_dir():
                shutil.rmtree(path)
            else:
                Path(path).unlink(missing_ok=True)

    def files(self, path: str) -> list[tuple[str, int, int]]:
        found = []
        for file in _parquet_files(path) if Path(path).is_dir() else [Path(path)]:
            if file.exists():
                status = file.stat()
                found.append((str(file.relative_to(path)), status.st_size, status.st_mtime_ns // 1_000_000))
        return found

    def check(self, folder: str, columns: Sequence[str]) -> None:
        files = _parquet_files(folder)
        if not files:
            raise CorpusError("the folder has no data files", where=folder, todo=WRITE_AGAIN)
        for file in files:
            try:
                names = pq.read_schema(file).names
            except (OSError, pa.ArrowException) as error:
                raise CorpusError(f"this file is damaged ({error})", where=file, todo=WRITE_AGAIN) from error
            if missing := set(columns) - set(names):
                raise CorpusError(f"columns are missing: {', '.join(sorted(missing))}", where=file)

    def scan(self, folder: str) -> str:
        return f"read_parquet([{', '.join(map(quoted, _parquet_files(folder)))}])"

    def view(self, name: str, sql: str) -> None:
        with self._errors():
            self._database.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._errors():
            return list(self._database.execute(sql).fetchall())

    def batches(self, sql: str, rows: int = ROWS_PER_BATCH, ordered: bool = False) -> Batches:
        with self._errors():
            self._database.execute(f"SET preserve_insertion_order = {ordered}")
            yield from arrow_batches(self._database, sql, rows)

    def write(self, sql: str, folder: str) -> None:
        with self._folder(folder) as aside, self._errors():
            file = quoted(aside / "part-00000.parquet")
            self._database.execute("SET preserve_insertion_order = False")
            self._database.execute(f"COPY ({sql}) TO {file} (FORMAT parquet, COMPRESSION zstd)")

    def write_mapped(self, sql: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        self.write_batches(function(self.batches(sql)), schema, folder)

    def write_batches(self, batches: Batches, schema: pa.Schema, folder: str, **how: Any) -> None:
        with self._folder(folder) as aside:
            file = aside / "part-00000.parquet"
            with pq.ParquetWriter(file, schema, compression="zstd", **how) as writer:
                for batch in batches:
                    writer.write_batch(batch)

    def write_lines(self, path: str, function: Mapper, schema: pa.Schema, folder: str) -> None:
        self.write_batches(function(_line_batches(Path(path))), schema, folder)

    def close(self) -> None:
        self._database.close()
        shutil.rmtree(self._spill, ignore_errors=True)
        self._claim.close()
        with suppress(OSError):
            self._out.rmdir()

    @contextmanager
    def _folder(self, folder: str) -> Iterator[Path]:
        self.delete(folder)
        with written_aside(Path(folder)) as aside:
            aside.mkdir()
            yield aside

    def _errors(self) -> AbstractContextManager[None]:
        return database_errors(self._out, CountsError)


def _claimed(out: Path) -> AbstractContextManager[None]:
    """Take the output folder for this process: it must be new or ours, with nobody else at work there."""
    if out.is_dir() and any(out.iterdir()) and not (out / "steps").is_dir():
        todo = "Choose an empty folder or a new one"
        raise OutputError("this folder contains something else", where=out, todo=todo)
    return claimed(out / "steps", out)


def _parquet_files(folder: str) -> list[Path]:
    """Data files below a folder in order, without what an interrupted run left behind."""
    found = Path(folder).rglob("*.parquet")
    return sorted(f for f in found if not any(p.startswith(".") for p in f.relative_to(folder).parts))


def _line_batches(path: Path) -> Batches:
    """Numbered lines of a text file in batches, so that no more than a few MB are held at a time."""
    number = 0
    try:
        with path.open("rb") as file, io.TextIOWrapper(decoded(file), "utf-8", "replace") as text:
            while lines := list(islice(text, LINES_PER_BATCH)):
                numbers = pa.array(range(number + 1, number + 1 + len(lines)), pa.int64())
                texts = pa.array([line.rstrip("\r\n") for line in lines], pa.string())
                yield pa.RecordBatch.from_arrays([numbers, texts], names=["line", "text"])
                number += len(lines)
    except DAMAGE as error:
        raise InputError(f"this file cannot be read after line {number} ({error})", where=path) from error
