"""Documents to annotate: Parquet or JSON lines, read in chunks whose borders depend on the files alone."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from pboh.annotation.rows import Annotator, Options, Rows, annotate_lines
from pboh.errors import InputError
from pboh.formats.jsonlines import read_lines

CHUNK_ROWS, MOST_ROWS = 100, 1_000  # of a chunk: few of a small input, so that all workers have some
CHUNK_BYTES = 256 << 10  # seconds of work, which is what a stopped run loses
_NAMES = re.compile(r"\.(parquet|(jsonl|ndjson)(\.(gz|zst|bz2))?)$")
_PARQUET = b"PAR1"


class Chunk(NamedTuple):
    """Some rows of one file: an Arrow batch, or lines of JSON."""

    number: int  # of the chunk
    where: str  # the file
    places: Sequence[int]  # of its rows in the file, counted from 1
    rows: Any
    weight: int  # its share of the total: rows, or bytes of the file


class Source(ABC):
    """Files of one kind, in order."""

    unit: str  # what its places count
    answer: Callable[[Annotator, Any], Rows]  # answers the rows of a chunk

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        self.paths, self.options = paths, options
        self.total = 0  # what the weights of all chunks sum to

    @abstractmethod
    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """All chunks but those done, numbered as if all were there."""


def open_inputs(inputs: Sequence[str | Path], options: Options) -> Source:
    """Files named, and those in folders named, as one source; ``-`` is standard input."""
    one_by_one = "Annotate them one after the other"
    if "-" in map(str, inputs):
        if len(inputs) > 1:
            raise InputError("standard input cannot be mixed with files", todo=one_by_one)
        return StandardInput([], options)
    paths = [path for named in inputs for path in _files(Path(named))]
    if not paths:
        raise InputError("there are no documents", todo="Pass .parquet or .jsonl files, or folders of them")
    kinds = {_is_parquet(path): path for path in paths}
    if len(kinds) > 1:
        raise InputError(f"{kinds[True]} is Parquet and {kinds[False]} is not", todo=one_by_one)
    if False in kinds:
        return LineSource(paths, options)
    from pboh.annotation.arrow import ParquetSource  # noqa: PLC0415  (only Parquet needs pyarrow)

    return ParquetSource(paths, options)


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


def chunk_rows(wanted: int) -> int:
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


class LineSource(Source):
    """JSON lines, plain or compressed; carried columns are text in Parquet, because lines have no types."""

    unit, answer = "line", staticmethod(annotate_lines)

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        super().__init__(paths, options)
        self.total = sum(path.stat().st_size for path in paths)

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """Some lines at a time; blank lines are skipped."""
        numbers, most = count(), chunk_rows(self.total >> 20)
        for path in self.paths:
            places, rows, size, read = list[int](), list[bytes](), 0, 0
            for line in read_lines(path):
                places.append(line.number)
                rows.append(line.data)
                size += len(line.data)
                if len(rows) >= most or size >= CHUNK_BYTES:
                    chunk = Chunk(next(numbers), str(path), places, rows, line.position - read)
                    places, rows, size, read = [], [], 0, line.position
                    if chunk.number not in done:
                        yield chunk
            if rows and (number := next(numbers)) not in done:
                yield Chunk(number, str(path), places, rows, path.stat().st_size - read)


class StandardInput(LineSource):
    """JSON lines as they arrive: every line is a chunk, so that it is answered before the next one comes."""

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """One line at a time."""
        for row, line in enumerate(sys.stdin.buffer, 1):
            if line.strip():
                yield Chunk(row, "standard input", [row], [line], len(line))
