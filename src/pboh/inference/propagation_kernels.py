"""Kernels of belief propagation: the edges of a document, and one round of messages over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

from pboh.text.hash_kernels import Array, helper

unchecked: Any = register_jitable(error_model="numpy")
"""Marks a helper in which a division by zero is infinite and no error."""


@njit(cache=True, nogil=True)
def sound(unary, label, size, labels):  # type: ignore[no-untyped-def]
    """Check that every mention with states has a finite best score and only labels in 0..labels−1."""
    for i in range(len(size)):
        top = -np.inf
        for a in range(size[i]):
            if not unary[i, a] < np.inf or label[i, a] < 0 or label[i, a] >= labels:
                return False
            top = unary[i, a] if unary[i, a] > top else top
        if size[i] > 0 and top == -np.inf:
            return False
    return True


def find_edges(
    label: Array, size: Array, start: Array, other: Array, value: Array, where: Array, reach: int
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Pairs of mentions i < j that share a seen pair of labels, and those pairs, grouped by edge.

    ``where`` ascends; mentions farther apart than ``reach`` have no edge, nor have those at one place.
    Returns (left, right, first, state of left, state of right, value): the pairs of edge k are at
    ``first[k]:first[k + 1]``. Every other edge only ever sends constant messages, which the shift turns
    into zeros; so does an edge between two mentions of one state each.
    """
    place, (mention, state) = np.zeros(start.size + 1, np.int64), np.empty((2, int(size.sum())), np.int64)
    given = (
        label,
        size,
        start,
        other,
        value,
        where,
        reach,
        place,
        mention,
        state,
        np.empty(size.size, np.int64),
    )
    edges = pairs = 0
    for write in (False, True):  # count first, so that nothing has to grow
        (left, right), first = np.empty((2, edges), np.int64), np.zeros(edges + 1, np.int64)
        (state_left, state_right), seen = np.empty((2, pairs), np.uint8), np.empty(pairs, np.float32)
        edges, pairs = _find_edges(*given, write, left, right, first, state_left, state_right, seen)
    return left, right, first, state_left, state_right, seen


@njit(cache=True, nogil=True)
def _find_edges(  # type: ignore[no-untyped-def]
    label, size, start, other, value, where, reach, place, mention, state, count, write,
    left, right, first, state_left, state_right, seen,
):  # fmt: skip
    """Count the edges and their pairs, or write them.

    Label k occurs at ``place[k]:place[k + 1]``, its mentions ascending: that is found out while counting.
    ``count[j]`` is the number of pairs that mention i shares with j, then where the next of them goes.
    """
    n, edges, pairs = len(size), 0, 0
    if not write:
        for i in range(n):
            for a in range(size[i]):
                place[label[i, a] + 2] += 1
        for k in range(len(place) - 2):
            place[k + 1] += place[k]
        for i in range(n):
            for a in range(size[i]):
                p = place[label[i, a] + 1]
                mention[p], state[p] = i, a
                place[label[i, a] + 1] = p + 1
    for i in range(n):
        for j in range(i + 1, n):
            count[j] = 0
        for step in range(2 if write else 1):
            for a in range(size[i]):
                for k in range(start[label[i, a]], start[label[i, a] + 1]):
                    p = place[other[k] + 1] - 1
                    while p >= place[other[k]] and mention[p] > i and value[k] > 0:
                        j = mention[p]
                        if 0 < where[j] - where[i] <= reach and (size[i] > 1 or size[j] > 1):
                            at = count[j]
                            if step > 0:
                                state_left[at], state_right[at], seen[at] = a, state[p], value[k]
                            count[j] = at + 1
                        p -= 1
            for j in range(i + 1, n if step == 0 else 0):
                here = count[j]
                if here > 0:
                    if write:
                        left[edges], right[edges], first[edges + 1] = i, j, pairs + here
                    edges += 1
                count[j], pairs = pairs, pairs + here
    return edges, pairs


def run_rounds(
    unary: Array, size: Array, edges: tuple[Array, ...], summing: bool, rounds: int, epsilon: float,
    record: bool, history: Array,
) -> tuple[int, bool]:  # fmt: skip
    """Run the rounds; beliefs go to ``history``. Returns the number of rounds and whether they converged."""
    (n, r), summing = unary.shape, bool(summing)
    message = np.zeros((len(edges[0]), 2, r), np.float32)
    total, centred, product = np.empty((3, n, r))
    message += summing
    total[:], product[:] = unary, 1.0
    scratch = np.empty((4, r), np.float32), np.empty((6, r))
    given = unary, size, edges, summing, rounds, epsilon, record, history
    done, change = _run_rounds(*given, message, total, centred, product, *scratch)
    return done, change <= epsilon


@njit(cache=True, nogil=True)
def _run_rounds(  # type: ignore[no-untyped-def]
    unary, size, edges, summing, rounds, epsilon, record, history, message, total, centred, product,
    small, wide,
):  # fmt: skip
    n, r = unary.shape
    done, change = 0, 0.0 if len(edges[0]) == 0 else np.inf
    while True:
        at = done if record else 0
        for i in range(n):
            for a in range(size[i]):
                history[at, i, a] = total[i, a]
        if not (done < rounds and change > epsilon):
            return done, change
        for i in range(n):
            top = -np.inf
            for a in range(size[i]):
                top = total[i, a] if total[i, a] > top else top
            for a in range(r):
                x = total[i, a] - top if a < size[i] else -np.inf
                centred[i, a] = np.exp(x) if summing else x
                total[i, a] = unary[i, a]
        if summing:
            change = _sum_round(size, edges, centred, message, total, product, wide)
        else:
            change = _max_round(size, edges, centred, message, total, small)
        done += 1


