"""Kernels of the score, Eq. (c2): λ of pairs, the best local candidates, scores given all other answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]


def conditional_scores(
    local: Array, label: Array, size: Array, chosen: Array, start: Array, other: Array, value: Array,
    unseen: float, where: Array, reach: int,
) -> tuple[Array, Array]:  # fmt: skip
    """Score of every candidate given the answers of its neighbours: local + Σ_j λ(e, e_j*); and their number.

    ``unseen`` is weight·log(1−μ), paid once per neighbour; ``chosen[j]`` is the answer's label or −1.
    Neighbours are up to ``reach`` away, but not at the same place (``where`` ascends).
    """
    times = np.zeros(start.size - 1, np.int64)  # of the labels of the answers within reach
    out, neighbours = np.empty(local.shape), np.zeros(chosen.size, np.int64)
    out.fill(-np.inf)
    pairs = start, other, value
    _conditional_scores(local, label, size, chosen, *pairs, unseen, where, reach, times, out, neighbours)
    return out, neighbours


@njit(cache=True, nogil=True)
def _conditional_scores(  # type: ignore[no-untyped-def]
    local, label, size, chosen, start, other, value, unseen, where, reach, times, out, neighbours
):
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


def keep_best(
    entity: Array, size: Array, prior: Array, context: Array, topic: Array, zeta: float, keep: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The ``keep`` candidates of every mention with the best local score (ties: better prior first)."""
    n = len(entity)
    kept, kept_size, terms = np.zeros((n, keep), np.int32), np.zeros(n, np.int32), np.zeros((4, n, keep))
    terms[3].fill(-np.inf)  # local
    _keep_best(entity, size, prior, context, topic, zeta, kept, kept_size, *terms)
    return kept, kept_size, *terms


@njit(cache=True, nogil=True)
def _keep_best(  # type: ignore[no-untyped-def]
    entity, size, prior, context, topic, zeta, kept, kept_size, kept_prior, kept_context, kept_topic, local
):
    keep = kept.shape[1]
    for i in range(len(entity)):
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
                kept_size[i] += kept_size[i] < keep
        for k in range(kept_size[i], keep):  # padding repeats the best, so that no other entity is looked at
            kept[i, k] = kept[i, 0]


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


def pair_couplings(
    start: Array, other: Array, count: Array, marginal: Array, shared: Any, weight: float,
    kin: tuple[Array, Array, Array],
) -> tuple[Array, Array, Array]:  # fmt: skip
    """weight·(λ(e,e′) − λ(unseen)) of the pairs seen, as rows of a sparse matrix with its diagonal.

    An entity never seen beside another has no p(e) = c_e/N_ep, so its pairs count as unseen. ``kin`` are rows
    (start, other, log 1−μ(e,e′) − log 1−μ) of pairs whose back-off is not the one of strangers:
    λ(e,e′) − λ(unseen) = log( exp(kin) + exp(λ − λ(unseen)) − 1 ), which is kin for a pair never seen.
    """
    rows, most = np.zeros(marginal.size + 1, np.int64), other.size + marginal.size + kin[1].size
    columns, values = np.empty(most, np.int32), np.empty(most, np.float32)
    used = _pair_couplings(start, other, count, marginal, shared, weight, *kin, rows, columns, values)
    return rows, columns[:used], values[:used]


@njit(cache=True, nogil=True)
def _pair_couplings(  # type: ignore[no-untyped-def]
    start, other, count, marginal, shared, weight, kin_start, kin_other, kin_value, rows, columns, values
):
    u, used = marginal.size, 0
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
    return used
