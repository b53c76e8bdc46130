"""Learning finds the optimum, recovers the model its data came from, and threads do not change the end."""

import numpy as np
import pytest
from worlds import OFFSET, copied, draw, full_gradient, joint_score, world

from pboh.errors import InputError
from pboh.learning.pseudo_likelihood.kernels import Documents, Names
from pboh.learning.pseudo_likelihood.learner import Learner, LearningOptions, held_out
from pboh.learning.pseudo_likelihood.parameters import (
    ParameterOptions,
    cooccurring,
    log_prior,
    starting_point,
)

pytestmark = pytest.mark.slow

NONE = Documents(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))


def optimum(docs, parameters, penalty, rounds=3000):
    """The maximum of the penalised objective by plain gradient ascent with backtracking."""
    found = copied(parameters, zero=True)
    rate, (value, rho, lam) = 1.0, full_gradient(docs, found, penalty)
    for _ in range(rounds):
        before = found.rho[:, OFFSET].copy(), found.lam[:, OFFSET].copy()
        found.rho[:, OFFSET] += rate * rho
        found.lam[:, OFFSET] += rate * lam
        tried = full_gradient(docs, found, penalty)
        if tried[0] >= value:
            value, rho, lam = tried
            rate *= 1.3
            if np.abs(rho).max() + np.abs(lam).max() < 1e-7:
                break
        else:
            found.rho[:, OFFSET], found.lam[:, OFFSET] = before
            rate *= 0.5
    return value, found


def identifiable(truth, docs, tolerance=1e-3):
    """Directions of parameter space the conditionals depend on: a constant added to a name's ρ is not one."""
    size = len(truth.rho) + len(truth.lam)
    rows = []
    for k in range(size):
        state, at = (truth.rho, k) if k < len(truth.rho) else (truth.lam, k - len(truth.rho))
        ends = []
        for sign in (1, -1):
            state[at, OFFSET] += sign * 1e-4
            ends.append(np.concatenate(full_gradient(docs, truth)[1:]))
            state[at, OFFSET] -= sign * 1e-4
        rows.append((ends[0] - ends[1]) / 2e-4)
    values, vectors = np.linalg.eigh(-np.asarray(rows) / docs.gold.size)
    return vectors[:, values > tolerance]


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("rescaled", [False, True])
def test_ends_near_the_optimum(adaptive, rescaled):
    truth = world(5, names=4, most=3, rescaled=rescaled)
    docs = draw(truth, 300, 1)
    best, _ = optimum(docs, truth, penalty=1.0)
    start = full_gradient(docs, copied(truth, zero=True), 1.0)[0]
    learnt = copied(truth, zero=True)
    rate = 0.5 if adaptive else 0.05
    options = LearningOptions(
        epochs=60,
        rate=rate,
        pair_rate=rate,
        decay=0.3,
        adaptive=adaptive,
        penalty=1.0,
        pair_penalty=1.0,
        patience=99,
    )
    Learner(docs, NONE, learnt, options).run()
    assert best - full_gradient(docs, learnt, 1.0)[0] < 0.005 * (best - start)


def test_the_true_parameters_are_recovered_as_data_grows():
    truth = world(7, names=4, most=3)
    directions = identifiable(truth, draw(truth, 3000, 99))
    true = np.concatenate((truth.rho[:, OFFSET], truth.lam[:, OFFSET]))
    errors = []
    for count in (100, 1000, 10_000):
        learnt = copied(truth, zero=True)
        options = LearningOptions(
            epochs=40, rate=0.5, pair_rate=0.5, decay=0.5, penalty=0.01, pair_penalty=0.01, patience=99
        )
        Learner(draw(truth, count, 1), NONE, learnt, options).run()
        got = np.concatenate((learnt.rho[:, OFFSET], learnt.lam[:, OFFSET]))
        errors.append(float(np.sqrt(((directions.T @ (got - true)) ** 2).mean())))
    assert errors[1] < 0.6 * errors[0]
    assert errors[2] < 0.6 * errors[1]
    assert errors[2] < 0.1 * np.sqrt(((directions.T @ true) ** 2).mean())


def test_smoothed_loss_falls_monotonically_and_held_out_loss_nears_the_truth():
    truth = world(8, entities=20, names=25, most=4, share=0.5)
    docs, held = draw(truth, 4000, 1), draw(truth, 1000, 2)
    learnt = copied(truth, zero=True)
    history = Learner(
        docs,
        held,
        learnt,
        LearningOptions(epochs=12, rate=0.2, pair_rate=0.2, penalty=0.05, pair_penalty=0.05),
    ).run()
    loss = [entry["train_loss"] for entry in history[1:]]
    smoothed = np.convolve(loss, np.ones(3) / 3, "valid")
    assert (np.diff(smoothed) < 0).all()
    true = held_out(held, truth)["loss"]
    assert min(entry["loss"] for entry in history) < true + 0.15 * (history[0]["loss"] - true)


