"""One HTTP connection: bounded heads, one request at a time, and clients that may not dawdle."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import msgspec
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from pboh.service.options import Limits

# Bytes to parse before other connections have their turn, by what is being read: a few milliseconds at most.
_HEAD_SLICE, _BODY_SLICE, _CHUNKS_SLICE = 4 << 10, 64 << 10, 1 << 10
LINGER_SECONDS = 1.0  # how long a client that sends too much is read on, so that it sees the answer
LINGER_BYTES = 8 << 20


class Connection(H11Protocol):
    """uvicorn's HTTP/1.1 with limits where it has none.

    A client is read as fast as its requests are parsed, a slice at a time, and not while an answer is on its
    way: what it sends ahead waits on its own side. There is a time for the head of a request and for taking
    an answer; between them the guard has its own. Offers of other protocols are ignored.
    """

    flow: _Flow

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._unread = bytearray()
        self._ended = False  # the client sends no more
        self._refused = False
        self._last = False  # the server stops after this request
        self._spare = limits.head  # bytes that may still be neither head nor body
        self._timer: asyncio.TimerHandle | None = None

    # -- reading ----------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """A client that connects has to say something."""
        super().connection_made(transport)
        self.flow = _Flow(transport, lambda: self.loop.call_soon(self._read_on))
        self._expect(self._late)
        if len(self.connections) > self._limits.connections:
            self._refuse(503, "there are too many connections; ask again in a moment")

    def data_received(self, data: bytes) -> None:
        """Keep what came, and parse as much of it as is due."""
        if not self._refused:
            self._unread += data
            self._read_on()
            return
        self._spare -= len(data)
        if self._spare < -LINGER_BYTES:
            self.transport.abort()

    def _read_on(self) -> None:
        if self._refused or self.transport.is_closing():
            return
        if self._unread and not self._answering() and not self.flow.full:
            size = self._slice()
            part = bytes(self._unread[:size])
            del self._unread[:size]
            if not self._parse(part):
                return
            if not self._between_requests():
                self._relax()
                self.cycle.keep_alive &= not self._last
            elif self._timer is None:
                self._expect(self._late)
            if self._unread:
                self.loop.call_soon(self._read_on)
        self.flow.hold(bool(self._unread))

    def _parse(self, part: bytes) -> bool:
        """Parse a slice, False if that ends the connection; chunks may not outweigh what they carry."""
        before = 0 if self._between_requests() else len(self.cycle.body)
        if self._between_requests():
            self._spare = self._limits.head
        super().data_received(part)
        if not self._refused and not self._between_requests():
            self._spare += 2 * (len(self.cycle.body) - before) - len(part)
            if self._spare < 0 and self.cycle.more_body:
                self._refuse(400, "the chunks of the request are too small")
        return not self._refused

    def _slice(self) -> int:
        if self._between_requests():
            return _HEAD_SLICE
        return _CHUNKS_SLICE if any(b"transfer-encoding" in pair for pair in self.headers) else _BODY_SLICE

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _answering(self) -> bool:
        """Whether a whole request was read and its answer is not complete."""
        return not self._between_requests() and not self.cycle.more_body

    def on_response_complete(self) -> None:
        """Go on with what was sent meanwhile; a client that sends no more has its answer."""
        super().on_response_complete()
        if self._unread:
            self.loop.call_soon(self._read_on)
        elif self._ended and self._between_requests():
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that only stopped sending still gets its answer."""
        self._ended = True
        return not self._refused and (self._answering() or bool(self._unread))

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._relax()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close at once if idle; a client that has just connected may still ask its question."""
        never_asked = self.cycle is None
        if never_asked and not self._refused:
            self._last = True
            self._expect(self.transport.close, LINGER_SECONDS)
        else:
            super().shutdown()

    # -- patience ---------------------------------------------------------------------------------

    def _expect(self, late: Callable[[], None], seconds: float | None = None) -> None:
        self._relax()
        self._timer = self.loop.call_later(seconds or self._limits.client_seconds, late)

    def _relax(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause_writing(self) -> None:
        """The client does not take the answer: it has to, some time."""
        super().pause_writing()
        self._expect(self.transport.abort)

    def resume_writing(self) -> None:
        """It took some of it."""
        super().resume_writing()
        self._relax()

    def _late(self) -> None:
        self._timer = None
        if self._between_requests() and not self.transport.is_closing():
            self._refuse(408, "the request was not complete in time")

    # -- refusing ---------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Say in JSON what is wrong with a request that cannot be parsed."""
        status = getattr(sys.exc_info()[1], "error_status_hint", 400)
        told = {431: f"the head of the request is larger than {self._limits.head:,} bytes"}
        self._refuse(status, told.get(status, "this is not a request in HTTP/1.1"))

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer without the application, then read on for a moment: the client may still be sending."""
        self._refused = True
        self._unread.clear()
        self.flow.full = False
        self.flow.hold(False)
        if not self._between_requests():
            self.cycle.disconnected = True  # for the application the client is gone
            self.cycle.message_event.set()
            if self.cycle.response_started:
                self.transport.close()
                return
        body = msgspec.json.encode({"error": f"{sentence}."})
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
        self.transport.write(
            f"{head}connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
        )
        self._expect(self.transport.close, LINGER_SECONDS)


class _Flow(FlowControl):
    """Reading stops while uvicorn has enough (``full``) or while something waits to be parsed."""

    def __init__(self, transport: Any, resumed: Callable[[], Any]) -> None:
        super().__init__(transport)
        self.full = False
        self._resumed = resumed

    def pause_reading(self) -> None:
        """uvicorn has enough."""
        self.full = True
        super().pause_reading()

    def resume_reading(self) -> None:
        """uvicorn takes more, first of what was read already."""
        if self.full:
            self.full = False
            self._resumed()

    def hold(self, held: bool) -> None:
        """Read no more for now, or again."""
        if held or self.full:
            super().pause_reading()
        else:
            super().resume_reading()
