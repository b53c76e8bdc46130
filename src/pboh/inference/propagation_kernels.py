"""Kernels of belief propagation: the edges of a document, and one round of messages over them."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import first_at_least, helper


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


@helper
def _places(label, size, labels):  # type: ignore[no-untyped-def]
    """Where each label occurs: (start, mention, state), the mentions of a label ascending."""
    start = np.zeros(labels + 2, np.int64)
    for i in range(len(size)):
        for a in range(size[i]):
            start[label[i, a] + 2] += 1
    for k in range(labels):
        start[k + 1] += start[k]
    places = start[labels] + start[labels + 1]
    mention, state = np.empty(places, np.int64), np.empty(places, np.int64)
    for i in range(len(size)):
        for a in range(size[i]):
            at = start[label[i, a] + 1]
            mention[at], state[at] = i, a
            start[label[i, a] + 1] += 1
    return start, mention, state


@helper
def _visit(i, label, size, start, other, value, where, reach, place, mention, state, count, write, found):  # type: ignore[no-untyped-def]
    """Add to ``count[j]``, j > i, the number of seen label pairs between mentions i and j.

    To ``write``, ``count[j]`` is where the next pair of j goes: state of i, state of j, and value.
    """
    state_left, state_right, seen = found
    nearest = first_at_least(where, i, where.size, where[i] + 1)
    beyond = first_at_least(where, i, where.size, where[i] + reach + 1)
    for a in range(size[i]):
        for k in range(start[label[i, a]], start[label[i, a] + 1]):
            p = place[other[k] + 1] - 1
            while p >= place[other[k]] and mention[p] > i and value[k] > 0:
                j = mention[p]
                if nearest <= j < beyond and (size[i] > 1 or size[j] > 1):
                    if write:
                        state_left[count[j]], state_right[count[j]], seen[count[j]] = a, state[p], value[k]
                    count[j] += 1
                p -= 1


@njit(cache=True, nogil=True)
def find_edges(label, size, start, other, value, where, reach):  # type: ignore[no-untyped-def]
    """Pairs of mentions i < j that share a seen pair of labels, and those pairs, grouped by edge.

    ``where`` ascends; mentions farther apart than ``reach`` have no edge, nor have those at one place.
    Returns (left, right, first, state of left, state of right, value): the pairs of edge k are at
    ``first[k]:first[k + 1]``. Every other edge only ever sends constant messages, which the shift turns
    into zeros; so does an edge between two mentions of one state each.
    """
    n, edges, pairs = len(size), 0, 0
    place, mention, state = _places(label, size, len(start) - 1)
    count = np.empty(n, np.int64)
    for write in range(2):  # count first, so that nothing has to grow
        left, right, first = (
            np.empty(edges, np.int64),
            np.empty(edges, np.int64),
            np.zeros(edges + 1, np.int64),
        )
        found = np.empty(pairs, np.uint8), np.empty(pairs, np.uint8), np.empty(pairs, np.float32)
        edges, pairs = 0, 0
        for i in range(n):
            for j in range(i + 1, n):
                count[j] = 0
            _visit(i, label, size, start, other, value, where, reach, place, mention, state, count, 0, found)
            for j in range(i + 1, n):
                if count[j] > 0:
                    if write:
                        left[edges], right[edges], first[edges + 1] = i, j, pairs + count[j]
                    edges += 1
                count[j], pairs = pairs, pairs + count[j]  # from here on: where the next pair goes
            if write:
                _visit(
                    i, label, size, start, other, value, where, reach, place, mention, state, count, 1, found
                )
    return left, right, first, *found


@njit(cache=True, nogil=True)
def run_rounds(unary, size, edges, summing, rounds, epsilon, record, history):  # type: ignore[no-untyped-def]
    """Run the rounds; beliefs go to ``history``. Returns the number of rounds and whether they converged."""
    n, r = unary.shape
    message = np.full((len(edges[0]), 2, r), 1 if summing else 0, np.float32)
    total = unary.astype(np.float64)
    centred = np.empty((n, r))
    done, change = 0, 0.0 if len(edges[0]) == 0 else np.inf
    _write(total, size, history[0])
    while done < rounds and change > epsilon:
        for i in range(n):
            top = -np.inf
            for a in range(size[i]):
                top = max(top, total[i, a])
            for a in range(r):
                centred[i, a] = total[i, a] - top if a < size[i] else -np.inf
                if summing:
                    centred[i, a] = np.exp(centred[i, a])
                total[i, a] = unary[i, a]
        if summing:
            change = _sum_round(size, edges, centred, message, total)
        else:
            change = _max_round(size, edges, centred, message, total)
        done += 1
        _write(total, size, history[done if record else 0])
    return done, change <= epsilon


@njit(cache=True, nogil=True)
def _max_round(size, edges, centred, message, total):  # type: ignore[no-untyped-def]
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
    r = centred.shape[1]
    h_i, h_j = np.empty(r, np.float32), np.empty(r, np.float32)
    to_i, to_j = np.empty(r, np.float32), np.empty(r, np.float32)
    change_i, change_j = np.float32(0), np.float32(0)
    for edge in range(len(left)):
        i, j = left[edge], right[edge]
        top_i, top_j = np.float32(-np.inf), np.float32(-np.inf)
        for a in range(max(size[i], size[j])):
            x = np.float32(centred[i, a]) - message[edge, 0, a]
            y = np.float32(centred[j, a]) - message[edge, 1, a]
            h_i[a], h_j[a] = x, y
            top_i = x if x > top_i else top_i
            top_j = y if y > top_j else top_j
        to_i[: size[i]] = top_j
        to_j[: size[j]] = top_i
        for k in range(first[edge], first[edge + 1]):
            a, b = state_left[k], state_right[k]
            # conditional moves, not branches: which one wins cannot be predicted
            x, old = h_i[a] + value[k], to_j[b]
            to_j[b] = x if x > old else old
            top_i = x if x > top_i else top_i
            y, old = h_j[b] + value[k], to_i[a]
            to_i[a] = y if y > old else old
            top_j = y if y > top_j else top_j
        for a in range(max(size[i], size[j])):
            old = message[edge, 0, a]
            x = to_i[a] - top_j if a < size[i] else np.float32(0)
            change_i = max(change_i, abs(x - old))
            message[edge, 0, a] = x
            total[i, a] += x
            old = message[edge, 1, a]
            y = to_j[a] - top_i if a < size[j] else np.float32(0)
            change_j = max(change_j, abs(y - old))
            message[edge, 1, a] = y
            total[j, a] += y
    return max(change_i, change_j)


@njit(cache=True, nogil=True, error_model="numpy")
def _sum_round(size, edges, weight, message, total):  # type: ignore[no-untyped-def]
    """m_i→j(e_j) = log Σ_{e_i} exp(h(e_i) + λ(e_i, e_j)), in the same way as the maximum.

    Here ``message`` is exp(m), largest value 1, ``weight`` is exp(ρ + Σ_k m_k) and ``value`` is exp(λ) − 1:
    the sum is Σ_e exp h(e) + Σ over seen e_i of exp h(e_i)·(exp λ − 1), all terms positive, nothing cancels.
    Couplings below 80 keep a message above exp(−80), a normal float. Sums of logarithms are taken as the
    logarithm of a product, whenever it becomes small: one logarithm for many messages.
    """
    left, right, first, state_left, state_right, value = edges
    r = weight.shape[1]
    w_i, w_j, to_i, to_j = np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    inverse = np.empty((2, r))
    product = np.empty(weight.shape)
    product[:] = 1.0
    change = 1.0
    for edge in range(len(left)):
        i, j = left[edge], right[edge]
        sum_i, sum_j = 0.0, 0.0
        for a in range(max(size[i], size[j])):
            x, y = 1.0 / message[edge, 0, a], 1.0 / message[edge, 1, a]
            inverse[0, a], inverse[1, a] = x, y
            w_i[a], w_j[a] = weight[i, a] * x, weight[j, a] * y
            sum_i += weight[i, a] * x
            sum_j += weight[j, a] * y
        to_i[: size[i]] = sum_j
        to_j[: size[j]] = sum_i
        for k in range(first[edge], first[edge + 1]):
            a, b = state_left[k], state_right[k]
            to_j[b] += w_i[a] * value[k]
            to_i[a] += w_j[b] * value[k]
        step = _receive(to_i, i, size[i], message, edge, 0, inverse, product, total)
        change = step if step > change else change
        step = _receive(to_j, j, size[j], message, edge, 1, inverse, product, total)
        change = step if step > change else change
    for i in range(len(size)):
        for a in range(r):
            total[i, a] += np.log(product[i, a])
    return np.log(change)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _receive(sent, i, size, message, edge, side, inverse, product, total):  # type: ignore[no-untyped-def]
    """Replace exp(m) by what was sent relative to its largest; returns the largest quotient to the old."""
    top = sent[0]
    for a in range(1, size):
        top = sent[a] if sent[a] > top else top
    scale, least, most = 1 / top, 1.0, 1.0
    for a in range(size):
        new = sent[a] * scale
        message[edge, side, a] = new
        quotient = new * inverse[side, a]
        least = quotient if quotient < least else least
        most = quotient if quotient > most else most
        product[i, a] *= new
        if product[i, a] < 1e-200:
            total[i, a] += np.log(product[i, a])
            product[i, a] = 1.0
    return max(most, 1 / least)


@njit(cache=True, nogil=True, inline="always")
def _write(total, size, belief):  # type: ignore[no-untyped-def]
    for i in range(len(size)):
        for a in range(size[i]):
            belief[i, a] = total[i, a]
