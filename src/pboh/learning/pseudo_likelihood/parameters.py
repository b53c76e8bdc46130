"""The parameters ρ and λ that are learned, and the three points learning may start from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pboh.errors import InputError
from pboh.learning.pseudo_likelihood.kernels import CENTRE, OFFSET, Array, Documents, Names, Pairs
from pboh.learning.pseudo_likelihood.pairs import Cooccurrence, bethe, both_ways

STARTS = ("zeros", "prior", "bethe")
CENTRES = ("zero", "start")
LONGEST_EPOCH = 1 << 24  # the clock of the lazy penalty counts documents in single precision


@dataclass(slots=True)
class Parameters:
    """ρ over (name, entity) and λ over {entity, entity}; the kernels describe the layout."""

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
    *,
    start: str = "prior",
    centre: str = "zero",
    rescaled: bool = False,
    backoff: float = 1.0,
    tau: float = 1.0,
) -> Parameters:
    """Parameters at ``zeros``, at the ``prior`` (ρ = log p(e|m), λ = 0) or at ``bethe`` (λ = τ·Bethe).

    The penalty pulls towards ``centre``: zero, as in the paper, or the start itself, so that what is seldom
    updated stays what counting says it is.
    """
    if start not in STARTS:
        raise InputError(f"unknown starting point {start!r}", todo=f"Choose one of {', '.join(STARTS)}")
    if centre not in CENTRES:
        raise InputError(f"unknown centre {centre!r}", todo=f"Choose one of {', '.join(CENTRES)}")
    parameters = blank(
        names, both_ways(together.offsets, together.other), together.other.size, rescaled=rescaled
    )
    column = OFFSET if centre == "zero" else CENTRE
    if start != "zeros":
        parameters.rho[:, column] = log_prior(names, counts)
    if start == "bethe":
        parameters.lam[:, column] = tau * bethe(together, backoff)
    return parameters


def check_size(docs: Documents) -> None:
    """Refuse a set of documents the clock of the lazy penalty cannot count."""
    if docs.offsets.size - 1 > LONGEST_EPOCH:
        raise InputError(
            f"an epoch has more than {LONGEST_EPOCH:,} documents", todo="Learn from fewer pages (--pages)"
        )
