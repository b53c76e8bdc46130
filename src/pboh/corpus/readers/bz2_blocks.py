"""Any part of a bz2 file decoded on its own, so that workers share one file without an index.

A bz2 file is a row of blocks (at most 900 kB each) that may start at any bit. Every block begins with the
48-bit number 0x314159265359 and can be decoded alone, once it stands in a stream of its own; the CRC each
block carries is still checked. This covers plain files, multistream dumps and the output of parallel
compressors alike.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from numba import njit

from pboh.corpus.readers import unbzip2
from pboh.errors import CorpusError

BLOCK = 0x314159265359  # the first digits of pi announce a block
END = 0x177245385090  # the digits of its square root announce the end of a stream
LONGEST_BLOCK = 1 << 20  # compressed: 900 kB and a little
_WINDOW = 4 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """Compressed bits of one block; ``offset`` is the byte of the file in which it starts."""

    offset: int
    bits: bytes
    length: int

    def stream(self) -> bytes:
        """The block as a complete bz2 stream: header, bits, end mark, and the block's checksum once more."""
        crc = int.from_bytes(self.bits[6:10], "big")
        tail = (END << 32 | crc).to_bytes(10, "big")
        spare = -self.length % 8
        if not spare:
            return b"BZh9" + self.bits + tail
        # the end mark starts inside the last byte
        last = int.from_bytes(self.bits[-1:], "big") >> spare << (80 + spare)
        return b"BZh9" + self.bits[:-1] + (last | int.from_bytes(tail, "big") << spare).to_bytes(11, "big")


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _compare(
    data: npt.NDArray[np.uint8], at: int, first: int, positions: npt.NDArray[np.int64], found: int
) -> int:
    """Add the marks that start in byte ``at`` to the ``found`` ones; returns how many there are then."""
    seven = np.int64(0)
    for k in range(at, at + 7):  # the last mark may end with the data
        seven = seven << 8 | (np.int64(data[k]) if k < data.size else 0)
    for shift in range(8):
        mark = seven >> (8 - shift) & 0xFFFFFFFFFFFF
        position = at * 8 + shift
        if mark in (BLOCK, END) and position >= first and found < positions.size:
            positions[found] = position if mark == BLOCK else -position - 1
            found += 1
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _search(data: npt.NDArray[np.uint8], first: int, positions: npt.NDArray[np.int64]) -> int:
    """Write the bit positions of marks from bit ``first`` on, ``-position - 1`` for an end mark."""
    found = 0
    # five whole bytes lie inside a mark at every shift, so every fourth pair of bytes hits every mark; nearly
    # all places are ruled out by looking at these
    likely = np.zeros(1 << 16, dtype=np.uint8)
    for shift in range(32):
        likely[BLOCK >> shift & 0xFFFF] = 1
        likely[END >> shift & 0xFFFF] = 1
    for pair in range(4, data.size - 1, 4):
        if likely[np.uint64(data[np.uint64(pair)]) << np.uint64(8) | np.uint64(data[np.uint64(pair + 1)])]:
            for at in range(pair - 4, min(pair, data.size - 5)):
                found = _compare(data, at, first, positions, found)
    return found


def _marks(data: bytes, first: int) -> list[tuple[int, bool]]:
    """Bit positions of block and end marks (True for a block) from bit ``first`` on, in order."""
    positions = np.empty(len(data) // 8 + 2, dtype=np.int64)
    found = positions[: _search(np.frombuffer(data, dtype=np.uint8), first, positions)]
    return [(p, True) if p >= 0 else (-p - 1, False) for p in found.tolist()]


def _cut(data: bytes, first: int, last: int) -> bytes:
    """Bits ``first`` to ``last`` of ``data``, moved to start at a byte."""
    whole = np.frombuffer(data, dtype=np.uint8, count=-(-last // 8) - first // 8, offset=first // 8)
    shift = first % 8
    if not shift:
        return whole.tobytes()
    following = np.append(whole[1:], np.uint8(0))
    moved = (whole << shift) | (following >> (8 - shift))
    return moved[: -(-(last - first) // 8)].astype(np.uint8).tobytes()


def blocks(file: BinaryIO, start: int) -> Iterator[Block]:
    """The blocks that begin at byte ``start`` of the file or later."""
    file.seek(start)
    base, data, first = start, b"", 0
    while True:
        more = file.read(_WINDOW)
        data += more
        marks = _marks(data, first)
        for (here, is_block), (there, _) in pairwise(marks):
            if is_block:
                yield Block(base + here // 8, _cut(data, here, there), there - here)
        if not more:
            if marks and marks[-1][1]:  # the file ends inside a block
                rest = 8 * len(data) - marks[-1][0]
                yield Block(base + marks[-1][0] // 8, _cut(data, marks[-1][0], 8 * len(data)), rest)
            return
        # go on from the last mark, whose block may be unfinished, or where a mark may be cut
        first = marks[-1][0] if marks else max(first, 8 * (len(data) - 8))
        keep = first // 8
        base, data, first = base + keep, data[keep:], first - 8 * keep


def decode(path: Path, start: int, end: int) -> tuple[bytes, Iterator[bytes]]:
    """Data of the blocks that begin in bytes ``start`` to ``end``, and an iterator over what follows."""
    file = path.open("rb")
    following = blocks(file, start)
    own: list[Block] = []
    ahead: list[Block] = []
    for block in following:
        if block.offset >= end:
            ahead.append(block)
            break
        own.append(block)

    def rest() -> Iterator[bytes]:
        with file:
            for block in ahead:
                yield _decode(path, [block], following)
            for block in following:
                yield _decode(path, [block], following)

    return _decode(path, own, iter(ahead)), rest()


def _decode(path: Path, own: list[Block], following: Iterator[Block]) -> bytes:
    if not own:
        return b""
    if (decoded := unbzip2.decode([block.bits for block in own])) is not None:
        return b"".join(part.data for part in decoded)
    # the slow way says which block it was, and copes with data that looks like a mark
    return b"".join(_decode_carefully(path, own + list(following)[:1], len(own)))


def _decode_carefully(path: Path, found: list[Block], count: int) -> Iterator[bytes]:
    """One block after the other; two are tried as one, since data may look like a mark now and then."""
    here = 0
    while here < count:
        for width in (1, 2):
            try:
                yield bz2.decompress(_joined(found[here : here + width]).stream())
                break
            except (OSError, ValueError, IndexError):
                continue
        else:
            raise CorpusError(
                "the bz2 data is damaged or cut off",
                where=f"{path}, byte {found[here].offset}",
                todo="Download the file again; the chunks finished so far are kept",
            )
        here += width


def _joined(pair: list[Block]) -> Block:
    if len(pair) == 1:
        return pair[0]
    first, second = pair
    spare = -first.length % 8
    bits = int.from_bytes(first.bits, "big") >> spare << second.length
    bits |= int.from_bytes(second.bits, "big") >> (-second.length % 8)
    length = first.length + second.length
    return Block(first.offset, (bits << (-length % 8)).to_bytes(-(-length // 8), "big"), length)
