"""Rows in the order of their hashes: the same whether they fit in memory or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.files.by_hash import ByHash


def collected(folder: Path, held: int, keys: np.ndarray, batch: int) -> list[tuple[int, int, np.ndarray]]:
    rows = ByHash(folder / "rows", held, value="<i4")
    for start in range(0, keys.size, batch):
        part = keys[start : start + batch]
        rows.add(part, value=np.arange(start, start + part.size))
    return list(rows.parts())


@pytest.mark.parametrize("held", [1 << 40, 40_000, 500])
def test_parts_are_ranges_of_keys_with_rows_in_the_order_they_came(tmp_path: Path, held: int) -> None:
    draw = np.random.default_rng(1)
    keys = draw.choice(draw.integers(0, 1 << 64, 300, np.uint64), 5_000)
    parts = collected(tmp_path, held, keys, 700)
    assert [low for low, _, _ in parts] == [0, *(high + 1 for _, high, _ in parts[:-1])]
    assert parts[-1][1] == (1 << 64) - 1
    for low, high, rows in parts:
        inside = np.flatnonzero((keys >= np.uint64(low)) & (keys <= np.uint64(high)))
        assert rows["value"].tolist() == inside.tolist()
        assert rows["key"].tolist() == keys[inside].tolist()
    assert list(tmp_path.iterdir()) == []
    assert len(parts) > 1 or held == 1 << 40


@settings(max_examples=30, deadline=None)
@given(keys=st.lists(st.integers(0, (1 << 64) - 1), max_size=60), held=st.integers(1, 2_000))
def test_any_keys(tmp_path_factory: pytest.TempPathFactory, keys: list[int], held: int) -> None:
    given = np.asarray(keys, np.uint64)
    parts = collected(tmp_path_factory.mktemp("rows"), held, given, 7)
    together = np.concatenate([np.sort(rows["key"]) for *_, rows in parts])
    assert together.tolist() == sorted(keys)