@helper
def _max_round(size, edges, centred, message, total, scratch):  # type: ignore[no-untyped-def]
    """m_i→j(e_j) = max over e_i of h(e_i) + λ(e_i, e_j), with h(e_i) = ρ(e_i) + Σ_{k≠j} m_k→i(e_i).

    Differences to the back-off constant are not negative, hence, up to a constant,
    m(e_j) = max( max_e h(e), max over the e_i seen with e_j of h(e_i) + λ(e_i, e_j) ).
    Its largest value, which the shift moves to 0, is the largest term met on the way. Without the shift the
    constants in the messages grow like (n−2)^t and drown the differences that matter.

    An edge is visited once and both its messages, ``message[edge, 0]`` to its left mention i and
    ``message[edge, 1]`` to j, are replaced in place: each depends only on the other and on last round's sums
    (``centred``), so the update is synchronous with one copy of the messages. Loops run over the states of
    both mentions side by side: two independent maxima keep the processor busy where one would wait.
    """
    left, right, first, state_left, state_right, value = edges
    h_i, h_j, to_i, to_j = scratch[0], scratch[1], scratch[2], scratch[3]
    change_i, change_j = np.float32(0), np.float32(0)
    for edge in range(len(left)):
        i, j = left[edge], right[edge]
        top_i, top_j = np.float32(-np.inf), np.float32(-np.inf)
        most = size[i] if size[i] > size[j] else size[j]
        for a in range(most):
            x = np.float32(centred[i, a]) - message[edge, 0, a]
            y = np.float32(centred[j, a]) - message[edge, 1, a]
            h_i[a], h_j[a] = x, y
            top_i = x if x > top_i else top_i
            top_j = y if y > top_j else top_j
        for a in range(most):
            to_i[a], to_j[a] = top_j, top_i
        for k in range(first[edge], first[edge + 1]):
            a, b = state_left[k], state_right[k]
            # conditional moves, not branches: which one wins cannot be predicted
            x, old = h_i[a] + value[k], to_j[b]
            to_j[b] = x if x > old else old
            top_i = x if x > top_i else top_i
            y, old = h_j[b] + value[k], to_i[a]
            to_i[a] = y if y > old else old
            top_j = y if y > top_j else top_j
        for a in range(most):
            old = message[edge, 0, a]
            x = to_i[a] - top_j if a < size[i] else np.float32(0)
            step = abs(x - old)
            change_i = step if step > change_i else change_i
            message[edge, 0, a] = x
            total[i, a] += x
            old = message[edge, 1, a]
            y = to_j[a] - top_i if a < size[j] else np.float32(0)
            step = abs(y - old)
            change_j = step if step > change_j else change_j
            message[edge, 1, a] = y
            total[j, a] += y
    return change_i if change_i > change_j else change_j


@unchecked
def _sum_round(size, edges, weight, message, total, product, scratch):  # type: ignore[no-untyped-def]
    """m_i→j(e_j) = log Σ_{e_i} exp(h(e_i) + λ(e_i, e_j)), in the same way as the maximum.

    Here ``message`` is exp(m), largest value 1, ``weight`` is exp(ρ + Σ_k m_k) and ``value`` is exp(λ) − 1:
    the sum is Σ_e exp h(e) + Σ over seen e_i of exp h(e_i)·(exp λ − 1), all terms positive, nothing cancels.
    Couplings below 80 keep a message above exp(−80), a normal float. Sums of logarithms are taken as the
    logarithm of a product, whenever it becomes small: one logarithm for many messages.
    """
    left, right, first, state_left, state_right, value = edges
    w_i, w_j, to_i, to_j = scratch[0], scratch[1], scratch[2], scratch[3]
    change = 1.0
    for edge in range(len(left)):
        i, j = left[edge], right[edge]
        most = size[i] if size[i] > size[j] else size[j]
        sum_i, sum_j = 0.0, 0.0
        for a in range(most):
            x, y = 1.0 / message[edge, 0, a], 1.0 / message[edge, 1, a]
            scratch[4, a], scratch[5, a] = x, y
            w_i[a], w_j[a] = weight[i, a] * x, weight[j, a] * y
            sum_i += weight[i, a] * x
            sum_j += weight[j, a] * y
        for a in range(most):
            to_i[a], to_j[a] = sum_j, sum_i
        for k in range(first[edge], first[edge + 1]):
            a, b = state_left[k], state_right[k]
            to_j[b] += w_i[a] * value[k]
            to_i[a] += w_j[b] * value[k]
        for side in range(2):  # replace exp(m) by what was sent relative to its largest
            m = i if side == 0 else j
            top = scratch[2 + side, 0]
            for a in range(1, size[m]):
                top = scratch[2 + side, a] if scratch[2 + side, a] > top else top
            scale, least = 1 / top, 1.0
            for a in range(size[m]):
                new = scratch[2 + side, a] * scale
                message[edge, side, a] = new
                quotient = new * scratch[4 + side, a]  # to the old
                least = quotient if quotient < least else least
                change = quotient if quotient > change else change
                product[m, a] *= new
                if product[m, a] < 1e-200:
                    total[m, a] += np.log(product[m, a])
                    product[m, a] = 1.0
            change = 1 / least if 1 / least > change else change
    for i in range(len(size)):
        for a in range(size[i]):
            total[i, a] += np.log(product[i, a])
            product[i, a] = 1.0
    return np.log(change)
