"""The linker as a service uses it: within limits, off the event loop, counted, and ready or not."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.requests import Request

from pboh.deadline import OvertimeError, deadline
from pboh.errors import PbohError
from pboh.linker import Linker
from pboh.service.errors import RequestError
from pboh.service.metrics import Metrics
from pboh.service.options import Limits

T = TypeVar("T")
_SMALL = 64 << 10  # bytes of a body that every connection may hold
log = logging.getLogger("pboh.service")


class BoundedLinker:
    """Takes requests, and hands them to a linker that may still be loading."""

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
        self._held = 0  # bytes of large bodies
        self._stopped = threading.Event()

    def start(self, patience: float = 0.0) -> None:
        """Load the model aside, waiting that long; requests are told to wait until it has answered."""
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

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, whole, if it is not too long and there is room for it until the answer.

        Large bodies share a limited room, so that small ones always find some.
        """
        limit, room = self.limits.body, self.limits.waiting_bytes
        too_long = RequestError(413, f"the request is larger than {limit:,} bytes", todo="Send it in parts")
        if int(request.headers.get("content-length", 0)) > limit:
            raise too_long
        body, held = bytearray(), 0
        try:
            async for part in request.stream():
                body += part
                if len(body) > limit:
                    raise too_long
                more = max(0, len(body) - _SMALL) - held
                held, self._held = held + more, self._held + more
                if self._held > room:
                    what = f"the large requests waiting here add up to more than {room:,} bytes"
                    raise RequestError(503, what, todo="Ask again later")
            yield bytes(body)
        finally:
            self._held -= held

    async def run(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something on a computing thread, if it gets one and finishes in time."""
        if self._waiting >= self.limits.waiting:
            what = f"{self._waiting} requests are already waiting"
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
