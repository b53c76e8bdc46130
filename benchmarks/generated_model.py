"""A model at the size of a whole Wikipedia whose arrays are generated, and texts to ask it about.

12 million entities, 7 million documents with 160 million incidences, 20 million names, 8 million words and
700 million rows of N(w,e), all by power laws; entities share documents and names within topics. Arrays are
filled where they lie on the disk. Words and titles are functions of their numbers: no table of them is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit, uint64

from pboh.files.writing import checksum
from pboh.model.names import Layer
from pboh.model.tables import LONG, head_table, offsets_of_sizes
from pboh.model.writing import ModelWriter
from pboh.text.hash_kernels import hash_units, mix
from pboh.text.hashing import bucket_index

Array = np.ndarray[Any, Any]

ENTITIES, DOCUMENTS, WORDS, TOPICS = 12_000_000, 7_000_000, 8_000_000, 2_000
FAMILIES = 8_000_000  # short names, each shared by several entities
INCIDENCES, CONTEXT_ROWS = 160_000_000, 700_000_000
LONGEST = 1_000_000  # documents of the most frequent entity
MENTIONS = 20
SYLLABLES = 75
CONSONANTS = np.frombuffer(b"bdfghjklmnprstv", np.uint8)
VOWELS = np.frombuffer(b"aeiou", np.uint8)
TEXT_WORDS = 10_000_000  # words of running text have smaller numbers, those of titles larger ones
GIVEN = 30_011


class Sizes:
    """How much of everything there is at a scale."""

    def __init__(self, scale: float) -> None:
        self.entities, self.documents = int(ENTITIES * scale), int(DOCUMENTS * scale)
        self.words, self.families = int(WORDS * scale), int(FAMILIES * scale)
        self.topics = max(1, int(TOPICS * scale))
        rank = np.arange(1, self.entities + 1, dtype=np.float64)
        self.lists = _scaled(rank**-0.79 * LONGEST * scale, INCIDENCES * scale, LONGEST * scale)
        self.contexts = _scaled(self.lists**0.85, CONTEXT_ROWS * scale, self.words // 8)


def _scaled(sizes: Array, total: float, most: float) -> Array:
    """Whole numbers from 1 to ``most`` in these proportions, with about this sum."""
    return np.clip(sizes * (total / sizes.sum()), 1, most).astype(np.int64)


# -- numbers and words -------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def draw(state):  # type: ignore[no-untyped-def]
    """The next number in [0, 1) of a stream (SplitMix64); ``state`` is an array of one number."""
    state[0] += uint64(0x9E3779B97F4A7C15)
    return (mix(state[0]) >> uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True, nogil=True)
def power_law(state, upper, exponent):  # type: ignore[no-untyped-def]
    """A number below ``upper``; the k-th has a frequency of about (k+1)^-exponent."""
    top = (upper + 1.0) ** (1.0 - exponent)
    k = np.int64((1.0 + draw(state) * (top - 1.0)) ** (1.0 / (1.0 - exponent))) - 1
    return min(k, upper - 1)


@njit(cache=True, nogil=True)
def write_word(out, at, number, capital):  # type: ignore[no-untyped-def]
    """Write the word of a number, two syllables or more; returns the place behind it."""
    begin, rest = at, number + SYLLABLES
    while rest > 0:
        syllable = rest % SYLLABLES
        out[at] = CONSONANTS[syllable // 5]
        out[at + 1] = VOWELS[syllable % 5]
        at += 2
        rest //= SYLLABLES
    if capital:
        out[begin] -= 32
    return at


@njit(cache=True, nogil=True)
def hash_of_word(scratch, number):  # type: ignore[no-untyped-def]
    """Hash of a word as texts are hashed."""
    return hash_units(scratch, 0, write_word(scratch, 0, number, False))


@njit(cache=True, nogil=True)
def write_title(out, at, entity, families, capital):  # type: ignore[no-untyped-def]
    """The title of an entity: a given and a family name, shared with others, that are unique together."""
    family = entity % families
    at = write_word(out, at, TEXT_WORDS + entity // families * GIVEN + family % GIVEN, capital)
    out[at] = 32
    return write_family(out, at + 1, entity, families, capital)


@njit(cache=True, nogil=True)
def write_family(out, at, entity, families, capital):  # type: ignore[no-untyped-def]
    """The last word of an entity's title."""
    return write_word(out, at, TEXT_WORDS + 2_000_000 + entity % families, capital)


