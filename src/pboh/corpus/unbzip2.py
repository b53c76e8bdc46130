"""Blocks of bz2 data decoded side by side: undoing the Burrows-Wheeler transform is waiting for memory.

Every byte of a block says where in a few megabytes the next one is. A processor that follows one such chain
waits nearly all the time; it follows two dozen in hardly more. The format's checksum guards every block, and
what this decoder refuses (damage, and an option that bzip2 gave up in 1997) is left to the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Uint32 = npt.NDArray[np.uint32]
Uint64 = npt.NDArray[np.uint64]
Int64 = npt.NDArray[np.int64]

TOGETHER = 24
_ROOM = 900_000  # bytes of a block before runs are written out
_DIRECT = 11  # bits of a code that are looked up at once
_LONGEST_CODE = 20
_SYMBOLS = 258
_IN_GROUP = 50
_HEADER = 48 + 32 + 1 + 24  # bits: mark, checksum, an option of old, where the text begins
_SPARE = 256  # more bytes than may be read before the end of the data is looked for


def decode(blocks: Sequence[bytes]) -> list[Bytes] | None:
    """The data of blocks, each given from its mark on; None if one of them is not as it should be."""
    decoded: dict[int, Bytes] = {}
    # blocks of about the same size together, so that no chain is followed alone for long
    order = sorted(range(len(blocks)), key=lambda number: -len(blocks[number]))
    raw, chains = room()
    for at in range(0, len(order), TOGETHER):
        group = order[at : at + TOGETHER]
        sizes = np.zeros(len(group), dtype=np.int64)
        places = np.zeros(len(group), dtype=np.uint32)
        for lane, number in enumerate(group):
            block = blocks[number]
            halves = np.frombuffer(block + bytes(_SPARE - len(block) % 4), dtype=">u4").astype(np.uint64)
            words = halves[:-1] << np.uint64(32) | halves[1:]
            size, start = _symbols(words, 8 * len(block), raw[lane])
            if size <= 0 or start >= size:
                return None
            _chain(raw[lane, :size], chains[lane])
            sizes[lane], places[lane] = size, chains[lane, start] >> 8
        _follow(chains.ravel(), _ROOM, places, sizes, np.argsort(-sizes), raw.ravel())
        for lane, number in enumerate(group):
            out = _unpacked(raw[lane, : sizes[lane]])
            if _checksum(out, _CRC) != int.from_bytes(blocks[number][6:10], "big"):
                return None
            decoded[number] = out
    return [decoded[number] for number in range(len(blocks))]


@cache
def room() -> tuple[Bytes, Uint32]:
    """Room for the blocks read together; kept, because the system takes long to hand out so much memory."""
    return np.empty((TOGETHER, _ROOM), dtype=np.uint8), np.empty((TOGETHER, _ROOM), dtype=np.uint32)


def _unpacked(raw: Bytes) -> Bytes:
    """Runs written out: four equal bytes are followed by how many more there are."""
    out = np.empty(raw.size + 4096, dtype=np.uint8)
    size = _write_runs(raw, out)
    if size > out.size:
        out = np.empty(size, dtype=np.uint8)
        _write_runs(raw, out)
    return out[:size]


def _crc_tables() -> Uint32:
    """``[k, b]`` is the checksum of a byte b that k zero bytes follow (CRC-32, highest bit first)."""
    tables = np.zeros((8, 256), dtype=np.uint32)
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 0x80000000 else 0)) & 0xFFFFFFFF
        tables[0, byte] = value
    for zeros in range(1, 8):
        before = tables[zeros - 1]
        tables[zeros] = before << np.uint32(8) ^ tables[0, before >> np.uint32(24)]
    return tables


_CRC = _crc_tables()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _bits(words: Uint64, at: int, count: int) -> int:
    """``count`` bits (at most 32) from bit ``at`` on; every word holds the 64 bits from its place on."""
    return int(np.int64(words[at >> 5] << np.uint64(at & 31) >> np.uint64(64 - count)))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _read_lengths(words: Uint64, at: int, last: int, lengths: npt.NDArray[np.uint8]) -> int:
    """Lengths of one table's codes, each given by its difference from the one before; -1 if it is wrong."""
    length = _bits(words, at, 5)
    at += 5
    for symbol in range(lengths.size):
        while _bits(words, at, 1):
            length += 1 - 2 * _bits(words, at + 1, 1)
            at += 2
            if not 1 <= length <= _LONGEST_CODE or at > last:
                return -1
        at += 1
        if not 1 <= length <= _LONGEST_CODE:
            return -1
        lengths[symbol] = length
    return at


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _build_codes(lengths: Bytes, direct: Uint32, limits: Int64, offsets: Int64, ordered: Int64) -> None:
    """Canonical codes: short ones in ``direct`` (symbol and length), all by where each length's codes end."""
    direct[:] = 0
    code = index = 0
    for length in range(1, _LONGEST_CODE + 1):
        offsets[length] = index - code
        for symbol in range(lengths.size):
            if lengths[symbol] != length:
                continue
            ordered[index] = symbol
            if length <= _DIRECT:
                first = code << (_DIRECT - length)
                for entry in range(first, min(direct.size, first + (1 << (_DIRECT - length)))):
                    direct[entry] = symbol << 5 | length
            index += 1
            code += 1
        limits[length] = code << (_LONGEST_CODE - length)
        code <<= 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _long_code(window: int, limits: Int64, offsets: Int64, ordered: Int64) -> int:
    """Symbol and length of a code of more than ``_DIRECT`` bits (0: none); ``window`` are the next 20."""
    for length in range(_DIRECT + 1, _LONGEST_CODE + 1):
        if window < limits[length]:
            index = (window >> (_LONGEST_CODE - length)) + offsets[length]
            if not 0 <= index < ordered.size:
                return 0
            return int(ordered[index]) << 5 | length
    return 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _read_tables(
    words: Uint64,
    last: int,
    front: Bytes,
    choices: Bytes,
    direct: Uint32,
    limits: Int64,
    offsets: Int64,
    ordered: Int64,
) -> tuple[int, int]:
    """What stands before the codes: which bytes there are (``front``), which table is for which group, codes.

    Returns the bit where the codes begin and how many bytes there are; 0 of these when something is wrong.
    """
    at = _HEADER
    used = _bits(words, at, 16)
    at += 16
    distinct = 0
    for high in range(16):
        if used >> (15 - high) & 1:
            row = _bits(words, at, 16)
            at += 16
            for low in range(16):
                if row >> (15 - low) & 1:
                    front[distinct] = high << 4 | low
                    distinct += 1
    tables, groups = _bits(words, at, 3), _bits(words, at + 3, 15)
    at += 18
    if not 2 <= tables <= 6 or not groups or at + groups > last:
        return 0, 0
    recent = np.arange(6)
    for group in range(groups):
        place = 0
        while _bits(words, at, 1) and place < tables:
            place += 1
            at += 1
        at += 1
        if place >= tables or at > last:
            return 0, 0
        chosen = recent[place]
        for k in range(place, 0, -1):
            recent[k] = recent[k - 1]
        recent[0] = chosen
        choices[group] = chosen
    lengths = np.zeros(distinct + 2, dtype=np.uint8)
    for table in range(tables):
        at = _read_lengths(words, at, last, lengths)
        if at < 0 or at > last:
            return 0, 0
        _build_codes(lengths, direct[table], limits[table], offsets[table], ordered[table])
    choices[groups:] = 255
    return at, distinct


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _symbols(words: Uint64, last: int, out: Bytes) -> tuple[int, int]:
    """Undo Huffman codes, run lengths and move-to-front: the transformed block, and where its text begins.

    The size is -1 when the data is not as it should be. The eight bytes seen last are kept in one number.
    """
    front = np.zeros(256 + 8, dtype=np.uint8)
    choices = np.empty((1 << 15) + 1, dtype=np.uint8)
    direct = np.zeros((6, 1 << _DIRECT), dtype=np.uint32)
    limits = np.zeros((6, _LONGEST_CODE + 1), dtype=np.int64)
    offsets = np.zeros((6, _LONGEST_CODE + 1), dtype=np.int64)
    ordered = np.zeros((6, _SYMBOLS), dtype=np.int64)
    if last < _HEADER or _bits(words, 80, 1):
        return -1, 0
    start = _bits(words, 81, 24)
    at, distinct = _read_tables(words, last, front, choices, direct, limits, offsets, ordered)
    if not distinct:
        return -1, 0
    nearest = np.uint64(0)
    for k in range(8):
        nearest |= np.uint64(front[k]) << np.uint64(8 * k)
    size, run, weight, left, group, table = 0, 0, 1, 0, -1, 0
    while True:
        if left == 0:
            group, left = group + 1, _IN_GROUP
            table = choices[group]
            if table == 255 or at > last:
                return -1, 0
        left -= 1
        entry = int(np.int64(direct[table, _bits(words, at, _DIRECT)]))
        if entry == 0:
            entry = _long_code(_bits(words, at, _LONGEST_CODE), limits[table], offsets[table], ordered[table])
            if entry == 0:
                return -1, 0
        at += entry & 31
        symbol = entry >> 5
        if symbol <= 1:
            run += weight << symbol
            weight <<= 1
            if run > out.size:
                return -1, 0
            continue
        if run:
            if size + run > out.size:
                return -1, 0
            byte = np.uint8(nearest & np.uint64(255))
            for k in range(size, size + run):
                out[k] = byte
            size += run
            run, weight = 0, 1
        if symbol > distinct:
            return (size, start) if at <= last else (-1, 0)
        if size >= out.size:
            return -1, 0
        place = symbol - 1
        if place < 8:
            shift = np.uint64(8 * place)
            byte64 = nearest >> shift & np.uint64(255)
            below = (np.uint64(1) << shift) - np.uint64(1)
            above = ~(below << np.uint64(8) | np.uint64(255))
            nearest = nearest & above | (nearest & below) << np.uint64(8) | byte64
        else:
            byte64 = np.uint64(front[place])
            for k in range(place, 8, -1):
                front[k] = front[k - 1]
            front[8] = np.uint8(nearest >> np.uint64(56))
            nearest = nearest << np.uint64(8) | byte64
        out[size] = np.uint8(byte64)
        size += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _chain(block: Bytes, chain: Uint32) -> None:
    """For every place: its byte (lowest eight bits), and the place of the byte that follows in the text."""
    places = np.zeros(257, dtype=np.int64)
    for k in range(block.size):
        places[np.int64(block[k]) + 1] += 1
    for byte in range(256):
        places[byte + 1] += places[byte]
    for k in range(block.size):
        byte = block[k]
        place = places[byte]
        places[byte] = place + 1
        chain[place] = np.uint32(k << 8 | np.int64(block[place]))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _follow(chains: Uint32, room: int, places: Uint32, sizes: Int64, order: Int64, out: Bytes) -> None:
    """Write all texts by following their chains side by side; ``order`` says which are the longest.

    The chains stand one behind the other, ``room`` entries each, and so do the texts.
    """
    begin = np.empty(order.size, dtype=np.uint64)
    here = np.empty(order.size, dtype=np.uint64)
    for k in range(order.size):
        begin[k] = order[k] * room
        here[k] = begin[k] + np.uint64(places[order[k]])
    done = 0
    for active in range(order.size, 0, -1):
        until = sizes[order[active - 1]]
        for at in range(done, until):
            for k in range(active):
                entry = chains[here[k]]
                out[begin[k] + np.uint64(at)] = np.uint8(entry)
                here[k] = begin[k] + np.uint64(entry >> np.uint32(8))
        done = until


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _write_runs(raw: Bytes, out: Bytes) -> int:
    """Write out runs as far as there is room; returns how much is needed."""
    size = run = 0
    before = -1
    for k in range(raw.size):
        byte = raw[k]
        if run == 4:
            for at in range(size, min(out.size, size + byte)):
                out[at] = before
            size += byte
            run, before = 0, -1
            continue
        run = run + 1 if byte == before else 1
        before = int(np.int64(byte))
        if size < out.size:
            out[size] = byte
        size += 1
    return size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _checksum(data: Bytes, tables: Uint32) -> int:
    """CRC-32 as bz2 has it, eight bytes at a time."""
    crc = np.uint32(0xFFFFFFFF)
    low, eight = np.uint32(255), np.uint32(8)
    whole = data.size // 8 * 8
    for at in range(0, whole, 8):
        one = np.uint32(data[at]) << np.uint32(24) | np.uint32(data[at + 1]) << np.uint32(16)
        one = (one | np.uint32(data[at + 2]) << eight | np.uint32(data[at + 3])) ^ crc
        crc = tables[7, one >> np.uint32(24)] ^ tables[6, one >> np.uint32(16) & low]
        crc ^= tables[5, one >> eight & low] ^ tables[4, one & low]
        crc ^= (
            tables[3, data[at + 4]]
            ^ tables[2, data[at + 5]]
            ^ tables[1, data[at + 6]]
            ^ tables[0, data[at + 7]]
        )
    for at in range(whole, data.size):
        crc = crc << eight ^ tables[0, (crc >> np.uint32(24) ^ data[at]) & low]
    return int(np.int64(~crc & np.uint32(0xFFFFFFFF)))
