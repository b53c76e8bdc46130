"""Static string tables for mapped models: 64-bit hashes, sorted, with a bucket index on their top bits.

A key costs 8 bytes plus its share of the bucket index and no pointers, so a table of 20 million names is
one 160 MB file that several processes share. Keys are known by their hash alone: no two keys of one table
may collide (checked when it is built); a string that is *not* in a table of n keys is mistaken for one
that is with probability n / 2^64, one in 10^12 at 20 million names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import int64, njit, uint64

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True, inline="always")
def _mix(h):  # type: ignore[no-untyped-def]
    """Finaliser of SplitMix64: every input bit reaches every output bit, so top bits make fair buckets."""
    h ^= h >> uint64(30)
    h *= uint64(0xBF58476D1CE4E5B9)
    h ^= h >> uint64(27)
    h *= uint64(0x94D049BB133111EB)
    return h ^ (h >> uint64(31))


@njit(cache=True, nogil=True)
def hash_units(data: Array, start: int, stop: int) -> Any:
    """FNV-1a over the bytes or code points ``data[start:stop]``, then mixed."""
    h = uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        h = (h ^ uint64(data[i])) * uint64(0x100000001B3)
    return _mix(h)


@njit(cache=True, nogil=True)
def _hash_lines(data: Array, out: Array) -> None:
    start, line = 0, 0
    for i in range(data.size):
        if data[i] == 10:
            out[line] = hash_units(data, start, i)
            start, line = i + 1, line + 1
    out[line] = hash_units(data, start, data.size)


def hash_strings(strings: list[str]) -> Array:
    """Hash of every string over its UTF-8 bytes (none may contain a line feed)."""
    out = np.empty(len(strings), np.uint64)
    if strings:
        joined = "\n".join(strings).encode("utf-8", "surrogatepass")
        _hash_lines(np.frombuffer(joined, np.uint8), out)
    return out


def hash_words(words: list[str]) -> Array:
    """Hash of every word over its code points, as a text is hashed in place (see :mod:`pboh.text.words`)."""
    out = np.empty(len(words), np.uint64)
    if words:
        joined = "\n".join(words).encode("utf-32-le", "surrogatepass")
        _hash_lines(np.frombuffer(joined, np.int32), out)
    return out


def bucket_bits(keys: int) -> int:
    """Number of top bits that leave about two keys in a bucket."""
    return max(1, int(keys).bit_length() - 1)


def bucket_index(hashes: Array) -> Array:
    """First position of every bucket of ascending ``hashes``, and the end; 2^bits + 1 entries."""
    bits = bucket_bits(hashes.size)
    tops = (hashes >> np.uint64(64 - bits)).astype(np.int64)
    starts = np.searchsorted(tops, np.arange((1 << bits) + 1))
    return starts.astype(np.uint32)


@njit(cache=True, nogil=True)
def find(hashes: Array, buckets: Array, key: Any) -> int:
    """Position of ``key`` among the ascending ``hashes``, or −1."""
    bits = 0
    while (1 << bits) < buckets.size - 1:
        bits += 1
    top = key >> uint64(64 - bits)
    for i in range(int64(buckets[top]), int64(buckets[top + uint64(1)])):
        if hashes[i] == key:
            return i
    return -1


@njit(cache=True, nogil=True)
def find_all(hashes: Array, buckets: Array, keys: Array, out: Array) -> None:
    """Position of every key, −1 where there is none."""
    for k in range(keys.size):
        out[k] = find(hashes, buckets, keys[k])


def look_up(hashes: Array, buckets: Array, strings: list[str]) -> Array:
    """Position of every string in a table, −1 where it is not a key."""
    out = np.full(len(strings), -1, np.int64)
    if strings and hashes.size:
        find_all(hashes, buckets, hash_strings(strings), out)
    return out


def string_blob(strings: Iterable[str]) -> tuple[Array, Array]:
    """UTF-8 bytes of all strings in a row, and the offsets that cut them apart."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets
