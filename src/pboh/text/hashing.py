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

from pboh.text.hash_kernels import find_all, hash_lines

Array = np.ndarray[Any, Any]


def hash_strings(strings: list[str]) -> Array:
    """Hash of every string over its UTF-8 bytes (none may contain a line feed)."""
    out = np.empty(len(strings), np.uint64)
    if strings:
        joined = "\n".join(strings).encode("utf-8", "surrogatepass")
        hash_lines(np.frombuffer(joined, np.uint8), out)
    return out


def hash_words(words: list[str]) -> Array:
    """Hash of every word over its code points, as a text is hashed in place (see :mod:`pboh.text.words`)."""
    out = np.empty(len(words), np.uint64)
    if words:
        joined = "\n".join(words).encode("utf-32-le", "surrogatepass")
        hash_lines(np.frombuffer(joined, np.int32), out)
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
