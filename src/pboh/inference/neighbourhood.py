"""Which mentions of a text influence each other: all of them, or those that are close to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pboh.text.hashing import Array


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Mentions at most ``reach`` places apart are neighbours; those at the same place exclude each other.

    A mention that does not ``speak`` is resolved given the answers of the others, but changes none of them:
    it may not be a mention at all.
    """

    where: Array  # the place of every mention, ascending
    reach: int
    speaks: Array

    @classmethod
    def everyone(cls, size: int) -> Neighbourhood:
        """All mentions are neighbours, as in the paper."""
        return cls(np.arange(size), size, np.ones(size, bool))

    def linked(self, size: Array) -> int:
        """n of 2τ/(n−1): how many mentions with candidates a mention can be a neighbour of, and itself.

        Only one of those at the same place counts, and no more than are within reach.
        """
        return min(int((self.speaks & (size > 0)).sum()), self.reach + 1)

    def of(self, i: int) -> Array:
        """The neighbours of mention i that speak."""
        apart = np.abs(self.where - self.where[i])
        return np.flatnonzero((apart > 0) & (apart <= self.reach) & self.speaks)
