"""What every name means, with its probability: documents solved in batches, on one core or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pboh.canonical.documents import Kind, Task
from pboh.canonical.kinds import INCOMPATIBLE, UNTOLD, VAGUE
from pboh.detection.detector import Detector
from pboh.files.progress import Report
from pboh.files.workers import ordered_map
from pboh.formats.types import TYPES
from pboh.inference.engine import Engine
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.reliability import links_of, log_odds
from pboh.inference.spans import Span
from pboh.model.store import Model
from pboh.text.hashing import Array

LEAST_LINK = 0.1  # words of a context that are a link less often say nothing about the others
ENOUGH = 16  # names of a document that has no need of others in its contexts
MOST_BESIDE = 32  # other names of a context that help
LISTED, INHERITED = 0.6, 0.3  # of ζ and of what longer names pass on, among neighbours in a graph
FAME, KNOWN = 0.15, 50.0  # see Answers.sure
BATCH = 32  # documents that a worker is given at once


class Answers(NamedTuple):
    """The best entity of every row, −1 for none, and the probability that it is the right one."""

    entity: Array
    probability: Array

    @classmethod
    def none(cls, size: int) -> Answers:
        """No row has an answer yet."""
        return cls(np.full(size, -1, np.int64), np.zeros(size))

    def sure(self, model: Model, threshold: float) -> Array:
        """Which rows are merged by their answers: those with at least ``threshold`` for a rare entity.

        Wrong answers are mostly well-known entities, so these need more: log-odds higher by ``FAME`` for
        every factor e between the links to an entity and ``KNOWN`` links.
        """
        links = links_of(model["entity_occurrences"], np.maximum(self.entity, 0))
        fame = np.log(np.maximum(links / KNOWN, 1.0))
        needed = 1.0 / (1.0 + np.exp(-(log_odds(np.asarray(threshold)) + FAME * fame)))
        return np.asarray((self.entity >= 0) & (self.probability >= np.maximum(needed, threshold)))


class Resolver:
    """Solves documents made of names; can be sent to other processes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __reduce__(self) -> tuple[Any, ...]:
        return Resolver, (self.engine,)

    @cached_property
    def engines(self) -> dict[Kind, Engine]:
        """An engine for each kind of document.

        The words around a name in a graph are mostly those of its neighbours, which pairs have counted
        already, and a shorter name is less often the same as a longer one than in a text. Strangers have
        nothing to do with each other, though they are in one text.
        """
        s = self.engine.settings
        listed = s.change(zeta=LISTED * s.zeta, few_words=1.0, coreference=INHERITED * s.coreference)
        strangers = s.change(zeta=0.0, coreference=0.0)
        made = {Kind.TEXT: self.engine}
        for kind, settings in ((Kind.NEIGHBOURS, listed), (Kind.STRANGERS, strangers)):
            made[kind] = Engine(self.engine.model, settings, calibrated=self.engine.calibrated)
            made[kind].reliability = self.engine.reliability
        return made

    def __call__(self, batch: list[Task]) -> list[tuple[list[int], Array, Array]]:
        """Rows, entities and probabilities of each document."""
        return [(task.rows, *self._solve(task)) for task in batch]

    def _solve(self, task: Task) -> tuple[Array, Array]:
        engine, near, size, spans = self.engines[task.kind], None, len(task.spans), task.spans
        if task.kind is Kind.STRANGERS:
            near = Neighbourhood(np.arange(size), 0, np.ones(size, bool))
        elif size < ENOUGH:
            spans = spans + self._beside(task)
        solution, asked = engine.solve(task.text, spans, near=near), len(task.rows)
        entity, probability = solution.unary.entity[:asked], engine.probability(solution)[:asked]
        column, rows = np.maximum(solution.answer[:asked], 0), np.arange(asked)
        if any(task.types) and engine.model.has_types:
            probability = self._of_types(entity, probability, np.asarray(task.types, np.uint8))
            column = probability.argmax(axis=1)
        known = solution.unary.size[:asked] > 0
        return np.where(known, entity[rows, column], -1), np.where(known, probability[rows, column], 0.0)

    @cached_property
    def detector(self) -> Detector:
        """Finds other names in contexts."""
        return Detector(self.engine.model)

    def _beside(self, task: Task) -> list[Span]:
        """Other names in a context, which are resolved with those that are asked for."""
        given, end = list[Span](), 0
        for span in sorted(task.spans):
            if span.start >= end:
                given.append(span)
                end = span.end
        spots = self.detector.detect(task.text, given, least=LEAST_LINK, least_of_capital=LEAST_LINK)
        columns = (spots.start[:MOST_BESIDE].tolist(), spots.end[:MOST_BESIDE].tolist())
        return [Span(start, end) for start, end in zip(*columns, strict=True)]

    def _of_types(self, entity: Array, probability: Array, types: Array) -> Array:
        """Probabilities of entities given the type of each name (0 if none was told), by Bayes' rule.

        The type also speaks against what is left to "not in the knowledge base", which may be of any type.
        """
        codes, told = self.engine.model.type_codes(entity), (types > 0)[:, None]
        vague = [TYPES.index(name) for name in VAGUE if name]
        others = np.where(np.isin(codes, vague), UNTOLD, INCOMPATIBLE)
        likely = np.where(told & (codes != types[:, None]), others, 1.0) * probability
        rest = np.where(told, UNTOLD, 1.0) * np.maximum(1.0 - probability.sum(axis=1, keepdims=True), 0.0)
        return np.asarray(likely / np.maximum(likely.sum(axis=1, keepdims=True) + rest, 1e-12))


def resolve(
    engine: Engine, tasks: Iterable[Task], size: int, total: int, workers: int, report: Report
) -> Answers:
    """Answer the rows of all documents; ``total`` is how many rows there are to answer."""
    answers, done = Answers.none(size), 0
    for batch in ordered_map(Resolver(engine), _batches(tasks), workers):
        for rows, entity, probability in batch:
            answers.entity[rows], answers.probability[rows] = entity, probability
            done += len(rows)
        report(done, total, f"{done:,} names linked")
    return answers


def _batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    batch = list[Task]()
    for task in tasks:
        batch.append(task)
        if len(batch) == BATCH or task.kind is Kind.STRANGERS:
            yield batch
            batch = []
    if batch:
        yield batch
