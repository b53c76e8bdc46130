"""Precision, recall and F1 of answers against gold mentions, with intervals and tests over documents.

The rules are those of GERBIL's D2KB task and of the paper's section "Evaluation metrics":
P = |M ∩ M*| / |M|, R = |M ∩ M*| / |M*|, F1 = 2PR / (P + R).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention

Floats = NDArray[np.float64]
Resolve = Callable[[str], str | None]
"""The title an entity is known under (redirects followed), or None for an unknown one."""

LARGEST = 2_000_000
"""Numbers in a block of resamples: small enough to stay in memory."""

POLICY = (
    "NIL golds are dropped before the evaluation; the system is not shown these mentions.",
    "A mention without an answer is not annotated: it costs recall, not precision.",
    "Redirects known to the model are resolved on gold and answer before they are compared.",
    "micro counts mentions; macro averages precision and recall over documents with a gold mention and takes "
    "their harmonic mean (the authors' way); macro_gerbil is the mean of the documents' own F1, where a "
    "document without gold and without answer counts 1 (GERBIL's way).",
    "Means over documents (mentions, entities, milliseconds, convergence) leave out documents without gold; "
    "milliseconds are end to end: look-up, context, pairs, propagation.",
)


def policy_of(datasets: Iterable[Dataset]) -> list[str]:
    """The rules of the evaluation and of reading its datasets, each once."""
    return list(dict.fromkeys([*POLICY, *(line for dataset in datasets for line in dataset.policy)]))


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system said about one mention: an entity or None, out of which candidates, how surely."""

    entity: str | None = None
    candidates: tuple[str, ...] = ()
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class AnsweredDocument:
    """The answers for the non-NIL mentions of a document, in their order, and how the inference went."""

    answers: tuple[Answer, ...]
    rounds: int = 0
    converged: bool = True
    milliseconds: float = 0.0
    timings: dict[str, float] = field(default_factory=dict)


def percent(share: float) -> str:
    """A share as the paper prints it: 86.72."""
    return f"{100 * share:.2f}"


@dataclass(frozen=True, slots=True)
class Scores:
    """Precision, recall and F1, each between 0 and 1."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, scores: Floats) -> Scores:
        """From an array of the three."""
        return cls(*scores.tolist())

    def percents(self) -> list[str]:
        """The three as the paper prints them: 86.72."""
        return [percent(share) for share in (self.precision, self.recall, self.f1)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Every answer of a system on a dataset, judged: arrays over mentions and over documents."""

    dataset: str
    system: str
    # over mentions
    document: NDArray[np.int64]
    answered: NDArray[np.bool_]
    correct: NDArray[np.bool_]
    known: NDArray[np.bool_]  # the gold is an entity of the model
    candidate: NDArray[np.bool_]  # the gold is among the candidates
    candidates: NDArray[np.int64]
    probability: Floats
    # over documents
    gold: Floats  # |M*|
    rounds: Floats
    converged: NDArray[np.bool_]
    milliseconds: Floats
    entities: Floats  # distinct candidate entities
    timings: dict[str, float]  # mean milliseconds by stage

    @property
    def counts(self) -> Floats:
        """Correct, answered and gold mentions of each document, as an array (documents, 3)."""
        documents = len(self.gold)
        flags = (np.bincount(self.document, one, documents) for one in (self.correct, self.answered))
        return np.stack([*flags, self.gold], axis=1)


def judge(
    dataset: Dataset, answers: Sequence[AnsweredDocument], resolve: Resolve = str, system: str = "pboh"
) -> Judgement:
    """Compare answers with golds, both under the title that ``resolve`` gives them."""
    if len(answers) != len(dataset):
        raise InputError(f"{len(answers)} answered documents for {len(dataset)} of {dataset.name}")
    pairs = [
        (number, mention, answer)
        for number, (document, answered) in enumerate(zip(dataset, answers, strict=True))
        for mention, answer in zip(document.linked, _checked(document, answered).answers, strict=True)
    ]
    judged = [_judged(mention, answer, resolve) for _, mention, answer in pairs]
    flags = np.array(judged, np.bool_).reshape(-1, 4)
    asked = [answered for answered in answers if answered.answers]
    stages = sorted({stage for answered in asked for stage in answered.timings})
    return Judgement(
        dataset=dataset.name,
        system=system,
        document=np.array([number for number, _, _ in pairs], np.int64),
        answered=flags[:, 0],
        correct=flags[:, 1],
        known=flags[:, 2],
        candidate=flags[:, 3],
        candidates=np.array([len(answer.candidates) for _, _, answer in pairs], np.int64),
        probability=np.array([answer.probability for _, _, answer in pairs], np.float64),
        gold=np.array([len(document.linked) for document in dataset], np.float64),
        rounds=np.array([answered.rounds for answered in answers], np.float64),
        converged=np.array([answered.converged for answered in answers], np.bool_),
        milliseconds=np.array([answered.milliseconds for answered in answers], np.float64),
        entities=np.array([len({c for a in d.answers for c in a.candidates}) for d in answers], np.float64),
        timings={s: 1e3 * float(np.mean([a.timings.get(s, 0.0) for a in asked])) for s in stages},
    )


