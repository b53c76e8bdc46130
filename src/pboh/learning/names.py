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
SHARE = 1 / 3
"""Weight of annotated texts, of which there are few, beside pages."""
_LEVEL = "page"  # whether an example is of a page
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

    What is linked on a page is more often something rare, so pages teach what speaks for a name and for an
    answer, but how probable both are is learned from annotated texts, and thresholds are chosen on them, if
    there are any. They have a third of the weight. Examples of one group are left out together.
    """
    data = _Columns(pages, annotated)
    if not data.right.any() or data.named.all():
        raise InputError(
            "these documents cannot fit a decision on names: all that is found is right or wrong",
            todo="Give more documents, and ones that the model was not trained on",
        )
    fold = np.repeat(np.asarray(groups) % FOLDS, data.sizes)
    name, answer = np.zeros(fold.size), np.zeros(fold.size)
    for k in range(FOLDS):
        rest, out = fold != k, fold == k
        if out.any() and data.right[rest].any():
            functions = data.fit(rest)
            name[out], answer[out] = (function.probability(data.some(out)) for function in functions)
    by_name, by_answer = data.fit(np.ones(fold.size, bool))
    judge = _Columns(annotated or pages, [])
    judged = slice(fold.size - judge.known.size, None)
    name, link = name[judged], name[judged] * np.where(judge.known, answer[judged], 0.0)
    cut, threshold, scores, chosen = _best_cuts(judge, name, link, beta)
    counted = chosen & judge.counts
    answered, known = counted & (link >= threshold), counted & judge.known
    names = sum(e.names for e in judge.examples)
    spans = np.asarray([[judge.named[chosen].sum(), chosen.sum(), names]], np.float64)
    return {
        "name": replace(by_name, threshold=cut).to_dict(),
        "answer": replace(by_answer, threshold=threshold).to_dict(),
        "threshold": threshold,
        "fitted": {
            "answers": int(answered.sum()),
            "right": int(judge.right[answered].sum()),
            "names": names,
            "error": calibration(link[known], judge.right[known]).error,
            "at_threshold": asdict(scores),
            "spans": asdict(Scores.of(micro_scores(spans))),
        },
    }


class _Columns:
    """The examples of all texts, one below the other: pages, then annotated texts."""

    def __init__(self, pages: Sequence[NameExample], annotated: Sequence[NameExample]) -> None:
        self.examples = [*pages, *annotated]
        self.sizes = [e.start.size for e in self.examples]
        self.features = {name: np.concatenate([e.features[name] for e in self.examples]) for name in USED}
        self.named, self.right, self.counts = (
            np.concatenate([getattr(e, side) for e in self.examples]) for side in ("named", "right", "counts")
        )
        self.known = self.features["known"] > 0
        ours = sum(self.sizes[len(pages) :])
        self._of_page = np.arange(self.known.size) < self.known.size - ours
        share = SHARE / (1 - SHARE) * self._of_page.sum() / max(ours, 1)
        self._times = np.where(self._of_page, 1.0, max(share, 1.0))
        self._level = bool(ours) and self._of_page.any()

    def some(self, which: NDArray[np.bool_]) -> dict[str, Array]:
        """The features of some examples."""
        return {name: column[which] for name, column in self.features.items()}

    def fit(self, which: NDArray[np.bool_]) -> tuple[Reliability, Reliability]:
        """How probably something is a name, and its answer right if it is."""
        sure = which & self.named & self.known & self.counts
        return self._function(which, self.named, NAME), self._function(sure, self.right, NAMED)

    def _function(
        self, which: NDArray[np.bool_], right: NDArray[np.bool_], names: Sequence[str]
    ) -> Reliability:
        """A function of the evidence at the level of annotated texts."""
        from pboh.learning.calibration import fit_weights  # noqa: PLC0415

        features = self.some(which) | {_LEVEL: self._of_page[which].astype(np.float64)}
        weights = fit_weights(features, right[which], (*names, _LEVEL), self._times[which])
        level = weights.pop(_LEVEL)
        if not self._level:
            weights["bias"] += level  # all are pages
        return Reliability(weights)


def _best_cuts(
    data: _Columns, name: Floats, link: Floats, beta: float
) -> tuple[float, float, Scores, NDArray[np.bool_]]:
    """Least probabilities of a name and of an answer with the best F_β, the scores there, what is chosen.

    If probabilities are what they say, F_β is best when everything is answered that is right with at least
    F_β/(1+β²) (Z. Lipton et al., "Optimal thresholding of classifiers to maximize F1 measure", 2014). That is
    steadier than the threshold that happens to be best on these texts.
    """
    from pboh.learning.calibration import best_threshold  # noqa: PLC0415

    gold = sum(e.gold for e in data.examples)
    parts = np.split(name, np.cumsum(data.sizes)[:-1])
    best: tuple[float, float, float, Scores, NDArray[np.bool_]] | None = None
    for cut in CUTS:
        chosen = np.concatenate([_cover(e, p - cut) for e, p in zip(data.examples, parts, strict=True)])
        counted = chosen & data.counts & data.known
        at = best_threshold(link[counted], data.right[counted], gold, beta)
        value, _ = _scores(data, counted & (link >= at), gold, beta)
        threshold = float(np.floor(1e4 * value / (1 + beta**2))) / 1e4
        value, scores = _scores(data, counted & (link >= threshold), gold, beta)
        if best is None or value > best[0]:
            best = value, cut, threshold, scores, chosen
    assert best is not None
    return best[1:]


def _scores(data: _Columns, answered: NDArray[np.bool_], gold: int, beta: float) -> tuple[float, Scores]:
    """F_β and the scores of answers."""
    counts = np.asarray([[data.right[answered].sum(), answered.sum(), gold]], np.float64)
    scores = Scores.of(micro_scores(counts))
    p, r = scores.precision, scores.recall
    return (1 + beta**2) * p * r / max(beta**2 * p + r, 1e-9), scores


def _cover(example: NameExample, worth: Floats) -> NDArray[np.bool_]:
    order = np.lexsort((example.start, example.end))
    chosen = np.zeros(order.size, bool)
    chosen[order] = best_cover(example.start[order], example.end[order], worth[order])
    return chosen