# -- arrays -----------------------------------------------------------------------------------------


class Arrays:
    """Arrays of a model that are filled where they lie on the disk."""

    def __init__(self, writer: ModelWriter) -> None:
        self.writer, self.open = writer, dict[str, Array]()

    def __call__(self, name: str, dtype: str, *shape: int) -> Array:
        """A new array of zeros."""
        path = self.writer.aside / f"{name}.npy"
        self.open[name] = np.lib.format.open_memmap(path, "w+", np.dtype(dtype), shape)
        return self.open[name]

    def close(self) -> None:
        """Enter what was filled into the description."""
        for name, array in self.open.items():
            array.flush()  # type: ignore[attr-defined]
            path = self.writer.aside / f"{name}.npy"
            entry = {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": path.stat().st_size}
            self.writer.entries[name] = {**entry, "sha256": checksum(path)}
        self.open.clear()


@njit(cache=True, nogil=True)
def spread(state, first, last, k, n):  # type: ignore[no-untyped-def]
    """The k-th of n ascending numbers spread over first:last."""
    return first + np.int64((k + draw(state)) * (last - first) / n)


@njit(cache=True, nogil=True)
def fill_lists(offsets, documents, size, topics, state):  # type: ignore[no-untyped-def]
    """Ascending documents of every entity: up to 60 % from the block of its topic, the rest from anywhere."""
    block = max(1, size // topics)
    for e in range(offsets.size - 1):
        n, at = offsets[e + 1] - offsets[e], offsets[e]
        near = min(np.int64(0.6 * n), block // 3)
        first = (e % topics) * block
        i, j, last = 0, 0, -1
        a = spread(state, 0, size, 0, n - near)
        b = spread(state, first, first + block, 0, near) if near else size
        for _ in range(n):
            if b >= size or (i < n - near and a <= b):
                d, i = a, i + 1
                a = spread(state, 0, size, i, n - near) if i < n - near else size
            else:
                d, j = b, j + 1
                b = spread(state, first, first + block, j, near) if j < near else size
            last = max(d, last + 1)
            documents[at] = last
            at += 1


@njit(cache=True, nogil=True)
def fill_contexts(offsets, word, count, vocabulary, mass, types, state):  # type: ignore[no-untyped-def]
    """Ascending words of every entity, frequent ones more often, seen at least twice."""
    for e in range(offsets.size - 1):
        n, last = offsets[e + 1] - offsets[e], -1
        for k in range(n):
            w = np.int64(vocabulary * ((k + draw(state)) / n) ** 2.5)
            last = max(w, last + 1)
            word[offsets[e] + k] = last
            times = min(2 + np.int64(1.0 / (draw(state) + 1e-4) ** 0.8), 60000)
            count[offsets[e] + k] = times
            for least in range(2):
                if times >= 2 + least:
                    mass[least, e] += times
                    types[least, e] += 1


@njit(cache=True, nogil=True)
def hash_words(out):  # type: ignore[no-untyped-def]
    scratch = np.empty(64, np.uint8)
    for w in range(out.size):
        out[w] = hash_of_word(scratch, w)


@njit(cache=True, nogil=True)
def fill_titles(blob, offsets, families):  # type: ignore[no-untyped-def]
    at = 0
    for e in range(offsets.size - 1):
        offsets[e] = at
        at = write_title(blob, at, e, families, True)
    offsets[offsets.size - 1] = at
    return at


@njit(cache=True, nogil=True)
def hash_names(entities, families, out, name, lower):  # type: ignore[no-untyped-def]
    """Hashes of all titles and short names, capitalised and in small letters; ``name`` says of which name."""
    scratch, at = np.empty(128, np.uint8), 0
    for k in range(entities + families):
        for small in range(2):
            if k < entities:
                end = write_title(scratch, 0, k, families, small == 0)
            else:
                end = write_family(scratch, 0, k - entities, families, small == 0)
            out[at], name[at], lower[at] = hash_units(scratch, 0, end), k, small
            at += 1


@njit(cache=True, nogil=True)
def several(k, entities, families):  # type: ignore[no-untyped-def]
    """How many entities name k has: a title one, a short name 4 to 64 by a power law."""
    state = np.full(1, k, np.uint64)
    return 1 if k < entities else np.int64(min(4.0 / (draw(state) + 1e-9) ** 0.7, 64.0))


@njit(cache=True, nogil=True)
def name_sizes(name, lower, entities, families, out):  # type: ignore[no-untyped-def]
    for k in range(name.size):
        out[k] = several(name[k], entities, families) * (2 if lower[k] else 1)


@njit(cache=True, nogil=True)
def fill_names(name, lower, offsets, owner, layer, count, entities, families, layers):  # type: ignore[no-untyped-def]
    """Entries of every name: small letters are looked up in two layers, all with the same entities."""
    for k in range(name.size):
        n = several(name[k], entities, families)
        for copy in range(2 if lower[k] else 1):
            state = np.full(1, name[k], np.uint64)
            for i in range(n):
                at = offsets[k] + copy * n + i
                if name[k] < entities:
                    owner[at] = name[k]
                else:
                    owner[at] = name[k] - entities if i == 0 else power_law(state, entities, 0.5)
                layer[at] = layers[copy + 1] if lower[k] else layers[0]
                count[at] = max(1.0, 1000.0 / (1.0 + name[k] % 997) / (i + 1.0))


def generate(folder: Path, scale: float) -> None:
    """Write a model of this scale."""
    s, state = Sizes(scale), np.full(1, 7, np.uint64)
    with ModelWriter(folder) as writer:
        new = Arrays(writer)
        for step in (_entities, _postings, _words, _contexts, _names, _titles):
            began = perf_counter()
            step(s, new, state)
            new.close()
            print(f"{step.__name__[1:]}: {perf_counter() - began:.0f} s", flush=True)
        pairs = int(s.lists.sum()) * 2 * INCIDENCES // DOCUMENTS
        totals = {
            "documents": s.documents,
            "pairs": pairs,
            "distinct_pairs": pairs // 2,
            "entities": s.entities,
        }
        writer.finish({"language": "en", "totals": totals, "settings": {}})


def _entities(s: Sizes, new: Arrays, state: Array) -> None:
    new("entity_occurrences", "<u4", s.entities)[:] = s.lists * 5 // 4
    new("entity_marginal", "<i8", s.entities)[:] = s.lists * (INCIDENCES // DOCUMENTS)


def _postings(s: Sizes, new: Arrays, state: Array) -> None:
    offsets = new("posting_offsets", "<i8", s.entities + 1)
    offsets[:] = offsets_of_sizes(s.lists)
    documents = new("posting_document", "<u4", int(offsets[-1]))
    fill_lists(offsets, documents, s.documents, s.topics, state)
    heads, pairs = head_table(offsets, documents, max(64, int(LONG * min(1.0, s.documents / DOCUMENTS))))
    new("head_entity", "<i4", heads.size)[:] = heads
    new("head_pairs", "<i4", *pairs.shape)[:] = pairs


def _words(s: Sizes, new: Arrays, state: Array) -> None:
    hashes = np.empty(s.words, np.uint64)
    hash_words(hashes)
    order = np.argsort(hashes)
    new("word_hash", "<u8", s.words)[:] = hashes[order]
    buckets = bucket_index(hashes[order])
    new("word_buckets", "<u4", buckets.size)[:] = buckets
    new("word_id", "<i4", s.words)[:] = order
    frequency = np.arange(2, s.words + 2) ** -0.9
    new("word_background", "<f4", s.words)[:] = frequency / frequency.sum()


def _contexts(s: Sizes, new: Arrays, state: Array) -> None:
    offsets = new("context_offsets", "<i8", s.entities + 1)
    offsets[:] = offsets_of_sizes(s.contexts)
    word = new("context_word", "<i4", int(offsets[-1]))
    count = new("context_count", "<u2", int(offsets[-1]))
    mass, types = (new(f"context_{name}", "<f4", 2, s.entities) for name in ("mass", "types"))
    fill_contexts(offsets, word, count, s.words, mass, types, state)
    new("context_total", "<f4", s.entities)[:] = mass[0] * 1.5


def _names(s: Sizes, new: Arrays, state: Array) -> None:
    size = 2 * (s.entities + s.families)
    hashes, name, lower = np.empty(size, np.uint64), np.empty(size, np.int64), np.empty(size, np.bool_)
    hash_names(s.entities, s.families, hashes, name, lower)
    order = np.argsort(hashes)
    hashes, name, lower = hashes[order], name[order], lower[order]
    new("name_hash", "<u8", size)[:] = hashes
    buckets = bucket_index(hashes)
    new("name_buckets", "<u4", buckets.size)[:] = buckets
    sizes = np.empty(size, np.int64)
    name_sizes(name, lower, s.entities, s.families, sizes)
    offsets = new("name_offsets", "<u4", size + 1)
    offsets[:] = offsets_of_sizes(sizes)
    entries = int(offsets[-1])
    owner, layer = new("name_entity", "<u4", entries), new("name_layer", "|u1", entries)
    count = new("name_count", "<f4", entries)
    layers = np.asarray([Layer.CASED, Layer.LOWER, Layer.FOLDED], np.uint8)
    fill_names(name, lower, offsets, owner, layer, count, s.entities, s.families, layers)


def _titles(s: Sizes, new: Arrays, state: Array) -> None:
    blob, offsets = np.empty(s.entities * 24, np.uint8), new("title_offsets", "<i8", s.entities + 1)
    used = fill_titles(blob, offsets, s.families)
    new("title_blob", "|u1", used)[:] = blob[:used]
    hashes = np.empty(s.entities, np.uint64)
    for e in range(0, s.entities, 1 << 20):
        hashes[e : e + (1 << 20)] = hash_titles(blob, offsets[e : e + (1 << 20) + 1])
    order = np.argsort(hashes)
    new("title_hash", "<u8", s.entities)[:] = hashes[order]
    buckets = bucket_index(hashes[order])
    new("title_buckets", "<u4", buckets.size)[:] = buckets
    new("title_entity", "<u4", s.entities)[:] = order


@njit(cache=True, nogil=True)
def hash_titles(blob, offsets):  # type: ignore[no-untyped-def]
    out = np.empty(offsets.size - 1, np.uint64)
    for e in range(out.size):
        out[e] = hash_units(blob, offsets[e], offsets[e + 1])
    return out


# -- documents --------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def write_document(out, number, spans, entities, families, words, topics):  # type: ignore[no-untyped-def]
    """A text of 20 words around each mention; six of ten entities are of one topic. Returns its length."""
    state, at = np.full(1, 1_000_003 * (number + 1), np.uint64), 0
    topic = np.int64(draw(state) * topics)
    for m in range(spans.shape[0]):
        for _ in range(20):
            at = write_word(out, at, power_law(state, words, 0.9), False)
            out[at] = 32
            at += 1
        entity = power_law(state, families, 0.79)
        if draw(state) < 0.6:
            entity = power_law(state, families // topics, 0.79) * topics + topic
        spans[m, 0] = at
        if draw(state) < 0.3:
            at = write_title(out, at, entity, families, True)
        else:
            at = write_family(out, at, entity, families, True)
        spans[m, 1] = at
        out[at] = 32
        at += 1
    return at


def documents(scale: float, count: int) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The texts to measure with, and their mentions."""
    s = Sizes(scale)
    out, spans = np.empty(1 << 16, np.uint8), np.empty((MENTIONS, 2), np.int64)
    for number in range(count):
        end = write_document(out, number, spans, s.entities, s.families, s.words, s.topics)
        yield out[:end].tobytes().decode(), [(a, b) for a, b in spans.tolist()]
