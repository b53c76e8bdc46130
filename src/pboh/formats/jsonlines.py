"""Lines of a file of JSON lines, plain or compressed: what annotation, gold files and overlays all read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pboh.errors import InputError
from pboh.files.compression import unpacked

LONGEST_LINE = 64 << 20
_PIECE = 1 << 20
_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line that is not blank: its number from 1 on, and how many bytes of the file were read by then."""

    number: int
    data: bytes
    position: int


def read_lines(path: Path) -> Iterator[Line]:
    """Lines of a file, which gzip, bzip2 or zstd may have compressed; damage and long lines are errors."""
    number, left, position = 1, b"", 0
    with unpacked(path) as (file, reader):
        for piece in _pieces(reader):
            *whole, left = (left + piece).split(b"\n")
            position = file.tell()
            for k, data in enumerate(whole):
                if data.strip():
                    yield Line(number + k, data, position)
            number += len(whole)
            if len(left) > LONGEST_LINE:
                what = f"a line is longer than {LONGEST_LINE >> 20} MB"
                raise InputError(what, where=path, todo="Is this JSON lines, one object per line?")
        if left.strip():
            yield Line(number, left, position)


def _pieces(reader: Any) -> Iterator[bytes]:
    """The bytes of a reader, without the mark some editors begin a file with."""
    fresh = True
    while piece := bytes(reader.read(_PIECE)):
        yield piece.removeprefix(_MARK) if fresh else piece
        fresh = False
