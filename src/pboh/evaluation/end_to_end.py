"""From raw text to entities (GERBIL's A2KB): which mentions were found, and which of these are right.

Two ways to say that an answer stands where the gold does: *strong* (the same span) and *weak* (they overlap).
An answer can count for one gold mention only, and a gold mention for one answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from pboh.evaluation.datasets.core import Dataset, GoldDocument
from pboh.evaluation.metrics import Floats, Resolve, Scores, macro_scores, micro_scores, percent
from pboh.evaluation.tables import Table
from pboh.files.progress import Report, silent

if TYPE_CHECKING:
    from pboh.document import Mention
    from pboh.linker import Linker

Match = Literal["strong", "weak"]
MATCHES: tuple[Match, ...] = ("strong", "weak")
ERRORS = ("missed", "boundary", "entity", "extra")
POLICY = (
    "The system sees the text alone. Gold mentions are those with an entity; NIL golds are dropped, and an "
    "answer that stands where a NIL gold does is neither right nor wrong.",
    "strong: the spans are equal; weak: they overlap. Each answer counts for one gold mention, the first.",
    "detection counts spans; linking is the share of detected gold mentions whose entity is right; A2KB "
    "counts a mention when both are. Redirects known to the model are resolved on gold and answer.",
    "missed: no answer overlaps the gold; boundary: one does, with another span; entity: the span is right, "
    "the entity is not; extra: an answer where no gold is.",
)


@dataclass(frozen=True, slots=True)
class EndToEnd:
    """One dataset answered from raw text."""

    dataset: str
    documents: int
    gold: int
    answers: int
    detection: dict[Match, Scores]
    a2kb: dict[Match, Scores]
    a2kb_macro: dict[Match, Scores]
    linking: float  # right entities among gold mentions found with their exact span
    errors: dict[str, int]
    milliseconds: float  # mean per document
    megabytes_per_second: float
    timings: dict[str, float] = field(default_factory=dict)


Rows = list[tuple[int, int, int]]


@dataclass(slots=True)
class _Counts:
    """Right, answered and gold of every document, by match, and the errors of all."""

    detection: dict[Match, Rows] = field(default_factory=lambda: {match: [] for match in MATCHES})
    a2kb: dict[Match, Rows] = field(default_factory=lambda: {match: [] for match in MATCHES})
    errors: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ERRORS, 0))


def evaluate_end_to_end(
    linker: Linker, datasets: Sequence[Dataset], *, threshold: float | None = None, report: Report = silent
) -> list[EndToEnd]:
    """Link the texts of datasets and compare with their golds."""
    total, done, results = sum(len(dataset) for dataset in datasets), 0, []
    resolve: Resolve = cache(linker.resolve)
    for dataset in datasets:
        counts, seconds, size, answered = _Counts(), 0.0, 0, 0
        stages: dict[str, float] = {}
        linker.link(dataset.documents[0].text if dataset.documents else "")  # compile outside the clock
        for document in dataset:
            began = perf_counter()
            found = linker.link(document.text, threshold=threshold)
            seconds += perf_counter() - began
            size += len(document.text.encode("utf-8", "surrogatepass"))
            for stage, value in found.timings.items():
                stages[stage] = stages.get(stage, 0.0) + 1e3 * value / len(dataset)
            answers = [m for m in found.mentions if m.entity is not None and not _on_nil(document, m)]
            answered += len(answers)
            _count(document, answers, resolve, counts)
            done += 1
            report(done, total, dataset.name)
        results.append(_summary(dataset, counts, answered, seconds, size, stages))
    return results


def _on_nil(document: GoldDocument, mention: Mention) -> bool:
    return any(g.gold is None and g.start < mention.end and mention.start < g.end for g in document.mentions)


def pair_up(
    gold: Sequence[tuple[int, int]], found: Sequence[tuple[int, int]], match: Match
) -> list[tuple[int, int]]:
    """Pairs (gold, found) that stand at the same place, each in at most one pair; both in text order."""
    if match == "strong":
        place = {span: k for k, span in enumerate(found)}
        return [(g, place[span]) for g, span in enumerate(gold) if span in place]
    exact = dict(pair_up(gold, found, "strong"))
    taken = set(exact.values())
    pairs = []
    begin = 0
    for g, (start, end) in enumerate(gold):
        while begin < len(found) and found[begin][1] <= start:
            begin += 1
        chosen = exact.get(g)
        k = begin
        while chosen is None and k < len(found) and found[k][0] < end:
            chosen = k if k not in taken and found[k][1] > start else None
            k += 1
        if chosen is not None:
            taken.add(chosen)
            pairs.append((g, chosen))
    return pairs


def _count(document: GoldDocument, answers: Sequence[Mention], resolve: Resolve, counts: _Counts) -> None:
    gold = [(m.start, m.end) for m in document.linked]
    found = [(m.start, m.end) for m in answers]
    right: dict[tuple[int, int], bool] = {}
    pairs: dict[Match, list[tuple[int, int]]] = {m: pair_up(gold, found, m) for m in MATCHES}
    for g, k in {*pairs["strong"], *pairs["weak"]}:
        entity = answers[k].entity
        titles = {resolve(title) or title for title in document.linked[g].golds}
        right[g, k] = entity is not None and (resolve(entity.title) or entity.title) in titles
    for match, matched in pairs.items():
        counts.detection[match].append((len(matched), len(found), len(gold)))
        counts.a2kb[match].append((sum(right[pair] for pair in matched), len(found), len(gold)))
    strong, weak = {g for g, _ in pairs["strong"]}, {g for g, _ in pairs["weak"]}
    counts.errors["entity"] += sum(not right[pair] for pair in pairs["strong"])
    counts.errors["boundary"] += len(weak - strong)
    counts.errors["missed"] += len(gold) - len(weak | strong)
    counts.errors["extra"] += len(found) - len(pairs["weak"])


def _summary(
    dataset: Dataset, counts: _Counts, answered: int, seconds: float, size: int, stages: dict[str, float]
) -> EndToEnd:
    def scores(by_match: dict[Match, Rows], measure: Callable[[Floats], Floats]) -> dict[Match, Scores]:
        tables = {match: np.asarray(rows, np.float64).reshape(-1, 3) for match, rows in by_match.items()}
        return {match: Scores.of(measure(table)) for match, table in tables.items()}

    found = sum(row[0] for row in counts.detection["strong"])
    return EndToEnd(
        dataset=dataset.name,
        documents=len(dataset),
        gold=dataset.mentions,
        answers=answered,
        detection=scores(counts.detection, micro_scores),
        a2kb=scores(counts.a2kb, micro_scores),
        a2kb_macro=scores(counts.a2kb, macro_scores),
        linking=sum(row[0] for row in counts.a2kb["strong"]) / max(1, found),
        errors=counts.errors,
        milliseconds=1e3 * seconds / max(1, len(dataset)),
        megabytes_per_second=size / 1e6 / max(seconds, 1e-9),
        timings=stages,
    )


def end_to_end_tables(results: Sequence[EndToEnd], model: str) -> list[Table]:
    """What a model found, what of it is right, and what went wrong."""
    header = ["Dataset", "gold", "answers"]
    for match in MATCHES:
        header += [f"{match} P", "R", "F1", "macro F1"]
    scores = Table(f"From raw text to entities (A2KB), {model}", header)
    header = ["Dataset", "spans P", "R", "F1", "overlap P", "R", "F1", "linking", *ERRORS, "ms/doc", "MB/s"]
    parts = Table(f"Detection and linking apart, {model}", header)
    for r in results:
        cells, spans = [r.dataset, f"{r.gold:,}", f"{r.answers:,}"], [r.dataset]
        for match in MATCHES:
            cells += [*r.a2kb[match].percents(), percent(r.a2kb_macro[match].f1)]
            spans += r.detection[match].percents()
        scores.add(cells, ours=True)
        errors = [f"{r.errors[kind]:,}" for kind in ERRORS]
        speed = [f"{r.milliseconds:.1f}", f"{r.megabytes_per_second:.2f}"]
        parts.add([*spans, percent(r.linking), *errors, *speed])
    return [scores, parts]
