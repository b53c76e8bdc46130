"""λ of a pair of entities by the Bethe approximation, Eq. (lambda-bethe), smoothed: its one definition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pboh.inference.settings import PAPER, Settings
from pboh.model.store import Model


class Bethe(NamedTuple):
    """What the λ of all pairs share; :func:`pboh.inference.score_kernels.bethe` is the formula.

    λ(e,e′) = log( max(N(e,e′)−δ, 0)·N_ep/(c_e·c_e′) + (1−μ) ), and log(1−μ) for a pair never seen together.
    Only differences to the latter are stored: log(1 + max(N−δ,0)·N_ep/(c_e·c_e′·(1−μ))).
    """

    pairs: float  # N_ep, all pairs of entities that occur together
    backoff: float  # 1−μ
    delta: float  # δ
    self_pair: float  # N(e,e) = self_pair·c_e

    @classmethod
    def of(cls, model: Model, settings: Settings = PAPER) -> Bethe:
        """With 1−μ = δ·D/N_ep, which sums to one; the authors' program has 1 − δ·D/N_ep."""
        totals, s = model.info["totals"], settings
        share = s.delta * totals["distinct_pairs"] / max(totals["pairs"], 1)
        backoff = share if s.backoff == "paper" else 1.0 - share
        return cls(float(totals["pairs"]), float(min(max(backoff, 1e-9), 1.0)), s.delta, s.self_pair)

    @property
    def unseen(self) -> float:
        """λ of a pair never seen together, log(1−μ)."""
        return float(np.log(self.backoff))
