"""Kernels of a linear-chain conditional random field: probabilities of labels and spans, and its training.

A token is labelled Outside, Begin, Inside, Last or Unit (a name of one token). The score of token i with
label y is Σ_f W[f, y] over its features f (0 for Outside), that of two neighbours T[c, y, y′] with the sort c
of the second; p(y₁…yₙ) ∝ exp(Σ scores). Forward and backward sums are probabilities, scaled per token.
"""

from __future__ import annotations

from math import exp

import numpy as np
from numba import int64, njit, uint64

from pboh.text.hash_kernels import Array, helper

OUTSIDE, BEGIN, INSIDE, LAST, UNIT = range(5)
LABELS = 5
_UNIT = 1.0 / (1 << 24)
_FLAT = 1e-4  # slopes that are not worth a step
LOWEST = np.float32(-40)  # of a label's score below the best one's: sums never vanish


@helper
def _follows(y, z):  # type: ignore[no-untyped-def]
    """Whether label z may come after label y."""
    return (z in (INSIDE, LAST)) == (y in (BEGIN, INSIDE))


@helper
def exponentials(transitions, out):  # type: ignore[no-untyped-def]
    """exp T[c, y, y′], 0 for what cannot follow."""
    for c in range(transitions.shape[0]):
        for y in range(LABELS):
            for z in range(LABELS):
                out[c, y, z] = exp(transitions[c, y, z]) if _follows(y, z) else 0.0


@helper
def potentials(features, weights, first, last, psi):  # type: ignore[no-untyped-def]
    """exp of every token's label scores, up to a factor per token."""
    for i in range(first, last):
        s1, s2, s3, s4 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for f in range(features.shape[1]):
            row = features[i, f]
            s1 += weights[row, 0]
            s2 += weights[row, 1]
            s3 += weights[row, 2]
            s4 += weights[row, 3]
        top = max(np.float32(0), s1, s2, s3, s4)
        psi[i - first, OUTSIDE] = np.exp(max(-top, LOWEST))
        psi[i - first, BEGIN] = np.exp(max(s1 - top, LOWEST))
        psi[i - first, INSIDE] = np.exp(max(s2 - top, LOWEST))
        psi[i - first, LAST] = np.exp(max(s3 - top, LOWEST))
        psi[i - first, UNIT] = np.exp(max(s4 - top, LOWEST))


@helper
def forward_backward(n, psi, sort, step, alpha, beta, scale):  # type: ignore[no-untyped-def]
    """Scaled sums α, β with α[i,y]·β[i,y] = p(y_i = y), for a sentence of n tokens; its log partition sum.

    A sentence begins as after Outside and ends as before Outside.
    """
    total = 0.0
    for i in range(n):
        norm = 0.0
        for z in range(LABELS):
            if i == 0:
                value = step[sort[0], OUTSIDE, z]
            else:
                value = 0.0
                for y in range(LABELS):
                    value += alpha[i - 1, y] * step[sort[i], y, z]
            if i == n - 1 and z in (BEGIN, INSIDE):
                value = 0.0
            value *= psi[i, z]
            alpha[i, z] = value
            norm += value
        scale[i] = norm
        total += np.log(norm)
        for z in range(LABELS):
            alpha[i, z] /= norm
    for z in range(LABELS):
        beta[n - 1, z] = 0.0 if z in (BEGIN, INSIDE) else 1.0
    for i in range(n - 2, -1, -1):
        for y in range(LABELS):
            value = 0.0
            for z in range(LABELS):
                value += step[sort[i + 1], y, z] * psi[i + 1, z] * beta[i + 1, z]
            beta[i, y] = value / scale[i + 1]
    return total


@helper
def sentence_spans(n, psi, sort, step, alpha, beta, scale, least, offset, out, probability, used):  # type: ignore[no-untyped-def]
    """Append every span of a sentence of n tokens that is a name with at least probability ``least``.

    p(i…j is a name) = α[i,B] · Π_k T·ψ[k,I]/scale[k] · T·ψ[j,L]/scale[j] · β[j,L].
    """
    for i in range(n):
        unit = alpha[i, UNIT] * beta[i, UNIT]
        if unit >= least and used < out.shape[0]:
            out[used, 0], out[used, 1], probability[used] = offset + i, offset + i + 1, unit
            used += 1
        path, before = alpha[i, BEGIN], BEGIN
        if path * beta[i, BEGIN] < least:
            continue
        for j in range(i + 1, n):
            whole = path * step[sort[j], before, LAST] * psi[j, LAST] / scale[j] * beta[j, LAST]
            if whole >= least and used < out.shape[0]:
                out[used, 0], out[used, 1], probability[used] = offset + i, offset + j + 1, whole
                used += 1
            path *= step[sort[j], before, INSIDE] * psi[j, INSIDE] / scale[j]
            before = INSIDE
            if path * beta[j, INSIDE] < least:
                break
    return used


