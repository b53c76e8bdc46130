"""The number of distinct pairs e < e′ with N(e,e′) > 0, from lists of documents instead of rows of pairs.

There are hundreds of times as many pairs as incidences, and only their number is needed. The query
``distinct_pairs.sql`` says the same to other engines.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np
import pyarrow as pa

from pboh.counts.counting_kernels import count_pairs, list_members
from pboh.counts.engine import Batches, Engine
from pboh.text.hashing import Array

BYTES_PER_INCIDENCE = 4
SHARE_OF_MEMORY = 0.25
SCHEMA = pa.schema([("pairs", pa.int64())])


def shares(engine: Engine) -> list[dict[str, int]]:
    """As many shares of the entities e′ as it takes to keep those of all documents in memory."""
    [(incidences,)] = engine.rows("SELECT COUNT(*) FROM incidences")
    parts = max(1, ceil(incidences * BYTES_PER_INCIDENCE / (engine.memory * SHARE_OF_MEMORY)))
    return [{"parts": parts, "part": part} for part in range(parts)]


def distinct_pairs(engine: Engine, parts: int, part: int) -> Batches:
    """The number of pairs whose greater entity is in one share, as a row."""
    [(documents, entities)] = engine.rows(
        "SELECT COALESCE(MAX(document) + 1, 0), COALESCE(MAX(entity) + 1, 0) FROM incidences"
    )
    sizes = np.zeros(documents, np.int64)
    for entity, document in _incidences(engine):
        sizes += np.bincount(document[entity % parts == part], minlength=documents)
    ends = np.cumsum(sizes)
    starts, free = ends - sizes, ends - sizes
    members, seen = np.empty(int(sizes.sum()), np.int32), np.zeros(entities, np.int32)
    for entity, document in _incidences(engine):
        chosen = entity % parts == part
        list_members(entity[chosen], document[chosen], free, members)
    found = sum(count_pairs(*rows, starts, ends, members, seen) for rows in _incidences(engine))
    yield pa.record_batch([pa.array([found], pa.int64())], schema=SCHEMA)


def _incidences(engine: Engine) -> Iterator[tuple[Array, Array]]:
    """Entities and documents, by ascending entity."""
    for batch in engine.batches("SELECT entity, document FROM incidences", 1 << 20, ordered=True):
        yield batch["entity"].to_numpy(), batch["document"].to_numpy()
