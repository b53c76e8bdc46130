"""What every name means, with its probability: documents solved in batches, on one core or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pboh.canonical.documents import MOST, Task
from pboh.canonical.kinds import INCOMPATIBLE, VAGUE
from pboh.detection.detector import Detector
from pboh.files.progress import Report
from pboh.files.workers import ordered_map
from pboh.formats.types import TYPES
from pboh.inference.engine import Engine
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.spans import Span
from pboh.text.hashing import Array

LEAST_LINK = 0.02  # words of a context that are a link less often say nothing about the others
BATCH = 32  # documents that a worker is given at once


class Answers(NamedTuple):
    """The best entity of every row, −1 for none, and the probability that it is the right one."""

    entity: Array
    probability: Array

    @classmethod
    def none(cls, size: int) -> Answers:
        """No row has an answer yet."""
        return cls(np.full(size, -1, np.int64), np.zeros(size))


class Resolver:
    """Solves documents made of names; can be sent to other processes."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __reduce__(self) -> tuple[Any, ...]:
        return Resolver, (self.engine,)

    @cached_property
    def alone(self) -> Engine:
        """An engine for names that have nothing to do with each other, though they are in one text."""
        settings = self.engine.settings.change(zeta=0.0, coreference=0.0)
        engine = Engine(self.engine.model, settings, calibrated=self.engine.calibrated)
        engine.reliability = self.engine.reliability
        return engine

    def __call__(self, batch: list[Task]) -> list[tuple[list[int], Array, Array]]:
        """Rows, entities and probabilities of each document."""
        return [(task.rows, *self._solve(task)) for task in batch]

    def _solve(self, task: Task) -> tuple[Array, Array]:
        engine, near, size = self.engine, None, len(task.spans)
        if task.alone:
            engine, near = self.alone, Neighbourhood(np.arange(size), 0, np.ones(size, bool))
        spans = task.spans + self._beside(task) if task.context else task.spans
        solution, asked = engine.solve(task.text, spans, near=near), len(task.rows)
        entity, probability = solution.unary.entity[:asked], engine.probability(solution)[:asked]
        column, rows = np.maximum(solution.answer[:asked], 0), np.arange(asked)
        if any(task.kinds) and engine.model.has_types:
            probability = self._of_kinds(entity, probability, np.asarray(task.kinds, np.uint8))
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
        columns = (spots.start[:MOST].tolist(), spots.end[:MOST].tolist())
        return [Span(start, end) for start, end in zip(*columns, strict=True)]

    def _of_kinds(self, entity: Array, probability: Array, kinds: Array) -> Array:
        """Probabilities of entities given what kind of thing each name is."""
        codes = self.engine.model.type_codes(entity)
        vague = [TYPES.index(name) for name in VAGUE if name]
        fits = (codes == kinds[:, None]) | (kinds == 0)[:, None] | np.isin(codes, vague)
        likely = np.where(fits, 1.0, INCOMPATIBLE) * probability
        rest = 1.0 - probability.sum(axis=1, keepdims=True)
        return np.asarray(
            likely / np.maximum(likely.sum(axis=1, keepdims=True) + np.maximum(rest, 0.0), 1e-12)
        )


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
        if len(batch) == BATCH or task.alone:
            yield batch
            batch = []
    if batch:
        yield batch