def find_spans(
    features: Array, sort: Array, sentence: Array, weights: Array, step: Array, least: float,
    out: Array, probability: Array,
) -> int:  # fmt: skip
    """All spans of a text with at least probability ``least``, in order of sentences; returns how many."""
    alpha, beta, psi = np.empty((3, sentence.size, LABELS))
    given = features, sort, sentence, weights, step, least
    return int(_find_spans(*given, alpha, beta, psi, np.empty(sentence.size), out, probability))


@njit(cache=True, nogil=True)
def _find_spans(  # type: ignore[no-untyped-def]
    features, sort, sentence, weights, step, least, alpha, beta, psi, scale, out, probability
):
    n, used, first = sentence.size, int64(0), int64(0)  # not constants, for which helpers would compile twice
    while first < n:
        last = first + 1
        while last < n and sentence[last] == sentence[first]:
            last += 1
        n_here, sorts = last - first, sort[first:]
        potentials(features, weights, first, last, psi)
        forward_backward(n_here, psi, sorts, step, alpha, beta, scale)
        used = sentence_spans(
            n_here, psi, sorts, step, alpha, beta, scale, least, first, out, probability, used
        )
        first = last
    return used


@helper
def _log_likelihood(psi, sort, step, label, total):  # type: ignore[no-untyped-def]
    """log p of the given labels."""
    value, before = -total, OUTSIDE
    for i in range(label.size):
        value += np.log(psi[i, label[i]]) + np.log(step[sort[i], before, label[i]])
        before = label[i]
    return value


@helper
def _keep(features, dropout, state, kept):  # type: ignore[no-untyped-def]
    """Copy feature rows, a share of them replaced by row 0 at random (xorshift); returns the random state."""
    for i in range(features.shape[0]):
        for f in range(features.shape[1]):
            state ^= state << uint64(13)
            state ^= state >> uint64(7)
            state ^= state << uint64(17)
            kept[i, f] = features[i, f] if (state >> uint64(40)) * _UNIT >= dropout else 0
    return state


@helper
def _learn_steps(c, before, gold, expected, transitions, squares, rate):  # type: ignore[no-untyped-def]
    """Follow the slope (is y, y′) − p(y, y′) of the transitions into one token."""
    for y in range(LABELS):
        for z in range(LABELS):
            slope = (1.0 if y == before and z == gold else 0.0) - expected[y, z]
            squares[c, y, z] += slope * slope
            transitions[c, y, z] += rate * slope / np.sqrt(squares[c, y, z] + 1e-6)


@helper
def _learn_token(rows, gold, chance, weights, squares, rate, decay):  # type: ignore[no-untyped-def]
    """Follow the slope (is y) − p(y) for every feature of one token; ``decay`` pulls weights towards 0."""
    for z in range(1, LABELS):
        slope = np.float32((1.0 if z == gold else 0.0) - chance[z])
        if abs(slope) < _FLAT:
            continue
        for row in rows:
            if row > 0:
                slant = slope - decay * weights[row, z - 1]
                squares[row, z - 1] += slant * slant
                weights[row, z - 1] += rate * slant / np.sqrt(squares[row, z - 1] + np.float32(1e-6))


@njit(cache=True, nogil=True)
def train_epoch(  # type: ignore[no-untyped-def]
    features,
    sort,
    label,
    bounds,
    order,
    weights,
    transitions,
    squares,
    stepped,
    rate,
    decay,
    dropout,
    seed,
):
    """One pass of AdaGrad over sentences ``bounds[k]:bounds[k+1]`` in an order; returns the mean log p."""
    longest = 0
    for k in range(bounds.size - 1):
        longest = max(longest, bounds[k + 1] - bounds[k])
    alpha, beta, psi = np.empty((longest, LABELS)), np.empty((longest, LABELS)), np.empty((longest, LABELS))
    scale, step, value = np.empty(longest), np.empty_like(transitions), 0.0
    expected, chance = np.empty((LABELS, LABELS)), np.empty(LABELS)
    kept, state = np.empty((longest, features.shape[1]), np.uint32), uint64(seed)
    for k in order:
        first, last = bounds[k], bounds[k + 1]
        n = last - first
        exponentials(transitions, step)
        state = _keep(features[first:last], dropout, state, kept)
        potentials(kept, weights, 0, n, psi)
        total = forward_backward(n, psi, sort[first:last], step, alpha, beta, scale)
        value += _log_likelihood(psi, sort[first:last], step, label[first:last], total)
        for i in range(n):
            c, gold = sort[first + i], label[first + i]
            before = label[first + i - 1] if i > 0 else OUTSIDE
            for z in range(LABELS):
                chance[z] = alpha[i, z] * beta[i, z]
                for y in range(LABELS):
                    ahead = alpha[i - 1, y] if i > 0 else (1.0 if y == OUTSIDE else 0.0)
                    expected[y, z] = ahead * step[c, y, z] * psi[i, z] / scale[i] * beta[i, z]
            _learn_steps(c, before, gold, expected, transitions, stepped, rate)
            _learn_token(kept[i], gold, chance, weights, squares, rate, decay)
    return value / max(order.size, 1)
