"""The public face of a model: text and spans go in, a resolved document comes out."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property, lru_cache, partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pboh.document import Candidate, Document, Entity, Explanation, Mention
from pboh.errors import InputError
from pboh.files.processes import ordered_map
from pboh.inference.belief_propagation import Beliefs, propagate
from pboh.inference.candidates import Candidates, EntitySet
from pboh.inference.potentials import Pairs, Potentials, Unary, Windows, conditional_scores
from pboh.inference.reliability import Reliability, answer_features
from pboh.inference.settings import DEFAULT, PAPER, Settings
from pboh.inference.spans import Span, check_spans
from pboh.model.names import Layer
from pboh.model.overlays.opening import clean_title, find_titles
from pboh.model.starter import starter_folder
from pboh.model.store import MANIFEST, Model, open_model
from pboh.text.folding import fold
from pboh.text.hashing import look_up
from pboh.warmup import say_if_compiling

if TYPE_CHECKING:
    from pboh.detection.detector import Detector

Array = Any
KNOWN_ENTITIES = 50_000  # kept as objects, because documents of one stream share most of them


def _current(path: Path) -> Model:
    """A model, opened once for all linkers of this process as long as its description stays the same."""
    try:
        about = (path / MANIFEST).stat()
        state = about.st_mtime_ns, about.st_size
    except OSError:
        state = 0, 0  # opening it will say what is wrong
    return _opened(path, state)


@lru_cache(maxsize=8)
def _opened(path: Path, state: tuple[int, int]) -> Model:
    return open_model(path)


def load(path: str | Path | None = None, *, paper: bool = False, **settings: Any) -> Linker:
    """Open a model: ``load("model", tau=0.7)``. ``paper=True`` switches every extension off.

    Without a path, or with the name ``starter``, this is the model that comes with the package.
    Settings are the tuned ones stored with the model unless changed here; see
    :class:`pboh.inference.settings.Settings` for all of them.
    """
    model = _current(model_folder(path))
    base = PAPER if paper else stored_settings(model)
    return Linker(model, base.change(**settings))


def model_folder(path: str | Path | None = None) -> Path:
    """The folder that is meant by a path, by the name ``starter`` or by nothing."""
    if path is None or (str(path) == "starter" and not Path(path).exists()):
        return starter_folder()
    return Path(path).resolve()


def stored_settings(model: Model) -> Settings:
    """The settings a model was tuned to."""
    return DEFAULT.change(**model.info.get("settings", {}))


class Solution:
    """Everything computed for one document, kept as arrays: what explanations and pictures are made from."""

    __slots__ = ("answer", "beliefs", "marginals", "pairs", "scores", "timings", "unary", "windows")

    def __init__(
        self, windows: Windows, unary: Unary, pairs: Pairs, beliefs: Beliefs, marginals: Beliefs
    ) -> None:
        self.windows, self.unary, self.pairs = windows, unary, pairs
        self.beliefs, self.marginals = beliefs, marginals
        self.answer = beliefs.best()
        chosen = np.where(
            self.answer >= 0,
            np.take_along_axis(pairs.label, np.maximum(self.answer, 0)[:, None], 1)[:, 0],
            -1,
        )
        self.scores = conditional_scores(
            unary.local, pairs.label, unary.size, chosen, *pairs.couplings, pairs.unseen
        )
        self.timings: dict[str, float] = {}


class Linker:
    """Resolves the mentions of documents together. Safe to share between threads and to pickle."""

    def __init__(self, model: Model, settings: Settings = DEFAULT, *, calibrated: bool = True) -> None:
        self.model = model
        self.settings = settings
        self._candidates = Candidates(model, settings)
        self._local = threading.local()
        self._known: dict[int, Entity] = {}
        # a calibration belongs to the settings it was fitted with
        own = stored_settings(model).change(threshold=settings.threshold)
        fits = calibrated and settings == own
        self._reliability = Reliability.of(model.info.get("calibration")) if fits else None

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.model.folder, self.settings)

    def __repr__(self) -> str:
        known = f"{self.model.entities + sum(o.size for o in self.model.overlays):,} entities"
        return f"<Linker of {self.model.folder}: {known}, {self.settings.system}>"

    def with_settings(self, **changes: Any) -> Linker:
        """A linker over the same model with some settings changed; costs nothing."""
        return Linker(self.model, self.settings.change(**changes))

    @property
    def _potentials(self) -> Potentials:
        if not hasattr(self._local, "potentials"):
            self._local.potentials = Potentials(self.model, self.settings)
        return self._local.potentials  # type: ignore[no-any-return]

    # -- entities ---------------------------------------------------------------------------------

    def entity(self, title: str) -> Entity | None:
        """The entity of a title or redirect; underscores and a small first letter are fine.

        A title that is none may differ from one by case, accents or punctuation, as most redirects of a
        full Wikipedia do; of several the most linked one is meant.
        """
        model, title = self.model, clean_title(title)
        exactly = int(find_titles(model, [title])[0])
        if exactly >= 0:
            return self._entity(exactly)
        at = int(look_up(model["name_hash"], model["name_buckets"], [fold(title)])[0])
        rows = slice(*model["name_offsets"][at : at + 2].tolist()) if at >= 0 else slice(0, 0)
        twins = model["name_entity"][rows][model["name_layer"][rows] == Layer.TITLE]
        return self._entity(int(twins[0])) if twins.size else None

    def resolve(self, title: str) -> str | None:
        """The title under which the model knows ``title`` (redirects followed), or None."""
        entity = self.entity(title)
        return entity.title if entity else None

    def only(self, entities: Iterable[str | Entity]) -> EntitySet:
        """A set to restrict answers to, prepared for many documents: ``link(text, entities=linker.only(…))``.

        Titles the model does not know are left out; they are the set's ``unknown``.
        """
        asked = list(entities)
        titles = ["" if isinstance(given, Entity) else clean_title(given) for given in asked]
        known, unknown = [], []
        for given, at in zip(asked, find_titles(self.model, titles).tolist(), strict=True):
            entity = given if isinstance(given, Entity) else None
            if at < 0 and entity is None:
                entity = self.entity(str(given))  # it may be written in another way
            if at < 0 and entity is None:
                unknown.append(str(given))
            else:
                known.append(entity.index if entity else at)
        return EntitySet(known, unknown)

    def _set(self, entities: EntitySet | Iterable[str | Entity] | None) -> EntitySet | None:
        return entities if entities is None or isinstance(entities, EntitySet) else self.only(entities)

    def _entity(self, index: int) -> Entity:
        known = self._known.get(index)
        if known is None:
            if len(self._known) >= KNOWN_ENTITIES:
                self._known.clear()
            known = self._known[index] = Entity(self.model.title(index), index, self.model.id(index))
        return known

    # -- documents --------------------------------------------------------------------------------

    def disambiguate(
        self,
        text: str,
        spans: Iterable[Sequence[Any]],
        *,
        id: str | None = None,
        overlapping: bool = False,
        entities: EntitySet | Iterable[str | Entity] | None = None,
    ) -> Document:
        """Resolve the given mentions: ``(start, end)``, or ``(start, end, title)`` to clamp one to an entity.

        Offsets count code points. Overlapping spans are an error unless ``overlapping`` allows them.
        ``entities`` (titles, or what :meth:`only` made of them) are the only ones that may be an answer.
        """
        checked, only = check_spans(text, spans, overlapping), self._set(entities)
        with nullcontext() if hasattr(self._local, "potentials") else say_if_compiling():
            solution = self.solve(text, checked, only=only)
        return self._document(text, checked, solution, id, only)

    def link(
        self,
        text: str,
        *,
        threshold: float | None = None,
        spans: Iterable[Sequence[Any]] = (),
        id: str | None = None,
        entities: EntitySet | Iterable[str | Entity] | None = None,
    ) -> Document:
        """Find the mentions of a text and resolve them.

        ``spans`` from elsewhere are kept whatever they are called, and detection works around them; to use
        them *instead*, call :meth:`disambiguate`. ``threshold`` is the least confidence that a name is worth
        a link and that the link is right (:attr:`Mention.detection`); 0 keeps every name that has an answer.
        ``entities`` are the only ones that may be an answer, as in :meth:`disambiguate`.
        """
        from pboh.detection.link import link  # noqa: PLC0415  (given mentions need no detector)

        with nullcontext() if hasattr(self._local, "potentials") else say_if_compiling():
            return link(self, text, threshold=threshold, spans=list(spans), id=id, only=self._set(entities))

    @cached_property
    def detector(self) -> Detector:
        """Finds the names of the model in texts."""
        from pboh.detection.detector import Detector  # noqa: PLC0415

        return Detector(self.model)

    def solve(
        self, text: str, spans: list[Span], record: bool = False, only: EntitySet | None = None
    ) -> Solution:
        """What :meth:`disambiguate` computes, as arrays; ``record`` keeps the beliefs of every round."""
        s, potentials = self.settings, self._potentials
        clock = [perf_counter()]
        surfaces = [text[span.start : span.end] for span in spans]
        entity, prior, size = self._candidates.find(surfaces, only)
        self._clamp(spans, entity, prior, size)
        clock.append(perf_counter())
        windows = potentials.windows(text if s.context_weight > 0.0 else "", spans, entity)
        clock.append(perf_counter())
        unary = potentials.unary(entity, prior, size, windows)
        clock.append(perf_counter())
        pairs = potentials.pairs(unary, int((unary.size > 0).sum()))
        clock.append(perf_counter())
        arguments = (unary.local, pairs.label, unary.size, pairs.couplings)
        options: dict[str, Any] = {"rounds": s.rounds, "epsilon": s.epsilon, "damping": s.damping}
        beliefs = propagate(*arguments, mode="max", record=record, **options)
        marginals = propagate(*arguments, mode="sum", **options)
        solution = Solution(windows, unary, pairs, beliefs, marginals)
        clock.append(perf_counter())
        stages = ("candidates", "words", "context", "pairs", "propagation")
        solution.timings = dict(zip(stages, np.diff(clock).tolist(), strict=True))
        return solution

    def _clamp(self, spans: list[Span], entity: Array, prior: Array, size: Array) -> None:
        for i, span in enumerate(spans):
            if span.entity is None:
                continue
            known = self.entity(span.entity)
            if known is None:
                raise InputError(f"mention {i} is clamped to {span.entity!r}, which the model does not know")
            entity[i, 0], prior[i, 0], size[i] = known.index, 1.0, 1

    def _document(
        self,
        text: str,
        spans: list[Span],
        solution: Solution,
        id: str | None,
        only: EntitySet | None = None,
    ) -> Document:
        """Arrays as objects (converted whole: element by element this would take half of the time)."""
        unary = solution.unary
        marginals = solution.marginals.probability()
        columns = (unary.entity, unary.prior, unary.local, solution.scores, marginals)
        sure = self._sure(solution, marginals)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        mentions = []
        for i, (span, size, best, row) in enumerate(
            zip(spans, unary.size.tolist(), solution.answer.tolist(), rows, strict=True)
        ):
            entities = map(self._entity, row[0][:size])
            candidates = [Candidate(*terms) for terms in zip(entities, *row[1:], strict=False)]
            mention = Mention(span.start, span.end, text[span.start : span.end])
            if best >= 0:
                answer = candidates[best]
                mention.clamped = span.entity is not None
                mention.probability, mention.score = sure[i], answer.score
                if mention.clamped:
                    mention.probability = 1.0
                if mention.clamped or mention.probability >= self.settings.threshold:
                    mention.entity = answer.entity
            candidates.sort(key=lambda c: (-c.probability, -c.score, c.entity.index))
            mention.candidates = tuple(candidates)
            mention._explain = partial(self._explain, text, spans, i, only)
            mentions.append(mention)
        beliefs = solution.beliefs
        return Document(text, mentions, id, beliefs.rounds, beliefs.converged, solution.timings)

    def _sure(self, solution: Solution, marginals: Array) -> list[float]:
        """Probability of every answer: calibrated, if the model is, else its marginal."""
        if self._reliability is not None:
            features = answer_features(solution, self.model["entity_occurrences"])
            sure = self._reliability.probability(features)
        else:
            sure = np.take_along_axis(marginals, np.maximum(solution.answer, 0)[:, None], 1)[:, 0]
        return [float(value) for value in sure]

    def _explain(
        self, text: str, spans: list[Span], i: int, only: EntitySet | None, entity: Entity | None
    ) -> Explanation | None:
        from pboh.inference.explain import explain  # noqa: PLC0415  (only the curious pay for it)

        return explain(self, text, spans, i, entity, only)

    # -- streams ----------------------------------------------------------------------------------

    def pipe(
        self,
        documents: Iterable[tuple[str, Sequence[Sequence[Any]]]],
        *,
        workers: int = 1,
        batch: int = 32,
        entities: EntitySet | Iterable[str | Entity] | None = None,
    ) -> Iterator[Document]:
        """Resolve a stream of ``(text, spans)`` in order; with several workers, on as many processes."""
        batches = _batches(documents, batch if workers > 1 else 1)
        for resolved in ordered_map(partial(self._batch, self._set(entities)), batches, workers):
            yield from resolved

    def _batch(
        self, only: EntitySet | None, batch: list[tuple[str, Sequence[Sequence[Any]]]]
    ) -> list[Document]:
        return [self.disambiguate(text, spans, entities=only) for text, spans in batch]


def _reopen(folder: Path, settings: Settings) -> Linker:
    return Linker(_current(folder), settings)


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
