"""Pair counts of one document at the scale of a full Wikipedia: 7 million pages, lists of up to a million.

The lists of 200 candidates (20 mentions × 10) are synthetic: most are short, as many as asked for are long.
Compared are scattering every list, and reading the long ones against the short ones with the counts among
the long ones computed when the model is built (what pboh does).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import best_of, save, table
from pboh.model.pair_kernels import cooccurrences
from pboh.model.tables import head_table

DOCUMENTS = 7_000_000
CANDIDATES = 200


def lists(long: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ascending document lists: ``long`` of 10⁵–10⁶ documents, the rest of 1–5,000 by a power law."""
    short = np.minimum(rng.pareto(0.6, CANDIDATES - long) * 20 + 1, 5000)
    sizes = np.concatenate([np.geomspace(1e5, 1e6, long) if long else [], short]).astype(np.int64)
    rng.shuffle(sizes)
    parts = [np.unique(rng.integers(0, DOCUMENTS, size)) for size in sizes]
    offsets = np.cumsum([0, *(part.size for part in parts)]).astype(np.int64)
    return offsets, np.concatenate(parts).astype(np.uint32)


def main() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    slot = np.zeros(DOCUMENTS, np.int32)
    entities = np.arange(CANDIDATES, dtype=np.int32)
    none = np.empty(0, np.int32), np.empty((0, 0), np.int32)
    rows = []
    for long in (0, 1, 4, 16):
        offsets, documents = lists(long, rng)
        heads, pairs = head_table(offsets, documents)
        scattered = cooccurrences(entities, offsets, documents, *none, slot)
        read = cooccurrences(entities, offsets, documents, heads, pairs, slot)
        assert all(np.array_equal(a, b) for a, b in zip(scattered, read, strict=True))
        seconds = [
            best_of(partial(cooccurrences, entities, offsets, documents, *known, slot))
            for known in (none, (heads, pairs))
        ]
        rows.append(
            {
                "long_lists": long,
                "incidences": int(offsets[-1]),
                "scatter_ms": 1e3 * seconds[0],
                "heads_ms": 1e3 * seconds[1],
                "ratio": seconds[0] / seconds[1],
            }
        )
    table("Pairs of 200 candidates, 7 M documents", list(rows[0]), [list(row.values()) for row in rows])
    return save("pairs", {"documents": DOCUMENTS, "candidates": CANDIDATES, "rows": rows})


if __name__ == "__main__":
    main()
