"""Fits the decision on names: which spans are names, and which answers are right, on complete gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pboh.detection.cover_kernels import best_cover
from pboh.detection.decision import NAME, NAMED
from pboh.detection.link import resolve
from pboh.errors import InputError
from pboh.evaluation.breakdowns import calibration
from pboh.evaluation.metrics import Floats, Scores, micro_scores
from pboh.inference.reliability import Reliability
from pboh.learning.complete import Complete
from pboh.text.hashing import Array

if TYPE_CHECKING:
    from pboh.linker import Linker

FOLDS = 5
USED = tuple(dict.fromkeys((*NAME, *NAMED)))
CUTS = (0.2, 0.3, 0.4, 0.5, 0.6)
"""Least probabilities of a name that are tried."""


@dataclass(slots=True)
class NameExample:
    """The possibilities of one text inside its stretches: evidence, whether each is a name, and right."""

    features: dict[str, Array]
    start: Array
    end: Array
    named: NDArray[np.bool_]
    right: NDArray[np.bool_]
    counts: NDArray[np.bool_]  # whether its answer counts
    gold: int  # names with a known entity
    names: int  # all names


def name_example(linker: Linker, gold: Complete) -> NameExample:
    """What the model finds in a text, judged by complete gold."""
    rows = linker.find(gold.text)
    features = resolve(linker.engine.of_found, gold.text, rows).features
    keep = np.flatnonzero(gold.inside(rows.start, rows.end))
    spans = [(int(rows.start[k]), int(rows.end[k])) for k in keep]
    named = [span in gold.names for span in spans]
    entity = features["entity"][keep].tolist() if spans else []
    right = [e in gold.names.get(span, ()) for e, span in zip(entity, spans, strict=True)]
    places = np.asarray(list(gold.names), np.int64).reshape(-1, 2)
    counted = gold.inside(places[:, 0], places[:, 1])
    linked = np.asarray([bool(meant) and span not in gold.unsure for span, meant in gold.names.items()], bool)
    counts = np.asarray([span not in gold.unsure for span in spans], bool)
    features = {name: features[name][keep] if spans else np.zeros(0) for name in USED}
    return NameExample(
        features, rows.start[keep], rows.end[keep], np.asarray(named, bool), np.asarray(right, bool), counts,
        int((counted & linked).sum()), int(counted.sum()),
    )  # fmt: skip


def fit_names(
    pages: Sequence[NameExample], annotated: Sequence[NameExample], groups: Sequence[int], beta: float = 1.0
) -> dict[str, Any]:
    """Both functions with their thresholds, and how good they are on texts left out.

    Annotated texts weigh as much as pages together; examples of one group are left out together.
    """
    size = [sum(e.start.size for e in part) for part in (pages, annotated)]
    times = max(1, round(size[0] / size[1])) if size[1] else 1
    groups = [*groups[: len(pages)], *list(groups[len(pages) :]) * times]
    examples = [*pages, *list(annotated) * times]
    data = _Columns(examples)
    fold = np.repeat(np.asarray(groups) % FOLDS, [e.start.size for e in examples])
    name, answer = np.zeros(fold.size), np.zeros(fold.size)
    for k in range(FOLDS):
        rest, out = fold != k, fold == k
        if out.any() and data.right[rest].any():
            functions = data.fit(rest)
            name[out], answer[out] = (function.probability(data.some(out)) for function in functions)
    link = name * np.where(data.known, answer, 0.0)
    gold = sum(e.gold for e in examples)
    cut, threshold, scores, chosen = _best_cuts(examples, name, link, data, gold, beta)
    by_name, by_answer = data.fit(np.ones(fold.size, bool))
    counted = chosen & data.counts
    answered, known = counted & (link >= threshold), counted & data.known
    names = sum(e.names for e in examples)
    spans = np.asarray([[data.named[chosen].sum(), chosen.sum(), names]], np.float64)
    return {
        "name": replace(by_name, threshold=cut).to_dict(),
        "answer": replace(by_answer, threshold=threshold).to_dict(),
        "threshold": threshold,
        "fitted": {
            "answers": int(answered.sum()),
            "right": int(data.right[answered].sum()),
            "names": names,
            "error": calibration(link[known], data.right[known]).error,
            "at_threshold": asdict(scores),
            "spans": asdict(Scores.of(micro_scores(spans))),
        },
    }


class _Columns:
    """The examples of all texts, one below the other."""

    def __init__(self, examples: Sequence[NameExample]) -> None:
        self.features = {name: np.concatenate([e.features[name] for e in examples]) for name in USED}
        self.named, self.right, self.counts = (
            np.concatenate([getattr(e, side) for e in examples]) for side in ("named", "right", "counts")
        )
        self.known = self.features["known"] > 0
        if not self.right.any() or self.named.all():
            raise InputError(
                "these documents cannot fit a decision on names: all that is found is right or wrong",
                todo="Give more documents, and ones that the model was not trained on",
            )

    def some(self, which: NDArray[np.bool_]) -> dict[str, Array]:
        """The features of some examples."""
        return {name: column[which] for name, column in self.features.items()}

    def fit(self, which: NDArray[np.bool_]) -> tuple[Reliability, Reliability]:
        """How probably something is a name, and its answer right if it is."""
        from pboh.learning.calibration import fitted_function  # noqa: PLC0415

        sure = which & self.named & self.known & self.counts
        by_name = fitted_function(self.some(which), self.named[which], NAME)
        return by_name, fitted_function(self.some(sure), self.right[sure], NAMED)


def _best_cuts(
    examples: Sequence[NameExample], name: Floats, link: Floats, data: _Columns, gold: int, beta: float
) -> tuple[float, float, Scores, NDArray[np.bool_]]:
    """Least probabilities of a name and of an answer with the best F_β, the scores there, what is chosen."""
    from pboh.learning.calibration import best_threshold  # noqa: PLC0415

    best: tuple[float, float, float, Scores, NDArray[np.bool_]] | None = None
    for cut in CUTS:
        chosen = np.concatenate([_cover(e, part - cut) for e, part in _split(examples, name)])
        counted = chosen & data.counts & data.known
        threshold = best_threshold(link[counted], data.right[counted], gold, beta)
        threshold = float(np.floor(1e4 * threshold)) / 1e4
        answered = counted & (link >= threshold)
        counts = np.asarray([[data.right[answered].sum(), answered.sum(), gold]], np.float64)
        scores = Scores.of(micro_scores(counts))
        p, r = scores.precision, scores.recall
        value = (1 + beta**2) * p * r / max(beta**2 * p + r, 1e-9)
        if best is None or value > best[0]:
            best = value, cut, threshold, scores, chosen
    assert best is not None
    return best[1:]


def _split(examples: Sequence[NameExample], values: Floats) -> list[tuple[NameExample, Floats]]:
    bounds = np.cumsum([e.start.size for e in examples])[:-1]
    return list(zip(examples, np.split(values, bounds), strict=True))


def _cover(example: NameExample, worth: Floats) -> NDArray[np.bool_]:
    order = np.lexsort((example.start, example.end))
    chosen = np.zeros(order.size, bool)
    chosen[order] = best_cover(example.start[order], example.end[order], worth[order])
    return chosen
