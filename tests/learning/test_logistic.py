"""Logistic regression finds the maximum, whether the answer is yes or no or a choice."""

import numpy as np

from pboh.learning.logistic import choice, maximise, yes_or_no


def test_yes_or_no_is_a_choice_between_two():
    """1/(1 + exp(−w·x)) is the probability of x chosen against the zero vector."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    right = rng.random(200) < 1 / (1 + np.exp(-x @ [1.0, -0.5, 0.0]))
    rows = np.stack([x, np.zeros_like(x)], axis=1).reshape(-1, 3)
    starts = np.arange(0, 400, 2)
    ridge = np.full(3, 0.1)
    one, curvature = maximise(yes_or_no(x, right), ridge)
    other, again = maximise(choice(rows, starts, starts + ~right), ridge)
    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(curvature, again, rtol=1e-5)


def test_gradient_and_curvature_are_those_of_the_value():
    rng = np.random.default_rng(1)
    x, right, w = rng.normal(size=(50, 2)), rng.random(50) < 0.5, np.asarray([0.3, -0.7])
    for objective in (yes_or_no(x, right), choice(x, np.arange(0, 50, 5), np.arange(2, 50, 5))):
        _, gradient, curvature = objective(w)
        for k, step in enumerate(1e-5 * np.eye(2)):
            up, down = objective(w + step), objective(w - step)
            np.testing.assert_allclose(gradient[k], (up[0] - down[0]) / 2e-5, rtol=1e-5)
            np.testing.assert_allclose(curvature[k], (down[1] - up[1]) / 2e-5, rtol=1e-5)


def test_separated_data_stay_finite_with_a_ridge():
    x = np.asarray([[-1.0], [1.0]])
    w, _ = maximise(yes_or_no(x, np.asarray([False, True])), np.full(1, 1e-3))
    assert np.isfinite(w).all() and w[0] > 1
