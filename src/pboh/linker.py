"""The public face of a model: text and spans go in, a resolved document comes out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pboh.document import Document, Entity
from pboh.errors import InputError, ModelError
from pboh.files.progress import Report, silent
from pboh.files.workers import ordered_map
from pboh.formats.types import check_types
from pboh.inference.engine import Engine
from pboh.inference.entities import EntitySet, Restriction, TypedSet
from pboh.inference.part import SolvedPart
from pboh.inference.settings import DEFAULT, PAPER, Settings
from pboh.inference.spans import check_spans
from pboh.model.derived import starter_folder
from pboh.model.names import Layer
from pboh.model.similarity import nearest
from pboh.model.store import Model, shared_model

if TYPE_CHECKING:
    from pboh.canonical import Groups
    from pboh.detection.detector import Detector
    from pboh.detection.finder import Finder
    from pboh.detection.possibilities import Mentions, Possibilities


def load(path: str | Path | None = None, *, paper: bool = False, **settings: Any) -> Linker:
    """Open a model: ``load("model", tau=0.7)``. ``paper=True`` switches every extension off.

    Without a path, or with the name ``starter``, this is the model that comes with the package.
    Settings are the tuned ones stored with the model unless changed here; see
    :class:`pboh.inference.settings.Settings` for all of them.
    """
    model = shared_model(model_folder(path))
    base = paper_settings(model) if paper else Settings.stored(model.info)
    return Linker(model, base.change(**settings))


def paper_settings(model: Model) -> Settings:
    """The paper's settings, if the model still has the names they look up."""
    layers = model["name_layer"]
    if layers.size and not (layers == Layer.LOWER).any():
        raise ModelError(
            "a pruned model cannot answer with the paper's settings: it has no lower-cased names",
            where=model.folder,
            todo="Use the model it was pruned from",
        )
    return PAPER


def model_folder(path: str | Path | None = None) -> Path:
    """The folder that is meant by a path, by the name ``starter`` or by nothing."""
    if path is None or (str(path) == "starter" and not Path(path).exists()):
        return starter_folder()
    return Path(path).resolve()


