"""How far an answer can be trusted: a monotone function of its evidence, fitted on documents with gold.

The posterior of belief propagation is right about the order of candidates and wrong about itself: it knows
nothing of entities outside its list. So the evidence behind an answer is put on one axis, a weighted sum
z = Σ w·feature, and z is turned into a probability by the logistic function or a rising line of a few knots.
What the answer leaves is shared between the other candidates, in proportion to their marginals, and "not in
the knowledge base". Weights, knots and that share are fitted by :mod:`pboh.learning.calibration` and stored
in ``model.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pboh.inference.solution import Solution
from pboh.model.overlays.opening import LINKS
from pboh.text.hashing import Array

SMALLEST = 1e-4  # probabilities are kept this far from 0 and 1 before their log-odds are taken


EVIDENCE = ("posterior", "prior", "context", "coherence", "popularity", "topic", "agreement", "upper")
"""What is known of an answer to a given mention."""


def log_odds(probability: Array) -> Array:
    """log p/(1−p), with p kept away from 0 and 1."""
    p = np.clip(np.asarray(probability, np.float64), SMALLEST, 1 - SMALLEST)
    return np.log(p) - np.log1p(-p)


def answer_features(solution: Solution, occurrences: Array) -> dict[str, Array]:
    """What speaks for every mention's answer, one number per mention (0 where there is no answer).

    ``posterior`` is the log-odds of its marginal; ``prior`` log p(e|m); ``context`` Σ log p(w|e)/p(w);
    ``coherence`` what pairs with the other answers add beyond unseen ones; ``popularity`` log links to e;
    ``topic`` the weighed cosine with the words around; ``agreement`` the context per word, for a text that is
    about something else says so however short it is; ``upper`` whether the mention begins with a capital.
    """
    unary, n = solution.unary, len(solution.answer)
    at, rows, answered = np.maximum(solution.answer, 0), np.arange(n), solution.answer >= 0
    if not answered.any():
        return {name: np.zeros(n) for name in EVIDENCE}
    others = solution.pairs.unseen * solution.neighbours
    local, heard, context = (column[rows, at] for column in (unary.local, solution.scores, unary.context))
    pairs = np.where(answered, heard, 0) - np.where(answered, local, 0)
    words = np.maximum(solution.windows.lengths, 1)
    columns = {
        "posterior": log_odds(solution.probability[rows, at]),
        "prior": np.log(np.maximum(unary.prior[rows, at], 1e-6)),
        "context": np.clip(context, -50, 100),
        "coherence": np.clip(pairs - others, 0, 20),
        "popularity": np.log1p(links_of(occurrences, unary.entity[rows, at])),
        "topic": unary.topic[rows, at],
        "agreement": np.clip(context / words, -1, 2),
        "upper": np.asarray([solution.text[s.start : s.start + 1].isupper() for s in solution.spans]),
    }
    return {name: np.where(answered, column, 0.0) for name, column in columns.items()}


def links_of(occurrences: Array, entity: Array) -> Array:
    """Links to entities; those of overlays, which have none, count like their names."""
    own = entity < occurrences.size
    return np.where(own, occurrences[np.where(own, entity, 0)], LINKS).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Reliability:
    """A fitted function from features to a probability; without ``knots`` it is the logistic function."""

    weights: Mapping[str, float]
    knots: tuple[tuple[float, float], ...] = ()
    threshold: float = 0.0  # answers below are withheld (the best F1 on the documents it was fitted on)
    others: float = 1.0  # of wrong answers, the share in which another candidate is right
    fitted: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None) -> Reliability | None:
        """What ``model.json`` holds, None for nothing."""
        if not stored:
            return None
        knots = tuple((float(z), float(p)) for z, p in stored.get("knots", ()))
        threshold, others = float(stored.get("threshold", 0.0)), float(stored.get("others", 1.0))
        return cls(dict(stored["weights"]), knots, threshold, others, stored.get("fitted", {}))

    def to_dict(self) -> dict[str, Any]:
        """As it is stored in ``model.json``."""
        knots = [[round(z, 4), round(p, 4)] for z, p in self.knots]
        weights = {name: round(weight, 5) for name, weight in self.weights.items()}
        others = {"others": self.others} if self.others < 1 else {}
        shares = {"threshold": self.threshold, **others}
        return {"weights": weights, "knots": knots, **shares, "fitted": dict(self.fitted)}

    def score(self, features: Mapping[str, Array]) -> Array:
        """z = bias + Σ weight · feature."""
        size = next(iter(features.values())).shape
        total = np.full(size, self.weights.get("bias", 0.0), np.float64)
        for name, weight in self.weights.items():
            if name != "bias":
                total += weight * features[name]
        return total

    def probability(self, features: Mapping[str, Array]) -> Array:
        """The probability of being right, rising with z."""
        z = self.score(features)
        if not self.knots:
            return np.asarray(1 / (1 + np.exp(-z)))
        x, y = np.asarray(self.knots, np.float64).T
        return np.asarray(np.interp(z, x, y))

    def shared_out(self, marginals: Array, answer: Array, right: Array) -> Array:
        """Probability of every candidate when every answer is right with probability ``right``.

        The other candidates share ``others`` of the rest; what is then left of a row is "not in the knowledge
        base". A row without an answer has no candidates and stays empty.
        """
        rows, answered = np.arange(len(answer)), answer >= 0
        shares = np.where(answered[:, None], marginals, 0.0)
        shares[rows[answered], answer[answered]] = 0.0
        total = shares.sum(1)
        rest = np.where(total > 0, self.others * (1 - right), 0.0)
        shares *= (rest / np.where(total > 0, total, 1.0))[:, None]
        shares[rows[answered], answer[answered]] = right[answered]
        return np.asarray(shares)
