"""A solved text and its engine: turned into a document, and asked for explanations later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import starmap
from typing import Any

import numpy as np

from pboh.document import Candidate, Document, Entity, Explanation, Mention
from pboh.inference.engine import Engine
from pboh.inference.entities import Restriction
from pboh.inference.explain import explain
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.solution import Solution
from pboh.inference.spans import Span
from pboh.text.hashing import Array


class SolvedPart:
    """A text whose mentions were resolved together: a whole document, or a part of a long one.

    It keeps its solution, but not when it is pickled: documents stay light on their way between processes,
    and the few that are asked for an explanation there are solved again.
    """

    def __init__(
        self, engine: Engine, text: str, spans: list[Span], only: Restriction | None = None, first: int = 0,
        near: Neighbourhood | None = None, beside: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.engine, self.text, self.spans, self.only = engine, text, spans, only
        self.first = first  # where it begins in the document
        self.near, self.beside = near, beside  # see Engine.solve

    @cached_property
    def solution(self) -> Solution:
        """What was computed."""
        return self.engine.solve(self.text, self.spans, self.only, self.near, self.beside)

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate) of one of its mentions."""
        return explain(self.engine, self.solution, row, entity)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "solution"}

    def document(self, id: str | None = None) -> Document:
        """The text and all of its mentions."""
        beliefs, timings = self.solution.beliefs, dict(self.solution.timings)
        return Document(self.text, self.mentions(), id, beliefs.rounds, beliefs.converged, timings, [self])

    def mentions(self, some: Sequence[int] | None = None, right: Array | None = None) -> list[Mention]:
        """Arrays as objects (converted whole: element by element this would take half of the time).

        ``right`` is the probability that the answers of all rows are right, if it is known.
        """
        solution, engine = self.solution, self.engine
        unary, mentions = solution.unary, []
        probability = engine.probability(solution, right)
        unknown = np.maximum(1.0 - probability.sum(1), 0.0).round(12)  # without what adding up loses
        at = np.arange(len(self.spans)) if some is None else np.asarray(some, np.int64)
        sizes, best = unary.size[at], solution.answer[at]
        row, column = np.nonzero(np.arange(unary.entity.shape[1]) < sizes[:, None])
        terms = [c[at[row], column] for c in (unary.prior, unary.local, solution.scores, probability)]
        entity = unary.entity[at[row], column]
        order = np.lexsort((entity, -terms[2], -terms[3], row))  # the most probable of each first
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        ends = np.cumsum(sizes)
        answers = np.append(place, -1)[np.where(best >= 0, ends - sizes + best, -1)].tolist()
        entities = engine.entities.some(entity[order].tolist())
        columns = zip(entities, *(term[order].tolist() for term in terms), strict=True)
        candidates = list(starmap(Candidate, columns))
        first = 0
        for i, end, answered, nil in zip(
            at.tolist(), ends.tolist(), answers, unknown[at].tolist(), strict=True
        ):
            span = self.spans[i]
            mention = Mention(
                self.first + span.start, self.first + span.end, self.text[span.start : span.end], nil=nil
            )
            if answered >= 0:
                answer = candidates[answered]
                mention.clamped = span.entity is not None
                mention.probability, mention.score = answer.probability, answer.score
                if mention.clamped or mention.probability >= engine.settings.threshold:
                    mention.entity = answer.entity
            mention.candidates, mention.part, mention.row = tuple(candidates[first:end]), self, i
            mentions.append(mention)
            first = end
        return mentions
