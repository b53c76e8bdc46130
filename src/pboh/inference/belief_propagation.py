"""Loopy belief propagation over one document: max-product for the best entities, sum-product for marginals.

The module knows nothing of entities or models. Mention i is a variable with ``size[i]`` states, every pair
of mentions is an edge, and all couplings are λ(u, v) of two *labels*; ``label[i, a]`` is the label of state a
of mention i, so a label that is a candidate of many mentions is described once.

Most pairs of labels were never seen together and share one λ, the back-off constant. A constant changes no
message once messages are shifted, so only the differences λ − constant ≥ 0 are stored and visited
(``Couplings``): time and memory follow the pairs that were seen, not n²·r².
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pboh.inference.propagation_kernels import find_edges, run_rounds, sound

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]
Mode = Literal["max", "sum"]

ROUNDS = 15
EPSILON = 1e-5
MOST_STATES = 256  # states are stored in one byte per seen pair
LARGEST_COUPLING = 80.0  # its exponential still fits a float; λ of real pairs stays below 25


class Couplings(NamedTuple):
    """λ(u, v) − λ(unseen) of the label pairs that were seen, as a symmetric sparse matrix by rows.

    Row u is ``other[start[u]:start[u + 1]]`` with the ``value`` of each, already multiplied by 2τ/(n−1).
    Both (u, v) and (v, u) are present; values are finite and not negative.
    """

    start: NDArray[np.int64]
    other: Integers
    value: Floats

    @classmethod
    def dense(cls, table: NDArray[Any], unseen: float | None = None) -> Couplings:
        """Build couplings from a symmetric table of λ; ``unseen`` is its back-off constant (its minimum)."""
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"the table of couplings must be square, not of shape {table.shape}")
        if unseen is None:
            unseen = 0.0 if table.size == 0 else float(table.min())
        wide = np.asarray(table, np.float64)
        row, other = np.nonzero(wide != unseen)
        start = np.searchsorted(row, np.arange(len(table) + 1)).astype(np.int64)
        return cls(start, other.astype(np.int32), (wide[row, other] - unseen).astype(np.float32))

    @classmethod
    def none(cls, labels: int) -> Couplings:
        """No pair of labels was seen."""
        return cls(np.zeros(labels + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))


class Beliefs(NamedTuple):
    """What propagation ends with; ``belief[i, a]`` is −inf where mention i has no state a."""

    belief: Floats
    rounds: int
    converged: bool
    history: Floats | None = None
    """Beliefs before the first round and after each one, (rounds + 1, n, r), when they were recorded."""

    def best(self) -> Integers:
        """Best state of every mention (the lower one of equals), −1 for a mention without states."""
        best: Integers = np.full(len(self.belief), -1, np.int32)
        if self.belief.size:
            some = self.belief.max(axis=1) > -np.inf
            best[some] = self.belief[some].argmax(axis=1)
        return best

    def probability(self) -> NDArray[np.float64]:
        """exp(belief), summing to 1 over each mention's states: its marginals in mode ``sum``."""
        if self.belief.size == 0:
            return np.zeros(self.belief.shape)
        top = self.belief.max(axis=1, keepdims=True)
        weight = np.exp(self.belief.astype(np.float64) - np.where(top == -np.inf, 0, top))
        probability: NDArray[np.float64] = weight / np.maximum(weight.sum(axis=1, keepdims=True), 1e-300)
        return probability


class FactorGraph:
    """A document as a graph: built once, then solved by max-product, sum-product or both.

    ``unary[i, a]`` is the local log-score of state a of mention i, for a < ``size[i]``; the rest is not read.
    A mention known beforehand is clamped by giving it that one state. ``couplings`` may be a plain
    symmetric table of λ, of any sign and without zeros: the same answer, only slower. Mentions farther apart
    than ``reach`` have no edge; ``where`` (ascending) says where each one is.
    """

    def __init__(
        self, unary: Floats, label: Integers, size: Integers, couplings: Couplings | NDArray[Any],
        where: NDArray[np.int64] | None = None, reach: int | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(couplings, Couplings):
            couplings = Couplings.dense(couplings)
        self.unary = np.ascontiguousarray(unary, np.float32)
        self.size = np.ascontiguousarray(size, np.int32)
        label = np.ascontiguousarray(label, np.int32)
        _check(self.unary, label, self.size, couplings)
        self._largest = float(couplings.value.max(initial=0.0))
        if where is None:
            where = np.arange(len(self.size))
        self._edges = find_edges(label, self.size, *couplings, where, len(where) if reach is None else reach)

    def propagate(
        self, mode: Mode = "max", *, rounds: int = ROUNDS, epsilon: float = EPSILON, record: bool = False
    ) -> Beliefs:
        """Pass messages between all mentions until they no longer change (paper, section Inference).

        Messages are synchronous and start at zero; ``record`` keeps the beliefs of every round.
        """
        if mode not in ("max", "sum"):
            raise ValueError(f"mode is 'max' or 'sum', not {mode!r}")
        if rounds < 0:
            raise ValueError(f"rounds must not be negative: {rounds}")
        if mode == "sum" and self._largest > LARGEST_COUPLING:
            raise ValueError(f"couplings must be at most {LARGEST_COUPLING} in mode 'sum': {self._largest}")
        *places, value = self._edges
        edges = (*places, np.expm1(value) if mode == "sum" else value)
        history = np.full((rounds + 1 if record else 1, *self.unary.shape), -np.inf, np.float32)
        done, converged = run_rounds(
            self.unary, self.size, edges, mode == "sum", rounds, epsilon, record, history
        )
        kept = history[: done + 1].copy() if record else history
        return Beliefs(kept[-1], int(done), bool(converged), kept if record else None)


def _check(unary: Floats, label: Integers, size: Integers, couplings: Couplings) -> None:
    if unary.ndim != 2 or label.shape != unary.shape or size.shape != unary.shape[:1]:
        raise ValueError(f"unary {unary.shape}, label {label.shape} and size {size.shape} do not fit")
    if size.size and not 0 <= size.min() <= size.max() <= min(unary.shape[1], MOST_STATES):
        raise ValueError(f"sizes must lie between 0 and {min(unary.shape[1], MOST_STATES)}")
    if not sound(unary, label, size, len(couplings.start) - 1):
        raise ValueError("unary scores must not be NaN or +inf, nor all -inf, and labels must have a row")
    if couplings.value.size:
        least, most = couplings.value.min(), couplings.value.max()
        if not 0 <= least <= most <= np.finfo(np.float32).max:
            raise ValueError(f"couplings must be finite and at least that of an unseen pair: {least}…{most}")
