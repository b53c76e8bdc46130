"""Whether a learned ranking of candidates beats the model's own answers on topics it never saw.

Two rankings read the terms of every candidate after inference: a conditional logit with seven weights, and
gradient-boosted trees over these and ten more. Both learn from pages 1 to 300 in all five readings, except
for one topic of five, and are judged on that topic; learned from all topics, they are judged on the texts
that come with pboh, whose mentions are given. The share of right answers counts, with nothing withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import sample_model, save, shared, table
from pboh.evaluation.datasets import Dataset, GoldDocument, read_dataset
from pboh.evaluation.datasets.derived import readings
from pboh.evaluation.metrics import resamples
from pboh.files.progress import progress
from pboh.inference.reliability import links_of, log_odds
from pboh.inference.spans import Span
from pboh.learning.annotated import annotated_texts
from pboh.learning.complete import known_entities
from pboh.learning.logistic import choice, maximise
from pboh.learning.topics import by_topic
from pboh.linker import Linker, load

PAGES, TOPICS = "0:300", 5
READINGS = ("pages", "later", "sentences", "capitals", "thinned")
FEW = ("marginal", "odds", "prior", "context", "pairs", "topic", "popularity")
RIDGE = 1e-3
Array = NDArray[Any]
Scores = Callable[[Array], Array]


class Mention(NamedTuple):
    """The candidates of one mention, a row of terms for each; which are right, and which the model chose."""

    document: int
    terms: Array
    right: Array
    answer: int


def mentions_of(linker: Linker, documents: Iterable[GoldDocument]) -> list[Mention]:
    """All mentions that an entity of the model is meant by; those without candidates have no rows."""
    found = []
    for number, document in enumerate(documents):
        linked = document.linked
        solution = linker.engine.solve(document.text, [Span(m.start, m.end) for m in linked])
        for i, mention in enumerate(linked):
            if golds := known_entities(linker, mention.golds):
                size = int(solution.unary.size[i])
                entity = solution.unary.entity[i, :size]
                terms = _terms(linker, solution, i, size, mention.text)
                right = np.isin(entity, list(golds))
                found.append(Mention(number, terms, right, int(solution.answer[i])))
    return found


def _terms(linker: Linker, solution: Any, i: int, size: int, name: str) -> Array:
    """A row for every candidate of mention ``i``: :data:`FEW`, then what only the trees read."""
    unary, entity = solution.unary, solution.unary.entity[i, :size]
    marginal = np.log(np.maximum(solution.probability[i, :size], 1e-9))
    prior = np.log(np.maximum(unary.prior[i, :size], 1e-6))
    context, topic = unary.context[i, :size], unary.topic[i, :size]
    heard = np.clip(solution.scores[i, :size] - unary.local[i, :size], -50, 50)
    popularity = np.log1p(links_of(linker.model["entity_occurrences"], entity))
    few = [marginal, log_odds(np.exp(marginal)), prior, context, heard, topic, popularity]
    words = max(int(solution.windows.lengths[i]), 1)
    gaps = [column - column.max(initial=-np.inf) for column in (marginal, prior, context, heard, topic)]
    of_mention = (words, size, len(name.split()), name.isupper(), solution.neighbours[i])
    return np.column_stack([*few, *gaps, *(np.full(size, float(value)) for value in of_mention)])


def logit(mentions: Sequence[Mention]) -> Scores:
    """One weight for each of :data:`FEW`, fitted as a choice between the candidates of a mention."""
    some = [m for m in mentions if m.right.any() and not m.right.all()]
    rows = np.concatenate([m.terms[:, : len(FEW)] for m in some])
    spread = np.maximum(rows.std(0), 1e-9)
    starts = np.cumsum([0, *(len(m.terms) for m in some)])[:-1]
    gold = starts + [int(m.right.argmax()) for m in some]
    weights, _ = maximise(choice(rows / spread, starts, gold), np.full(len(FEW), RIDGE * len(some)))
    return lambda terms: terms[:, : len(FEW)] @ (weights / spread)


def trees(mentions: Sequence[Mention]) -> Scores:
    """Two hundred trees of at most 16 leaves that say whether a candidate is right."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    some = [m for m in mentions if len(m.terms)]
    model = HistGradientBoostingClassifier(
        max_iter=200, max_leaf_nodes=16, learning_rate=0.05, min_samples_leaf=100, random_state=0,
        early_stopping=False,
    )  # fmt: skip
    model.fit(np.concatenate([m.terms for m in some]), np.concatenate([m.right for m in some]))
    scores: Scores = model.decision_function
    return scores


