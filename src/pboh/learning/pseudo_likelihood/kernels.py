"""Numeric kernels of pseudo-likelihood learning: conditionals of a document, exact gradient, Hogwild steps.

A document is a run of links, link i with its name m_i and its entity e_i (gold). Given all other links,

    p(e | m_i, e_−i) ∝ exp[ ρ(m_i, e) + s·Σ_{j≠i} λ(e, e_j) ],     s = 1, or 2/(n−1) when rescaled,

over the entities e of the name m_i. With the residual r_i(e) = 1[e = e_i] − p(e | m_i, e_−i) the gradient of
the log of the product over i is

    ∂/∂ρ(m, e) = Σ_{i: m_i = m} r_i(e)
    ∂/∂λ{e, u} = s·Σ_i Σ_{j≠i} ( 1[e_j = u]·r_i(e) + 1[e_j = e ≠ u]·r_i(u) ).

Nothing of order n² is ever visited: Λ(e) = Σ_j λ(e, e_j) is summed once per distinct candidate e over the
pairs that have a parameter, and λ(e, e_i) is taken away again for link i itself; so does the gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

Array = np.ndarray[Any, Any]

# Columns of a parameter's row: one row is 16 bytes, so a parameter costs one cache miss.
OFFSET, CENTRE, SQUARES, TIME = 0, 1, 2, 3


class Documents(NamedTuple):
    """Links of all documents in a row; ``gold`` is the number of the link's ρ parameter (name, entity)."""

    offsets: Array
    name: Array
    gold: Array


class Names(NamedTuple):
    """Parameters ρ of name m are ``offsets[m]:offsets[m + 1]``, each with its entity."""

    offsets: Array
    entity: Array


class Pairs(NamedTuple):
    """Row e: the entities that share a λ with e (ascending, e itself possible) and the number of that λ."""

    offsets: Array
    other: Array
    parameter: Array


class Parameters(NamedTuple):
    """ρ over (name, entity) and λ over {entity, entity}, a row of columns for each."""

    names: Names
    pairs: Pairs
    rho: Array
    lam: Array
    rescaled: bool

    @property
    def entities(self) -> int:
        """Size of the scratch memory a kernel needs: one slot per entity."""
        return int(self.pairs.offsets.size - 1)

    def scratch(self) -> tuple[Array, Array]:
        """Scratch memory for one thread."""
        return np.zeros(self.entities, np.int32), np.zeros(self.entities, np.int32)

    def values(self) -> tuple[Array, Array]:
        """ρ and λ themselves, once every penalty is settled."""
        return self.rho[:, CENTRE] + self.rho[:, OFFSET], self.lam[:, CENTRE] + self.lam[:, OFFSET]

    @property
    def bytes(self) -> int:
        """Memory of parameters, look-up structure and optimiser state."""
        return sum(int(a.nbytes) for a in (*self.names, *self.pairs, self.rho, self.lam))


class Step(NamedTuple):
    """How parameters move: ``rate`` η, ``penalty`` 2γ/D per step, AdaGrad or plain."""

    rate: float
    penalty: float
    adaptive: bool


class Steps(NamedTuple):
    """ρ and λ move at rates of their own: a rescaled λ needs larger steps, its feature is 2/(n−1) small."""

    rho: Step
    lam: Step


STILL = Steps(Step(0.0, 0.0, False), Step(0.0, 0.0, False))


class Examined(NamedTuple):
    """Everything known about one document after its conditionals were computed."""

    factor: float
    first: Array  # candidates of link i: first[i]:first[i + 1] (none for names with a single entity)
    residual: Array  # r_i(e)
    candidate: Array  # number of e among the document's distinct candidates
    own: Array  # the hit of λ(e, e_i), −1 without one
    hit_start: Array  # hits of distinct candidate c: pairs {e, u} with a parameter, u linked here
    hit_times: Array  # how often u is linked here
    hit_parameter: Array
    log_p: Array  # log p(e_i | m_i, e_−i)
    best: Array  # most probable ρ parameter of the link


