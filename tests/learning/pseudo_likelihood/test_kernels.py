"""The gradient is exact: it agrees with enumeration and with finite differences on small worlds."""

from itertools import pairwise

import numpy as np
import pytest
from worlds import OFFSET, conditionals, copied, draw, full_gradient, pseudo_likelihood, world

from pboh.learning.pseudo_likelihood import kernels
from pboh.learning.pseudo_likelihood.kernels import Documents, Pairs, Step, Steps
from pboh.learning.pseudo_likelihood.learner import held_out, judged

WORLDS = [(seed, rescaled) for seed in range(6) for rescaled in (False, True)]


@pytest.mark.parametrize(("seed", "rescaled"), WORLDS)
def test_conditionals_equal_enumeration(seed, rescaled):
    parameters = world(seed, rescaled=rescaled)
    docs = draw(parameters, 20, seed, shortest=1, longest=5)
    log_p, best = judged(docs, parameters)
    for d in range(docs.offsets.size - 1):
        for i, p in enumerate(conditionals(parameters, docs, d)):
            at = docs.offsets[d] + i
            assert log_p[at] == pytest.approx(np.log(p[int(docs.gold[at])]), abs=1e-9)
            assert p[int(best[at])] == pytest.approx(max(p.values()))


@pytest.mark.parametrize(("seed", "rescaled"), WORLDS)
def test_gradient_equals_finite_differences(seed, rescaled):
    parameters = world(seed, rescaled=rescaled)
    docs = draw(parameters, 15, seed + 100, shortest=1, longest=5)
    value, by_rho, by_lam = full_gradient(docs, parameters, penalty=0.3)
    small = 1e-5
    for state, gradient in ((parameters.rho, by_rho), (parameters.lam, by_lam)):
        for k in range(len(state)):
            ends = []
            for sign in (1, -1):
                state[k, OFFSET] += sign * small
                ends.append(full_gradient(docs, parameters, penalty=0.3)[0])
                state[k, OFFSET] -= sign * small
            assert gradient[k] == pytest.approx((ends[0] - ends[1]) / (2 * small), abs=1e-6)
    norm = (parameters.rho[:, OFFSET] ** 2).sum() + (parameters.lam[:, OFFSET] ** 2).sum()
    assert value == pytest.approx(pseudo_likelihood(parameters, docs) - 0.3 * norm)


@pytest.mark.parametrize(("seed", "rescaled"), WORLDS)
def test_gradient_equals_observed_minus_expected_features(seed, rescaled):
    """∇ = Σ_i φ(e) − E_{e_i ~ p(·|m_i, e_−i)} φ, with features counted one pair of links at a time."""
    parameters = world(seed, rescaled=rescaled)
    docs = draw(parameters, 10, seed + 200, shortest=2, longest=5)
    _, by_rho, by_lam = full_gradient(docs, parameters)
    entity, (offsets, other, number) = parameters.names.entity, parameters.pairs
    pair = {
        (e, int(other[k])): number[k]
        for e in range(parameters.entities)
        for k in range(offsets[e], offsets[e + 1])
    }
    rho, lam = np.zeros_like(by_rho), np.zeros_like(by_lam)
    for d in range(docs.offsets.size - 1):
        gold = docs.gold[docs.offsets[d] : docs.offsets[d + 1]]
        s = 2 / (len(gold) - 1) if rescaled else 1.0
        for i, p in enumerate(conditionals(parameters, docs, d)):
            for k, probability in p.items():
                residual = (k == gold[i]) - probability
                rho[k] += residual
                for j in range(len(gold)):
                    at = pair.get((int(entity[k]), int(entity[gold[j]])))
                    if j != i and at is not None:
                        lam[at] += s * residual
    np.testing.assert_allclose(by_rho, rho, atol=1e-9)
    np.testing.assert_allclose(by_lam, lam, atol=1e-9)