def _checked(document: GoldDocument, answered: AnsweredDocument) -> AnsweredDocument:
    """The answers, if there is one for every mention."""
    given, wanted = len(answered.answers), len(document.linked)
    if given != wanted:
        raise InputError(f"{given} answers were given for {wanted} mentions", where=document.id)
    return answered


def _judged(mention: GoldMention, answer: Answer, resolve: Resolve) -> tuple[bool, bool, bool, bool]:
    """Answered, correct, gold known, gold among the candidates."""
    known = any(resolve(title) is not None for title in mention.golds)
    correct = is_right([answer.entity], mention, resolve)
    among = correct or is_right(answer.candidates, mention, resolve)
    return answer.entity is not None, correct, known, among


def is_right(titles: Iterable[str | None], mention: GoldMention, resolve: Resolve) -> bool:
    """Whether one of some titles means one of the golds, all under the titles that ``resolve`` gives them."""
    golds = {resolve(gold) or gold for gold in mention.golds}
    return any(title is not None and (resolve(title) or title) in golds for title in titles)


# Scores from counts: correct, answered, gold in the last axis; any number of axes before it.


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, 0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)


def _with_f1(precision: Floats, recall: Floats) -> Floats:
    """Precision, recall and their harmonic mean, stacked."""
    return np.stack([precision, recall, _ratio(2 * precision * recall, precision + recall)], axis=-1)


def _scores(counts: Floats) -> Floats:
    correct, answered, gold = np.moveaxis(counts, -1, 0)
    return _with_f1(_ratio(correct, answered), _ratio(correct, gold))


def micro_scores(counts: Floats) -> Floats:
    """Precision, recall, F1 over all mentions; documents are summed (axis −2)."""
    return _scores(counts.sum(axis=-2))


def document_scores(counts: Floats) -> Floats:
    """Precision, recall, F1 of each document; all 1 where there is neither gold nor answer (GERBIL)."""
    scores = _scores(counts)
    scores[(counts[..., 1] == 0) & (counts[..., 2] == 0)] = 1.0
    return scores


def macro_scores(counts: Floats, weights: Floats | None = None) -> Floats:
    """Mean precision and recall of the documents with gold, and their harmonic mean (the authors' macro).

    ``weights`` (samples, documents) says how often each document was drawn.
    """
    weight = (counts[:, 2] > 0) * (np.ones(len(counts)) if weights is None else weights)
    mean = _ratio(weight @ document_scores(counts)[:, :2], weight.sum(axis=-1, keepdims=True) * np.ones(2))
    return _with_f1(mean[..., 0], mean[..., 1])


def macro_gerbil_scores(counts: Floats, weights: Floats | None = None) -> Floats:
    """Mean precision, recall and F1 of all documents (GERBIL's macro)."""
    weight = np.ones(len(counts)) if weights is None else weights
    return _ratio(weight @ document_scores(counts), weight.sum(axis=-1, keepdims=True) * np.ones(3))


def weighted_micro_scores(counts: Floats, weights: Floats) -> Floats:
    """Precision, recall, F1 when each document counts as often as ``weights`` (samples, documents) say."""
    return micro_scores((weights @ counts)[:, None, :])


MEASURES = {"micro": weighted_micro_scores, "macro": macro_scores, "macro_gerbil": macro_gerbil_scores}


def bootstrap(judgement: Judgement, samples: int = 1000, seed: int = 0) -> dict[str, tuple[float, float]]:
    """95 % percentile intervals of each F1 when documents are drawn again with replacement."""
    counts = judgement.counts
    drawn = list(resamples(len(counts), samples, seed))
    return {
        measure: interval(np.concatenate([scores(counts, weights)[:, 2] for weights in drawn]))
        for measure, scores in MEASURES.items()
    }


def interval(values: Floats) -> tuple[float, float]:
    """The middle 95 % of some draws."""
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return low, high


