"""Whether a learned ranking of candidates beats the model's own answers on topics it never saw.

Two rankings read the terms of every candidate after inference: a conditional logit with seven weights, and
gradient-boosted trees over these and ten more. Both learn from pages 1 to 300 in all five readings, except
for one topic of five, and are judged on that topic; learned from all topics, they are judged on the texts
that come with pboh and on the shared test sets. The share of right answers to given mentions counts, with
nothing withheld.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
from pboh.learning.annotated import texts_for
from pboh.learning.complete import known_entities
from pboh.learning.logistic import choice, maximise
from pboh.learning.topics import by_topic
from pboh.linker import Linker, load

PAGES, TOPICS = "0:300", 5
READINGS = ("pages", "later", "sentences", "capitals", "thinned")
SHARED = ("kore50-nif.ttl", "dbpedia-spotlight-nif.ttl", "Reuters-128.ttl", "RSS-500.ttl")
FEW = ("marginal", "odds", "prior", "context", "pairs", "topic", "popularity")
RIDGE = 1e-3
Array = NDArray[Any]
Scores = Callable[[Array], Array]
Learn = Callable[[Sequence["Mention"]], Scores]


class Mention(NamedTuple):
    """The candidates of one mention, a row of terms for each; which are right, and which the model chose."""

    page: int  # parts of one page are resampled together
    terms: Array
    right: Array
    answer: int


def mentions_of(linker: Linker, readings: Sequence[Iterable[GoldDocument]]) -> list[list[Mention]]:
    """All mentions that an entity of the model is meant by; those without candidates have no rows.

    Pages have the same numbers in all readings.
    """
    pages: dict[str, int] = {}
    return [
        [mention for document in reading for mention in _of_document(linker, document, pages)]
        for reading in readings
    ]


def _of_document(linker: Linker, document: GoldDocument, pages: dict[str, int]) -> Iterator[Mention]:
    linked, page = document.linked, pages.setdefault(document.origin, len(pages))
    solution = linker.engine.solve(document.text, [Span(m.start, m.end) for m in linked])
    for i, mention in enumerate(linked):
        if golds := known_entities(linker, mention.golds):
            size = int(solution.unary.size[i])
            right = np.isin(solution.unary.entity[i, :size], list(golds))
            terms = _terms(linker, solution, i, size, mention.text)
            yield Mention(page, terms, right, int(solution.answer[i]))


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

    model = HistGradientBoostingClassifier(
        max_iter=200, max_leaf_nodes=16, learning_rate=0.05, min_samples_leaf=100, random_state=0,
        early_stopping=False,
    )  # fmt: skip
    model.fit(np.concatenate([m.terms for m in mentions]), np.concatenate([m.right for m in mentions]))
    scores: Scores = model.decision_function
    return scores


def counted(mentions: Sequence[Mention], scores: Scores, pages: int) -> Array:
    """Of every page: mentions that the model answers rightly, those that the ranking does, and all."""
    counts = np.zeros((3, pages))
    ends = np.cumsum([len(mention.terms) for mention in mentions])
    scored = np.split(scores(np.concatenate([mention.terms for mention in mentions])), ends[:-1])
    for mention, score in zip(mentions, scored, strict=True):
        own = mention.answer >= 0 and mention.right[mention.answer]
        ranked = score.size > 0 and mention.right[score.argmax()]
        counts[:, mention.page] += own, ranked, 1
    return counts


def gained(counts: Sequence[Array]) -> dict[str, float]:
    """Points that the ranking gains, the mean of some readings of the same pages, with the 95 % interval."""

    def of(times: Array) -> tuple[Array, Array]:
        own, ranked, size = np.moveaxis(np.stack([times @ reading.T for reading in counts]), -1, 0)
        return (100 * own / size).mean(0), (100 * (ranked - own) / size).mean(0)

    pages = counts[0].shape[1]
    low, high = np.quantile(
        np.concatenate([of(times)[1] for times in resamples(pages, 1000)]), (0.025, 0.975)
    ).tolist()
    model, gain = (float(part) for part in of(np.ones(pages)))
    return {"model": model, "gain": gain, "low": low, "high": high}


def judged(topics: Sequence[Sequence[list[Mention]]], texts: dict[str, list[Mention]], learn: Learn) -> Any:
    """What a ranking gains on every reading of topics left out, on their mean, and on annotated texts."""
    parts: list[list[Array]] = []
    for left_out, own in enumerate(topics):
        others = chain.from_iterable([*topics[:left_out], *topics[left_out + 1 :]])
        scores = learn(list(chain.from_iterable(others)))
        parts.append([counted(mentions, scores, _pages(own)) for mentions in own])
    counts = [np.concatenate(reading, axis=1) for reading in zip(*parts, strict=True)]
    found = {name: gained([reading]) for name, reading in zip(READINGS, counts, strict=True)}
    found["mean of the readings"] = gained(counts)
    found["worst topic"] = min((gained(part) for part in parts), key=lambda one: one["gain"])
    scores = learn(list(chain.from_iterable(chain.from_iterable(topics))))
    return found | {
        name: gained([counted(mentions, scores, _pages([mentions]))]) for name, mentions in texts.items()
    }


def _pages(readings: Iterable[list[Mention]]) -> int:
    return 1 + max(mention.page for mentions in readings for mention in mentions)


def measure(
    linker: Linker, pages: Dataset, elsewhere: Iterable[Dataset] = ()
) -> dict[str, dict[str, dict[str, float]]]:
    """The gain of both rankings, wherever it is judged."""
    topics = by_topic(linker, pages, TOPICS)
    with progress("solving") as report:
        read = []
        for done, topic in enumerate(topics):
            report(done, len(topics))
            read.append(mentions_of(linker, readings(topic)))
    texts = {dataset.name: mentions_of(linker, [dataset])[0] for dataset in (*texts_for(linker), *elsewhere)}
    return {name: judged(read, texts, learn) for name, learn in (("logit", logit), ("trees", trees))}


def main() -> dict[str, Any]:
    """Learn, judge, print and save."""
    folder = shared()
    if folder is None:
        raise SystemExit("the validation pages are not here (set PBOH_SHARED to their folder)")
    linker = load(sample_model())
    elsewhere = [read_dataset(folder / "benchmarks" / name) for name in SHARED]
    found = measure(linker, read_dataset(f"{folder / 'corpus' / 'validation.jsonl.gz'}#{PAGES}"), elsewhere)
    rows = [
        (name, reading, f"{one['model']:.2f}", f"{one['gain']:+.2f} ({one['low']:+.2f} … {one['high']:+.2f})")
        for name, by_reading in found.items()
        for reading, one in by_reading.items()
    ]
    table("Right answers to given mentions", ("ranking", "texts", "model, %", "points gained (95 %)"), rows)
    return save("ranking", found)
