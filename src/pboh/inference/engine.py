"""One text in, its solution out: candidates, scores, belief propagation."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from pboh.deadline import checkpoint
from pboh.errors import InputError
from pboh.files.kernel_cache import say_if_compiling
from pboh.inference.belief_propagation import FactorGraph
from pboh.inference.candidates import Candidates
from pboh.inference.entities import Entities, Restriction
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.potentials import Potentials
from pboh.inference.reliability import Reliability, answer_features
from pboh.inference.settings import DEFAULT, Settings
from pboh.inference.solution import Solution
from pboh.inference.spans import Span
from pboh.model.store import Model
from pboh.text.hashing import Array

STAGES = ("candidates", "words", "context", "pairs", "propagation")


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
        own = Settings.stored(model.info).change(threshold=settings.threshold)
        fits = calibrated and settings == own
        self.reliability = Reliability.of(model.info.get("calibration")) if fits else None

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Engine, calibrated=self.calibrated), (self.model, self.settings)

    @cached_property
    def of_found(self) -> Engine:
        """The engine for mentions that were found, not given: see :meth:`Settings.of_found`."""
        engine = Engine(self.model, self.settings.of_found(), calibrated=self.calibrated)
        engine.reliability = self.reliability
        return engine

    @property
    def potentials(self) -> Potentials:
        """The score's terms, with the scratch memory of this thread."""
        if not hasattr(self._local, "potentials"):
            self._local.potentials = Potentials(self.model, self.settings)
        return self._local.potentials  # type: ignore[no-any-return]

    def patience(self) -> AbstractContextManager[None]:
        """Around a first text of this thread, which may have to wait until kernels are compiled: says so."""
        return nullcontext() if hasattr(self._local, "potentials") else say_if_compiling()

    def solve(
        self, text: str, spans: list[Span], only: Restriction | None = None,
        near: Neighbourhood | None = None, beside: Sequence[str] = (),
    ) -> Solution:  # fmt: skip
        """Resolve the mentions of a text together (section "Inference"), as arrays.

        Without ``near`` all mentions are neighbours. ``beside`` are names elsewhere in the document, whose
        candidates shorter names here may inherit.
        """
        s, potentials = self.settings, self.potentials
        clock = [perf_counter()]

        def passed() -> None:
            checkpoint()
            clock.append(perf_counter())

        surfaces = [text[span.start : span.end] for span in spans]
        near = near or Neighbourhood.everyone(len(spans))
        content = potentials.content(text)
        followed = content.follows(spans).tolist()
        found = self.candidates.find([*surfaces, *beside], only, followed=followed)
        entity, prior, size = (column[: len(spans)] for column in found)
        # what a restriction leaves of a name's uses: all of them if every mention means something inside it
        left = np.ones(len(spans)) if only is None else np.minimum(prior.sum(axis=1) + 1e-9, 1.0)
        self._clamp(spans, entity, prior, size)
        passed()
        windows = potentials.windows(content, spans, entity)
        passed()
        unary = potentials.unary(entity, prior, size, windows)
        passed()
        pairs = potentials.pairs(unary, near.linked(unary.size))
        passed()
        speaking = np.where(near.speaks, unary.size, 0)
        graph = FactorGraph(unary.local, pairs.label, speaking, pairs.couplings, near.where, near.reach)
        beliefs = graph.propagate("max", rounds=s.rounds, epsilon=s.epsilon, record=True)
        checkpoint()
        marginals = graph.propagate("sum", rounds=s.rounds, epsilon=s.epsilon)
        solution = Solution(text, spans, only, followed, windows, unary, pairs, beliefs, marginals, near)
        solution.probability *= left[:, None]
        passed()
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

    def probability(self, solution: Solution, right: Array | None = None) -> Array:
        """Probability of every candidate, calibrated if the model is, else its marginal.

        What a row lacks to one is the probability that the knowledge base has no entity for the mention.
        ``right`` is the probability that the answers are right where something else than calibration says so,
        and nan elsewhere.
        """
        if self.reliability is None:
            return solution.probability
        if right is None or np.isnan(right).any():
            features = answer_features(solution, self.model["entity_occurrences"])
            calibrated = self.reliability.probability(features)
            right = calibrated if right is None else np.where(np.isnan(right), calibrated, right)
        right[[span.entity is not None for span in solution.spans]] = 1.0
        return self.reliability.shared_out(solution.probability, solution.answer, right)
