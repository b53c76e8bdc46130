"""One text in, its solution out: candidates, scores, belief propagation, and the document made of them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from pboh.document import Candidate, Document, Entity, Explanation, Mention
from pboh.errors import InputError
from pboh.inference.belief_propagation import Beliefs, FactorGraph
from pboh.inference.candidates import Candidates
from pboh.inference.entities import Entities, EntitySet
from pboh.inference.potentials import Pairs, Potentials, Unary
from pboh.inference.reliability import Reliability, answer_features
from pboh.inference.score_kernels import conditional_scores
from pboh.inference.settings import DEFAULT, Settings
from pboh.inference.spans import Span
from pboh.inference.windows import Windows
from pboh.model.store import MANIFEST, Model, open_model
from pboh.text.hashing import Array

STAGES = ("candidates", "words", "context", "pairs", "propagation")


def shared_model(path: Path) -> Model:
    """A model, opened once for this process as long as its description stays the same."""
    try:
        about = (path / MANIFEST).stat()
        state = about.st_mtime_ns, about.st_size
    except OSError:
        state = 0, 0  # opening it will say what is wrong
    return _opened(path, state)


@lru_cache(maxsize=8)
def _opened(path: Path, state: tuple[int, int]) -> Model:
    return open_model(path)


@dataclass(slots=True)
class Solution:
    """Everything computed for one text, kept as arrays: what explanations and pictures are made from.

    ``answer`` is the column of every mention's best candidate, −1 for none, by max-product ``beliefs``;
    ``marginals`` are those of sum-product; ``scores`` the sums of Eq. (c2) given all other answers.
    """

    windows: Windows
    unary: Unary
    pairs: Pairs
    beliefs: Beliefs
    marginals: Beliefs
    answer: Array = field(init=False)
    scores: Array = field(init=False)
    timings: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.answer = self.beliefs.best()
        label, unary, columns = self.pairs.label, self.unary, np.maximum(self.answer, 0)[:, None]
        chosen = np.where(self.answer >= 0, np.take_along_axis(label, columns, 1)[:, 0], -1)
        self.scores = conditional_scores(
            unary.local, label, unary.size, chosen, *self.pairs.couplings, self.pairs.unseen
        )


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

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate) of one of its mentions."""
        from pboh.inference.explain import explain  # noqa: PLC0415  (only the curious pay for it)

        return explain(self, row, entity)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "solution"}


class Engine:
    """Solves texts over one model with some settings. Safe to share between threads and to pickle."""

    def __init__(self, model: Model, settings: Settings = DEFAULT, *, calibrated: bool = True) -> None:
        self.model = model
        self.settings = settings
        self.calibrated = calibrated
        self.candidates = Candidates(model, settings)
        self.entities = Entities(model)
        self._local = threading.local()
        # a calibration belongs to the settings it was fitted with
        own = Settings.stored(model.info.get("settings")).change(threshold=settings.threshold)
        fits = calibrated and settings == own
        self.reliability = Reliability.of(model.info.get("calibration")) if fits else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.model.folder, self.settings, self.calibrated)

    @property
    def potentials(self) -> Potentials:
        """The score's terms, with the scratch memory of this thread."""
        if not self.warm:
            self._local.potentials = Potentials(self.model, self.settings)
        return self._local.potentials  # type: ignore[no-any-return]

    @property
    def warm(self) -> bool:
        """Whether this thread has solved a text before, so that its kernels are compiled."""
        return hasattr(self._local, "potentials")

    def solve(self, text: str, spans: list[Span], only: EntitySet | None = None) -> Solution:
        """Resolve the mentions of a text together (section "Inference"), as arrays."""
        s, potentials = self.settings, self.potentials
        clock = [perf_counter()]
        surfaces = [text[span.start : span.end] for span in spans]
        entity, prior, size = self.candidates.find(surfaces, only)
        self._clamp(spans, entity, prior, size)
        clock.append(perf_counter())
        windows = potentials.windows(text if s.context_weight > 0.0 else "", spans, entity)
        clock.append(perf_counter())
        unary = potentials.unary(entity, prior, size, windows)
        clock.append(perf_counter())
        pairs = potentials.pairs(unary, int((unary.size > 0).sum()))
        clock.append(perf_counter())
        graph = FactorGraph(unary.local, pairs.label, unary.size, pairs.couplings)
        beliefs = graph.propagate("max", rounds=s.rounds, epsilon=s.epsilon, record=True)
        marginals = graph.propagate("sum", rounds=s.rounds, epsilon=s.epsilon)
        solution = Solution(windows, unary, pairs, beliefs, marginals)
        clock.append(perf_counter())
        solution.timings = dict(zip(STAGES, np.diff(clock).tolist(), strict=True))
        return solution

    def _clamp(self, spans: list[Span], entity: Array, prior: Array, size: Array) -> None:
        for i, span in enumerate(spans):
            if span.entity is None:
                continue
            known = self.entities.find(span.entity)
            if known is None:
                raise InputError(f"mention {i} is clamped to {span.entity!r}, which the model does not know")
            entity[i, 0], prior[i, 0], size[i] = known.index, 1.0, 1

    def document(self, part: SolvedPart, id: str | None = None) -> Document:
        """Arrays as objects (converted whole: element by element this would take half of the time)."""
        solution, first = part.solution, part.first
        unary, beliefs = solution.unary, solution.beliefs
        marginals = solution.marginals.probability()
        columns = (unary.entity, unary.prior, unary.local, solution.scores, marginals)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        mentions = []
        for i, (span, size, best, sure, row) in enumerate(
            zip(
                part.spans, unary.size.tolist(), solution.answer.tolist(),
                self._sure(solution, marginals), rows, strict=True,
            )
        ):  # fmt: skip
            entities = map(self.entities.__getitem__, row[0][:size])
            candidates = [Candidate(*terms) for terms in zip(entities, *row[1:], strict=False)]
            mention = Mention(first + span.start, first + span.end, part.text[span.start : span.end])
            if best >= 0:
                answer = candidates[best]
                mention.clamped = span.entity is not None
                mention.probability, mention.score = 1.0 if mention.clamped else sure, answer.score
                if mention.clamped or mention.probability >= self.settings.threshold:
                    mention.entity = answer.entity
            candidates.sort(key=lambda c: (-c.probability, -c.score, c.entity.index))
            mention.candidates, mention.part, mention.row = tuple(candidates), part, i
            mentions.append(mention)
        return Document(
            part.text, mentions, id, beliefs.rounds, beliefs.converged, dict(solution.timings), [part]
        )

    def _sure(self, solution: Solution, marginals: Array) -> list[float]:
        """Probability of every answer: calibrated, if the model is, else its marginal."""
        if self.reliability is not None:
            features = answer_features(solution, self.model["entity_occurrences"])
            sure = self.reliability.probability(features)
        else:
            sure = np.take_along_axis(marginals, np.maximum(solution.answer, 0)[:, None], 1)[:, 0]
        return list(sure.tolist())


def _reopen(folder: Path, settings: Settings, calibrated: bool) -> Engine:
    return Engine(shared_model(folder), settings, calibrated=calibrated)
