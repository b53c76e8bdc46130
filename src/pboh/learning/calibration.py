"""Fits how far answers can be trusted, on documents with gold: weights of the evidence, then a rising line.

Two functions of the kind :class:`pboh.inference.reliability.Reliability` are fitted. ``calibration`` says how
probably the answer of a *given* mention is right, and how often another candidate is where it is wrong; below
its threshold a mention is answered "not in the knowledge base". ``detection`` says how probably a name found
in raw text is worth a link to its answer. Both are stored in ``model.json``, with what they were fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pboh.detection.decision import ANSWER, CONCEPT, MENTION
from pboh.detection.link import resolve
from pboh.errors import InputError
from pboh.evaluation.breakdowns import calibration
from pboh.evaluation.datasets.derived import readings, sentences
from pboh.evaluation.metrics import Floats, Scores, micro_scores
from pboh.files.progress import Report, silent, within
from pboh.inference.entities import EntitySet
from pboh.inference.reliability import EVIDENCE, Reliability, answer_features
from pboh.inference.spans import Span
from pboh.learning.complete import SilverPages, annotated, known_entities
from pboh.learning.incomplete import mention_shares
from pboh.learning.logistic import maximise, yes_or_no
from pboh.learning.names import NameExample, fit_names, name_example
from pboh.text.hashing import Array

if TYPE_CHECKING:
    from pboh.evaluation.datasets.core import Dataset, GoldDocument
    from pboh.inference.solution import Solution
    from pboh.linker import Linker

Shares = Floats | NDArray[np.bool_]
"""What is right: yes or no, or how probably."""
Example = tuple[dict[str, Floats], NDArray[np.bool_]]
Maker = Callable[["Linker", "GoldDocument"], Example]

KNOTS = 12
SENTENCES_PER_PAGE = 8
"""Silver sentences of a page that are also read alone, at most."""
PENALTY = 1e-3
MISSING = 5
"""Percent of the entities that names of the documents mean and that are kept from their candidates."""


# -- the parts: logistic regression, isotonic regression, a threshold -------------------------------


def fit_weights(
    features: Mapping[str, Floats], right: Shares, names: Sequence[str], times: Floats | float = 1.0
) -> dict[str, float]:
    """Logistic regression, with a little ridge on standardised features; row i counts ``times[i]`` times."""
    columns = np.stack([features[name] for name in names], axis=1)
    mean, spread = columns.mean(0), np.maximum(columns.std(0), 1e-9)
    x = np.column_stack([np.ones(len(columns)), (columns - mean) / spread])
    ridge = np.full(x.shape[1], PENALTY * len(x))
    ridge[0] = 1e-9
    w, _ = maximise(yes_or_no(x, right, times), ridge)
    slopes = w[1:] / spread
    return {"bias": float(w[0] - slopes @ mean), **dict(zip(names, slopes.tolist(), strict=True))}


def isotonic(z: Floats, right: Shares) -> tuple[Floats, Floats, Floats]:
    """Pool adjacent violators: the rising steps closest to ``right``, as (z, share, size) of each."""
    order = np.argsort(z, kind="stable")
    steps: list[tuple[float, float, float]] = []  # z, share and size
    for at, hit in zip(z[order].tolist(), right[order].tolist(), strict=True):
        steps.append((at, float(hit), 1.0))
        while len(steps) > 1 and steps[-2][1] >= steps[-1][1]:
            (z1, share1, n1), (z2, share2, n2) = steps[-2:]
            n = n1 + n2
            steps[-2:] = [((z1 * n1 + z2 * n2) / n, (share1 * n1 + share2 * n2) / n, n)]
    centres, shares, sizes = np.asarray(steps).reshape(-1, 3).T
    return centres, shares, sizes


def fit_knots(z: Floats, right: Shares, most: int = KNOTS) -> tuple[tuple[float, float], ...]:
    """A rising line of few knots: isotonic steps, gathered into groups of about equal size.

    Few, because a step of five mentions says little; each group counts one miss and one hit more than it has.
    """
    centres, means, sizes = isotonic(z, right)
    middle = (np.cumsum(sizes) - sizes / 2) / max(sizes.sum(), 1.0)
    group = np.minimum(middle * most, most - 1).astype(np.int64)
    knots: list[tuple[float, float]] = []
    for inside in (group == g for g in np.unique(group)):
        n = sizes[inside].sum()
        share = float(((means * sizes)[inside].sum() + 1) / (n + 2))
        place = float((centres * sizes)[inside].sum() / n)
        knots.append((place, max([share, *(p for _, p in knots)])))
    return tuple(knots)


def best_threshold(probability: Floats, right: Shares, gold: int, beta: float = 1.0) -> float:
    """The smallest probability to answer at for the best F_β, given that ``gold`` mentions want an answer."""
    order = np.argsort(-probability, kind="stable")
    correct, answered = np.cumsum(right[order].astype(np.float64)), np.arange(1, len(order) + 1)
    score = (1 + beta**2) * correct / (answered + beta**2 * gold)
    score[:-1][np.diff(probability[order]) == 0] = 0  # equals are answered together
    return float(probability[order[int(score.argmax())]]) if len(score) else 0.0


# -- examples ---------------------------------------------------------------------------------------


class _Without(EntitySet):
    """All entities but those of a set."""

    def holds(self, entities: Array) -> Array:
        """Which of some entities are not in the set."""
        return ~super().holds(entities)


def answer_examples(linker: Linker, document: GoldDocument, missing: int = 0) -> Example:
    """Evidence for every answer to a given mention, and whether it is right.

    ``elsewhere`` says whether another candidate is right: 1, 0, or −1 where there is no other. Of the
    entities that names (what begins with a capital) mean, ``missing`` percent are unknown: the same ones in
    every document.
    """
    spans = [Span(m.start, m.end) for m in document.linked]
    golds = [known_entities(linker, m.golds) for m in document.linked]
    named = {e for m, gold in zip(document.linked, golds, strict=True) if m.text[:1].isupper() for e in gold}
    unknown = [e for e in named if crc32(linker.model.title(e).encode()) % 100 < missing]
    solution = linker.engine.solve(document.text, spans, _Without(unknown) if unknown else None)
    features = answer_features(solution, linker.model["entity_occurrences"])
    right = _right(solution, golds)
    offered = zip(solution.unary.entity.tolist(), solution.unary.size.tolist(), golds, strict=True)
    among = np.asarray([not gold.isdisjoint(row[:size]) for row, size, gold in offered], bool)
    features["elsewhere"] = np.where(solution.unary.size > 1, (among & ~right).astype(np.float64), -1.0)
    return _some((features, right), solution.answer >= 0)


def share_of_others(examples: Sequence[Example]) -> float:
    """Of the wrong answers to ambiguous mentions, the share in which another candidate is right."""
    wrong = np.concatenate([features["elsewhere"][~right] for features, right in examples])
    ambiguous = wrong[wrong >= 0]
    return round(float((ambiguous.sum() + 1) / (len(ambiguous) + 2)), 4)


def mention_examples(linker: Linker, document: GoldDocument) -> Example:
    """Evidence for every name found, and whether it is a gold link to its answer.

    Wikipedia links a name once: of names that occur again only the first counts, unless a later one is gold.
    """
    text = document.text
    gold = {(m.start, m.end): known_entities(linker, m.golds) for m in document.linked}
    rows = linker.find(text, mentions="all")
    if not len(rows):
        return _joined([], (*CONCEPT, "linked"))
    features = resolve(linker.engine.of_found, text, rows).features
    spans = list(zip(rows.start.tolist(), rows.end.tolist(), strict=True))
    answers = features["entity"].tolist()
    right = np.asarray([e in gold.get(span, ()) for e, span in zip(answers, spans, strict=True)], bool)
    keep = (features["entity"] >= 0) & rows.speaks
    seen: set[str] = set()
    for i, span in enumerate(spans):
        surface = text[slice(*span)]
        keep[i] &= surface not in seen or span in gold
        seen.add(surface)
    features["linked"] = np.asarray([span in gold for span in spans], np.float64)
    return _some(({name: features[name] for name in (*CONCEPT, "linked")}, right), keep)


def _right(solution: Solution, golds: Sequence[set[int]]) -> NDArray[np.bool_]:
    """Whether the answer of every mention is among its golds."""
    answers = np.take_along_axis(solution.unary.entity, np.maximum(solution.answer, 0)[:, None], 1)[:, 0]
    return np.asarray([entity in gold for entity, gold in zip(answers.tolist(), golds, strict=True)], bool)


def _some(example: Example, keep: NDArray[np.bool_]) -> Example:
    features, right = example
    return {name: column[keep] for name, column in features.items()}, right[keep]


def _joined(parts: Sequence[Example], names: Sequence[str]) -> Example:
    if not parts:
        return {name: np.zeros(0) for name in names}, np.zeros(0, bool)
    features = {name: np.concatenate([part[0][name] for part in parts]) for name in names}
    return features, np.concatenate([part[1] for part in parts]).astype(bool)


# -- fitting ----------------------------------------------------------------------------------------


def fit(
    examples: Sequence[Example],
    names: Sequence[str],
    gold: int,
    beta: float = 1.0,
    groups: Sequence[int] | None = None,
    complete: bool = True,
) -> tuple[Reliability, dict[str, Any]]:
    """A function of the features, and how good it is on documents left out (five folds).

    Documents of one group, such as the sentences of a page, are left out together. If the gold is not
    ``complete``, the function says what is worth a link, and its figures are still those of links. A function
    of given mentions is logistic: knots fit the texts they were made from more closely, and others less.
    """
    features, right = _joined(examples, names if complete else (*names, "linked"))
    if not right.any() or right.all():
        raise InputError(
            "these documents cannot calibrate a model: their answers are all right or all wrong",
            todo="Use more documents, ones that the model was not trained on",
        )
    folds = np.asarray(groups if groups is not None else range(len(examples))) % 5
    fold = np.repeat(folds, [len(example[1]) for example in examples])
    knots = 0 if complete else KNOTS
    held_out, truth = _left_out(features, right, fold, names, knots), right.astype(np.float64)
    error = calibration(held_out, right).error
    if not complete:
        truth = _worth_linking(features, right, fold)
        held_out, gold = _left_out(features, truth, fold, names, knots), round(truth.sum())
    threshold = best_threshold(held_out, truth, gold, beta)

    def at(threshold: float) -> dict[str, float]:
        answered = held_out >= threshold
        counts = np.asarray([[truth[answered].sum(), answered.sum(), gold]], np.float64)
        return asdict(Scores.of(micro_scores(counts)))

    figures = {
        "answers": len(right),
        "right": int(right.sum()),
        "error": error,
        "at_threshold": at(threshold),
        "without": at(0.0),
    }
    fitted = fitted_function(features, truth, names, knots)
    return Reliability(fitted.weights, fitted.knots, float(np.floor(1e4 * threshold)) / 1e4), figures


def _worth_linking(
    features: Mapping[str, Floats], right: NDArray[np.bool_], fold: NDArray[np.int64]
) -> Floats:
    """How probably everything found in linked text is a mention with a right answer."""
    linked = features["linked"] > 0
    chance = _left_out(features, linked, fold, MENTION, KNOTS)
    mention = mention_shares(linked, chance, features["link"], features["capital"])
    answer = _left_out(features, right, fold, ANSWER, KNOTS, linked)
    return np.where(linked, right, mention * answer)


def _left_out(
    features: Mapping[str, Floats],
    right: Shares,
    fold: NDArray[np.int64],
    names: Sequence[str],
    knots: int,
    some: NDArray[np.bool_] | None = None,
) -> Floats:
    """The probability of every example, fitted on (some of) the other folds."""
    out = np.full(len(right), right.mean())
    for k in range(5):
        rest, mine = (fold != k) & (True if some is None else some), fold == k
        if rest.any() and 0 < right[rest].mean() < 1:
            function = fitted_function({n: c[rest] for n, c in features.items()}, right[rest], names, knots)
            out[mine] = function.probability({n: c[mine] for n, c in features.items()})
    return out


def fitted_function(
    features: Mapping[str, Floats], right: Shares, names: Sequence[str], knots: int
) -> Reliability:
    """Weights of the features and the knots of a rising line, if any; ``right`` may be shares."""
    weights = fit_weights(features, right, names)
    z = Reliability(weights).score(features)
    return Reliability(weights, fit_knots(z, right, knots) if knots else ())


def calibrate(
    linker: Linker,
    datasets: Sequence[Dataset],
    report: Report = silent,
    complete: Sequence[Dataset] = (),
    as_they_are: bool = False,
) -> dict[str, Any]:
    """Fit ``calibration``, ``detection`` and ``names`` on datasets; returns all with their figures, by name.

    ``datasets`` are texts with links, in which not every name need be linked; in ``complete`` ones every name
    is annotated. A model without a finder has no decision on names. Other texts are less well known than
    pages: those are read in several ways, and some entities are missing, unless taken ``as_they_are``.
    """
    everything = (*datasets, *complete)
    read = datasets if as_they_are else [*chain.from_iterable(map(readings, datasets))]
    pages, more = ([d for dataset in some for d in dataset if d.linked] for some in (read, complete))
    documents = [*pages, *more]
    # a sentence cut from a page shows names that the page linked earlier: no gold for detection
    wholes = [document for document in pages if document.whole is None] or documents
    plain = linker.with_settings(threshold=0.0)
    answers: Maker = partial(answer_examples, missing=0 if as_they_are else MISSING)
    fitted: dict[str, Any] = {}
    # a right answer that is withheld is lost, a wrong one still shows by its probability: F1.5
    tasks: tuple[tuple[str, list[GoldDocument], Maker, tuple[str, ...], float], ...] = (
        ("calibration", documents, answers, EVIDENCE, 1.5),
        ("detection", wholes, mention_examples, CONCEPT, 1.0),
    )
    stages = len(tasks) + (linker.finder is not None)
    for number, (name, given, make, features, beta) in enumerate(tasks):
        examples = []
        for done, document in enumerate(given):
            report(number + done / len(given), stages, name)
            examples.append(make(plain, document))
        gold = sum(len(document.linked) for document in given)
        groups = [crc32(document.origin.encode("utf-8", "replace")) for document in given]
        reliability, figures = fit(examples, features, gold, beta, groups, complete=name == "calibration")
        if name == "calibration":
            reliability = replace(reliability, others=share_of_others(examples))
        on = {"documents": [f"{dataset.name} ({len(dataset)})" for dataset in everything], **figures}
        fitted[name] = reliability.to_dict() | {"fitted": on}
    with nullcontext() if complete else suppress(InputError):  # pages may have too few silver sentences
        if linker.finder is not None:
            whole = [page for page in pages if page.whole is None]
            last = within(report, len(tasks) / stages, 1, "names")
            fitted["names"] = _names(plain, whole, complete, last)
            fitted["names"]["fitted"]["documents"] = [f"{d.name} ({len(d)})" for d in everything]
    report(stages, stages)
    return fitted


def _names(
    linker: Linker, pages: Sequence[GoldDocument], complete: Sequence[Dataset], report: Report
) -> dict[str, Any]:
    """Fit the decision on names on silver sentences of pages and on complete gold, whole and as sentences."""
    silver, annotations = SilverPages(linker), [document for dataset in complete for document in dataset]
    examples: tuple[list[NameExample], list[NameExample]] = [], []
    groups: tuple[list[int], list[int]] = [], []
    for done, document in enumerate((*pages, *annotations)):
        report(done / (len(pages) + len(annotations)))
        ours = done >= len(pages)
        if ours:
            texts = [annotated(linker, one) for one in (document, *sentences(document))]
        else:
            gold = silver.read(document)
            texts = [gold, *gold.alone(SENTENCES_PER_PAGE)]
        examples[ours].extend(name_example(linker, text) for text in texts)
        groups[ours].extend([crc32(document.text.encode("utf-8", "replace"))] * len(texts))
    return fit_names(*examples, [*groups[0], *groups[1]])
