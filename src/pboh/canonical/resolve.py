"""What every name means, with its probability: documents solved in batches, on one core or several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pboh.canonical.documents import Task
from pboh.files.progress import Report
from pboh.files.workers import ordered_map
from pboh.inference.engine import Engine
from pboh.inference.neighbourhood import Neighbourhood
from pboh.text.hashing import Array

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
        solution = engine.solve(task.text, task.spans, near=near)
        rows, column = np.arange(len(task.rows)), np.maximum(solution.answer, 0)[: len(task.rows)]
        probability = engine.probability(solution)[rows, column]
        known = solution.answer[: len(task.rows)] >= 0
        return np.where(known, solution.unary.entity[rows, column], -1), np.where(known, probability, 0.0)


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
