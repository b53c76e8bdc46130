"""Pair counts of one document at the scale of a full Wikipedia: 7 million pages, lists of up to a million.

The lists of 200 candidates (20 mentions × 10) are synthetic: most are short, as many as asked for are long.
The corpus has 300 long lists in all, so that only the longest have a column of their own. Compared are
scattering every list; counting with the heads known, as pboh does; and the same for the first time, when the
columns are still empty.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import best_of, save, table
from pboh.model.pair_kernels import Scratch, cooccurrences
from pboh.model.tables import head_table

DOCUMENTS = 7_000_000
CANDIDATES = 200
LONG_LISTS = 300


def lists(long: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Ascending document lists: of the candidates, ``long`` with 10⁵–10⁶ documents and the rest with 1–5,000
    by a power law; then those of other heads, with 10⁴–10⁶."""
    short = np.minimum(rng.pareto(0.6, CANDIDATES - long) * 20 + 1, 5000)
    sizes = np.concatenate([np.geomspace(1e5, 1e6, long) if long else [], short]).astype(np.int64)
    rng.shuffle(sizes)
    others = 1e6 / np.arange(1, LONG_LISTS - long + 1) ** 0.8
    parts = [
        np.unique(rng.integers(0, DOCUMENTS, size)).astype(np.uint32)
        for size in (*sizes, *others.astype(np.int64))
    ]
    offsets = np.cumsum([0, *(part.size for part in parts)]).astype(np.int64)
    return offsets, np.concatenate(parts)


def main() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    entities = np.arange(CANDIDATES, dtype=np.int32)
    none = np.empty(0, np.int32), np.empty((0, 0), np.int32)
    rows = []
    for long in (0, 1, 4, 16):
        offsets, documents = lists(long, rng)
        heads, pairs = head_table(offsets, documents)
        plain, scratch = (Scratch.of(DOCUMENTS, some, offsets) for some in (none[0], heads))
        scatter = partial(cooccurrences, entities, offsets, documents, *none, plain)
        count = partial(cooccurrences, entities, offsets, documents, heads, pairs)
        count(Scratch.of(DOCUMENTS, heads, offsets))
        first = best_of(lambda: count(scratch), 1)  # noqa: B023
        assert all(np.array_equal(a, b) for a, b in zip(scatter(), count(scratch), strict=True))
        rows.append(
            {
                "long_lists": long,
                "incidences": int(offsets[CANDIDATES]),
                "scatter_ms": 1e3 * best_of(scatter),
                "first_ms": 1e3 * first,
                "heads_ms": 1e3 * best_of(partial(count, scratch), 200),
            }
        )
    table("Pairs of 200 candidates, 7 M documents", list(rows[0]), [list(row.values()) for row in rows])
    memory = sum(array.nbytes for array in scratch) / 1e6
    print(f"\nmemory kept between documents: {memory:.0f} MB")
    corpus = {"documents": DOCUMENTS, "candidates": CANDIDATES, "heads": int(heads.size)}
    return save("pairs", {**corpus, "scratch_megabytes": memory, "rows": rows})


if __name__ == "__main__":
    main()
