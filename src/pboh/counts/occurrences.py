"""Find every name of the dictionary in running text: whole words, case as written, in one pass.

Text is cut into tokens (a run of letters and digits, or one other character) and each token is hashed. A
name is a chain of token hashes; the chains of all names and of their beginnings stand in one hash table, so
that from each token of the text a chain is followed only as long as some name goes on like it. Hashes have 64
bits: at 10⁹ tokens and 10⁷ names one false hit is expected in a thousand corpora.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from pboh.counts.engine import Batches

LONGEST = 12  # tokens; longer names are sentences, and are not looked for
WORD, SPACE, OTHER, BREAK = 0, 1, 2, 3
SCHEMA = pa.schema([("id", pa.int32()), ("count", pa.int64())])

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.int64]


@lru_cache(maxsize=1)
def character_classes() -> NDArray[np.uint8]:
    """Class of every code point: part of a word, space, a token by itself, or an end no name reaches over."""
    classes = np.full(sys.maxunicode + 1, OTHER, np.uint8)
    for point in range(sys.maxunicode + 1):
        character = chr(point)
        if character.isalnum() or unicodedata.category(character) in ("Mn", "Mc"):
            classes[point] = WORD
        elif character.isspace():
            classes[point] = SPACE
    classes[[0, 10, 13]] = BREAK
    return classes


@njit(cache=True, nogil=True)
def _mix(x: np.uint64) -> np.uint64:
    """Spread the bits of x (the finaliser of splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def tokens(
    codes: NDArray[np.uint32], classes: NDArray[np.uint8]
) -> tuple[Hashes, NDArray[np.uint8], Numbers]:
    """Hash of each token, what stands before it (nothing 0, space 1, break 2), and the segment it is in.

    Segments end at NUL; a token's hash is Π (h ⊕ c) · prime over its code points c, then mixed (FNV-1a).
    """
    hashes = np.empty(len(codes), np.uint64)
    gaps = np.empty(len(codes), np.uint8)
    segments = np.empty(len(codes), np.int64)
    found, segment, gap, i = 0, 0, 2, 0
    while i < len(codes):
        kind = classes[codes[i]]
        if kind in (BREAK, SPACE):
            gap = 2 if kind == BREAK else max(gap, 1)
            segment += codes[i] == 0
            i += 1
            continue
        h = np.uint64(14695981039346656037)
        start = i
        while i < len(codes) and (i == start or (kind == WORD and classes[codes[i]] == WORD)):
            h = (h ^ np.uint64(codes[i])) * np.uint64(1099511628211)
            i += 1
        hashes[found], gaps[found], segments[found] = _mix(h), gap, segment
        found += 1
        gap = 0
    return hashes[:found], gaps[:found], segments[:found]


@njit(cache=True, nogil=True)
def _extend(chain: np.uint64, token: np.uint64, gap: np.uint8) -> np.uint64:
    # the chain is multiplied first, so that "A B" and "B A" differ
    return _mix((chain * np.uint64(0x9E3779B97F4A7C15)) ^ token ^ (np.uint64(gap) + np.uint64(1)))


@njit(cache=True, nogil=True)
def _find(keys: Hashes, key: np.uint64) -> int:
    """Slot of a key, or of the free place where it belongs (linear probing; key 0 marks a free slot)."""
    mask = np.uint64(len(keys) - 1)
    slot = key & mask
    while keys[slot] != 0 and keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def _insert(
    keys: Hashes,
    names: NDArray[np.int32],
    hashes: Hashes,
    gaps: NDArray[np.uint8],
    segments: Numbers,
    first: int,
) -> int:
    """Enter the names whose tokens are given; returns how many slots became taken."""
    taken, i = 0, 0
    while i < len(hashes):
        end = i
        while end < len(hashes) and segments[end] == segments[i]:
            end += 1
        if end - i <= LONGEST:
            chain = hashes[i] | np.uint64(1)
            for j in range(i, end):
                if j > i:
                    chain = _extend(chain, hashes[j], gaps[j]) | np.uint64(1)
                slot = _find(keys, chain)
                taken += keys[slot] == 0
                keys[slot] = chain
            names[slot] = first + segments[i]
        i = end
    return taken


@njit(cache=True, nogil=True)
def _count(
    keys: Hashes, names: NDArray[np.int32], hashes: Hashes, gaps: NDArray[np.uint8], counts: Numbers
) -> None:
    """Add 1 to the count of every name for every place where it stands; names may overlap."""
    for i in range(len(hashes)):
        chain = hashes[i] | np.uint64(1)
        for j in range(i, min(i + LONGEST, len(hashes))):
            if j > i:
                if gaps[j] == 2:
                    break
                chain = _extend(chain, hashes[j], gaps[j]) | np.uint64(1)
            slot = _find(keys, chain)
            if keys[slot] == 0:
                break
            if names[slot] >= 0:
                counts[names[slot]] += 1


@njit(cache=True, nogil=True)
def _move(old_keys: Hashes, old_names: NDArray[np.int32], keys: Hashes, names: NDArray[np.int32]) -> None:
    for i in range(len(old_keys)):
        if old_keys[i] != 0:
            slot = _find(keys, old_keys[i])
            keys[slot] = old_keys[i]
            names[slot] = old_names[i]


TEXTS_AT_A_TIME = 256  # a few MB of code points


def _few(column: Any) -> Iterator[list[str]]:
    for start in range(0, len(column), TEXTS_AT_A_TIME):
        yield column.slice(start, TEXTS_AT_A_TIME).to_pylist()


def _codes(texts: Iterable[str]) -> NDArray[np.uint32]:
    joined = "".join(f"{text}\0" for text in texts)
    return np.frombuffer(joined.encode("utf-32-le", "replace"), np.uint32)


@dataclass
class Dictionary:
    """A hash table of names and their beginnings; name number i is the i-th that was added."""

    keys: Hashes
    names: NDArray[np.int32]
    size: int = 0
    taken: int = 0

    @classmethod
    def of(cls, batches: Iterable[list[str]]) -> Dictionary:
        """Enter names in batches, growing the table so that at most half of it is taken."""
        made = cls(np.zeros(1 << 16, np.uint64), np.full(1 << 16, -1, np.int32))
        for batch in batches:
            hashes, gaps, segments = tokens(_codes(batch), character_classes())
            made._make_room(len(hashes))
            made.taken += _insert(made.keys, made.names, hashes, gaps, segments, made.size)
            made.size += len(batch)
        return made

    def _make_room(self, more: int) -> None:
        if (self.taken + more) * 2 <= len(self.keys):
            return
        capacity = 1 << int((self.taken + more) * 2).bit_length()
        old_keys, old_names = self.keys, self.names
        self.keys, self.names = np.zeros(capacity, np.uint64), np.full(capacity, -1, np.int32)
        _move(old_keys, old_names, self.keys, self.names)

    def count(self, texts: Iterable[list[str]]) -> Numbers:
        """How often each name stands in the texts."""
        counts = np.zeros(self.size, np.int64)
        for batch in texts:
            hashes, gaps, _ = tokens(_codes(batch), character_classes())
            _count(self.keys, self.names, hashes, gaps, counts)
        return counts

    def count_batches(self, batches: Batches) -> Batches:
        """Turn batches of a column ``text`` into rows (id, count) of the names found."""
        counts = self.count(texts for batch in batches for texts in _few(batch["text"]))
        found = np.flatnonzero(counts)
        arrays = [pa.array(found, pa.int32()), pa.array(counts[found], pa.int64())]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
