"""From raw text to entities (GERBIL's A2KB): which mentions were found, and which of these are right.

Two ways to say that an answer is where the gold is: *strong* (the same span) and *weak* (they overlap).
An answer can count for one gold mention only, and a gold mention for one answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pboh.evaluation.datasets.core import Dataset, GoldDocument
from pboh.evaluation.metrics import Floats, Resolve, Scores, is_right, macro_scores, micro_scores, percent
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
    "answer in the place of a NIL gold is neither right nor wrong.",
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


def evaluate_end_to_end(
    linker: Linker, datasets: Sequence[Dataset], *, report: Report = silent, **options: Any
) -> list[EndToEnd]:
    """Link the texts of datasets, with the ``options`` of linking, and compare with their golds."""
    total, done, results = sum(len(dataset) for dataset in datasets), 0, []
    resolve: Resolve = cache(linker.resolve)
    for dataset in datasets:
        counts, seconds, size = [], 0.0, 0
        errors, stages = Counter(dict.fromkeys(ERRORS, 0)), Counter[str]()
        linker.link(dataset.documents[0].text if dataset.documents else "")  # compile outside the clock
        for document in dataset:
            began = perf_counter()
            found = linker.link(document.text, **options)
            seconds += perf_counter() - began
            size += len(document.text.encode("utf-8", "surrogatepass"))
            stages.update({stage: 1e3 * value / len(dataset) for stage, value in found.timings.items()})
            nil = [gold for gold in document.mentions if gold.gold is None]
            answers = [m for m in found.mentions if m.entity is not None
                       and not any(g.start < m.end and m.start < g.end for g in nil)]  # fmt: skip
            counts.append(_counts(document, answers, resolve, errors))
            done += 1
            report(done, total, dataset.name)
        speed = (1e3 * seconds / max(1, len(dataset)), size / 1e6 / max(seconds, 1e-9))
        results.append(_summary(dataset, np.asarray(counts, np.float64), dict(errors), *speed, dict(stages)))
    return results


def pair_up(
    gold: Sequence[tuple[int, int]], found: Sequence[tuple[int, int]], match: Match
) -> list[tuple[int, int]]:
    """Pairs (gold, found) at the same place, each in at most one pair; both in text order."""
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


def _counts(
    document: GoldDocument, answers: Sequence[Mention], resolve: Resolve, errors: Counter[str]
) -> list[tuple[int, int, int, int]]:
    """For each match: gold mentions found, those of them that are right, answers, gold mentions."""
    gold = [(m.start, m.end) for m in document.linked]
    found = [(m.start, m.end) for m in answers]
    strong, weak = (pair_up(gold, found, match) for match in MATCHES)
    titles = [m.entity.title if m.entity else None for m in answers]
    right = {(g, k): is_right([titles[k]], document.linked[g], resolve) for g, k in {*strong, *weak}}
    errors["entity"] += sum(not right[pair] for pair in strong)
    errors["boundary"] += len(dict(weak).keys() - dict(strong).keys())
    errors["missed"] += len(gold) - len(dict(weak).keys() | dict(strong).keys())
    errors["extra"] += len(found) - len(weak)
    return [(len(m), sum(right[pair] for pair in m), len(found), len(gold)) for m in (strong, weak)]


def _summary(
    dataset: Dataset,
    counts: Floats,
    errors: dict[str, int],
    milliseconds: float,
    megabytes_per_second: float,
    timings: dict[str, float],
) -> EndToEnd:
    """The figures of a dataset from the counts of its documents (documents, matches, 4)."""
    counts = counts.reshape(-1, len(MATCHES), 4)
    detected, right, answers, gold = counts[:, 0].sum(0).tolist()

    def scores(column: int, measure: Callable[[Floats], Floats]) -> dict[Match, Scores]:
        chosen = counts[:, :, [column, 2, 3]]
        return {match: Scores.of(measure(chosen[:, at])) for at, match in enumerate(MATCHES)}

    return EndToEnd(
        dataset=dataset.name,
        documents=len(dataset),
        gold=int(gold),
        answers=int(answers),
        detection=scores(0, micro_scores),
        a2kb=scores(1, micro_scores),
        a2kb_macro=scores(1, macro_scores),
        linking=right / max(1, detected),
        errors=errors,
        milliseconds=milliseconds,
        megabytes_per_second=megabytes_per_second,
        timings=timings,
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
