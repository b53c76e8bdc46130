"""Logistic regression by Newton's method: the one fitter behind weights (a choice) and calibration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Objective = Callable[[Array], tuple[float, Array, Array]]
"""Log likelihood at some weights, its gradient, and minus its Hessian."""


def maximise(objective: Objective, ridge: Array, rounds: int = 50) -> tuple[Array, Array]:
    """Weights that maximise objective(w) − ½·Σ ridge·w², and minus the Hessian there.

    Newton's steps are halved until they help; the problem is convex, so they end at the maximum.
    """
    w = np.zeros(ridge.size)
    value, gradient, curvature = objective(w)
    for _ in range(rounds):
        slope = gradient - ridge * w
        step = np.linalg.solve(curvature + np.diag(ridge), slope)
        share = 1.0
        while share > 1e-6:
            tried = w + share * step
            result = objective(tried)
            if result[0] - 0.5 * ridge @ tried**2 >= value - 0.5 * ridge @ w**2:
                break
            share /= 2.0
        else:
            break
        w = tried
        value, gradient, curvature = result
        if share * float(slope @ step) < 1e-9 * max(abs(value), 1.0):
            break
    return w, curvature + np.diag(ridge)


def yes_or_no(x: Array, right: Array, times: Array | float = 1.0) -> Objective:
    """The likelihood of ``right`` (shares, or yes and no) when row i is right with 1/(1 + exp(−w·x_i)).

    Row i counts as if it were there ``times[i]`` times.
    """
    often = np.broadcast_to(np.asarray(times, np.float64), right.shape)

    def at(w: Array) -> tuple[float, Array, Array]:
        z = x @ w
        p = 1 / (1 + np.exp(-np.clip(z, -30, 30)))
        value = float((often * (right * z - np.logaddexp(0, z))).sum())
        return value, x.T @ (often * (right - p)), (x * (often * p * (1 - p))[:, None]).T @ x

    return at


def choice(x: Array, starts: Array, gold: Array) -> Objective:
    """The likelihood of row ``gold[i]`` of x among rows ``starts[i]:starts[i + 1]``, p ∝ exp(w·x)."""
    sizes = np.diff(np.append(starts, len(x)))

    def at(w: Array) -> tuple[float, Array, Array]:
        score = x @ w
        top = np.maximum.reduceat(score, starts)
        weight = np.exp(score - np.repeat(top, sizes))
        total = np.add.reduceat(weight, starts)
        p = weight / np.repeat(total, sizes)
        mean = np.add.reduceat(x * p[:, None], starts)
        value = float((score[gold] - top - np.log(total)).sum())
        return value, (x[gold] - mean).sum(0), (x * p[:, None]).T @ x - mean.T @ mean

    return at
