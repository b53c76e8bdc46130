"""A model of many words keeps the rows that say most, and no more than it may."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from pboh.model.build import BuildOptions, build_model
from pboh.model.store import open_model
from pboh.model.word_rows import COUNTS, STEPS, count_rows, degrees, free_degree, least_counts


def test_the_smallest_count_grows_with_the_doublings_of_the_words() -> None:
    total = 100 * 2 ** np.arange(8)
    degree = degrees(total)
    assert np.diff(degree).tolist() == [STEPS] * 7
    assert least_counts(degree, degree[3]).tolist() == [1, 1, 1, 1, 2, 3, 4, 5]
    assert degrees(np.array([0, 1])).tolist() == [0, 0]
    assert least_counts(np.array([10_000]), 0) == COUNTS - 1


def test_as_many_entities_as_possible_keep_all_of_their_rows() -> None:
    draw = np.random.default_rng(1)
    degree = draw.integers(0, 60, 5_000)
    count = draw.geometric(0.3, 5_000) + 1
    rows = np.zeros((60, COUNTS), np.int64)
    for part in np.array_split(np.arange(5_000), 3):
        count_rows(rows, degree[part], count[part])
    assert rows.sum() == 5_000

    def kept(free: int) -> int:
        return int((count >= least_counts(degree, free)).sum())

    for most in (4_500, 2_500, 500):
        free = free_degree(rows, most)
        assert kept(free) <= most < kept(free + 1)
    assert free_degree(rows, 5_000) == 60


def test_a_model_with_fewer_rows(world_counts: Path, tmp_path: Path) -> None:
    """What remains is as in the counts, rare entities lose nothing, and what smoothing needs follows."""
    build_model(world_counts, tmp_path / "whole", BuildOptions(vectors=0))
    whole = open_model(tmp_path / "whole")
    size = whole["context_word"].size
    made = build_model(world_counts, tmp_path / "small", BuildOptions(vectors=0, word_rows=size // 2))
    small = open_model(tmp_path / "small")
    assert made["totals"]["word_rows"] == small["context_word"].size <= size // 2
    assert "word_rows" not in whole.info["totals"]
    table = pq.read_table(world_counts / "word_entity")
    entity, word, count = (table[name].to_pylist() for name in ("entity", "word", "count"))
    known = dict(zip(zip(entity, word, strict=True), count, strict=True))
    lost = 0
    for one in range(small.entities):
        rows = slice(*small["context_offsets"][one : one + 2])
        words, counts = small["context_word"][rows], small["context_count"][rows]
        assert counts.tolist() == [known[one, w] for w in words.tolist()]
        all_of_it = slice(*whole["context_offsets"][one : one + 2])
        gone = (all_of_it.stop - all_of_it.start) - words.size
        lost += gone
        if gone:
            dropped = sorted(whole["context_count"][all_of_it].tolist())[:gone]
            assert not words.size or max(dropped) < counts.min()
        assert small["context_mass"][0, one] == counts.sum()
        assert small["context_types"][0, one] == words.size
    assert lost == size - small["context_word"].size
    least = degrees(small["context_total"])
    untouched = np.diff(small["context_offsets"]) == np.diff(whole["context_offsets"])
    assert untouched[least < least[~untouched].min()].all()
