"""Kernels that hash text, look hashes up in a static table (see :mod:`pboh.text.hashing`), or fill one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit, uint64
from numba.extending import register_jitable

Array = np.ndarray[Any, Any]
EMPTY = uint64(2**64 - 1)  # key of a free slot

helper: Any = register_jitable
"""Marks what only kernels call: it is compiled without a way in from Python, which takes long to compile."""


@njit(cache=True, nogil=True, inline="always")
def mix(h):  # type: ignore[no-untyped-def]
    """Finaliser of SplitMix64: every input bit reaches every output bit, so top bits make fair buckets."""
    h ^= h >> uint64(30)
    h *= uint64(0xBF58476D1CE4E5B9)
    h ^= h >> uint64(27)
    h *= uint64(0x94D049BB133111EB)
    return h ^ (h >> uint64(31))


@njit(cache=True, nogil=True, inline="always")
def hash_units(data: Array, start: int, stop: int) -> Any:
    """FNV-1a over the bytes or code points ``data[start:stop]``, then mixed."""
    h = uint64(0xCBF29CE484222325)
    for i in range(start, stop):
        h = (h ^ uint64(data[i])) * uint64(0x100000001B3)
    return mix(h)


@njit(cache=True, nogil=True)
def hash_lines(data: Array, out: Array) -> None:
    """Hash what comes before each line feed, and the rest."""
    start, line = 0, 0
    for i in range(data.size + 1):
        if i == data.size or data[i] == 10:
            out[line] = hash_units(data, start, i)
            start, line = i + 1, line + 1


@njit(cache=True, nogil=True, inline="always")
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


@njit(cache=True, nogil=True, inline="always")
def first_at_least(values, low, high, wanted):  # type: ignore[no-untyped-def]
    """Where ``wanted`` is or would be among the ascending ``values[low:high]``; compiles fast."""
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def slot_of(keys, key):  # type: ignore[no-untyped-def]
    """Slot of ``key`` in an open-addressing table of 2ⁿ ``keys``, or the free one where it belongs."""
    mask = uint64(len(keys) - 1)
    slot = ((key * uint64(0x9E3779B97F4A7C15)) >> uint64(32)) & mask
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + uint64(1)) & mask
    return slot