class Linker:
    """Resolves the mentions of documents together. Safe to share between threads and to pickle."""

    def __init__(self, model: Model, settings: Settings = DEFAULT, *, calibrated: bool = True) -> None:
        self.engine = Engine(model, settings, calibrated=calibrated)
        self.model = model
        self.settings = settings

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Linker, calibrated=self.engine.calibrated), (self.model, self.settings)

    def __repr__(self) -> str:
        known = f"{self.model.entities + sum(o.size for o in self.model.overlays):,} entities"
        return f"<Linker of {self.model.folder}: {known}, {self.settings.system}>"

    def with_settings(self, **changes: Any) -> Linker:
        """A linker over the same model with some settings changed; costs nothing."""
        return Linker(self.model, self.settings.change(**changes))

    # -- entities ---------------------------------------------------------------------------------

    def entity(self, title: str) -> Entity | None:
        """The entity of a title or redirect; underscores and a small first letter are fine.

        An unknown title may differ from a known one by case, accents or punctuation, as most redirects of a
        full Wikipedia do; of several, the most linked one is meant.
        """
        return self.engine.entities.find(title)

    def resolve(self, title: str) -> str | None:
        """The title under which the model knows ``title`` (redirects followed), or None."""
        entity = self.entity(title)
        return entity.title if entity else None

    def only(self, entities: EntitySet | Iterable[str | Entity]) -> EntitySet:
        """A set to restrict answers to, prepared for many documents: ``link(text, entities=linker.only(…))``.

        Titles the model does not know are left out; they are the set's ``unknown``.
        """
        return self.engine.entities.only(entities)

    def similar(self, entity: str | Entity, k: int = 10, *, links: int = 5) -> list[tuple[Entity, float]]:
        """The ``k`` entities most like an entity, nearest first, with the cosine of their vectors.

        Only entities with at least ``links`` links are compared: little is known of rarer ones.
        """
        known = self.engine.entities.find(entity) if isinstance(entity, str) else entity
        if known is None:
            raise InputError(f"the model knows no entity {entity!r}")
        found, cosine = nearest(self.model, known.index, k, links)
        return [(self.engine.entities[e], c) for e, c in zip(found.tolist(), cosine.tolist(), strict=True)]

    # -- documents --------------------------------------------------------------------------------

    def disambiguate(
        self,
        text: str,
        spans: Iterable[Sequence[Any]],
        *,
        id: str | None = None,
        overlapping: bool = False,
        entities: EntitySet | Iterable[str | Entity] | None = None,
        types: Iterable[str] | None = None,
    ) -> Document:
        """Resolve the given mentions: ``(start, end)``, or ``(start, end, title)`` to clamp one to an entity.

        Offsets count code points. Overlapping spans are an error unless ``overlapping`` allows them.
        ``entities`` (titles, or what :meth:`only` made of them) are the only ones that may be an answer;
        ``types`` restricts answers to entities of these :data:`pboh.formats.types.TYPES`.
        """
        checked, only = check_spans(text, spans, overlapping), self._restriction(entities, types)
        part = SolvedPart(self.engine, text, checked, only)
        with self.engine.patience():
            return part.document(id)

    def link(
        self,
        text: str,
        *,
        mentions: Mentions = "names",
        threshold: float | None = None,
        nil: bool = False,
        spans: Iterable[Sequence[Any]] = (),
        hints: Iterable[Sequence[Any]] = (),
        id: str | None = None,
        entities: EntitySet | Iterable[str | Entity] | None = None,
        types: Iterable[str] | None = None,
        found: Possibilities | None = None,
    ) -> Document:
        """Find the mentions of a text and resolve them.

        ``mentions="names"`` finds persons, places, organisations, works, events, products and nationalities,
        ``"all"`` also concepts. ``threshold`` is the least confidence that this is a mention and its answer
        right (:attr:`Mention.detection`); 0 keeps every one that has an answer. ``nil`` also returns names
        without a known entity; their ``detection`` is the probability of just that.

        ``spans`` from elsewhere are kept whatever they are called, and detection works around them; to use
        them *instead*, call :meth:`disambiguate`. ``hints`` are spans of a recogniser,
        ``(start, end, score)``, with scores from 0 to 1: they are weighed. ``entities`` are all that
        may be an answer, as in :meth:`disambiguate`, and ``types`` the types that answers may have; a name
        that mostly means something of another type stays improbable. ``found`` is what :meth:`find` returned
        for the text.
        """
        from pboh.detection.link import link  # noqa: PLC0415  (given mentions need no detector)

        only = self._restriction(entities, types, certain=False)
        engine = self.engine.of_found
        with engine.patience():
            began = perf_counter()
            if found is None:
                found = self._find(text, mentions, spans, hints, only)
            spent = perf_counter() - began
            document = link(
                engine, text, found,
                mentions=mentions, threshold=threshold, nil=nil, id=id, only=only,
            )  # fmt: skip
        document.timings = {"detection": spent, **document.timings}
        return document

    def find(
        self,
        text: str,
        *,
        mentions: Mentions = "names",
        spans: Iterable[Sequence[Any]] = (),
        hints: Iterable[Sequence[Any]] = (),
        entities: EntitySet | Iterable[str | Entity] | None = None,
        types: Iterable[str] | None = None,
    ) -> Possibilities:
        """What may be a mention of a text: the first step of :meth:`link`, with the same options."""
        return self._find(text, mentions, spans, hints, self._restriction(entities, types, certain=False))

    def _find(
        self,
        text: str,
        mentions: Mentions,
        spans: Iterable[Sequence[Any]],
        hints: Iterable[Sequence[Any]],
        only: Restriction | None,
    ) -> Possibilities:
        from pboh.detection.link import meant  # noqa: PLC0415
        from pboh.detection.possibilities import check_hints, possibilities  # noqa: PLC0415

        given = check_spans(text, spans)
        keep = None if only is None else partial(meant, self.engine, text, only)
        return possibilities(
            text, self.detector, self.finder, mentions, given, check_hints(text, hints), keep
        )

    @cached_property
    def detector(self) -> Detector:
        """Finds the names of the model's dictionary in texts."""
        from pboh.detection.detector import Detector  # noqa: PLC0415

        return Detector(self.model)

    @cached_property
    def finder(self) -> Finder | None:
        """Finds names in texts as a reader would; None for a model that was trained without it."""
        from pboh.detection.finder import Finder  # noqa: PLC0415

        return Finder.of(self.model)

    def _restriction(
        self,
        entities: EntitySet | Iterable[str | Entity] | None,
        types: Iterable[str] | None = None,
        *,
        certain: bool = True,
    ) -> Restriction | None:
        only = None if entities is None else self.only(entities)
        return only if types is None else TypedSet(self.model, types, only, certain)

    # -- names ------------------------------------------------------------------------------------

    def canonical(
        self,
        names: Iterable[str],
        contexts: Iterable[str | None] | None = None,
        types: Iterable[str | None] | None = None,
        edges: Iterable[Sequence[Any]] | None = None,
        *,
        threshold: float | None = None,
        workers: int = 1,
        report: Report = silent,
    ) -> Groups:
        """Group names that mean the same: "IBM", "I.B.M." and "International Business Machines" are one.

        ``contexts`` are texts in which or of which each name is (a sentence, a description); ``types`` what
        kind of thing it is; ``edges`` pairs of rows or of names that are neighbours in a graph, which are
        resolved together. Names of no known entity are compared by form. No two names are merged unless the
        probability that they mean the same is at least ``threshold`` (0.6), and every member of a group
        says why it is there. Every row is in exactly one group.
        """
        from pboh.canonical import THRESHOLD, canonical  # noqa: PLC0415  (linking does not need it)

        least = THRESHOLD if threshold is None else threshold
        with self.engine.patience():
            return canonical(
                self.engine, names, contexts, types, edges,
                threshold=least, workers=workers, report=report,
            )  # fmt: skip

    # -- streams ----------------------------------------------------------------------------------

    def pipe(
        self,
        documents: Iterable[tuple[str, Sequence[Sequence[Any]]]],
        *,
        workers: int = 1,
        batch: int = 32,
        entities: EntitySet | Iterable[str | Entity] | None = None,
        types: Iterable[str] | None = None,
    ) -> Iterator[Document]:
        """Resolve a stream of ``(text, spans)`` in order; with several workers, on as many processes."""
        batches = _batches(documents, batch if workers > 1 else 1)
        only = None if entities is None else self.only(entities)
        names = None if types is None else check_types(types)
        for resolved in ordered_map(partial(self._batch, only, names), batches, workers):
            yield from resolved

    def _batch(
        self,
        only: EntitySet | None,
        types: tuple[str, ...] | None,
        batch: list[tuple[str, Sequence[Sequence[Any]]]],
    ) -> list[Document]:
        return [self.disambiguate(text, spans, entities=only, types=types) for text, spans in batch]


def _batches(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
