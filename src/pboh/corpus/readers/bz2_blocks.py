"""Any part of a bz2 file decoded on its own, so that workers share one file without an index.

A bz2 file is a row of streams; a stream is a header, blocks of at most 900 kB that may start at any bit, and
the checksum of their checksums. Every block begins with a 48-bit mark and can be decoded alone once it is put
into a stream of its own. Nothing is taken on trust: the standard library checks that a block has its checksum
and ends where the next mark begins; here it is checked that a stream has its checksum and ends where the next
one or the file does. So damage is noticed wherever it is. This covers plain files, multistream dumps and the
output of parallel compressors alike.
"""

from __future__ import annotations

import bz2
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from pboh.errors import CorpusError

BLOCK, END = 0x314159265359, 0x177245385090
"""The digits of pi announce a block, those of its square root the end of a stream; they begin at any bit."""
_MARK = (1 << 48) - 1
_LIKELY = np.zeros(1 << 16, dtype=np.bool_)  # pairs of bytes that are inside a mark
_LIKELY[[mark >> shift & 0xFFFF for mark in (BLOCK, END) for shift in range(32)]] = True
LONGEST_BLOCK = 1 << 20  # compressed: 900 kB and a little
_STEP = 1 << 20
_WINDOW = 4 << 20
_HEADER = re.compile(rb"BZh[1-9]")


class Mark(NamedTuple):
    """The bit of a file at which a block begins or a stream ends, and the checksum written there."""

    place: int
    is_block: bool
    checksum: int


def decode(path: Path, start: int, end: int) -> tuple[bytes, Iterator[bytes]]:
    """Data of the blocks that begin in bytes ``start`` to ``end``, and an iterator over what follows."""

    def blocks(first: int, last: int) -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from _Part(path, file, first, last).blocks()

    def rest() -> Iterator[bytes]:
        for at in range(end, path.stat().st_size, _STEP):
            yield from blocks(at, at + _STEP)

    return b"".join(blocks(start, end)), rest()


def _bits(data: bytes, first: int, last: int) -> int:
    """Bits of ``data`` as a number; those behind its end are zero."""
    known = data[first // 8 : -(-last // 8)].ljust(-(-last // 8) - first // 8, b"\0")
    return int.from_bytes(known, "big") >> (-last % 8) & ((1 << (last - first)) - 1)


def _marks(data: bytes, start: int) -> list[Mark]:
    """The marks in ``data``, which begins at byte ``start`` of the file.

    Five whole bytes lie inside a mark wherever it begins, so every fourth pair of bytes hits every mark, and
    nearly all places are ruled out by looking at these.
    """
    codes = np.frombuffer(data, dtype=np.uint8)
    likely = 4 + 4 * np.flatnonzero(_LIKELY[codes[4:-1:4].astype(np.uint16) << 8 | codes[5::4]])
    marks = []
    for pair in likely.tolist():  # a mark that hits it begins in the four bytes before
        window = _bits(data, 8 * pair - 32, 8 * pair + 48)
        found = ((32 - back, window >> back & _MARK) for back in range(32, 0, -1))
        marks += [(8 * pair - 32 + bit, mark) for bit, mark in found if mark in (BLOCK, END)]
    return [Mark(8 * start + bit, mark == BLOCK, _bits(data, bit + 48, bit + 80)) for bit, mark in marks]


def _as_stream(data: bytes, first: int, last: int) -> bytes:
    """The block in bits ``first`` to ``last`` of ``data`` as a stream of its own."""
    checksum = _bits(data, first + 48, first + 80)
    spare = -(last - first) % 8
    bits = (_bits(data, first, last) << 80 | END << 32 | checksum) << spare
    return b"BZh9" + bits.to_bytes((last - first + 80 + spare) // 8, "big")


class _Part:
    """The blocks that begin in bytes ``start`` to ``end`` of a file."""

    def __init__(self, path: Path, file: BinaryIO, start: int, end: int) -> None:
        self._path, self._file, self._start, self._end = path, file, start, end
        file.seek(start)
        # the last block ends behind the part, and one more mark may turn out to be data
        self._data = file.read(end - start + 2 * LONGEST_BLOCK)
        self._marks = _marks(self._data, start)

    def blocks(self) -> Iterator[bytes]:
        """Their data, verified."""
        checksums: list[int] = []  # of the blocks of a stream
        whole = self._start == 0  # whether all of them are known
        if whole:
            self._check_stream(0, 0)
        here = 0
        while here < len(self._marks) and (mark := self._marks[here]).place < 8 * self._end:
            if mark.is_block:
                data, width = self._block(here)
                yield data
                checksums.append(mark.checksum)
                here += width
                continue
            here += 1
            self._check_end(mark, checksums if whole else self._earlier() + checksums)
            self._check_stream(-(-(mark.place + 80) // 8), here)
            checksums, whole = [], True

    def _block(self, here: int) -> tuple[bytes, int]:
        """The data of a block and how many marks it takes: now and then, data looks like a mark."""
        first = self._marks[here].place
        for width, following in enumerate(self._marks[here + 1 : here + 3], start=1):
            decoder = bz2.BZ2Decompressor()
            offset = 8 * self._start
            try:
                data = decoder.decompress(_as_stream(self._data, first - offset, following.place - offset))
            except (OSError, ValueError):
                continue
            if decoder.eof and not decoder.unused_data:
                return data, width
        raise self._damaged(first // 8)

    def _check_end(self, mark: Mark, checksums: list[int]) -> None:
        """The checksum of a stream is made of those of its blocks."""
        combined = 0
        for checksum in checksums:
            combined = (combined << 1 & 0xFFFFFFFF | combined >> 31) ^ checksum
        if combined != mark.checksum:
            raise self._damaged(mark.place // 8)

    def _earlier(self) -> list[int]:
        """Checksums of the blocks before this part that belong to the same stream."""
        found: list[int] = []
        end = self._start
        while end > 0:
            start = max(0, end - _WINDOW)
            self._file.seek(start)
            marks = _marks(self._file.read(end - start + 16), start)  # one may begin in the last byte
            for mark in reversed([mark for mark in marks if mark.place < 8 * end]):
                if not mark.is_block:
                    return found[::-1]
                found.append(mark.checksum)
            end = start
        return found[::-1]

    def _check_stream(self, at: int, mark: int) -> None:
        """A stream begins at byte ``at``, with that mark right behind its header, or the file ends there."""
        if at and at == self._path.stat().st_size:
            return
        header = self._data[at - self._start : at - self._start + 4]
        known = mark < len(self._marks) and self._marks[mark].place == 8 * (at + 4)
        if not known or not _HEADER.fullmatch(header):
            raise self._damaged(at)

    def _damaged(self, byte: int) -> CorpusError:
        return CorpusError(
            "the bz2 data is damaged or cut off",
            where=f"{self._path}, byte {byte}",
            todo="Download the file again; the chunks finished so far are kept",
        )
