"""How often every name of the dictionary occurs in running text, linked or not: whole tokens, as written.

Names are found by the matcher that detects them (:mod:`pboh.text.matcher`), with two differences: a name may
begin with any token (``'N Sync``), and never goes beyond its line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa

from pboh.counts.engine import Batches
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
    """Names ready to be counted; ``owner`` is the number of the name at every place of the lexicon."""

    lexicon: Lexicon
    owner: Array

    @classmethod
    def of(cls, batches: Iterable[list[str]]) -> Dictionary:
        """Enter names in batches; name number i is the i-th of them all."""
        hashes, begins = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        for batch in batches:
            names = [squeeze(name) for name in batch]
            hashes.append(hash_strings(names))
            begins.append(beginnings(names))
        keys, owner = np.unique(np.concatenate(hashes), return_index=True)
        return cls(Lexicon.of_hashes(keys, np.unique(np.concatenate(begins))), owner)

    def count(self, texts: Iterable[list[str]]) -> Array:
        """How often each name occurs in the texts; names may overlap."""
        counts = np.zeros(self.owner.size, np.int64)
        for batch in texts:
            for rows in find_all_written("\0".join(batch), self.lexicon, counted_characters()):
                np.add.at(counts, self.owner[rows[:, 2]], 1)
        return counts

    def count_batches(self, batches: Batches) -> Batches:
        """Turn batches of a column ``text`` into rows (id, count) of the names found."""
        counts = self.count(
            batch["text"].slice(start, TEXTS_AT_A_TIME).to_pylist()
            for batch in batches
            for start in range(0, batch.num_rows, TEXTS_AT_A_TIME)
        )
        found = np.flatnonzero(counts)
        arrays = [pa.array(found, pa.int32()), pa.array(counts[found], pa.int64())]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)
