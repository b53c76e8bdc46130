"""Documents to annotate: Parquet or JSON lines, read in chunks whose borders depend on the files alone."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pboh.annotation.rows import Options, schema
from pboh.errors import InputError
from pboh.formats.jsonlines import read_lines

CHUNK_ROWS, MOST_ROWS = 100, 1_000  # of a chunk: few of a small input, so that all workers have some
CHUNK_BYTES = 256 << 10  # seconds of work, which is what a stopped run loses
_NAMES = re.compile(r"\.(parquet|(jsonl|ndjson)(\.(gz|zst|bz2))?)$")
_PARQUET = b"PAR1"


class Chunk(NamedTuple):
    """Some rows of one file: an Arrow batch, or lines of JSON with their numbers."""

    number: int  # of the chunk
    where: str  # the file
    first: int  # number of its first row in the file, counted from 1
    rows: pa.RecordBatch | list[tuple[int, bytes]]
    weight: int  # its share of the total: rows, or bytes of the file


class Source(ABC):
    """Files of one kind, in order."""

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        self.paths, self.options = paths, options
        self.total = 0  # what the weights of all chunks sum to

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Columns of the output."""

    @abstractmethod
    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """All chunks but those done, numbered as if all were there."""


def open_inputs(inputs: Sequence[str | Path], options: Options) -> Source:
    """Files named, and those in folders named, as one source; ``-`` is standard input."""
    if "-" in map(str, inputs):
        if len(inputs) > 1:
            what = "standard input cannot be mixed with files"
            raise InputError(what, todo="Annotate them one after the other")
        return StandardInput([], options)
    paths = [path for named in inputs for path in _files(Path(named))]
    if not paths:
        raise InputError("there are no documents", todo="Name .parquet or .jsonl files, or folders of them")
    kinds = {path: _is_parquet(path) for path in paths}
    if len(set(kinds.values())) > 1:
        one, other = (next(path for path in paths if kinds[path] is kind) for kind in (True, False))
        what = f"{one} is Parquet and {other} is not"
        raise InputError(what, todo="Annotate them one after the other")
    return ParquetSource(paths, options) if kinds[paths[0]] else LineSource(paths, options)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = []
    for file in sorted(path.rglob("*")):
        inner = file.relative_to(path).parts
        ours = any(part.endswith(".parts") for part in inner[:-1])  # of an unfinished output
        if not ours and _NAMES.search(file.name) and not any(part[0] in "._" for part in inner):
            found.append(file)
    if not found:
        raise InputError("the folder has no .parquet or .jsonl files", where=path)
    return found


def _rows(wanted: int) -> int:
    """Rows of a chunk: more of a large input, so that there are not too many parts."""
    return max(CHUNK_ROWS, min(MOST_ROWS, wanted))


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_PARQUET)) == _PARQUET
    except FileNotFoundError:
        raise InputError("there is no such file", where=path) from None
    except OSError as error:
        raise InputError(f"the file cannot be read ({error.strerror})", where=path) from error


# -- Parquet --------------------------------------------------------------------------------------------


class ParquetSource(Source):
    """Parquet files, one row group after the other."""

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        super().__init__(paths, options)
        schemas = []
        for path in paths:
            with _parquet(path) as file:
                schemas.append(file.schema_arrow)
                self.total += file.metadata.num_rows
        self._columns = self._check(schemas)
        self._schema = schemas[0]

    def _check(self, schemas: list[pa.Schema]) -> list[str]:
        """Names of the columns to read, which all files have, of one type."""
        options = self.options
        wanted = [options.text, *options.keep]
        wanted += [options.id] if options.id != "id" or "id" in schemas[0].names else []
        if options.mentions in schemas[0].names:
            wanted.append(str(options.mentions))
        elif options.mentions not in (None, "mentions"):
            wanted.append(str(options.mentions))  # asked for by name
        for path, found in zip(self.paths, schemas, strict=True):
            for name in wanted:
                if name not in found.names:
                    what = f"there is no column {name}; there are {', '.join(found.names)}"
                    raise InputError(
                        what, where=path, todo="Name the columns with --text-column, --id-column"
                    )
                kind, first = found.field(name).type, schemas[0].field(name).type
                if kind != first:
                    what = f"column {name} is {kind} and was {first} in {self.paths[0]}"
                    raise InputError(what, where=path, todo="Annotate the files one after the other")
        if not _is_text(schemas[0].field(options.text).type):
            what = f"column {options.text} is {schemas[0].field(options.text).type}, not text"
            raise InputError(what, where=self.paths[0], todo="Name another with --text-column")
        return list(dict.fromkeys(wanted))

    def schema(self) -> pa.Schema:
        """Columns of the output: those that are carried over keep their types."""
        known = self.options.id in self._columns
        id_type = self._schema.field(self.options.id).type if known else pa.string()
        kept = [self._schema.field(name).remove_metadata() for name in self.options.keep]
        return schema(self.options, id_type, kept)

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """Row groups, cut by what their description says of their size."""
        number, most = 0, _rows(self.total // 1_000)
        for path in self.paths:
            with _parquet(path) as file:
                first = 1
                for group in range(file.num_row_groups):
                    about = file.metadata.row_group(group)
                    rows = about.num_rows
                    size = max(1, min(most, rows * CHUNK_BYTES // max(1, about.total_byte_size)))
                    numbers = range(number, number + -(-rows // size))
                    if not all(each in done for each in numbers):  # else there is nothing to read here
                        batches = self._batches(path, file, group, size)
                        for each, batch in zip(numbers, batches, strict=True):
                            at = first + (each - number) * size
                            if each not in done:
                                yield Chunk(each, str(path), at, batch, batch.num_rows)
                    number, first = numbers.stop, first + rows

    def _batches(self, path: Path, file: pq.ParquetFile, group: int, size: int) -> Iterator[pa.RecordBatch]:
        try:
            yield from file.iter_batches(size, [group], columns=self._columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            what = f"row group {group} is damaged ({error})"
            raise InputError(what, where=path, todo="Copy the file again; finished parts are kept") from error


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"this Parquet file cannot be read ({error})", where=path) from error


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


# -- JSON lines -----------------------------------------------------------------------------------------


class LineSource(Source):
    """JSON lines, plain or compressed; carried columns are text in Parquet, because lines have no types."""

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        super().__init__(paths, options)
        self.total = sum(path.stat().st_size for path in paths)

    def schema(self) -> pa.Schema:
        """Columns of the output, should it be Parquet."""
        return schema(self.options, pa.string(), [pa.field(name, pa.string()) for name in self.options.keep])

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """Some lines at a time; blank lines are skipped."""
        numbers, most = count(), _rows(self.total >> 20)
        for path in self.paths:
            rows: list[tuple[int, bytes]] = []
            size = read = 0
            for line in read_lines(path):
                rows.append((line.number, line.data))
                size += len(line.data)
                if len(rows) >= most or size >= CHUNK_BYTES:
                    chunk = Chunk(next(numbers), str(path), rows[0][0], rows, line.position - read)
                    rows, size, read = [], 0, line.position
                    if chunk.number not in done:
                        yield chunk
            if rows and (number := next(numbers)) not in done:
                yield Chunk(number, str(path), rows[0][0], rows, path.stat().st_size - read)


class StandardInput(LineSource):
    """JSON lines as they arrive: every line is a chunk, so that it is answered before the next one comes."""

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """One line at a time."""
        for row, line in enumerate(sys.stdin.buffer, 1):
            if line.strip():
                yield Chunk(row, "standard input", row, [(row, line)], len(line))
