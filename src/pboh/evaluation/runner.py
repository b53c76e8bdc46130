"""Runs systems over datasets: a linker's answers, judged and summed up, with the errors explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pboh.evaluation.datasets.core import Dataset, GoldDocument
from pboh.evaluation.metrics import (
    Answer,
    AnsweredDocument,
    Comparison,
    Judgement,
    Resolve,
    Row,
    judge,
    paired_test,
    summarise_judgement,
)
from pboh.evaluation.mistakes import WrongMention, by_span, find_errors
from pboh.files.progress import Report, silent

if TYPE_CHECKING:
    from pboh.linker import Linker

SYSTEMS = {
    "localmention": "LocalMention",
    "localcontext": "LocalContext",
    "unnorm": "Unnorm",
    "rescaled": "Rescaled",
    "pboh": "PBoH",
}
"""The paper's systems in its spelling and in the order of its section "Systems", the whole model last."""


@dataclass(frozen=True, slots=True)
class Run:
    """One system on one dataset: its row of the results and every judged answer behind it."""

    dataset: Dataset
    row: Row
    judgement: Judgement

    @property
    def system(self) -> str:
        """The system's name."""
        return self.row.system


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All runs of a model, the errors of its main system, and how often each gold is linked in the model."""

    model: str
    runs: tuple[Run, ...]
    main: str
    errors: tuple[WrongMention, ...] = ()
    popularity: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    def run(self, dataset: str, system: str) -> Run | None:
        """The run of that name, if there is one."""
        return next((r for r in self.runs if r.row.dataset == dataset and r.system == system), None)

    @property
    def datasets(self) -> list[Dataset]:
        """The datasets, in the order they were given."""
        return list({run.dataset.name: run.dataset for run in self.runs}.values())

    @property
    def systems(self) -> list[str]:
        """The systems, in the order they were run."""
        return list(dict.fromkeys(run.system for run in self.runs))

    def main_runs(self) -> list[Run]:
        """The runs of the main system."""
        return [run for run in self.runs if run.system == self.main]


def system_name(system: str) -> str:
    """The paper's spelling of a system."""
    return SYSTEMS.get(system, system)


def evaluate(
    linker: Linker,
    datasets: Sequence[Dataset],
    systems: Sequence[str] = ("pboh",),
    *,
    name: str = "model",
    explain: int = 0,
    errors: bool = False,
    samples: int = 1000,
    report: Report = silent,
) -> Evaluation:
    """Answer every dataset with every system and judge the answers.

    ``errors`` lists what the main system (PBoH, or the last one) got wrong; at most ``explain`` errors a
    dataset, spread evenly, carry the terms of the score of the right and of the wrong candidate.
    """
    datasets = uniquely_named(datasets)
    main = "pboh" if "pboh" in systems else systems[-1]
    resolve: Resolve = cache(linker.resolve)
    total = sum(len(dataset) for dataset in datasets) * len(systems)
    runs: list[Run] = []
    wrong: list[WrongMention] = []
    done = 0
    for dataset in datasets:
        for system in systems:
            chosen = linker.with_settings(system=system)
            fullest = max(dataset, key=lambda document: len(document.linked))
            answer_document(chosen, fullest)  # outside the clock: kernels compile and pages load at first use
            answers = []
            for document in dataset:
                answers.append(answer_document(chosen, document))
                done += 1
                report(done, total, f"{dataset.name}, {system}")
            judgement = judge(dataset, answers, resolve, system)
            runs.append(Run(dataset, summarise_judgement(judgement, samples), judgement))
            if errors and system == main:
                wrong.extend(find_errors(chosen, dataset, judgement, answers, resolve, explain))
    popularity = {dataset.name: _popularity(linker, dataset) for dataset in datasets}
    return Evaluation(name, tuple(runs), main, tuple(wrong), popularity)


def uniquely_named(datasets: Sequence[Dataset]) -> list[Dataset]:
    """The datasets, a second one of the same name numbered."""
    seen: dict[str, int] = {}
    named = []
    for dataset in datasets:
        seen[dataset.name] = number = seen.get(dataset.name, 0) + 1
        named.append(dataset if number == 1 else replace(dataset, name=f"{dataset.name} ({number})"))
    return named


def answer_document(linker: Linker, document: GoldDocument) -> AnsweredDocument:
    """What the linker says about the non-NIL mentions, as plain values, timed end to end."""
    began = perf_counter()
    mentions, found = by_span(linker, document)
    milliseconds = 1e3 * (perf_counter() - began)
    answers = []
    for mention in (mentions[gold.start, gold.end] for gold in document.linked):
        entity = mention.entity.title if mention.entity else None
        titles = tuple(candidate.entity.title for candidate in mention.candidates)
        answers.append(Answer(entity, titles, mention.probability))
    return AnsweredDocument(tuple(answers), found.rounds, found.converged, milliseconds, dict(found.timings))


def _popularity(linker: Linker, dataset: Dataset) -> NDArray[np.int64]:
    """How often each gold is linked in the corpus the model was counted on; 0 for unknown ones."""

    @cache
    def occurrences(title: str) -> int:
        entity = linker.entity(title)
        return linker.model.links(entity.index) if entity else 0

    golds = [mention.golds for document in dataset for mention in document.linked]
    return np.array([max(map(occurrences, titles)) for titles in golds], np.int64)


def compare_systems(evaluation: Evaluation) -> list[Comparison]:
    """The main system against each of the others, dataset by dataset."""
    return [
        _compared(main, other)
        for main in evaluation.main_runs()
        for other in evaluation.runs
        if other.row.dataset == main.row.dataset and other.system != main.system
    ]


def compare_models(first: Evaluation, second: Evaluation) -> list[Comparison]:
    """Each system of one model against the same system of the other."""
    pairs = [(run, second.run(run.row.dataset, run.system)) for run in first.runs]
    models = (f"{first.model} ", f"{second.model} ")
    return [_compared(run, other, *models) for run, other in pairs if other is not None]


def _compared(one: Run, other: Run, first: str = "", second: str = "") -> Comparison:
    tested = paired_test(one.judgement, other.judgement)
    names = (first + system_name(one.system), second + system_name(other.system))
    return replace(tested, first=names[0], second=names[1])