@njit(cache=True, nogil=True)
def adapted(state, k, step):  # type: ignore[no-untyped-def]
    """Learning rate of one parameter: η, or AdaGrad's η/√(1 + Σ g²); the 1 keeps tiny gradients tiny."""
    if step.adaptive:
        return step.rate / np.sqrt(1.0 + state[k, SQUARES])
    return step.rate


@njit(cache=True, nogil=True)
def offset_at(state, k, time, step):  # type: ignore[no-untyped-def]
    """Distance of a parameter from its centre, with the penalty of all steps since it was last changed.

    The penalty's gradient flow θ′ = −(2γ/D)·η_k·θ is integrated in closed form, e^(−2γ·η_k·Δ/D): between two
    changes η_k is constant, so the lazy product equals the one of a penalty applied at every single step.
    """
    offset = state[k, OFFSET]
    passed = time - state[k, TIME]
    if step.penalty > 0.0 and passed > 0.0 and offset != 0.0:
        offset *= np.exp(-step.penalty * adapted(state, k, step) * passed)
    return offset


@njit(cache=True, nogil=True)
def change(state, k, gradient, time, step):  # type: ignore[no-untyped-def]
    """One ascent step of one parameter. Lock-free: another thread may write the same row meanwhile."""
    offset = offset_at(state, k, time, step)
    if step.adaptive:
        state[k, SQUARES] += gradient * gradient
    state[k, OFFSET] = offset + adapted(state, k, step) * gradient
    state[k, TIME] = max(state[k, TIME], time)


@njit(cache=True, nogil=True)
def settle(state, time, step):  # type: ignore[no-untyped-def]
    """End of an epoch: charge every parameter the penalty it still owes and set its clock to zero."""
    for k in range(state.shape[0]):
        state[k, OFFSET] = offset_at(state, k, time, step)
        state[k, TIME] = 0.0


@njit(cache=True, nogil=True)
def _entities(docs, names, a, b, slot):  # type: ignore[no-untyped-def]
    """Distinct entities of a document ascending, how often each is linked, and which one link i has.

    ``slot`` (one zero per entity of the model) gets each entity's number + 1; the caller cleans it.
    """
    linked = np.empty(b - a, np.int64)
    for i in range(a, b):
        linked[i - a] = names.entity[docs.gold[i]]
    distinct = np.sort(linked)
    times = np.zeros(b - a, np.int64)
    size = 0
    for i in range(b - a):
        if i == 0 or distinct[i] != distinct[size - 1]:
            distinct[size] = distinct[i]
            size += 1
            slot[distinct[size - 1]] = size
        times[size - 1] += 1
    for i in range(b - a):
        linked[i] = slot[linked[i]] - 1
    return distinct[:size], times[:size], linked


@njit(cache=True, nogil=True)
def _candidates(docs, names, a, b, mark):  # type: ignore[no-untyped-def]
    """Distinct candidates of all links with a choice, and where link i's are among them.

    ``mark`` (one zero per entity of the model) is scratch memory, left as found.
    """
    first = np.zeros(b - a + 1, np.int64)
    for i in range(a, b):
        size = names.offsets[docs.name[i] + 1] - names.offsets[docs.name[i]]
        first[i - a + 1] = first[i - a] + (size if size > 1 else 0)
    candidate = np.empty(first[-1], np.int64)
    distinct = np.empty(first[-1], np.int64)
    found = 0
    for i in range(a, b):
        row = names.offsets[docs.name[i]]
        for f in range(first[i - a], first[i - a + 1]):
            e = names.entity[row + f - first[i - a]]
            if mark[e] == 0:
                distinct[found] = e
                found += 1
                mark[e] = found
            candidate[f] = mark[e] - 1
    for c in range(found):
        mark[distinct[c]] = 0
    return first, candidate, distinct[:found]


