"""Counting words in windows: the kernel against five lines of Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pboh.corpus.tables.second_pass as module
from pboh.corpus.tables.second_pass import count_words, windows


def simple_counts(tokens: list[int], stretches: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    counts: Counter[tuple[int, int]] = Counter()
    for entity, first, last in stretches:
        counts.update((entity, word) for word in tokens[first:last])
    return sorted((entity, word, count) for (entity, word), count in counts.items())


STRETCH = st.tuples(st.integers(0, 5), st.integers(0, 60), st.integers(0, 12))


WORDS = 9000
WORD = st.one_of(
    st.integers(0, 19), st.sampled_from([63, 64, 4095, 4096, 8191, 8192]), st.integers(0, WORDS - 1)
)


@given(st.lists(WORD, max_size=60), st.lists(STRETCH, max_size=30), st.integers(20, 70))
def test_counts(tokens: list[int], drawn: list[tuple[int, int, int]], room: int) -> None:
    stretches = [(entity, min(a, len(tokens)), min(a + n, len(tokens))) for entity, a, n in drawn]
    columns = np.array(stretches, dtype=np.int64).reshape(-1, 3).T
    names = 3 * np.arange(WORDS, dtype=np.int32)
    before, module._ROWS_AT_ONCE = module._ROWS_AT_ONCE, room  # small, so that rows come in several parts
    try:
        parts = count_words(
            np.array(tokens, np.int32), columns[0].astype(np.int32), columns[1], columns[2], names
        )
        got = [row for part in parts for row in zip(*(column.tolist() for column in part), strict=True)]
    finally:
        module._ROWS_AT_ONCE = before
    assert got == [(entity, 3 * word, count) for entity, word, count in simple_counts(tokens, stretches)]


def test_windows_stay_in_their_page() -> None:
    # pages of 10 and 5 tokens; links over tokens 0, 4-5, 9 of the first and over all of the second
    before, after = np.array([0, 4, 9, 10]), np.array([1, 6, 10, 15])
    start, end = np.array([0, 0, 0, 10]), np.array([10, 10, 10, 15])
    firsts, lasts = windows(before, after, start, end, 3)
    assert list(zip(firsts.tolist(), lasts.tolist(), strict=True)) == [
        (0, 0), (1, 4), (1, 4), (6, 9), (6, 9), (10, 10), (10, 10), (15, 15),
    ]  # fmt: skip