def gains(mentions: Sequence[Mention], scores: Scores) -> tuple[Array, Array, Array]:
    """For each document: mentions that the model answers rightly, those that the ranking does, and all."""
    documents = max((m.document for m in mentions), default=-1) + 1
    counted = np.zeros((3, documents))
    some = [m for m in mentions if len(m.terms)]
    scored = np.split(
        scores(np.concatenate([m.terms for m in some])), np.cumsum([len(m.terms) for m in some])[:-1]
    )
    for mention, score in zip(some, scored, strict=True):
        own = mention.answer >= 0 and mention.right[mention.answer]
        counted[:2, mention.document] += own, mention.right[score.argmax()]
    np.add.at(counted[2], [m.document for m in mentions], 1)
    return counted[0], counted[1], counted[2]


def gained(parts: Sequence[tuple[Array, Array, Array]]) -> dict[str, float]:
    """Points that the ranking gains, with the 95 % interval over documents."""
    own, ranked, size = (np.concatenate(column) for column in zip(*parts, strict=True))
    draws = np.concatenate([100 * (w @ (ranked - own)) / (w @ size) for w in resamples(len(own), 1000)])
    low, high = np.quantile(draws, (0.025, 0.975)).tolist()
    return {
        "model": float(100 * own.sum() / size.sum()),
        "gain": float(100 * (ranked - own).sum() / size.sum()),
        "low": low,
        "high": high,
    }


def measure(linker: Linker, pages: Dataset) -> dict[str, dict[str, dict[str, float]]]:
    """The gain of both rankings on every reading of topics left out, and on annotated texts."""
    topics = by_topic(linker, pages, TOPICS)
    with progress("solving") as report:
        read: list[list[list[Mention]]] = []
        for done, topic in enumerate(topics):
            report(done, len(topics))
            read.append([mentions_of(linker, reading) for reading in readings(topic)])
        texts = {dataset.name: mentions_of(linker, dataset) for dataset in annotated_texts()}
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, learn in (("logit", logit), ("trees", trees)):
        parts: list[list[tuple[Array, Array, Array]]] = [[] for _ in READINGS]
        for left_out, own in enumerate(read):
            others = chain.from_iterable(read[:left_out] + read[left_out + 1 :])
            scores = learn(list(chain.from_iterable(others)))
            for reading, mentions in zip(parts, own, strict=True):
                reading.append(gains(mentions, scores))
        scores = learn(list(chain.from_iterable(chain.from_iterable(read))))
        found[name] = {reading: gained(part) for reading, part in zip(READINGS, parts, strict=True)}
        found[name] |= {text: gained([gains(mentions, scores)]) for text, mentions in texts.items()}
    return found


def main() -> dict[str, Any]:
    """Learn, judge, print and save."""
    folder = shared()
    if folder is None:
        raise SystemExit("the validation pages are not here (set PBOH_SHARED to their folder)")
    linker = load(sample_model())
    found = measure(linker, read_dataset(f"{folder / 'corpus' / 'validation.jsonl.gz'}#{PAGES}"))
    rows = [
        (name, reading, f"{one['model']:.2f}", f"{one['gain']:+.2f} ({one['low']:+.2f} … {one['high']:+.2f})")
        for name, by_reading in found.items()
        for reading, one in by_reading.items()
    ]
    table("Right answers to given mentions", ("ranking", "texts", "model, %", "points gained (95 %)"), rows)
    return save("ranking", found)
