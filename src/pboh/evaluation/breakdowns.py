"""Where the answers are good and where not: accuracy by ambiguity, popularity and length, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pboh.evaluation.metrics import Floats, Judgement


@dataclass(frozen=True, slots=True)
class Bin:
    """A group of mentions: its label, how many there are, the share answered right, and a 95 % interval."""

    label: str
    count: int
    accuracy: float
    low: float
    high: float


def _bin(label: str, correct: NDArray[np.bool_]) -> Bin:
    low, high = wilson(int(correct.sum()), len(correct))
    return Bin(label, len(correct), float(correct.mean()) if len(correct) else 0.0, low, high)


def wilson(successes: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval of a share, which stays inside 0 and 1 for few mentions."""
    if not total:
        return 0.0, 1.0
    share, spread = successes / total, z * z / total
    centre = (share + spread / 2) / (1 + spread)
    half = z * np.sqrt(share * (1 - share) / total + spread / (4 * total)) / (1 + spread)
    return float(max(0.0, centre - half)), float(min(1.0, centre + half))


def by_value(values: NDArray[np.int64], correct: NDArray[np.bool_], edges: Sequence[int]) -> list[Bin]:
    """Accuracy of the mentions between one edge and the next; empty groups are left out."""
    group = np.searchsorted(edges, values, side="right") - 1
    labels = [_label(low, high) for low, high in zip(edges, (*edges[1:], None), strict=True)]
    return [_bin(label, correct[group == g]) for g, label in enumerate(labels) if (group == g).any()]


def _label(low: int, high: int | None) -> str:
    if high is None:
        return f"{low:,}+"
    return str(low) if high == low + 1 else f"{low:,}–{high - 1:,}"


def accuracy_charts(
    judgements: Sequence[Judgement], popularity: Sequence[NDArray[np.int64]]
) -> list[tuple[str, str, list[Bin]]]:
    """Where answers are right: title, what the bars are, and the bars of each chart.

    ``popularity`` is how often each gold is linked in the model's corpus.
    """
    candidates, correct = joined(judgements, "candidates"), joined(judgements, "correct")
    lengths = np.concatenate([one.gold[one.document].astype(np.int64) for one in judgements])
    links, links_edges = np.concatenate(popularity), (0, 1, 2, 5, 10, 100, 1000)
    charts = (
        ("by ambiguity", "candidates of the mention", candidates, (0, 1, 2, 3, 5, 10)),
        ("by popularity of the entity", "links to the right entity in the corpus", links, links_edges),
        ("by n", "mentions in the document (n)", lengths, (1, 2, 5, 10, 20, 50, 100)),
    )
    return [(f"Accuracy {by}", bars, by_value(values, correct, edges)) for by, bars, values, edges in charts]


def joined(judgements: Sequence[Judgement], name: str) -> NDArray[Any]:
    """One array of all judgements."""
    return np.concatenate([getattr(judgement, name) for judgement in judgements])


@dataclass(frozen=True, slots=True)
class Calibration:
    """How probable the answers were said to be and how many were right, in ten equal steps.

    ``error`` is the expected calibration error: the mean distance of the two, weighted by mentions. Of
    probabilities that are exactly right it would be ``chance`` on average: the fewer mentions, the larger.
    """

    points: tuple[tuple[float, float, int], ...]  # mean probability, accuracy, mentions
    error: float
    chance: float = 0.0


def calibration(probability: Floats, right: NDArray[np.bool_], steps: int = 10) -> Calibration:
    """Reliability of probabilities, given which answers were right."""
    group = np.minimum((probability * steps).astype(np.int64), steps - 1)
    points, chance = [], 0.0
    for inside in (group == g for g in np.unique(group)):
        p, share = probability[inside], float(right[inside].mean())
        points.append((float(p.mean()), share, int(inside.sum())))
        chance += float(np.sqrt(2 / np.pi * (p * (1 - p)).sum()))  # E|x| of a normal x
    error = sum(abs(p - share) * n for p, share, n in points) / max(1, len(probability))
    return Calibration(tuple(points), error, chance / max(1, len(probability)))


def calibration_of(judgements: Sequence[Judgement]) -> Calibration:
    """Reliability of the probabilities of the answers that were given."""
    answered = joined(judgements, "answered")
    return calibration(joined(judgements, "probability")[answered], joined(judgements, "correct")[answered])


def rounds_histogram(judgements: Sequence[Judgement]) -> dict[int, int]:
    """How many documents took how many rounds, from 1 to the most; without those that needed none."""
    counts = np.bincount(joined(judgements, "rounds").astype(np.int64))
    return dict(enumerate(counts.tolist()[1:], start=1))
