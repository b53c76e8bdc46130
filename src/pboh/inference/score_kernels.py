"""Kernels of the score, Eq. (c2): λ of pairs, the best local candidates, scores given all other answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


@njit(cache=True, nogil=True)
def conditional_scores(local, label, size, chosen, start, other, value, unseen, where, reach):  # type: ignore[no-untyped-def]
    """Score of every candidate given the answers of its neighbours: local + Σ_j λ(e, e_j*); and their number.

    ``unseen`` is weight·log(1−μ), paid once per neighbour; ``chosen[j]`` is the answer's label or −1.
    Neighbours are up to ``reach`` away, but not at the same place (``where`` ascends).
    """
    times = np.zeros(start.size - 1, np.int64)  # of the labels of the answers within reach
    out = np.empty(local.shape)
    out[:] = -np.inf
    neighbours = np.zeros(chosen.size, np.int64)
    first, last, linked = 0, 0, 0
    for i in range(label.shape[0]):
        while last < chosen.size and where[last] <= where[i] + reach:
            if chosen[last] >= 0:
                times[chosen[last]] += 1
                linked += 1
            last += 1
        while where[first] < where[i] - reach:
            if chosen[first] >= 0:
                times[chosen[first]] -= 1
                linked -= 1
            first += 1
        if i == 0 or where[i] != where[i - 1]:
            here = i  # mentions here:there are at the place of i
            there = i
            while there < chosen.size and where[there] == where[i]:
                there += 1
        for j in range(here, there):
            if chosen[j] >= 0:
                times[chosen[j]] -= 1
                linked -= 1
        neighbours[i] = linked
        for c in range(size[i]):
            u = label[i, c]
            total = local[i, c] + unseen * linked
            for k in range(start[u], start[u + 1]):
                n = times[other[k]]
                if n > 0:
                    total += n * value[k]
            out[i, c] = total
        for j in range(here, there):
            if chosen[j] >= 0:
                times[chosen[j]] += 1
                linked += 1
    return out, neighbours


@njit(cache=True, nogil=True)
def keep_best(
    entity: Array, size: Array, prior: Array, context: Array, topic: Array, zeta: float, keep: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The ``keep`` candidates of every mention with the best local score (ties: better prior first)."""
    n = entity.shape[0]
    kept = np.zeros((n, keep), np.int32)
    kept_size = np.zeros(n, np.int32)
    kept_prior = np.zeros((n, keep), np.float64)
    kept_context = np.zeros((n, keep), np.float64)
    kept_topic = np.zeros((n, keep), np.float64)
    local = np.empty((n, keep))
    local[:] = -np.inf
    for i in range(n):
        for c in range(size[i]):
            score = np.log(prior[i, c]) + zeta * context[i, c] + topic[i, c]
            k = kept_size[i]
            while k > 0 and local[i, k - 1] < score:
                if k < keep:
                    local[i, k] = local[i, k - 1]
                    kept[i, k] = kept[i, k - 1]
                    kept_prior[i, k] = kept_prior[i, k - 1]
                    kept_context[i, k] = kept_context[i, k - 1]
                    kept_topic[i, k] = kept_topic[i, k - 1]
                k -= 1
            if k < keep:
                local[i, k], kept[i, k] = score, entity[i, c]
                kept_prior[i, k], kept_context[i, k], kept_topic[i, k] = (
                    prior[i, c],
                    context[i, c],
                    topic[i, c],
                )
                kept_size[i] = min(kept_size[i] + 1, keep)
        for k in range(kept_size[i], keep):  # padding repeats the best, so that no other entity is looked at
            kept[i, k] = kept[i, 0]
    return kept, kept_size, kept_prior, kept_context, kept_topic, local


@njit(cache=True, nogil=True, inline="always")
def bethe(n, c_e, c_u, shared):  # type: ignore[no-untyped-def]
    """λ(e,u) − λ(unseen) of Eq. (lambda-bethe): log(1 + max(N−δ,0)·N_ep/(c_e·c_u·(1−μ)))."""
    if n <= shared.delta:
        return 0.0
    ratio = (n - shared.delta) * shared.pairs / (c_e * c_u)
    return np.log1p(ratio / shared.backoff)


@njit(cache=True, nogil=True)
def bethe_of_all(n, c_e, c_u, shared):  # type: ignore[no-untyped-def]
    """The same for arrays of pairs."""
    out = np.empty(n.size)
    for k in range(n.size):
        out[k] = bethe(float(n[k]), float(c_e[k]), float(c_u[k]), shared)
    return out


@njit(cache=True, nogil=True)
def pair_couplings(start, other, count, marginal, shared, weight, kin):  # type: ignore[no-untyped-def]
    """weight·(λ(e,e′) − λ(unseen)) of the pairs seen, as rows of a sparse matrix with its diagonal.

    An entity never seen beside another has no p(e) = c_e/N_ep, so its pairs count as unseen. ``kin`` are rows
    (start, other, log 1−μ(e,e′) − log 1−μ) of pairs whose back-off is not the one of strangers:
    λ(e,e′) − λ(unseen) = log( exp(kin) + exp(λ − λ(unseen)) − 1 ), which is kin for a pair never seen.
    """
    u = marginal.size
    kin_start, kin_other, kin_value = kin
    rows = np.zeros(u + 1, np.int64)
    columns = np.empty(other.size + u + kin_other.size, np.int32)
    values = np.empty(columns.size, np.float32)
    used = 0
    for i in range(u):
        c_i = float(marginal[i])
        k, last, h, final = start[i], start[i + 1], kin_start[i], kin_start[i + 1]
        diagonal = True
        while k < last or h < final or diagonal:
            j = other[k] if k < last else u
            if h < final and kin_other[h] < j:
                j = kin_other[h]
            if diagonal and i <= j:
                j = i
            n, c_j = 0.0, float(marginal[j])
            if j == i:
                n, diagonal = shared.self_pair * c_i, False
            elif k < last and other[k] == j:
                n = float(count[k])
                k += 1
            value = bethe(n, c_i, c_j, shared)
            if h < final and kin_other[h] == j:
                value = np.log(np.exp(kin_value[h]) + np.expm1(value))
                h += 1
            if n > shared.delta or value > 0.0:
                columns[used], values[used] = j, weight * value
                used += 1
        rows[i + 1] = used
    return rows, columns[:used], values[:used]