def test_gradient_vanishes_at_the_model_the_data_came_from():
    """The estimator is consistent: the expected gradient at the true parameters is zero."""
    parameters = world(3, names=4, most=3)
    docs = draw(parameters, 60_000, 1)
    _, by_rho, by_lam = full_gradient(docs, parameters)
    links = docs.gold.size
    assert np.abs(by_rho).max() / links < 0.005
    assert np.abs(by_lam).max() / links < 0.005


def test_long_rows_are_searched_and_short_ones_scanned_with_the_same_result():
    """A candidate with many partners takes the other branch; partners that are not linked change nothing."""
    parameters = world(1)
    docs = draw(parameters, 12, 5, shortest=1, longest=3)
    expected = full_gradient(docs, parameters)
    offsets, other, number = parameters.pairs
    strangers, most = 500, parameters.entities
    rows = [np.concatenate((other[a:b], np.arange(most, most + strangers)))
            for a, b in pairwise(offsets)]  # fmt: skip
    numbers = [np.concatenate((number[a:b], np.zeros(strangers, np.int32)))
               for a, b in pairwise(offsets)]  # fmt: skip
    wider = np.concatenate(([0], np.cumsum([r.size for r in rows])))
    wider = np.concatenate((wider, np.full(strangers, wider[-1])))
    widened = Pairs(wider, np.concatenate(rows).astype(np.int32), np.concatenate(numbers))
    parameters = parameters._replace(pairs=widened)
    for got, want in zip(full_gradient(docs, parameters), expected, strict=True):
        np.testing.assert_allclose(got, want, atol=1e-12)


def test_scratch_memory_is_left_as_found():
    parameters = world(2)
    docs = draw(parameters, 10, 5)
    slot, mark = parameters.scratch()
    steps = Steps(Step(0.1, 0.01, True), Step(0.2, 0.02, True))
    kernels.learn(np.arange(10), 0, 10, docs, parameters, steps, slot, mark)
    assert not slot.any()
    assert not mark.any()


def test_a_name_with_one_entity_teaches_nothing_but_is_a_neighbour():
    parameters = world(0)
    sizes = np.diff(parameters.names.offsets)
    parameters.names.entity[-1] = parameters.names.entity[0]
    single = sizes.size - 1
    if sizes[single] != 1:  # give the last name a single entity
        parameters.names.offsets[-1] = parameters.names.offsets[-2] + 1
    k = int(parameters.names.offsets[single])
    docs = Documents(np.asarray([0, 1]), np.asarray([single], np.int32), np.asarray([k], np.int32))
    _, by_rho, by_lam = full_gradient(docs, parameters)
    assert not by_rho.any()
    assert not by_lam.any()
    assert held_out(docs, parameters)["loss"] == 0.0


@pytest.mark.parametrize("adaptive", [False, True])
def test_lazy_penalty_equals_a_penalty_at_every_step(adaptive):
    """Charging e^(−2γη·Δ/D) when a parameter is next touched is what each step would have done."""
    parameters = world(4)
    docs = draw(parameters, 40, 9)
    lazy, eager = copied(parameters), copied(parameters)
    step = Step(0.2, 0.05, adaptive)
    steps = Steps(step, step)
    scratch = parameters.scratch()
    order = np.arange(40)
    kernels.learn(order, 0, 40, docs, lazy, steps, *scratch)
    for t in range(40):
        kernels.learn(order, t, t + 1, docs, eager, steps, *scratch)
        for state in (eager.rho, eager.lam):  # pay now, then stop the clock at t + 1
            state[:, OFFSET] = [kernels.offset_at(state, k, t + 1.0, step) for k in range(len(state))]
            state[:, kernels.TIME] = t + 1.0
    for a, b in ((lazy.rho, eager.rho), (lazy.lam, eager.lam)):
        kernels.settle(a, 40.0, step)
        np.testing.assert_allclose(a[:, OFFSET], b[:, OFFSET], rtol=1e-9, atol=1e-12)
    assert not np.allclose(lazy.rho[:, OFFSET], parameters.rho[:, OFFSET])
