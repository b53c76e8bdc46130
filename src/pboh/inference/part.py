"""A solved text and its engine: turned into a document, and asked for explanations later."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
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

_COMPUTED = frozenset({"solution", "probability", "_terms"})


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
        self.right: Array | None = None  # how probably the answers of all rows are right, if it is known

    @cached_property
    def solution(self) -> Solution:
        """What was computed."""
        return self.engine.solve(self.text, self.spans, self.only, self.near, self.beside)

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate) of one of its mentions."""
        return explain(self.engine, self.solution, row, entity)

    @cached_property
    def probability(self) -> Array:
        """Of every candidate of every row; see :meth:`Engine.probability`."""
        return self.engine.probability(self.solution, self.right)

    @cached_property
    def _terms(self) -> Array:
        """What its candidates are sorted by, and the rest of them: one list for each, in one go."""
        unary = self.solution.unary
        columns = -self.probability, -self.solution.scores, unary.entity, unary.prior, unary.local
        return np.stack(columns, axis=2)

    def candidates(self, row: int) -> tuple[Candidate, ...]:
        """The candidates of one of its mentions, the most probable first."""
        entities, size = self.engine.entities, self.solution.unary.size[row]
        ordered = sorted(self._terms[row, :size].tolist())
        return tuple([Candidate(entities[int(e)], prior, local, -s, -p) for p, s, e, prior, local in ordered])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _COMPUTED}

    def document(self, id: str | None = None) -> Document:
        """The text and all of its mentions."""
        beliefs, timings = self.solution.beliefs, dict(self.solution.timings)
        mentions = self.mentions(range(len(self.spans)))
        return Document(self.text, mentions, id, beliefs.rounds, beliefs.converged, timings, [self])

    def mentions(self, rows: Sequence[int]) -> list[Mention]:
        """Some of the mentions, without their candidates: most of these nobody will ask for."""
        solution, mentions = self.solution, []
        answers = np.maximum(solution.answer, 0)[:, None]
        columns = solution.unary.entity, self.probability, solution.scores
        entity, probability, score = (np.take_along_axis(c, answers, 1)[:, 0].tolist() for c in columns)
        # without what adding up loses
        unknown = np.maximum(1.0 - self.probability.sum(1), 0.0).round(12).tolist()
        answered = (solution.answer >= 0).tolist()
        for i in rows:
            span = self.spans[i]
            start, end = self.first + span.start, self.first + span.end
            mention = Mention(start, end, self.text[span.start : span.end], nil=unknown[i], part=self, row=i)
            if answered[i]:
                mention.clamped = span.entity is not None
                mention.probability, mention.score = probability[i], score[i]
                if mention.clamped or mention.probability >= self.engine.settings.threshold:
                    mention.entity = self.engine.entities[entity[i]]
            del mention.candidates  # it gets them when they are asked for
            mentions.append(mention)
        return mentions
