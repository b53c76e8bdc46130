"""Names found again, against a search that compares the words one by one."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.detection.repeat_kernels import LONGEST, find_again

SURE, LOW = 0.5, 0.01


def search(written, spans, probability):
    """All spans, then all places where the words of a sure span are written without being one."""
    words = [tuple(written[a:b]) for a, b in spans]
    again = [
        max((probability[j] for j in range(len(spans)) if j != k and words[j] == words[k]), default=0.0)
        for k in range(len(spans))
    ]
    rows = list(zip(spans, probability, again, strict=True))
    for length in range(1, LONGEST + 1):
        for i in range(len(written) - length + 1):
            same = [p for p, w in zip(probability, words, strict=True) if w == tuple(written[i : i + length])]
            if max(same, default=0.0) >= SURE and (i, i + length) not in spans:
                rows.append(((i, i + length), LOW, max(same)))
    return rows


@pytest.mark.parametrize("seed", range(20))
def test_the_same_words_are_found_again(seed):
    rng = np.random.default_rng(seed)
    written = rng.integers(1, 5, 40).astype(np.uint32)
    places = zip(rng.integers(0, 39, 9).tolist(), rng.integers(1, 4, 9).tolist(), strict=True)
    spans = sorted({(a, min(40, a + n)) for a, n in places})
    probability = rng.random(len(spans))
    most = 2 * len(spans) + 40 * LONGEST
    out, chance, again = np.empty((most, 2), np.int64), np.empty(most), np.zeros(most)
    first, last = np.asarray(spans).T
    used = find_again(written, first, last, probability, SURE, LOW, out, chance, again)
    rows = zip(out[:used].tolist(), chance[:used].tolist(), again[:used].tolist(), strict=True)
    found = [(tuple(span), p, q) for span, p, q in rows]
    assert found == search(written.tolist(), spans, probability.tolist())


def test_no_more_is_written_than_fits():
    written = np.full(100, 7, np.uint32)
    out, chance, again = np.empty((10, 2), np.int64), np.empty(10), np.zeros(10)
    one = np.asarray([0]), np.asarray([1]), np.asarray([0.9])
    assert find_again(written, *one, SURE, LOW, out, chance, again) == 10


def test_nothing_in_nothing_out():
    none, nothing = np.empty(0, np.int64), (np.empty((4, 2), np.int64), np.empty(4), np.empty(4))
    assert find_again(np.empty(0, np.uint32), none, none, np.empty(0), SURE, LOW, *nothing) == 0
