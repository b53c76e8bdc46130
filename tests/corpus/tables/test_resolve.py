"""Redirects followed to their end, against a walk from title to title."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from pboh.corpus.tables.resolve import follow


def walked(targets: list[int], title: int) -> int:
    """Where a redirect ends, step by step; -1 in a circle, or where one leads nowhere."""
    seen = {title}
    while title >= 0 and targets[title] != title:
        title = targets[title]
        if title in seen:
            return -1
        seen.add(title)
    return title


@given(st.lists(st.integers(-1, 14), min_size=15, max_size=15))
@example([1, 2, 3, 3, 5, 4, 4, -1, 3, 7, 10, 11, 12, 13, 14])
def test_redirects_are_followed_to_their_end(targets: list[int]) -> None:
    """A title that leads to itself is a page; others may lead in a circle, or nowhere (-1)."""
    final = follow(np.array(targets, dtype=np.int32))
    assert final.tolist() == [walked(targets, title) for title in range(len(targets))]


def test_a_long_chain_of_redirects() -> None:
    chain = np.minimum(np.arange(1, 200_002, dtype=np.int32), 200_000)
    assert set(follow(chain).tolist()) == {200_000}
