"""Forward and backward sums against an enumeration of all label sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pboh.detection.chain_kernels import (
    BEGIN,
    INSIDE,
    LABELS,
    LAST,
    OUTSIDE,
    UNIT,
    exponentials,
    find_spans,
    train_epoch,
)

SORTS = 3


def allowed(labels):
    """Whether a sequence of labels cuts a sentence into names and other tokens."""
    around = (OUTSIDE, *labels, OUTSIDE)
    return all((y in (BEGIN, INSIDE)) == (z in (INSIDE, LAST)) for y, z in itertools.pairwise(around))


def sequences(features, sort, weights, transitions):
    """Probability of every allowed sequence, by enumeration."""
    n = len(sort)
    rows = np.concatenate([np.zeros((n, 1)), weights[features].sum(axis=1)], axis=1)
    scores = {}
    for labels in filter(allowed, itertools.product(range(LABELS), repeat=n)):
        steps = zip((OUTSIDE, *labels[:-1]), labels, sort, strict=True)
        scores[labels] = sum(rows[range(n), labels]) + sum(transitions[c, y, z] for y, z, c in steps)
    total = np.logaddexp.reduce(list(scores.values()))
    return {labels: float(np.exp(score - total)) for labels, score in scores.items()}


def spans_of(labels):
    """The names a sequence of labels stands for."""
    begins = [i for i, label in enumerate(labels) if label in (BEGIN, UNIT)]
    ends = [i + 1 for i, label in enumerate(labels) if label in (LAST, UNIT)]
    return list(zip(begins, ends, strict=True))


def model(seed, rows=16):
    random = np.random.default_rng(seed)
    weights = random.normal(0, 1, (rows, LABELS - 1)).astype(np.float32)
    return random, weights, random.normal(0, 1, (SORTS, LABELS, LABELS))


def found(features, sort, sentence, weights, transitions, least=0.0):
    step = np.empty_like(transitions)
    exponentials(transitions, step)
    spans, probability = np.empty((200, 2), np.int64), np.empty(200)
    used = find_spans(features, sort, sentence, weights, step, least, spans, probability)
    return dict(zip(map(tuple, spans[:used].tolist()), probability[:used].tolist(), strict=True))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_spans_have_the_probability_of_all_sequences_that_hold_them(size):
    random, weights, transitions = model(size)
    features = random.integers(0, 16, (size, 4)).astype(np.uint32)
    sort = random.integers(0, SORTS, size).astype(np.uint8)
    expected: dict[tuple[int, int], float] = {}
    for labels, p in sequences(features, sort, weights, transitions).items():
        for span in spans_of(labels):
            expected[span] = expected.get(span, 0.0) + p
    spans = found(features, sort, np.zeros(size, np.int32), weights, transitions)
    assert spans == pytest.approx(expected, abs=1e-6)
    few = found(features, sort, np.zeros(size, np.int32), weights, transitions, 0.1)
    assert few == pytest.approx({span: p for span, p in expected.items() if p >= 0.1}, abs=1e-6)


def test_sentences_do_not_see_each_other():
    random, weights, transitions = model(3)
    features = random.integers(0, 16, (6, 4)).astype(np.uint32)
    sort = random.integers(0, SORTS, 6).astype(np.uint8)
    both = found(features, sort, np.asarray([0, 0, 0, 1, 1, 1], np.int32), weights, transitions)
    second = found(features[3:], sort[3:], np.zeros(3, np.int32), weights, transitions)
    assert {(a - 3, b - 3): p for (a, b), p in both.items() if a >= 3} == pytest.approx(second)


def test_extreme_scores_stay_probabilities():
    _, weights, transitions = model(4)
    features = np.arange(12).reshape(3, 4).astype(np.uint32)
    spans = found(features, np.zeros(3, np.uint8), np.zeros(3, np.int32), weights * 1e4, transitions)
    assert all(0 <= p <= 1 + 1e-9 for p in spans.values())


def test_a_step_of_training_follows_the_gradient():
    """The first step of AdaGrad moves every weight by the rate in the direction of the slope of log p."""
    random, weights, transitions = model(5)
    features = random.integers(1, 16, (3, 2)).astype(np.uint32)
    sort, label = np.zeros(3, np.uint8), np.asarray([BEGIN, LAST, OUTSIDE], np.int8)

    def log_p(weights):
        return np.log(
            sequences(features, sort, weights.astype(np.float64), transitions)[tuple(label.tolist())]
        )

    slope = np.zeros_like(weights)
    for place in np.ndindex(weights.shape):
        more = weights.astype(np.float64).copy()
        more[place] += 1e-4
        slope[place] = (log_p(more) - log_p(weights)) / 1e-4
    after, steps = weights.copy(), transitions.copy()
    squares = np.zeros_like(weights), np.zeros_like(transitions)
    bounds, order = np.asarray([0, 3]), np.zeros(1, np.int64)
    rate, decay, dropout = 1e-3, np.float32(0), 0.0
    value = train_epoch(features, sort, label, bounds, order, after, steps, *squares, rate, decay, dropout, 7)
    assert value == pytest.approx(log_p(weights), rel=1e-5)
    once = [row for row in range(16) if (features == row).sum() == 1]
    clear = [(row, y) for row in once for y in range(LABELS - 1) if abs(slope[row, y]) > 0.05]
    assert clear
    for place in clear:
        assert np.sign(after[place] - weights[place]) == np.sign(slope[place])


def test_training_learns_what_decides():
    """Feature 1 stands for a name, feature 2 for anything else."""
    random = np.random.default_rng(0)
    kind = random.random(400) < 0.4
    features = np.where(kind, 1, 2).astype(np.uint32)[:, None]
    label = np.where(kind, UNIT, OUTSIDE).astype(np.int8)
    weights, steps = np.zeros((4, LABELS - 1), np.float32), np.zeros((1, LABELS, LABELS))
    squares = np.zeros_like(weights), np.zeros_like(steps)
    sort, bounds, order = np.zeros(400, np.uint8), np.arange(0, 401, 10), np.arange(40)
    for _ in range(5):
        train_epoch(
            features, sort, label, bounds, order, weights, steps, *squares, 0.5, np.float32(0), 0.0, 7
        )
    spans = found(features[:10], sort[:10], np.zeros(10, np.int32), weights, steps, 0.5)
    assert set(spans) == {(i, i + 1) for i in range(10) if kind[i]}
