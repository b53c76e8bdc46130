"""Belief propagation against a plain numpy twin, and its corner cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.inference.belief_propagation import Couplings, FactorGraph
from pboh.inference.propagation_kernels import find_edges


def propagate(unary, label, size, couplings, **options):
    return FactorGraph(unary, label, size, couplings).propagate(**options)


def twin(unary, label, size, table, mode="max", rounds=15, epsilon=1e-5):
    """The update of the paper over the full (n, n, r, r) table, in doubles."""
    n, r = unary.shape
    live = np.arange(r) < size[:, None]
    unary = np.where(live, unary, -np.inf).astype(float)
    pair = table[label[:, None, :, None], label[None, :, None, :]].astype(float)
    reduce = np.maximum.reduce if mode == "max" else np.logaddexp.reduce
    exchange = live[None] & ~np.eye(n, dtype=bool)[:, :, None] & (size > 0)[:, None, None]
    message = np.zeros((n, n, r))  # from, to, state of the receiver
    done, change = 0, np.inf
    while done < rounds and change > epsilon:
        cavity = (unary + message.sum(0))[:, None, :] - message.transpose(1, 0, 2)
        sent = np.where(exchange, reduce(cavity[..., None] + pair, axis=2), -np.inf)
        with np.errstate(invalid="ignore"):
            sent = np.where(exchange, sent - sent.max(-1, keepdims=True), 0)
        change, message, done = np.abs(sent - message).max(), sent, done + 1
    return unary + message.sum(0), done, change <= epsilon


def problem(seed, n=6, r=4, labels=15, density=0.3, strength=3.0, signed=False):
    rng = np.random.default_rng(seed)
    size = rng.integers(0, r + 1, n).astype(np.int32)
    unary = rng.normal(0, 2, (n, r)).astype(np.float32)
    label = rng.integers(0, labels, (n, r)).astype(np.int32)
    table = rng.exponential(strength, (labels, labels)) * (rng.random((labels, labels)) < density)
    if signed:
        table = table - rng.exponential(strength, (labels, labels))
    return unary, label, size, ((table + table.T) / max(n - 1, 1) - 0.7).astype(np.float32)


@pytest.mark.parametrize("mode", ["max", "sum"])
@settings(deadline=None, max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    r=st.integers(1, 6),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    rounds=st.integers(0, 15),
    signed=st.booleans(),
)
def test_equals_the_twin(mode, seed, n, r, density, rounds, signed):
    unary, label, size, table = problem(seed, n, r, density=density, signed=signed)
    expected, _, _ = twin(unary, label, size, table, mode, rounds, -1.0)
    ours = propagate(unary, label, size, table, mode=mode, rounds=rounds, epsilon=-1.0)
    np.testing.assert_allclose(ours.belief, expected, atol=2e-4)


@pytest.mark.parametrize("mode", ["max", "sum"])
def test_stops_in_the_same_round_as_the_twin(mode):
    for seed in range(100):
        unary, label, size, table = problem(seed, 8, 5)
        _, rounds, converged = twin(unary, label, size, table, mode)
        ours = propagate(unary, label, size, table, mode=mode)
        # floats may settle one round earlier or later than doubles
        assert abs(ours.rounds - rounds) <= 1
        assert ours.converged == converged or rounds == 15


def test_couplings_relative_to_the_unseen_pair_say_the_same_as_the_table():
    unary, label, size, table = problem(3, 12, 6, labels=40, density=0.1)
    sparse = Couplings.dense(table, unseen=np.float32(-0.7))
    assert sparse.value.size < table.size / 4
    np.testing.assert_array_equal(
        propagate(unary, label, size, sparse).belief, propagate(unary, label, size, table).belief
    )


def test_the_shift_keeps_large_documents_finite_and_bounded():
    """As printed the update diverges: beliefs of 4e20 after 15 rounds at 25 mentions."""
    unary, label, size, table = problem(1, 60, 10, labels=600, density=0.08, strength=5.0)
    belief = propagate(unary, label, size, table, epsilon=-1.0).belief
    assert np.abs(belief[belief > -np.inf]).max() < 60 * np.abs(table).max() + 20


def test_no_mention_one_mention_and_mentions_without_candidates():
    none = propagate(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 0)))
    assert (none.belief.shape, none.rounds, none.converged) == ((0, 3), 0, True)
    assert none.best().size == 0 and none.probability().shape == (0, 3)

    one = propagate(np.array([[1.0, 2.0]]), np.array([[0, 1]]), np.array([2]), np.eye(2))
    np.testing.assert_array_equal(one.belief, [[1, 2]])
    assert one.rounds == 0 and one.converged and one.best().tolist() == [1]

    unlinked = propagate(
        np.zeros((3, 2)), np.array([[0, 1], [0, 0], [1, 0]]), np.array([2, 0, 1]), np.eye(2) * 5
    )
    assert unlinked.best().tolist() == [1, -1, 0]
    assert unlinked.belief[1].tolist() == [-np.inf, -np.inf]
    assert unlinked.probability()[1].tolist() == [0, 0]
    assert propagate(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros(2), np.eye(1)).best().tolist() == [-1, -1]


def test_a_mention_of_one_state_steers_the_others():
    unary = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    label = np.array([[0, 1], [2, 3], [4, 5]])
    table = np.zeros((6, 6))
    for u, v in ((0, 2), (0, 4), (2, 4), (1, 3), (1, 5), (3, 5)):
        table[u, v] = table[v, u] = 1.5
    assert propagate(unary, label, np.array([2, 2, 2]), table).best().tolist() == [1, 1, 1]
    assert propagate(unary, label, np.array([1, 2, 2]), table).best().tolist() == [0, 0, 0]


def test_impossible_states_stay_impossible():
    unary = np.array([[0.0, -np.inf], [0.0, 0.5]])
    beliefs = propagate(unary, np.array([[0, 1], [2, 3]]), np.array([2, 2]), np.diag(np.ones(4))[::-1] * 3)
    assert beliefs.belief[0, 1] == -np.inf and beliefs.probability()[0].tolist() == [1, 0]


@pytest.mark.parametrize("mode", ["max", "sum"])
def test_the_history_ends_with_the_beliefs(mode):
    unary, label, size, table = problem(5)
    plain = propagate(unary, label, size, table, mode=mode)
    kept = propagate(unary, label, size, table, mode=mode, record=True)
    assert plain.history is None and kept.history.shape == (kept.rounds + 1, *unary.shape)
    np.testing.assert_array_equal(kept.history[-1], plain.belief)
    for k in range(kept.rounds):
        early = propagate(unary, label, size, table, mode=mode, rounds=k, epsilon=-1.0)
        np.testing.assert_array_equal(kept.history[k], early.belief)


def test_the_same_input_gives_the_same_bits():
    unary, label, size, table = problem(9, 30, 8, labels=100)
    first, second = (propagate(unary, label, size, table).belief.tobytes() for _ in range(2))
    assert first == second


def test_one_graph_serves_both_modes():
    """The edges are built once: solving in one mode changes nothing for the other."""
    given = problem(5, n=8, density=0.5)
    graph = FactorGraph(*given)
    for mode in ("max", "sum", "max", "sum"):
        assert graph.propagate(mode).belief.tobytes() == propagate(*given, mode=mode).belief.tobytes()


def test_memory_follows_the_seen_pairs():
    """A thousand mentions of ten candidates: tables of size n²·r² would take 400 MB."""
    n, r = 1000, 10
    rng = np.random.default_rng(0)
    label = np.arange(n * r, dtype=np.int32).reshape(n, r)
    pairs = rng.integers(0, n * r, (20_000, 2))
    pairs = np.unique(np.vstack([pairs, pairs[:, ::-1]]), axis=0)
    start = np.searchsorted(pairs[:, 0], np.arange(n * r + 1)).astype(np.int64)
    couplings = Couplings(start, pairs[:, 1].astype(np.int32), np.full(len(pairs), 0.3, np.float32))
    size = np.full(n, r, np.int32)
    edges = find_edges(label, size, *couplings, np.arange(n), n)
    assert sum(array.nbytes for array in edges) + 8 * r * len(edges[0]) < 5e6
    beliefs = propagate(rng.normal(0, 2, (n, r)), label, size, couplings)
    assert beliefs.converged and np.isfinite(beliefs.belief).all()


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "min"},
        {"rounds": -1},
        {"size": np.array([2, 3])},
        {"size": np.array([2, -1])},
        {"label": np.array([[0, 1], [2, 4]])},
        {"label": np.array([[0, 1], [2, -1]])},
        {"label": np.array([[0, 1]])},
        {"unary": np.array([[0.0, np.nan], [0, 0]])},
        {"unary": np.array([[0.0, np.inf], [0, 0]])},
        {"unary": np.array([[-np.inf, -np.inf], [0, 0]])},
        {"couplings": np.full((4, 4), np.nan)},
        {"couplings": np.zeros((4, 3))},
        {"couplings": np.diag([0.0, 0, 0, np.inf])},
        {
            "couplings": Couplings(
                np.array([0, 1, 1, 1, 1]), np.array([1], np.int32), np.array([-1], np.float32)
            )
        },
        {"couplings": np.diag([0.0, 0, 0, 100]), "mode": "sum"},
    ],
)
def test_nonsense_is_refused(change):
    good = {
        "unary": np.zeros((2, 2)),
        "label": np.array([[0, 1], [2, 3]]),
        "size": np.array([2, 2]),
        "couplings": np.eye(4),
    }
    propagate(**good)
    with pytest.raises(ValueError):
        propagate(**(good | change))
