"""Worlds small enough to enumerate: a few names and entities, and documents drawn from a known model."""

from __future__ import annotations

import itertools

import numpy as np
from numba import njit

from pboh.learning.pseudo_likelihood import kernels
from pboh.learning.pseudo_likelihood.kernels import CENTRE, OFFSET, Documents, Names, Parameters
from pboh.learning.pseudo_likelihood.parameters import blank, both_ways


def world(seed=0, entities=6, names=5, most=4, share=0.8, rescaled=False, dtype=np.float64) -> Parameters:
    """Random names and pairs (some of an entity with itself) with normally distributed ρ and λ."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, names)
    sizes[0] = most
    entity = np.concatenate([rng.choice(entities, size, replace=False) for size in sizes]).astype(np.int32)
    table = Names(np.concatenate(([0], np.cumsum(sizes))), entity)
    pairs = [(e, u) for e in range(entities) for u in range(e, entities) if rng.random() < share]
    rows = np.searchsorted([e for e, _ in pairs], np.arange(entities + 1))
    other = np.asarray([u for _, u in pairs], np.int32)
    parameters = blank(table, both_ways(rows, other), len(pairs), rescaled=rescaled, dtype=dtype)
    parameters.rho[:, OFFSET] = rng.normal(size=entity.size)
    parameters.lam[:, OFFSET] = 0.6 * rng.normal(size=len(pairs))
    return parameters


def couplings(parameters: Parameters) -> np.ndarray:
    """λ as a full symmetric table."""
    offsets, other, number = parameters.pairs
    table = np.zeros((parameters.entities, parameters.entities))
    lam = parameters.values()[1]
    for e in range(parameters.entities):
        for k in range(offsets[e], offsets[e + 1]):
            table[e, other[k]] = lam[number[k]]
    return table


def choices(parameters: Parameters, name: int) -> range:
    """ρ parameters of a name."""
    return range(parameters.names.offsets[name], parameters.names.offsets[name + 1])


def joint_score(parameters: Parameters, gold) -> float:
    """Exponent of Eq. (cond-exp-family) of one assignment, given as ρ parameters."""
    rho, table = parameters.values()[0], couplings(parameters)
    entity = parameters.names.entity[list(gold)]
    s = 2 / (len(gold) - 1) if parameters.rescaled and len(gold) > 1 else 1.0
    pairs = sum(table[entity[i], entity[j]] for i, j in itertools.combinations(range(len(gold)), 2))
    return float(rho[list(gold)].sum() + s * pairs)


def _scores(rho, table, parameters: Parameters, worlds: np.ndarray) -> np.ndarray:
    """:func:`joint_score` of many assignments at once."""
    n = worlds.shape[1]
    entity = parameters.names.entity[worlds]
    s = 2 / (n - 1) if parameters.rescaled and n > 1 else 1.0
    pairs = sum(
        (table[entity[:, i], entity[:, j]] for i in range(n) for j in range(i + 1, n)), np.zeros(len(worlds))
    )
    return rho[worlds].sum(1) + s * pairs


def draw(parameters: Parameters, count: int, seed=0, shortest=2, longest=4) -> Documents:
    """Documents with random names and entities drawn from the exact joint distribution p(e|m)."""
    rng = np.random.default_rng(seed)
    size = parameters.names.offsets.size - 1
    name, gold, lengths = [], [], []
    known: dict[tuple[int, ...], tuple[list[tuple[int, ...]], np.ndarray]] = {}
    rho, table = parameters.values()[0], couplings(parameters)
    for _ in range(count):
        drawn = tuple(sorted(rng.integers(0, size, rng.integers(shortest, longest + 1)).tolist()))
        if drawn not in known:
            worlds = list(itertools.product(*(choices(parameters, m) for m in drawn)))
            weights = np.exp(_scores(rho, table, parameters, np.asarray(worlds)))
            known[drawn] = worlds, np.cumsum(weights / weights.sum())
        worlds, cumulative = known[drawn]
        gold += worlds[min(int(np.searchsorted(cumulative, rng.random())), len(worlds) - 1)]
        name += drawn
        lengths.append(len(drawn))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return Documents(offsets, np.asarray(name, np.int32), np.asarray(gold, np.int32))


def conditionals(parameters: Parameters, docs: Documents, d: int) -> list[dict[int, float]]:
    """p(e | m_i, e_−i) of every link by enumerating e_i in the joint model: ρ parameter → probability."""
    links = slice(docs.offsets[d], docs.offsets[d + 1])
    gold, out = docs.gold[links].tolist(), []
    for i, m in enumerate(docs.name[links]):
        scores = {k: joint_score(parameters, [*gold[:i], k, *gold[i + 1 :]]) for k in choices(parameters, m)}
        top = max(scores.values())
        total = sum(np.exp(s - top) for s in scores.values())
        out.append({k: float(np.exp(s - top) / total) for k, s in scores.items()})
    return out


def pseudo_likelihood(parameters: Parameters, docs: Documents) -> float:
    """Eq. (pseudo), by enumeration."""
    return sum(
        np.log(p[k])
        for d in range(docs.offsets.size - 1)
        for p, k in zip(
            conditionals(parameters, docs, d), docs.gold[docs.offsets[d] : docs.offsets[d + 1]], strict=True
        )
    )


@njit
def _gradient(docs, p, out_rho, out_lam, slot, mark):
    """Add the exact gradient over all documents to ``out_rho`` and ``out_lam``; returns Σ log p."""
    total = 0.0
    for d in range(docs.offsets.size - 1):
        seen = kernels.examine(d, docs, p, 0.0, kernels.STILL, slot, mark)
        a = docs.offsets[d]
        for i in range(seen.log_p.size):
            total += seen.log_p[i]
            row = p.names.offsets[docs.name[a + i]]
            for f in range(seen.first[i], seen.first[i + 1]):
                out_rho[row + f - seen.first[i]] += seen.residual[f]
        change_of = kernels.pair_gradient(seen)
        for h in range(change_of.size):
            out_lam[seen.hit_parameter[h]] += change_of[h]
    return total


def full_gradient(
    docs: Documents, parameters: Parameters, penalty: float = 0.0
) -> tuple[float, np.ndarray, np.ndarray]:
    """Objective and its exact gradient over all documents; the parameters must be settled."""
    p = parameters
    out_rho, out_lam = np.zeros(len(p.rho)), np.zeros(len(p.lam))
    total = _gradient(docs, p, out_rho, out_lam, *p.scratch())
    for state, out in ((p.rho, out_rho), (p.lam, out_lam)):
        offset = state[:, OFFSET].astype(np.float64)
        total -= penalty * float(offset @ offset)
        np.subtract(out, 2.0 * penalty * offset, out=out)
    return float(total), out_rho, out_lam


def copied(parameters: Parameters, zero: bool = False) -> Parameters:
    """The same model with arrays of its own; ``zero`` forgets the values."""
    rho, lam = parameters.rho.copy(), parameters.lam.copy()
    if zero:
        rho[:], lam[:] = 0.0, 0.0
    return Parameters(parameters.names, parameters.pairs, rho, lam, parameters.rescaled)


__all__ = ["CENTRE", "OFFSET", "choices", "conditionals", "copied", "couplings", "draw", "full_gradient",
           "joint_score", "pseudo_likelihood", "world"]  # fmt: skip
