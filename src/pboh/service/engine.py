"""The linker as a service uses it: within limits, off the event loop, counted, and ready or not."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from pboh.document import Document
from pboh.errors import PbohError
from pboh.inference.engine import Solution
from pboh.inference.spans import Span, check_spans
from pboh.linker import Linker
from pboh.service.errors import TooLargeError, UnavailableError, UnprocessableError
from pboh.service.metrics import Metrics
from pboh.service.options import Limits

T = TypeVar("T")
NAMES_PER_MENTION = 5  # of the names a text holds, about every third turns out to be a mention
log = logging.getLogger("pboh.service")


class Engine:
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
        except PbohError as reason:
            self._failure = reason
            log.error("the model cannot be loaded", extra={"facts": {"reason": str(reason)}})  # noqa: TRY400
            return
        except Exception as reason:
            self._failure = reason
            log.exception("the model cannot be loaded")
            return
        self._linker = linker

    def stop(self) -> None:
        """Let running work finish and take no more."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    @property
    def linker(self) -> Linker:
        """The linker, once it is there."""
        if self._linker is None:
            if self._failure is not None:
                raise UnavailableError(f"the model cannot be loaded ({str(self._failure).rstrip('.')})")
            raise UnavailableError("the model is still loading", todo="Ask again in a moment")
        return self._linker

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do the computing of a request on a thread of its own; nobody waits longer than the limit."""
        if self._waiting >= self.limits.waiting:
            raise UnavailableError("too many requests are waiting", todo="Ask again in a moment")
        self._waiting += 1
        future: Future[T] = self._threads.submit(work, *arguments)
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            limit = f"{self.limits.seconds:g} seconds"
            if future.cancel():  # it had not begun
                raise UnavailableError(
                    f"there was no free thread within {limit}", todo="Ask again later"
                ) from None
            raise UnprocessableError(f"this takes longer than {limit}", todo="Send less at a time") from None
        finally:
            self._waiting -= 1

    # -- documents --------------------------------------------------------------------------------

    def disambiguate(
        self, text: str, spans: Iterable[Sequence[Any]], *, id: str | None = None, overlapping: bool = False
    ) -> Document:
        """Resolve given mentions."""
        document = self.linker.disambiguate(text, self._few(spans), id=id, overlapping=overlapping)
        self.metrics.document(document)
        return document

    def link(self, text: str, *, threshold: float | None = None) -> Document:
        """Find the mentions of a text and resolve them."""
        names, limit = len(self.linker.detector.detect(text).start), NAMES_PER_MENTION * self.limits.mentions
        if names > limit:
            raise TooLargeError(
                f"the text holds {names:,} names and the limit is {limit:,}", todo="Send it in parts"
            )
        document = self.linker.link(text, threshold=threshold)
        self.metrics.document(document)
        return document

    def solve(
        self, text: str, spans: Iterable[Sequence[Any]], overlapping: bool
    ) -> tuple[list[Span], Solution]:
        """The arrays behind :meth:`disambiguate`, with the beliefs of every round."""
        checked = check_spans(text, self._few(spans), overlapping)
        return checked, self.linker.solve(text, checked)

    def _few(self, spans: Iterable[Sequence[Any]]) -> list[Sequence[Any]]:
        given = list(spans)
        if len(given) > self.limits.mentions:
            raise self._too_many(len(given))
        return given

    def _too_many(self, count: int) -> TooLargeError:
        what = f"the document has {count:,} mentions and the limit is {self.limits.mentions:,}"
        return TooLargeError(what, todo="Send it in parts")

    def links(self, title: str) -> int:
        """How many links of the corpus lead to an entity: what Spotlight calls support."""
        entity = self.linker.entity(title)
        return 0 if entity is None else self.linker.model.links(entity.index)