@njit(cache=True, nogil=True)
def _hits(candidates, distinct, slot, pairs):  # type: ignore[no-untyped-def]
    """Pairs {candidate, linked entity} that have a λ: short rows are scanned, long ones searched.

    The linked entities of a candidate's hits are ascending. Cost of a candidate: min(row, linked·log row).
    """
    room = max(256, 4 * candidates.size)
    entity, parameter = np.empty(room, np.int64), np.empty(room, np.int64)
    start = np.zeros(candidates.size + 1, np.int64)
    used = 0
    for c in range(candidates.size):
        low, high = pairs.offsets[candidates[c]], pairs.offsets[candidates[c] + 1]
        if used + distinct.size > room:
            room = 2 * room + distinct.size
            wider_entity, wider_parameter = np.empty(room, np.int64), np.empty(room, np.int64)
            wider_entity[:used], wider_parameter[:used] = entity[:used], parameter[:used]
            entity, parameter = wider_entity, wider_parameter
        if high - low <= 8 * distinct.size:
            for k in range(low, high):
                u = slot[pairs.other[k]]
                if u > 0:
                    entity[used], parameter[used] = u - 1, pairs.parameter[k]
                    used += 1
        else:
            for u in range(distinct.size):
                low += np.searchsorted(pairs.other[low:high], distinct[u])
                if low < high and pairs.other[low] == distinct[u]:
                    entity[used], parameter[used] = u, pairs.parameter[low]
                    used += 1
        start[c + 1] = used
    return start, entity[:used], parameter[:used]


@njit(cache=True, nogil=True)
def examine(d, docs, p, time, steps, slot, mark):  # type: ignore[no-untyped-def]
    """Conditionals of all links of document d given each other, and the residuals the gradient needs."""
    names, rho, lam = p.names, p.rho, p.lam
    a, b = docs.offsets[d], docs.offsets[d + 1]
    factor = 2.0 / (b - a - 1) if p.rescaled and b - a > 1 else 1.0
    distinct, times, linked = _entities(docs, names, a, b, slot)
    first, candidate, candidates = _candidates(docs, names, a, b, mark)
    hit_start, hit_entity, hit_parameter = _hits(candidates, distinct, slot, p.pairs)
    for u in range(distinct.size):
        slot[distinct[u]] = 0
    value = np.empty(hit_entity.size)
    hit_times = times[hit_entity]
    support = np.zeros(candidates.size)  # Λ(e) = Σ_j λ(e, e_j) over all links
    for c in range(candidates.size):
        for h in range(hit_start[c], hit_start[c + 1]):
            value[h] = lam[hit_parameter[h], CENTRE] + offset_at(lam, hit_parameter[h], time, steps.lam)
            support[c] += hit_times[h] * value[h]
    residual = np.empty(candidate.size)
    own = np.full(candidate.size, -1, np.int64)
    log_p, best = np.zeros(b - a), docs.gold[a:b].copy()
    for i in range(b - a):
        row, gold = names.offsets[docs.name[a + i]], docs.gold[a + i]
        for f in range(first[i], first[i + 1]):
            c = candidate[f]
            k = row + f - first[i]
            score = support[c]
            h = hit_start[c] + np.searchsorted(hit_entity[hit_start[c] : hit_start[c + 1]], linked[i])
            if h < hit_start[c + 1] and hit_entity[h] == linked[i]:
                own[f] = h
                score -= value[h]
            residual[f] = rho[k, CENTRE] + offset_at(rho, k, time, steps.rho) + factor * score
        if first[i + 1] > first[i]:
            log_p[i], at = _residuals(residual[first[i] : first[i + 1]], gold - row)
            best[i] = row + at
    return Examined(factor, first, residual, candidate, own, hit_start, hit_times, hit_parameter, log_p, best)


@njit(cache=True, nogil=True)
def _residuals(scores, gold):  # type: ignore[no-untyped-def]
    """Turn scores into 1[e = gold] − softmax in place; returns log p(gold) and the best one."""
    best = np.argmax(scores)
    top, at_gold = scores[best], scores[gold]
    total = 0.0
    for f in range(scores.size):
        scores[f] = np.exp(scores[f] - top)
        total += scores[f]
    for f in range(scores.size):
        scores[f] = -scores[f] / total
    scores[gold] += 1.0
    return at_gold - top - np.log(total), best


