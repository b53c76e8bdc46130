"""The linker as a service uses it: within limits, off the event loop, counted, and ready or not."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from pboh.deadline import OvertimeError, deadline
from pboh.document import Document, Entity
from pboh.errors import PbohError
from pboh.linker import Linker
from pboh.service.errors import RequestError, clean, too_many
from pboh.service.metrics import Metrics
from pboh.service.options import Limits

T = TypeVar("T")
NAMES_PER_MENTION = 5  # of the names a text holds, about every third turns out to be a mention
log = logging.getLogger("pboh.service")


class BoundedLinker:
    """Answers documents with a linker that may still be loading."""

    def __init__(
        self,
        load: Callable[[], Linker],
        limits: Limits | None = None,
        metrics: Metrics | None = None,
        threads: int = 2,
    ) -> None:
        self.limits = limits or Limits()
        self.metrics = metrics or Metrics()
        self._load = load
        self._linker: Linker | None = None
        self._failure: Exception | None = None
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="pboh")
        self._waiting = 0
        self._stopped = threading.Event()

    # -- life -------------------------------------------------------------------------------------

    def start(self, patience: float = 0.0) -> None:
        """Load the model aside, waiting so many seconds; requests are told to wait until it has answered."""
        if self._linker is None:
            thread = threading.Thread(target=self.load, name="pboh-load", daemon=True)
            thread.start()
            thread.join(patience)

    def load(self) -> None:
        """Load the model and let it answer once, so that the first request does not wait for kernels."""
        try:
            linker = self._load()
            title = linker.model.title(0) if linker.model.entities else "Ada"
            linker.link(f"{title} and {title} met.", spans=[(0, len(title))])
        except Exception as reason:
            self._failure = reason
            told = {"facts": {"reason": str(reason)}}
            unexpected = not isinstance(reason, PbohError)
            log.error("the model cannot be loaded", extra=told, exc_info=unexpected)  # noqa: TRY400
            return
        self._linker = linker

    def stop(self) -> None:
        """End running work at its next step and take no more."""
        self._stopped.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    @property
    def linker(self) -> Linker:
        """The linker, once it is there."""
        if self._linker is None:
            what = "the model could not be loaded" if self._failure else "the model is still being loaded"
            raise RequestError(503, what, todo="See the log" if self._failure else "Ask again in a moment")
        return self._linker

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something on a computing thread, if it gets one and finishes in time."""
        if self._waiting >= self.limits.waiting:
            what = f"{self._waiting} requests are waiting already"
            raise RequestError(503, what, todo="Ask again in a moment")
        self._waiting += 1
        given_up = threading.Event()
        future: Future[T] = self._threads.submit(self._timed, given_up, work, *arguments)
        limit = f"{self.limits.seconds:g} seconds"
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.wrap_future(future)
        except (TimeoutError, OvertimeError):
            if future.cancelled():  # it had not begun
                what = f"there was no free thread within {limit}"
                raise RequestError(503, what, todo="Ask again later") from None
            raise RequestError(422, f"this takes longer than {limit}", todo="Send less at a time") from None
        finally:
            given_up.set()
            self._waiting -= 1

    def _timed(self, given_up: threading.Event, work: Callable[..., T], *arguments: Any) -> T:
        """Work that ends when its time is over, when nobody waits for it, or when the server stops."""
        with deadline(self.limits.seconds, lambda: given_up.is_set() or self._stopped.is_set()):
            return work(*arguments)

    # -- documents --------------------------------------------------------------------------------

    def disambiguate(
        self, text: str, spans: Sequence[Sequence[Any]], *, overlapping: bool = True
    ) -> Document:
        """Resolve given mentions."""
        limits = self.limits
        if len(spans) > limits.mentions:
            raise too_many(len(spans), "mentions", limits.mentions)
        longest = max((min(span[1], len(text)) - span[0] for span in spans), default=0)
        if longest > limits.mention_characters:
            raise too_many(longest, "characters in a mention", limits.mention_characters)
        return self._counted(self.linker.disambiguate(text, spans, overlapping=overlapping))

    def link(self, text: str, *, threshold: float | None = None) -> Document:
        """Find the mentions of a text and resolve them."""
        spots, limit = self.linker.detector.detect(text), NAMES_PER_MENTION * self.limits.mentions
        if len(spots) > limit:
            raise too_many(len(spots), "names", limit)
        return self._counted(self.linker.link(text, threshold=threshold, spots=spots))

    def _counted(self, document: Document) -> Document:
        self.metrics.document(document)
        return document

    # -- entities ---------------------------------------------------------------------------------

    def named(self, name: str) -> list[Entity]:
        """Entities a name may mean, likeliest first; an entity of that very title goes in front."""
        limit = self.limits.mention_characters
        if not 1 <= len(name) <= limit:
            raise RequestError(422, f"a name has 1 to {limit:,} characters, and this one has {len(name):,}")
        exact = self.linker.entity(name)
        [mention] = self.linker.disambiguate(name, [(0, len(name))])
        found = sorted(mention.candidates, key=lambda candidate: -candidate.prior)
        entities = ([] if exact is None else [exact]) + [candidate.entity for candidate in found]
        return list(dict.fromkeys(entities))

    def entity(self, title: str) -> Entity:
        """The entity of a title or redirect."""
        entity = self.linker.entity(title)
        if entity is None:
            raise RequestError(404, f"the model knows no entity {clean(title)!r}")
        return entity

    def links(self, entity: Entity) -> int:
        """How many links of the corpus lead to an entity: what Spotlight calls support."""
        return self.linker.model.links(entity.index)
