"""Static string tables for mapped models: 64-bit hashes, sorted, with a bucket index on their top bits.

A key costs 8 bytes plus its share of the bucket index and no pointers, so a table of 20 million names is
one 160 MB file that several processes share. Keys are known by their hash alone: no two keys of one table
may collide (checked when it is built); a string that is *not* in a table of n keys is mistaken for one
that is with probability n / 2^64, one in 10^12 at 20 million names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pboh.text.hash_kernels import find_all, hash_lines

Array = np.ndarray[Any, Any]
LINE_FEED = 10


def hash_strings(strings: list[str]) -> Array:
    """Hash of every string over its UTF-8 bytes (none may contain a line feed)."""
    data = "\n".join(strings).encode("utf-8", "surrogatepass")
    return hash_lines_of(np.frombuffer(data, np.uint8), len(strings))


def hash_words(words: list[str]) -> Array:
    """Hash of every word over its code points, as a text is hashed in place (see :mod:`pboh.text.words`)."""
    data = "\n".join(words).encode("utf-32-le", "surrogatepass")
    return hash_lines_of(np.frombuffer(data, np.int32), len(words))


def hash_lines_of(units: Array, size: int) -> Array:
    """Hash of every one of ``size`` lines, given as bytes or code points."""
    out, line = np.empty(size, np.uint64), 0
    for some in blocks_of_lines(units) if size else ():
        codes = some.astype(np.int32)  # one type: it is compiled once
        lines = int((codes == LINE_FEED).sum()) + 1
        hash_lines(codes, out[line : line + lines])
        line += lines
    return out


def blocks_of_lines(units: Array, at_a_time: int = 1 << 24) -> Iterator[Array]:
    """Some lines at a time, without the line feed behind the last of them."""
    first = 0
    while units.size - first > at_a_time:
        feeds = np.flatnonzero(units[first : first + at_a_time] == LINE_FEED)
        if not feeds.size:  # a line longer than that
            feeds = np.flatnonzero(units[first:] == LINE_FEED)
            if not feeds.size:
                break
            feeds = feeds[:1]
        yield units[first : first + int(feeds[-1])]
        first += int(feeds[-1]) + 1
    yield units[first:]


def lines_of(blob: Array, offsets: Array) -> Array:
    """The strings of a blob as lines: with a line feed between any two of them."""
    starts = offsets[:-1] + np.arange(offsets.size - 1)
    lines = np.empty(blob.size + max(starts.size - 1, 0), np.uint8)
    within = np.ones(lines.size, bool)
    within[starts[1:] - 1] = False
    lines[within], lines[~within] = blob, LINE_FEED
    return lines


def bucket_index(hashes: Array) -> Array:
    """First position of every bucket of ascending ``hashes``, and the end; 2^bits + 1 entries."""
    return np.concatenate(list(bucket_parts(hashes)))


def bucket_parts(hashes: Array, at_a_time: int = 1 << 20) -> Iterator[Array]:
    """The same, some buckets at a time."""
    bits = max(1, hashes.size.bit_length() - 1)  # that leaves about two keys in a bucket
    for first in range(0, 1 << bits, at_a_time):
        buckets = np.arange(first, min(first + at_a_time, 1 << bits), dtype=np.uint64)
        yield np.searchsorted(hashes, buckets << np.uint64(64 - bits)).astype(np.uint32)
    yield np.asarray([hashes.size], np.uint32)


def look_up(hashes: Array, buckets: Array, strings: list[str]) -> Array:
    """Position of every string in a table, −1 where it is not a key."""
    return find_hashes(hashes, buckets, hash_strings(strings))


def find_hashes(hashes: Array, buckets: Array, keys: Array) -> Array:
    """The same for strings known by their hash."""
    out = np.full(keys.size, -1, np.int64)
    if hashes.size:
        find_all(hashes, buckets, keys, out)
    return out


def string_blob(strings: Iterable[str]) -> tuple[Array, Array]:
    """UTF-8 bytes of all strings in a row, and the offsets that cut them apart."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def string_at(blob: Array, offsets: Array, k: int) -> str:
    """The k-th string of what :func:`string_blob` made."""
    return blob[offsets[k] : offsets[k + 1]].tobytes().decode("utf-8", "surrogatepass")
