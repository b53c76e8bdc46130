"""What was computed for one text, kept as arrays: explanations and pictures are made from it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pboh.inference.belief_propagation import Beliefs
from pboh.inference.entities import Restriction
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.potentials import Pairs, Unary, Windows
from pboh.inference.score_kernels import conditional_scores
from pboh.inference.spans import Span
from pboh.text.hashing import Array


@dataclass(slots=True)
class Solution:
    """Candidates, terms and beliefs of all mentions, one row each.

    ``answer`` is the column of every mention's best candidate, −1 for none, by max-product ``beliefs``;
    ``probability`` is that of the ``marginals`` of sum-product; ``scores`` are the sums of Eq. (c2) given
    the answers of the neighbours, of which ``neighbours`` is the number. Mentions that only listen are
    answered by these scores.
    """

    text: str
    spans: list[Span]
    only: Restriction | None  # what answers were restricted to
    followed: list[bool]  # whether a content word comes right after a mention
    windows: Windows
    unary: Unary
    pairs: Pairs
    beliefs: Beliefs
    marginals: Beliefs
    near: Neighbourhood
    answer: Array = field(init=False)
    scores: Array = field(init=False)
    probability: Array = field(init=False)
    neighbours: Array = field(init=False)
    timings: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.answer, self.probability = self.beliefs.best(), self.marginals.probability()
        label, unary, columns = self.pairs.label, self.unary, np.maximum(self.answer, 0)[:, None]
        chosen = np.where(self.answer >= 0, np.take_along_axis(label, columns, 1)[:, 0], -1)
        pairs = *self.pairs.couplings, self.pairs.unseen
        self.scores, self.neighbours = conditional_scores(
            unary.local, label, unary.size, chosen, *pairs, self.near.where, self.near.reach
        )
        listening = ~self.near.speaks & (unary.size > 0)
        if listening.any():
            heard = self.scores[listening]
            self.answer[listening] = heard.argmax(axis=1)
            weight = np.exp(heard - heard.max(axis=1, keepdims=True))
            self.probability[listening] = weight / weight.sum(axis=1, keepdims=True)
            for beliefs in (self.beliefs, self.marginals):  # they believe what they hear, in every round
                beliefs.belief[listening] = heard
                if beliefs.history is not None:
                    beliefs.history[:, listening] = heard
