"""Input files cut into chunks that any worker can read: where a chunk lies depends on the files alone.

A chunk owns the records (pages or lines) that begin in its part of the file and reads on into the next part
to finish its last one. Plain and bz2 files are read by the workers themselves; gzip and zstd can only be
decoded from the front, which one process does for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import IO

from pboh.corpus.readers import bz2_blocks
from pboh.errors import CorpusError, InputError
from pboh.files import compression

SMALLEST_CHUNK, LARGEST_CHUNK = 4 << 20, 32 << 20  # bytes of XML
BZ2_RATIO = 4  # compressed chunks are that much smaller
_PIECE = 1 << 20
_AGAIN = "Download or copy the file again; the chunks finished so far are kept"


@dataclass(frozen=True, slots=True)
class Source:
    """One input file: ``codec`` is plain, bz2, gz or zst; ``records`` is xml or jsonl."""

    path: Path
    codec: str
    records: str
    size: int

    @property
    def splittable(self) -> bool:
        """Whether a worker can start reading in the middle."""
        return self.codec in ("plain", "bz2")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a source: bytes ``start`` to ``end`` of the file, already decoded if ``data`` is there."""

    number: int
    source: Source
    start: int
    end: int
    data: bytes | None = field(default=None, repr=False)

    @property
    def first(self) -> bool:
        """Whether the file begins here."""
        return self.start == 0

    @property
    def last(self) -> bool:
        """Whether the file ends here."""
        return self.end >= self.source.size

    def where(self, offset: int, page: str = "") -> str:
        """The place of a record in the file, as an error names it."""
        byte = f"byte {self.start + offset}"
        if self.source.codec != "plain":
            byte = f"in the data after byte {self.start}"
        return f"{self.source.path}{page}, {byte}"


def codec_of(path: Path) -> str:
    """How the file is compressed, by its first bytes, whatever its name says."""
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from error
    if not head:
        raise InputError("the file is empty", where=path, todo="Download or write it again")
    return compression.codec_of(head)


def head(path: Path, codec: str, until: bytes, at_most: int = 4 << 20) -> bytes:
    """Decoded bytes from the beginning of a file, at least until ``until`` is found (or ``at_most``)."""
    found = bytearray()
    with path.open("rb") as file:
        for piece in bz2_blocks.decode(path, 0, 0)[1] if codec == "bz2" else _pieces(path, codec, file):
            seen = max(0, len(found) - len(until))
            found += piece
            if found.find(until, seen) >= 0 or len(found) >= at_most:
                break
    return bytes(found)


def _pieces(path: Path, codec: str, file: IO[bytes]) -> Iterator[bytes]:
    reader = compression.decoded(file, codec)
    while True:
        try:
            piece = reader.read(_PIECE)
        except compression.DAMAGE as error:
            where = f"{path}, byte {file.tell()}"
            raise CorpusError(f"the {codec} data is damaged or cut off", where=where, todo=_AGAIN) from error
        if not piece:
            return
        yield bytes(piece)


def chunk_size(sources: list[Source]) -> int:
    """Bytes of XML in a chunk: a small input is cut finer, so that several workers have something to do."""
    total = sum(source.size * (1 if source.codec == "plain" else BZ2_RATIO) for source in sources)
    return max(SMALLEST_CHUNK, min(LARGEST_CHUNK, total // 8))


def chunks(sources: list[Source], size: int) -> Iterator[Chunk]:
    """All chunks of all sources in order; those of gzip and zstd files carry their data."""
    parts = chain.from_iterable((_even if one.splittable else _sequential)(one, size) for one in sources)
    return (replace(part, number=number) for number, part in enumerate(parts))


def _even(source: Source, size: int) -> Iterator[Chunk]:
    """Cut a file at equal distances: workers find the first page or line of their part themselves."""
    step = max(1, size // BZ2_RATIO if source.codec == "bz2" else size)
    for start in range(0, source.size, step):
        yield Chunk(0, source, start, min(start + step, source.size))


def _sequential(source: Source, size: int) -> Iterator[Chunk]:
    """Cut a stream before a page or after a line, as soon as ``size`` bytes are there."""
    with source.path.open("rb") as file:
        data, start = bytearray(), 0
        for piece in _pieces(source.path, source.codec, file):
            data += piece
            if len(data) < size:
                continue
            cut = data.rfind(b"<page>") if source.records == "xml" else data.rfind(b"\n") + 1
            if cut <= 0:  # one enormous page: go on until the next begins
                continue
            end = max(start + 1, min(file.tell(), source.size - 1))
            yield Chunk(0, source, start, end, bytes(data[:cut]))
            del data[:cut]
            start = end
        yield Chunk(0, source, start, source.size, bytes(data))


def read(chunk: Chunk) -> tuple[bytes, Iterator[bytes]]:
    """The chunk's own bytes, and an iterator over what follows them in the file."""
    if chunk.data is not None:
        return chunk.data, iter(())
    if chunk.source.codec == "bz2":
        return bz2_blocks.decode(chunk.source.path, chunk.start, chunk.end)
    file = chunk.source.path.open("rb")
    file.seek(chunk.start)

    def rest() -> Iterator[bytes]:
        with file:
            while piece := file.read(_PIECE):
                yield piece

    return file.read(chunk.end - chunk.start), rest()
