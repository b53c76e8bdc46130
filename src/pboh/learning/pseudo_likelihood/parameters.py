"""The parameters ρ and λ that are learned: which there are, and the three points they may start from.

A pair of entities gets a λ when it occurs in enough documents. No table of all pairs is ever made: entities
are taken one after the other and the documents that link one are walked through its later partners. Memory is
the documents, the pairs that are kept, and one tally per entity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pboh.errors import InputError
from pboh.inference.bethe import Bethe
from pboh.inference.score_kernels import bethe_of_all
from pboh.learning.pseudo_likelihood.kernels import (
    CENTRE,
    OFFSET,
    Array,
    Documents,
    Names,
    Pairs,
    Parameters,
    partners,
)

STARTS = ("zeros", "prior", "bethe")
CENTRES = ("zero", "start")


@dataclass(frozen=True, slots=True)
class ParameterOptions:
    """Which parameters there are and where they start; recorded with the result."""

    min_documents: int = 7  # λ for pairs that co-occur in at least this many training documents (the paper's)
    start: str = "prior"  # zeros, prior or bethe
    centre: str = "zero"  # what the penalty pulls to: zero (the paper) or start
    rescaled: bool = False  # λ is multiplied by 2/(n−1), as Eq. (bethe-normalized-params) does
    tau: float = 1.0  # factor of the Bethe λ at the start


class Cooccurrence(NamedTuple):
    """The kept pairs {e, u}, e ≤ u: ``other`` of row e is its partners u, ascending, with ``documents``."""

    offsets: Array
    other: Array
    documents: Array
    marginal: Array  # c_e = Σ over the documents of e of n_d − 1, n_d = distinct entities
    total: int  # N_ep = Σ_d n_d·(n_d − 1)


def cooccurring(docs: Documents, names: Names, entities: int, smallest: int) -> Cooccurrence:
    """Pairs of entities linked together in at least ``smallest`` documents (the paper: 7), counted."""
    count = docs.offsets.size - 1
    document = np.repeat(np.arange(count), np.diff(docs.offsets))
    # distinct entities of every document, ascending, each with its links
    key, times = np.unique(document * entities + names.entity[docs.gold], return_counts=True)
    document, entity = np.divmod(key, entities)
    sizes = np.bincount(document, minlength=count)
    marginal = np.bincount(entity, sizes[document] - 1, entities)
    total = int((sizes * (sizes - 1)).sum())
    often = (np.bincount(entity, minlength=entities) >= smallest)[entity]  # others have no pair
    document, entity, times = document[often], entity[often].astype(np.int32), times[often]
    offsets = np.searchsorted(document, np.arange(count + 1))
    postings = document[np.argsort(entity, kind="stable")].astype(np.int32)
    start = np.concatenate(([0], np.cumsum(np.bincount(entity, minlength=entities))))
    rows, none = np.zeros(entities + 1, np.int64), np.empty(0, np.int32)
    arguments = (offsets, entity, times, start, postings, smallest, rows)
    kept = partners(*arguments, none, none, False)
    other, together = np.empty(kept, np.int32), np.empty(kept, np.int32)
    partners(*arguments, other, together, True)
    return Cooccurrence(rows, other, together, marginal, total)


def both_ways(rows: Array, other: Array) -> Pairs:
    """Full rows from pairs e ≤ u: each pair is found from either entity and leads to the one λ they share."""
    entity = np.repeat(np.arange(rows.size - 1, dtype=np.int32), np.diff(rows))
    number = np.arange(other.size, dtype=np.int32)
    proper = entity != other
    owner = np.concatenate((entity, other[proper]))
    partner = np.concatenate((other, entity[proper])).astype(np.int32)
    order = np.lexsort((partner, owner))
    parameter = np.concatenate((number, number[proper]))[order]
    return Pairs(np.searchsorted(owner[order], np.arange(rows.size)), partner[order], parameter)


def bethe(pairs: Cooccurrence, backoff: float, delta: float = 0.5, self_pair: float = 0.01) -> Array:
    """λ(e,u) − λ(unseen) of the kept pairs, as :class:`pboh.inference.bethe.Bethe` defines it.

    A constant added to all λ changes no conditional, so pairs without a parameter and unseen ones are both 0.
    """
    owner = np.repeat(np.arange(pairs.offsets.size - 1), np.diff(pairs.offsets))
    c_e, c_u = pairs.marginal[owner], pairs.marginal[pairs.other]
    n = np.where(owner == pairs.other, self_pair * c_e, pairs.documents)
    shared = Bethe(float(pairs.total), backoff, delta, self_pair)
    return np.asarray(bethe_of_all(n, c_e, c_u, shared), np.float32)


def blank(
    names: Names, pairs: Pairs, count: int, *, rescaled: bool = False, dtype: type = np.float32
) -> Parameters:
    """All parameters zero, for ``count`` pairs."""
    rho: Array = np.zeros((names.entity.size, 4), dtype)
    lam: Array = np.zeros((count, 4), dtype)
    return Parameters(names, pairs, rho, lam, rescaled)


def log_prior(names: Names, counts: Array) -> Array:
    """log p(e|m) = log c(m,e) / Σ c(m,·); Eq. (rho) up to log p(m), which no conditional sees."""
    sizes = np.diff(names.offsets)
    totals = np.add.reduceat(counts, names.offsets[:-1]) if counts.size else counts
    return np.asarray(np.log(counts / np.repeat(totals, sizes)), np.float32)


def starting_point(
    names: Names,
    counts: Array,
    together: Cooccurrence,
    options: ParameterOptions,
    backoff: float = 1.0,
) -> Parameters:
    """Parameters at ``zeros``, at the ``prior`` (ρ = log p(e|m), λ = 0) or at ``bethe`` (λ = τ·Bethe).

    The penalty pulls towards ``centre``: zero, as in the paper, or the start itself, so that what is seldom
    updated stays what counting says it is.
    """
    start, centre, pairs = options.start, options.centre, both_ways(together.offsets, together.other)
    if start not in STARTS:
        raise InputError(f"unknown starting point {start!r}", todo=f"Choose one of {', '.join(STARTS)}")
    if centre not in CENTRES:
        raise InputError(f"unknown centre {centre!r}", todo=f"Choose one of {', '.join(CENTRES)}")
    parameters = blank(names, pairs, together.other.size, rescaled=options.rescaled)
    column = OFFSET if centre == "zero" else CENTRE
    if start != "zeros":
        parameters.rho[:, column] = log_prior(names, counts)
    if start == "bethe":
        parameters.lam[:, column] = options.tau * bethe(together, backoff)
    return parameters
