"""N(w,e) from the tokens of corpora: for a range of entities at a time, the words around all their links.

Counted by SQL, every word around every link would be a row on disk before it is added to others. Here the
words of a range are gathered in memory from all pages and counted by the kernel that counts chunks
(:func:`pboh.corpus.tables.second_pass.count_words`); nothing is written but what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pboh.corpus.tables.second_pass import COUNTS, count_words, offsets_before, windows
from pboh.counts.counting_kernels import gather
from pboh.counts.engine import Batches, Engine
from pboh.counts.inputs import Input
from pboh.files.workers import threaded_map
from pboh.text.hashing import Array

SHARE_OF_MEMORY = 0.5
"""What the words of one range may take of it, four bytes each: nothing else runs meanwhile."""
_LINKS = ["page", "entity", "before", "after"]


class Places(NamedTuple):
    """Windows of links: entities, and the tokens from ``first`` to ``last`` of their chunk."""

    entity: Array
    first: Array
    last: Array


class Contexts:
    """The words around the links of all inputs, by the numbers of the result."""

    def __init__(self, engine: Engine, inputs: Sequence[Input]) -> None:
        self._inputs = inputs
        self._entities = [_numbers(engine, "entity_ids", "entity", k) for k in range(len(inputs))]
        self._words = [_numbers(engine, "word_ids", "word", k) for k in range(len(inputs))]
        self._room, self._threads = int(engine.memory * SHARE_OF_MEMORY) // 4, engine.threads
        [(self._size,)] = engine.rows("SELECT COALESCE(MAX(entity) + 1, 0) FROM entity_ids")
        [(self._vocabulary,)] = engine.rows("SELECT COUNT(*) FROM words")

    @cached_property
    def totals(self) -> Array:
        """Z_e: the number of words around the links of every entity."""
        totals = np.zeros(self._size, np.int64)
        for places, _, _ in self._chunks(0, self._size, tokens=False):
            np.add.at(totals, places.entity, places.last - places.first)
        return totals

    def ranges(self) -> list[dict[str, int]]:
        """Ranges of entities whose words fit into memory together; an entity with more is on its own."""
        ends = np.cumsum(self.totals)
        cuts = [0]
        while cuts[-1] < self._size:
            before = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
            cut = int(np.searchsorted(ends, before + self._room, side="right"))
            cuts.append(min(max(cut, cuts[-1] + 1), self._size))
        return [{"first": first, "last": last} for first, last in pairwise(cuts)] or [{"first": 0, "last": 0}]

    def total_rows(self) -> Batches:
        """Rows (entity, total) of the entities that have words around their links."""
        entity = np.flatnonzero(self.totals).astype(np.int32)
        yield pa.record_batch({"entity": entity, "total": self.totals[entity]})

    def rows(self, first: int, last: int, least: int) -> Batches:
        """Rows (entity, word, count) of a range of entities, in order, from the count ``least`` on."""
        for entity, word, count in self._counted(first, last):
            kept = count >= least
            columns = [pa.array(column[kept]) for column in (entity, word, count)]
            yield pa.RecordBatch.from_arrays(columns, schema=COUNTS)

    def _counted(self, first: int, last: int) -> Iterator[tuple[Array, Array, Array]]:
        if last - first == 1:
            yield self._row_by_row(first)
            return
        sizes = self.totals[first:last]
        offsets = offsets_before(sizes)
        gathered, free = np.empty(int(sizes.sum()), np.int32), offsets.copy()
        for places, tokens, numbers in self._chunks(first, last):
            gather(tokens, numbers, places.entity - first, places.first, places.last, free, gathered)
        there = np.flatnonzero(sizes)
        owners, same = (there + first).astype(np.int32), np.arange(self._vocabulary, dtype=np.int32)
        yield from count_words(gathered, owners, offsets[there], (offsets + sizes)[there], same)

    def _row_by_row(self, entity: int) -> tuple[Array, Array, Array]:
        """The rows of one entity, whatever the number of its links."""
        counts = np.zeros(self._vocabulary, np.int32)
        for places, tokens, numbers in self._chunks(entity, entity + 1):
            size = int((places.last - places.first).sum())
            gathered, free = np.empty(size, np.int32), np.zeros(1, np.int64)
            gather(tokens, numbers, places.entity - entity, places.first, places.last, free, gathered)
            np.add.at(counts, gathered, 1)
        words = np.flatnonzero(counts).astype(np.int32)
        return np.full(words.size, entity, np.int32), words, counts[words]

    def _chunks(self, first: int, last: int, tokens: bool = True) -> Iterator[tuple[Places, Array, Array]]:
        """Windows of the links to a range of entities, chunk by chunk; its tokens, the numbers of words."""
        for one, entities, words in zip(self._inputs, self._entities, self._words, strict=True):
            window = int(one.manifest["options"]["window"])
            paths = sorted(Path(one.folder, "tokens").glob("*.parquet"))
            read = partial(_chunk, entities=entities, first=first, last=last, window=window, tokens=tokens)
            for places, words_of_chunk in threaded_map(read, paths, self._threads):
                if places.entity.size:
                    yield places, words_of_chunk, words


def _numbers(engine: Engine, table: str, column: str, number: int) -> Array:
    """What the result calls things, by the number an input has for them; -1 for what it leaves out."""
    [(size,)] = engine.rows(f"SELECT COALESCE(MAX(given) + 1, 0) FROM {table} WHERE input = {number}")
    numbers = np.full(size, -1, np.int32)
    for batch in engine.batches(f"SELECT given, {column} FROM {table} WHERE input = {number}"):
        numbers[batch["given"].to_numpy()] = batch[column].to_numpy()
    return numbers


def _chunk(
    path: Path, entities: Array, first: int, last: int, window: int, tokens: bool
) -> tuple[Places, Array]:
    """The windows of a chunk, and its tokens if they are needed."""
    places = _places(path, entities, first, last, window)
    return places, _tokens(path) if tokens and places.entity.size else np.empty(0, np.int32)


def _places(path: Path, entities: Array, first: int, last: int, window: int) -> Places:
    """Both windows of each link of a chunk that leads to an entity of the range."""
    links = path.parent.parent / "links" / path.name
    page, target, before, after = (column.to_numpy() for column in pq.read_table(links, columns=_LINKS))
    with pq.ParquetFile(path) as file:
        pages, sizes = (column.to_numpy() for column in file.read(["page", "tokens"]))
    row = np.searchsorted(pages, page)
    there = np.flatnonzero(row < pages.size)
    there = there[pages[row[there]] == page[there]]  # others have no words, or were set aside
    entity = entities[target[there]]
    wanted = (entity >= first) & (entity < last)
    there, entity = there[wanted], entity[wanted]
    ends = np.cumsum(sizes, dtype=np.int64)
    start, end = (ends - sizes)[row[there]], ends[row[there]]
    firsts, lasts = windows(start + before[there], start + after[there], start, end, window)
    return Places(np.repeat(entity, 2), firsts, lasts)


def _tokens(path: Path) -> Array:
    """All tokens of a chunk."""
    words: pa.ListArray = pq.read_table(path, columns=["words"])["words"].combine_chunks()
    tokens: Array = words.values.to_numpy()
    return tokens
