"""A solved text and its engine: turned into a document, and asked for explanations later."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pboh.document import Candidate, Document, Entity, Explanation, Mention
from pboh.inference.engine import Engine
from pboh.inference.entities import EntitySet
from pboh.inference.explain import explain
from pboh.inference.solution import Solution
from pboh.inference.spans import Span


class SolvedPart:
    """A text whose mentions were resolved together: a whole document, or a part of a long one.

    It keeps its solution, but not when it is pickled: documents stay light on their way between processes,
    and the few that are asked for an explanation there are solved again.
    """

    def __init__(
        self, engine: Engine, text: str, spans: list[Span], only: EntitySet | None = None, first: int = 0
    ) -> None:
        self.engine, self.text, self.spans, self.only = engine, text, spans, only
        self.first = first  # where it begins in the document

    @cached_property
    def solution(self) -> Solution:
        """What was computed."""
        return self.engine.solve(self.text, self.spans, self.only)

    @property
    def language(self) -> str:
        """The language of the model's Wikipedia."""
        return self.engine.model.info.get("language") or "en"

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate) of one of its mentions."""
        return explain(self.engine, self.solution, row, entity)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "solution"}

    def document(self, id: str | None = None) -> Document:
        """Arrays as objects (converted whole: element by element this would take half of the time)."""
        solution, engine = self.solution, self.engine
        unary, beliefs = solution.unary, solution.beliefs
        probability = engine.probability(solution)
        columns = (unary.entity, unary.prior, unary.local, solution.scores, probability)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        unknown = np.maximum(1.0 - probability.sum(1), 0.0).round(12).tolist()  # without what adding up loses
        mentions = []
        for i, (span, size, best, nil, row) in enumerate(
            zip(self.spans, unary.size.tolist(), solution.answer.tolist(), unknown, rows, strict=True)
        ):
            entities = map(engine.entities.__getitem__, row[0][:size])
            candidates = [Candidate(*terms) for terms in zip(entities, *row[1:], strict=False)]
            mention = Mention(
                self.first + span.start, self.first + span.end, self.text[span.start : span.end], nil=nil
            )
            if best >= 0:
                answer = candidates[best]
                mention.clamped = span.entity is not None
                mention.probability, mention.score = answer.probability, answer.score
                if mention.clamped or mention.probability >= engine.settings.threshold:
                    mention.entity = answer.entity
            candidates.sort(key=lambda c: (-c.probability, -c.score, c.entity.index))
            mention.candidates, mention.part, mention.row = tuple(candidates), self, i
            mentions.append(mention)
        return Document(
            self.text, mentions, id, beliefs.rounds, beliefs.converged, dict(solution.timings), [self]
        )