def resamples(documents: int, samples: int, seed: int = 0) -> Iterator[Floats]:
    """How often each document is drawn, in blocks that stay small in memory."""
    generator = np.random.default_rng(seed)
    block = max(1, LARGEST // max(documents, 1))
    share = np.full(documents, 1 / documents)
    for done in range(0, samples, block):
        yield generator.multinomial(documents, share, min(block, samples - done)).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on one dataset: differences of micro and macro F1 (first − second), their intervals, and p.

    Intervals are a paired bootstrap over documents; ``p``, of micro F1, is two-sided approximate
    randomisation: how often the difference is at least as large when each document's answers change sides by
    a coin.
    """

    dataset: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    macro: float
    macro_low: float
    macro_high: float


def paired_test(first: Judgement, second: Judgement, samples: int = 10_000, seed: int = 0) -> Comparison:
    """Whether two systems differ on the same documents."""
    if not np.array_equal(first.gold, second.gold):
        raise InputError("only answers to the same documents can be compared")
    one, other = first.counts, second.counts
    observed = float(micro_scores(one)[2] - micro_scores(other)[2])
    generator = np.random.default_rng(seed)
    macro = float(macro_scores(one)[2] - macro_scores(other)[2])
    extreme = 0
    draws: dict[str, list[Floats]] = {"micro": [], "macro": []}
    for weights in resamples(len(one), samples, seed):
        for name, drawn in draws.items():
            scores = MEASURES[name]
            drawn.append(scores(one, weights)[:, 2] - scores(other, weights)[:, 2])
        swap = generator.random(weights.shape) < 0.5
        left = swap @ other + ~swap @ one
        right = one.sum(0) + other.sum(0) - left
        shuffled = micro_scores(left[:, None])[:, 2] - micro_scores(right[:, None])[:, 2]
        # A hair of tolerance: equal sums in another order are equal.
        extreme += int((np.abs(shuffled) >= abs(observed) - 1e-12).sum())
    p = (extreme + 1) / (samples + 1)
    (low, high), (macro_low, macro_high) = (interval(np.concatenate(drawn)) for drawn in draws.values())
    names = (first.dataset, first.system, second.system)
    return Comparison(*names, observed, low, high, p, macro, macro_low, macro_high)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the results: a system on a dataset."""

    dataset: str
    system: str
    documents: int
    mentions: int
    micro: Scores
    macro: Scores
    macro_gerbil: Scores
    gold_in_kb: float
    gold_in_candidates: float
    accuracy_given_candidate: float
    nil: Scores  # "not in the knowledge base", against the golds that the model really does not know
    ms_per_document: float
    rounds: float
    converged: float
    mentions_per_document: float
    entities_per_document: float
    answered: int
    correct: int
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)  # 95 % of each F1
    ms_by_stage: dict[str, float] = field(default_factory=dict)


def summarise_judgement(judgement: Judgement, samples: int = 1000) -> Row:
    """The results line of a judgement; ``samples`` bootstrap draws for its intervals (0 for none)."""
    counts = judgement.counts
    mentions = len(judgement.document)
    reached = int(judgement.candidate.sum())
    withheld, unknown = ~judgement.answered, ~judgement.known
    nil = [[(withheld & unknown).sum(), withheld.sum(), unknown.sum()]]
    used = judgement.gold > 0  # a document without mentions costs nothing and would flatter the means
    ran = judgement.rounds > 0
    return Row(
        dataset=judgement.dataset,
        system=judgement.system,
        documents=len(counts),
        mentions=mentions,
        micro=Scores.of(micro_scores(counts)),
        macro=Scores.of(macro_scores(counts)),
        macro_gerbil=Scores.of(macro_gerbil_scores(counts)),
        gold_in_kb=_mean(judgement.known),
        gold_in_candidates=_mean(judgement.candidate),
        accuracy_given_candidate=float(judgement.correct.sum()) / reached if reached else 0.0,
        nil=Scores.of(micro_scores(np.asarray(nil, np.float64))),
        ms_per_document=_mean(judgement.milliseconds[used]),
        rounds=_mean(judgement.rounds[ran]),
        converged=_mean(judgement.converged[used]),
        mentions_per_document=_mean(judgement.gold[used]),
        entities_per_document=_mean(judgement.entities[used]),
        answered=int(judgement.answered.sum()),
        correct=int(judgement.correct.sum()),
        intervals=bootstrap(judgement, samples) if samples and mentions else {},
        ms_by_stage=judgement.timings,
    )


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else 0.0