@njit(cache=True, nogil=True)
def pair_gradient(seen):  # type: ignore[no-untyped-def]
    """Gradient of every hit {e, u}, e as a candidate: s·( times(u)·Σ_i r_i(e) − Σ_{i: e_i = u} r_i(e) )."""
    total = np.zeros(seen.hit_start.size - 1)
    out = np.zeros(seen.hit_parameter.size)
    for f in range(seen.residual.size):
        total[seen.candidate[f]] += seen.residual[f]
        if seen.own[f] >= 0:
            out[seen.own[f]] -= seen.residual[f]
    for c in range(total.size):
        for h in range(seen.hit_start[c], seen.hit_start[c + 1]):
            out[h] = seen.factor * (out[h] + seen.hit_times[h] * total[c])
    return out


@njit(cache=True, nogil=True)
def learn(order, begin, end, docs, p, steps, slot, mark):  # type: ignore[no-untyped-def]
    """Take one step for each document ``order[begin:end]``; returns Σ log p before it, links right, links.

    The place in ``order`` is the time by which the lazy penalty is charged. With AdaGrad a parameter that
    occurs several times in a document collects the squares of its contributions one by one.
    """
    total, right, links = 0.0, 0, 0
    for position in range(begin, end):
        d = order[position]
        a = docs.offsets[d]
        seen = examine(d, docs, p, float(position), steps, slot, mark)
        for i in range(seen.log_p.size):
            total += seen.log_p[i]
            right += seen.best[i] == docs.gold[a + i]
            row = p.names.offsets[docs.name[a + i]]
            for f in range(seen.first[i], seen.first[i + 1]):
                change(p.rho, row + f - seen.first[i], seen.residual[f], float(position), steps.rho)
        change_of = pair_gradient(seen)
        for h in range(change_of.size):
            change(p.lam, seen.hit_parameter[h], change_of[h], float(position), steps.lam)
        links += seen.log_p.size
    return total, right, links


@njit(cache=True, nogil=True)
def judge(begin, end, docs, p, out_log_p, out_best, slot, mark):  # type: ignore[no-untyped-def]
    """log p(e_i | m_i, e_−i) and the most probable parameter of every link of documents begin…end−1."""
    for d in range(begin, end):
        seen = examine(d, docs, p, 0.0, STILL, slot, mark)
        out_log_p[docs.offsets[d] : docs.offsets[d + 1]] = seen.log_p
        out_best[docs.offsets[d] : docs.offsets[d + 1]] = seen.best


@njit(cache=True, nogil=True)
def partners(offsets, entity, times, start, document, smallest, row, other, count, write):  # type: ignore[no-untyped-def]
    """Partners u ≥ e of every entity e in at least ``smallest`` documents; sizes first, then with ``write``.

    Entities are visited in ascending order and so are those of a document: ``after[d]`` always points to the
    first entity of document d that has not been visited. {e, e} counts documents that link e twice.
    """
    size = start.size - 1
    after = offsets[:-1].copy()
    tally = np.zeros(size, np.int32)
    touched = np.empty(size, np.int32)
    used = 0
    for e in range(size):
        found = 0
        for p in range(start[e], start[e + 1]):
            d = document[p]
            here = after[d]
            after[d] += 1
            for k in range(here if times[here] > 1 else here + 1, offsets[d + 1]):
                u = entity[k]
                if tally[u] == 0:
                    touched[found] = u
                    found += 1
                tally[u] += 1
        if write:
            for u in np.sort(touched[:found]):
                if tally[u] >= smallest:
                    other[used], count[used] = u, tally[u]
                    used += 1
        else:
            for t in range(found):
                used += tally[touched[t]] >= smallest
        for t in range(found):
            tally[touched[t]] = 0
        row[e + 1] = used
    return used