def test_two_threads_end_where_one_does():
    truth = world(9, entities=200, names=300, most=4, share=0.05)
    docs, held = draw(truth, 3000, 1), draw(truth, 1000, 2)
    losses = {}
    for threads in (1, 2):
        options = LearningOptions(
            epochs=5, rate=0.2, pair_rate=0.2, penalty=0.05, pair_penalty=0.05, threads=threads, patience=99
        )
        history = Learner(docs, held, copied(truth, zero=True), options).run()
        losses[threads] = history[0]["loss"] - history[-1]["loss"]
    assert losses[1] > 0.02
    assert losses[2] == pytest.approx(losses[1], rel=0.1)


def test_one_thread_is_exactly_repeatable():
    truth = world(10)
    docs = draw(truth, 200, 1)
    runs = []
    for _ in range(2):
        learnt = copied(truth, zero=True)
        Learner(docs, NONE, learnt, LearningOptions(epochs=2, patience=9)).run()
        runs.append(learnt)
    np.testing.assert_array_equal(runs[0].rho, runs[1].rho)
    np.testing.assert_array_equal(runs[0].lam, runs[1].lam)


def test_learning_stops_when_the_held_out_loss_rises():
    truth = world(11, entities=30, names=30, most=5, share=0.5)
    docs, held = draw(truth, 40, 1), draw(truth, 400, 2)
    options = LearningOptions(epochs=200, rate=0.5, pair_rate=0.5, penalty=0.0, pair_penalty=0.0, patience=2)
    learner = Learner(docs, held, copied(truth, zero=True), options)
    history = learner.run()
    assert len(history) < 100
    assert learner.state.best_epoch == len(history) - 1 - 2
    assert history[learner.state.best_epoch]["loss"] == min(entry["loss"] for entry in history)


def test_starting_points():
    truth = world(12, entities=8)
    docs = draw(truth, 100, 1)
    counts = np.bincount(docs.gold, minlength=len(truth.rho)) + 1.0
    together = cooccurring(docs, truth.names, 8, 2)
    zeros = starting_point(truth.names, counts, together, ParameterOptions(start="zeros"))
    assert not zeros.rho.any()
    assert not zeros.lam.any()
    prior = starting_point(truth.names, counts, together, ParameterOptions(start="prior"))
    rho, lam = prior.values()
    for m in range(truth.names.offsets.size - 1):
        row = slice(truth.names.offsets[m], truth.names.offsets[m + 1])
        np.testing.assert_allclose(np.exp(rho[row]), counts[row] / counts[row].sum(), rtol=1e-5)
    assert not lam.any()
    options = ParameterOptions(start="bethe", centre="start", tau=0.5)
    near = starting_point(truth.names, counts, together, options, backoff=0.3)
    np.testing.assert_allclose(near.values()[0], rho)
    assert (near.values()[1] > 0).any()
    assert not near.rho[:, OFFSET].any()  # the penalty pulls back to the start
    with pytest.raises(InputError, match="unknown starting point"):
        starting_point(truth.names, counts, together, ParameterOptions(start="nowhere"))
    with pytest.raises(InputError, match="unknown centre"):
        starting_point(truth.names, counts, together, ParameterOptions(centre="nowhere"))


def test_without_documents_there_is_nothing_to_learn():
    with pytest.raises(InputError, match="no document"):
        Learner(NONE, NONE, world(0), LearningOptions())


def test_log_prior_of_no_names():
    assert log_prior(Names(np.zeros(1, np.int64), np.empty(0, np.int32)), np.empty(0)).size == 0


def test_pair_score_is_what_the_joint_model_says():
    """Changing one link changes the joint score by the difference of its conditionals."""
    truth = world(13)
    docs = draw(truth, 1, 3, shortest=4, longest=4)
    gold = docs.gold.tolist()
    other = next(k for k in range(truth.names.offsets[docs.name[0]], truth.names.offsets[docs.name[0] + 1])
                 if k != gold[0])  # fmt: skip
    changed = Documents(docs.offsets, docs.name, np.asarray([other, *gold[1:]], np.int32))
    from pboh.learning.pseudo_likelihood.learner import judged

    difference = judged(docs, truth)[0][0] - judged(changed, truth)[0][0]
    assert difference == pytest.approx(joint_score(truth, gold) - joint_score(truth, [other, *gold[1:]]))
