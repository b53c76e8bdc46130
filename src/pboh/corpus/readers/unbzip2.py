"""Blocks of bz2 data decoded side by side: undoing the Burrows-Wheeler transform is waiting for memory.

Every byte of a block says where in a few megabytes the one before it is. A processor that follows such a
chain waits nearly all the time. Two things help: chains are made to go four bytes at a step, which takes two
passes that hardly wait, and more than a dozen are followed at once in hardly more time than one. The format's
checksum guards every block, and what this decoder refuses (damage, and an option that bzip2 gave up in 1997)
is left to the standard library.

Kernels index with unsigned numbers: for signed ones a test for "from the end" would be compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Uint16 = npt.NDArray[np.uint16]
Uint32 = npt.NDArray[np.uint32]
Uint64 = npt.NDArray[np.uint64]
Int64 = npt.NDArray[np.int64]

TOGETHER = 14  # whole blocks; of smaller ones, as many more as there is room for
_ROOM = 900_000  # bytes of a block before runs are written out
_DIRECT = 11  # bits of a code that are looked up at once
_LONGEST_CODE = 20
_IN_WINDOW = 64 // _LONGEST_CODE
_SYMBOLS = 258
_NO_SYMBOL = 511
_NO_TABLE = 255
_IN_GROUP = 50
_MORE = 4096  # bytes that a block is expected to grow by when runs are written out
_AT_ONCE = 4  # entries of a run that are written without asking how many there are
_HEADER = 48 + 32 + 1 + 24  # bits: mark, checksum, an option of old, where the text begins
_SPARE = 256  # more bytes than may be read before the end of the data is looked for

_ONE, _EIGHT, _16, _32, _56 = (np.uint64(number) for number in (1, 8, 16, 32, 56))
_LOW8, _LOW16 = np.uint64(0xFF), np.uint64(0xFFFF)


class _Chain(NamedTuple):
    """A block ready to be followed: its chain and its text begin at the same number in their arrays."""

    size: int
    begin: int
    start: int
    number: int


def decode(blocks: Sequence[bytes]) -> list[Bytes] | None:
    """The data of blocks, each given from its mark on; None if one of them is not as it should be."""
    decoded: dict[int, Bytes] = {}
    # blocks of about the same size together, so that no chain is followed alone for long
    waiting = sorted(range(len(blocks)), key=lambda number: len(blocks[number]))
    chains, text = room()
    while waiting:
        group = _chained(blocks, waiting)
        if group is None:
            return None
        sizes, begins, starts, _ = (np.array(column) for column in zip(*group, strict=True))
        _follow(chains, begins.astype(np.uint64), starts.astype(np.uint64), sizes, text.view(np.uint32))
        # one array for all: the system hands out large ones in large pages, which is faster
        space = np.empty(int(sizes.sum()) + _MORE * len(group), dtype=np.uint8)
        for chain in group:
            end = chain.begin + -(-chain.size // 4) * 4
            out = _unpacked(text[end - chain.size : end], space)
            if _checksum(out, _CRC) != int.from_bytes(blocks[chain.number][6:10], "big"):
                return None
            decoded[chain.number] = out
            space = space[out.size :]
    return [decoded[number] for number in range(len(blocks))]


def _chained(blocks: Sequence[bytes], waiting: list[int]) -> list[_Chain] | None:
    """Chains of as many blocks as there is room for, taken from the end of ``waiting``; longest first."""
    chains, text = room()
    # what is not needed any more when texts are written uses their place (twelve texts' room, and a little)
    twos, ones = text[: 8 * _ROOM].view(np.uint64), text[8 * _ROOM :].view(np.uint32)
    counts = np.zeros(256, dtype=np.uint32)
    group: list[_Chain] = []
    begin = 0
    while waiting and begin + _ROOM <= chains.size:
        number = waiting.pop()
        block = blocks[number]
        words = np.frombuffer(block + bytes(_SPARE - len(block) % 8), dtype=">u8").astype(np.uint64)
        size, start = _symbols(words, 8 * len(block), ones, counts)
        if size <= 0 or start >= size:
            return None
        _steps_of_two(ones, size, counts, twos)
        _steps_of_four(twos, size, chains[begin:])
        group.append(_Chain(size, begin, start, number))
        begin += -(-size // 8) * 8
    return sorted(group, reverse=True)


@cache
def room() -> tuple[Uint64, Bytes]:
    """Room for chains and texts; kept, because the system takes long to hand out so much memory."""
    return np.empty(TOGETHER * _ROOM, dtype=np.uint64), np.empty(TOGETHER * _ROOM, dtype=np.uint8)


def _unpacked(raw: Bytes, space: Bytes) -> Bytes:
    """Runs written out, into ``space`` if they fit: four equal bytes are followed by how many more."""
    size = _write_runs(raw, space)
    if size > space.size:
        space = np.empty(size, dtype=np.uint8)
        _write_runs(raw, space)
    return space[:size]


def _crc_tables() -> Uint32:
    """``[k, b]`` is the checksum of a byte b that k zero bytes follow (CRC-32, highest bit first)."""
    tables = np.zeros((16, 256), dtype=np.uint32)
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = (value << 1 ^ (0x04C11DB7 if value & 0x80000000 else 0)) & 0xFFFFFFFF
        tables[0, byte] = value
    for zeros in range(1, 16):
        before = tables[zeros - 1]
        tables[zeros] = before << np.uint32(8) ^ tables[0, before >> np.uint32(24)]
    return tables


_CRC = _crc_tables()


@njit(cache=True, nogil=True, forceinline=True)  # type: ignore[untyped-decorator, unused-ignore]
def _window(words: Uint64, at: np.uint64) -> np.uint64:
    """The 64 bits from bit ``at`` on."""
    word, shift = at >> np.uint64(6), at & np.uint64(63)
    return np.uint64(words[word] << shift | words[word + _ONE] >> _ONE >> (np.uint64(63) - shift))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _bits(words: Uint64, at: int, count: int) -> int:
    """``count`` bits (at most 63) from bit ``at`` on."""
    return int(np.int64(_window(words, np.uint64(at)) >> np.uint64(64 - count)))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _read_lengths(words: Uint64, at: int, last: int, lengths: Bytes) -> int:
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
def _build_codes(lengths: Bytes, direct: Uint16, limits: Int64, offsets: Int64, ordered: Int64) -> None:
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
    """Symbol and length of a code of more than ``_DIRECT`` bits; ``window`` are the next 20."""
    for length in range(_DIRECT + 1, _LONGEST_CODE + 1):
        if window < limits[length]:
            index = (window >> (_LONGEST_CODE - length)) + offsets[length]
            if 0 <= index < ordered.size:
                return int(ordered[index]) << 5 | length
    return _NO_SYMBOL << 5 | 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _read_tables(
    words: Uint64,
    last: int,
    front: Bytes,
    choices: Bytes,
    direct: Uint16,
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
    choices[groups:] = _NO_TABLE
    return at, distinct


@njit(cache=True, nogil=True, forceinline=True)  # type: ignore[untyped-decorator, unused-ignore]
def _inserted(word: np.uint64, shift: np.uint64, byte: np.uint64) -> np.uint64:
    """Eight bytes: that at bit ``shift`` taken out, those below it moved up, and ``byte`` put in first."""
    below = (_ONE << shift) - _ONE
    above = ~(below << _EIGHT | _LOW8)
    return word & above | (word & below) << _EIGHT | byte


@njit(cache=True, nogil=True, forceinline=True)  # type: ignore[untyped-decorator, unused-ignore]
def _from_afar(front: Uint64, nearest: np.uint64, place: np.uint64) -> np.uint64:
    """Move the byte at a place from 8 on to the front: the new first eight, which ``front`` does not hold."""
    carried = nearest >> _56
    word = _ONE
    while word < place >> np.uint64(3):
        before = front[word]
        front[word] = before << _EIGHT | carried
        carried = before >> _56
        word += _ONE
    shift = (place & np.uint64(7)) * _EIGHT
    byte = front[word] >> shift & _LOW8
    front[word] = _inserted(front[word], shift, carried)
    return np.uint64(nearest << _EIGHT | byte)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _fill(ones: Uint32, entry: np.uint32, begin: np.uint64, end: np.uint64) -> None:
    """Write a long run; on its own, because its wide registers slow down the loop it is called from."""
    for k in range(begin, end):
        ones[k] = entry
        entry += np.uint32(256)


@njit(cache=True, nogil=True, forceinline=True)  # type: ignore[untyped-decorator, unused-ignore]
def _write_run(ones: Uint32, counts: Uint32, size: np.uint64, byte: np.uint64, count: np.uint64) -> None:
    """Write entries of equal bytes from ``size`` on; a few are always written, which spares asking."""
    rank = counts[byte]
    counts[byte] = rank + np.uint32(count)
    entry = rank << np.uint32(8) | np.uint32(byte)
    for k in range(_AT_ONCE):
        ones[size + np.uint64(k)] = entry + np.uint32(k << 8)
    if count > np.uint64(_AT_ONCE):
        _fill(ones, entry, size, size + count)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _write_ones(
    words: Uint64,
    begin: int,
    last: int,
    distinct: int,
    front: Uint64,
    choices: Bytes,
    direct: Uint16,
    limits: Int64,
    offsets: Int64,
    ordered: Int64,
    ones: Uint32,
    counts: Uint32,
) -> int:
    """Undo Huffman codes, run lengths and move-to-front; the size, -1 if something is wrong.

    Nobody can foretell whether a symbol is a digit of a run length, so that is no branch: a digit repeats the
    byte at place 0 as often as it is worth, any other symbol writes the byte at its place once.
    """
    at, size, worth, nearest = np.uint64(begin), np.uint64(0), _ONE, front[0]
    end = np.uint64(distinct + 1)
    for choice in choices:
        if choice == _NO_TABLE or at > np.uint64(last):
            return -1
        table = np.uint64(choice)
        for first in range(0, _IN_GROUP, _IN_WINDOW):
            window = _window(words, at)
            for _ in range(min(_IN_WINDOW, _IN_GROUP - first)):
                code = np.uint64(direct[table, window >> np.uint64(64 - _DIRECT)])
                if code == np.uint64(0):
                    following = int(np.int64(window >> np.uint64(64 - _LONGEST_CODE)))
                    code = np.uint64(_long_code(following, limits[table], offsets[table], ordered[table]))
                length, symbol = code & np.uint64(31), code >> np.uint64(5)
                window <<= length
                at += length
                if symbol >= end:
                    return int(np.int64(size)) if symbol == end and at <= np.uint64(last) else -1
                other = np.uint64(symbol > _ONE)
                digit = other - _ONE  # all bits set, or none
                count = worth << (symbol & _ONE) & digit | other
                worth = worth << _ONE & digit | other
                if size + count > np.uint64(_ROOM):
                    return -1
                place = max(symbol, _ONE) - _ONE
                if place < _EIGHT:
                    shift = place * _EIGHT
                    nearest = _inserted(nearest, shift, nearest >> shift & _LOW8)
                else:
                    nearest = _from_afar(front, nearest, place)
                _write_run(ones, counts, size, nearest & _LOW8, count)
                size += count
    return -1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _symbols(words: Uint64, last: int, ones: Uint32, counts: Uint32) -> tuple[int, int]:
    """The transformed block, without its codes: its size (-1 if the data is wrong) and where its text ends.

    For every place, ``ones`` gets its byte (lowest eight bits) and how many of the same stand before it;
    ``counts`` gets how often each byte occurs.
    """
    front = np.zeros(32, dtype=np.uint64)
    choices = np.empty((1 << 15) + 1, dtype=np.uint8)
    direct = np.zeros((6, 1 << _DIRECT), dtype=np.uint16)
    limits = np.zeros((6, _LONGEST_CODE + 1), dtype=np.int64)
    offsets = np.zeros((6, _LONGEST_CODE + 1), dtype=np.int64)
    ordered = np.zeros((6, _SYMBOLS), dtype=np.int64)
    if last < _HEADER or _bits(words, 80, 1):
        return -1, 0
    start = _bits(words, 81, 24)
    bytes_of_front = front.view(np.uint8)
    at, distinct = _read_tables(words, last, bytes_of_front, choices, direct, limits, offsets, ordered)
    if not distinct:
        return -1, 0
    counts[:] = 0
    size = _write_ones(
        words, at, last, distinct, front, choices, direct, limits, offsets, ordered, ones, counts
    )
    return size, start


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _steps_of_two(ones: Uint32, size: int, counts: Uint32, twos: Uint64) -> None:
    """For every place: two bytes of the text (lowest 16 bits), and the place of the byte before these.

    A byte stands in the sorted block behind all smaller bytes and as many of its own as stand before it here.
    Places of equal bytes follow one another, so this reads a few streams, and not all over memory.
    """
    firsts = np.zeros(256, dtype=np.uint32)
    for byte in range(255):
        firsts[byte + 1] = firsts[byte] + counts[byte]
    low, eight = np.uint32(255), np.uint32(8)
    for k in range(size):
        entry = ones[np.uint64(k)]
        before = ones[np.uint64(firsts[entry & low] + (entry >> eight))]
        place = np.uint64(firsts[before & low] + (before >> eight))
        twos[np.uint64(k)] = place << _16 | np.uint64((entry & low) << eight | before & low)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _steps_of_four(twos: Uint64, size: int, chain: Uint64) -> None:
    """For every place: four bytes of the text (lower half), and the place of the byte before these."""
    for k in range(size):
        entry = twos[np.uint64(k)]
        before = twos[entry >> _16]
        chain[np.uint64(k)] = before >> _16 << _32 | (entry & _LOW16) << _16 | before & _LOW16


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _follow(chains: Uint64, begins: Uint64, starts: Uint64, sizes: Int64, text: Uint32) -> None:
    """Write all texts, the longest first, from their ends on by following their chains side by side.

    A text ends with the last of the numbers it needs, so all numbers are whole; the first may hold more than
    the text's beginning.
    """
    numbers = (sizes + 3) // 4
    here = begins + starts
    ends = begins // np.uint64(4) + numbers.astype(np.uint64)
    done = 0
    for active in range(sizes.size, 0, -1):
        until = numbers[active - 1]
        for at in range(done + 1, until + 1):
            for lane in range(np.uint64(active)):
                entry = chains[here[lane]]
                text[ends[lane] - np.uint64(at)] = np.uint32(entry)
                here[lane] = begins[lane] + (entry >> _32)
        done = until


@njit(cache=True, nogil=True, forceinline=True)  # type: ignore[untyped-decorator, unused-ignore]
def _next_run(raw: Bytes, begin: np.uint64) -> np.uint64:
    """Where four equal bytes start, from ``begin`` on; the end if nowhere.

    Every third byte is looked at, since one of the first three of four equal ones is.
    """
    size = np.uint64(raw.size)
    here = begin
    while here + _ONE < size:
        if raw[here] == raw[here + _ONE]:
            first = here
            while first > begin and raw[first - _ONE] == raw[here]:
                first -= _ONE
            end = here + _ONE
            while end < size and end < first + np.uint64(4) and raw[end] == raw[here]:
                end += _ONE
            if end == first + np.uint64(4):
                return first
        here += np.uint64(3)
    return size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _write_runs(raw: Bytes, out: Bytes) -> int:
    """Write out runs as far as there is room; returns how much is needed."""
    begin, size = np.uint64(0), np.uint64(0)
    whole, space = np.uint64(raw.size), np.uint64(out.size)
    while begin < whole:
        end = min(_next_run(raw, begin) + np.uint64(4), whole)
        for k in range(min(end, begin + space - min(size, space)) - begin):
            out[size + np.uint64(k)] = raw[begin + np.uint64(k)]
        size += end - begin
        if end < whole:
            more = np.uint64(raw[end])
            for at in range(size, min(space, size + more)):
                out[np.uint64(at)] = raw[end - _ONE]
            size += more
        begin = end + _ONE
    return int(np.int64(size))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _checksum(data: Bytes, tables: Uint32) -> int:
    """CRC-32 as bz2 has it, sixteen bytes at a time."""
    crc = np.uint32(0xFFFFFFFF)
    low, eight = np.uint32(255), np.uint32(8)
    whole = data.size // 16 * 16
    for at in range(0, whole, 16):
        before, crc = crc, np.uint32(0)
        for k in range(4):
            crc ^= tables[15 - k, (before >> np.uint32(24 - 8 * k) ^ data[np.uint64(at + k)]) & low]
        for k in range(4, 16):
            crc ^= tables[15 - k, data[np.uint64(at + k)]]
    for at in range(whole, data.size):
        crc = crc << eight ^ tables[0, (crc >> np.uint32(24) ^ data[at]) & low]
    return int(np.int64(~crc & np.uint32(0xFFFFFFFF)))
