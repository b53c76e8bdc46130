"""How often every name of the dictionary occurs in running text, linked or not: whole tokens, as written.

Names are found by the matcher that detects them (:mod:`pboh.text.matcher`), with two differences: a name may
begin with any token (``'N Sync``), and never goes beyond its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from pboh.counts.engine import Batches, Engine
from pboh.files.by_hash import ByHash
from pboh.files.workers import threaded_map
from pboh.text.folding import squeeze
from pboh.text.hashing import Array, hash_strings
from pboh.text.matcher import Characters, Lexicon, beginnings, characters, find_all_written
from pboh.text.matcher_kernels import OTHER, SINGLE

SCHEMA = pa.schema([("id", pa.int32()), ("count", pa.int64())])
TEXTS_AT_A_TIME = 256  # a few MB of code points


@cache
def counted_characters() -> Characters:
    """The matcher's characters, but every token may begin a name and no name contains a line break."""
    kind = characters().kind.copy()
    kind[kind == OTHER] = SINGLE
    kind[[0, 10, 13]] = OTHER
    return characters()._replace(kind=kind)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Names ready to be counted; ``owner`` is the number of the name at every place of the lexicon.

    ``pages`` says of every input which of its pages are documents: other texts are passed over.
    """

    lexicon: Lexicon
    owner: Array
    names: int
    pages: Sequence[Array]
    threads: int = 1

    @classmethod
    def of(
        cls,
        batches: Iterable[list[str]],
        scratch: Path = Path(),
        held: int = 1 << 62,
        pages: Sequence[Array] = (),
        threads: int = 1,
    ) -> Dictionary:
        """Enter names in batches; name number i is the i-th of them all.

        What is more than ``held`` bytes waits in the folder ``scratch`` until it is sorted.
        """
        entered, begins, names = (
            ByHash(scratch / "names", held, owner="<i4"),
            ByHash(scratch / "begins", held),
            0,
        )
        for batch in batches:
            squeezed = [squeeze(name) for name in batch]
            entered.add(hash_strings(squeezed), owner=np.arange(names, names + len(batch)))
            begins.add(beginnings(squeezed))
            names += len(batch)
        keys, owners = [], []
        for *_, rows in entered.parts():
            hashes, first = np.unique(rows["key"], return_index=True)
            keys.append(hashes)
            owners.append(rows["owner"][first])
        distinct = np.concatenate([np.unique(rows["key"]) for *_, rows in begins.parts()])
        lexicon = Lexicon.of_hashes(np.concatenate(keys), distinct)
        return cls(lexicon, np.concatenate(owners), names, pages, threads)

    def count(self, texts: Iterable[list[str]]) -> Array:
        """How often each name occurs in the texts; names may overlap."""
        counts = np.zeros(self.names, np.int64)
        for places, times in threaded_map(self._found, texts, self.threads):
            counts[places] += times
        return counts

    def _found(self, texts: list[str]) -> tuple[Array, Array]:
        """The names found in some texts, and how often each is."""
        blocks = find_all_written("\0".join(texts), self.lexicon, counted_characters())
        owners = np.concatenate([np.empty(0, np.int32), *(self.owner[rows[:, 2]] for rows in blocks)])
        return np.unique(owners, return_counts=True)

    def count_batches(self, batches: Batches) -> Batches:
        """Turn batches of columns (input, page, text) into rows (id, count) of the names found."""
        counts = self.count(
            some
            for batch in batches
            for start in range(0, batch.num_rows, TEXTS_AT_A_TIME)
            if (some := self._documents(batch.slice(start, TEXTS_AT_A_TIME)))
        )
        found = np.flatnonzero(counts)
        arrays = [pa.array(found, pa.int32()), pa.array(counts[found], pa.int64())]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)

    def _documents(self, batch: pa.RecordBatch) -> list[str]:
        """The texts of documents."""
        pages = zip(batch["input"].to_pylist(), batch["page"].to_pylist(), strict=True)
        counted = pa.array([bool(self.pages[number][page]) for number, page in pages], pa.bool_())
        texts: list[str] = batch["text"].filter(counted).to_pylist()
        return texts


def document_pages(engine: Engine) -> list[Array]:
    """Of every input: which of its pages are documents."""
    [(inputs,)] = engine.rows("SELECT COALESCE(MAX(input) + 1, 0) FROM input_texts")
    [(size,)] = engine.rows("SELECT COALESCE(MAX(page) + 1, 0) FROM input_texts")
    pages = np.zeros((inputs, size), bool)
    for batch in engine.batches("SELECT input, page FROM documents"):
        page = batch["page"].to_numpy()
        there = page < size
        pages[batch["input"].to_numpy()[there], page[there]] = True
    return list(pages)
