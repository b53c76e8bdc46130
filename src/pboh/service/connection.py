"""One HTTP connection: bounded heads, one request at a time, and clients that may not dawdle."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from pboh.service.options import Limits

# Bytes to parse before other connections have their turn, by what is being read: a few milliseconds at most.
_HEAD_SLICE, _BODY_SLICE, _CHUNKS_SLICE = 4 << 10, 16 << 10, 1 << 10
_LINGER_SECONDS = 1.0  # how long a client that was refused is read on, so that it sees the answer
_LINGER_BYTES = 8 << 20


class Connection(H11Protocol, asyncio.BufferedProtocol):
    """uvicorn's HTTP/1.1 with limits where it has none.

    A client is read a slice at a time, and not while an answer is on its way: what it sends ahead waits on
    its own side. It has this many seconds to send a request, and to take the next part of an answer.
    """

    def __init__(self, *arguments: Any, limits: Limits, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limits = limits
        self._slice = bytearray()
        self._ended = False  # the client sends no more
        self._refused = False
        self._last = False  # the server stops after this request
        self._spare = 0  # bytes that may still come and are neither head nor body
        self._timer: asyncio.TimerHandle | None = None

    # -- reading ----------------------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        """A client that connects has to say something."""
        super().connection_made(transport)
        self._expect(self._late)
        if len(self.connections) > self._limits.connections:
            self._refuse(503, "there are too many connections; ask again in a moment")

    def get_buffer(self, sizehint: int) -> bytearray:
        """Room for the next slice."""
        size = _HEAD_SLICE
        if not self._between_requests():
            chunked = any(name == b"transfer-encoding" for name, _ in self.headers)
            size = _CHUNKS_SLICE if chunked else _BODY_SLICE
        self._slice = bytearray(size)
        return self._slice

    def buffer_updated(self, nbytes: int) -> None:
        """Parse a slice, or throw it away when the answer has been given already."""
        self._spare -= nbytes
        if self._spare < 0 and (self._refused or self._drains()):
            self.transport.abort()
        elif not self._refused:
            if self._between_requests() and not self._drains():
                self._spare = self._limits.head
            before = 0 if self._between_requests() else len(self.cycle.body)
            self.data_received(bytes(memoryview(self._slice)[:nbytes]))
            self._judge(before)

    def _judge(self, before: int) -> None:
        """See how far the request is, and whether its chunks outweigh what they carry."""
        if not self._refused and not self._between_requests():
            self.cycle.keep_alive &= not self._last
            self._spare += 2 * (len(self.cycle.body) - before)
            if self._spare < 0 and self.cycle.more_body:
                self._refuse(400, "the chunks of the request are too small")
        if self._answering() and not self.flow.write_paused:
            self._relax()
        elif self._timer is None:
            self._expect(self._late)

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _answering(self) -> bool:
        """Whether a whole request was read and its answer is not complete."""
        return not self._refused and not self._between_requests() and not self.cycle.more_body

    def _drains(self) -> bool:
        """Whether a client still sends a request that was answered before its end."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def on_response_complete(self) -> None:
        """Go on with what was sent meanwhile; a client that sends no more has its answer."""
        super().on_response_complete()
        if self._drains():
            self._spare = _LINGER_BYTES
        elif not self._between_requests():
            self._spare = self._limits.head
            self._judge(0)
        elif self._ended:
            self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that only stopped sending still gets its answer."""
        self._ended = True
        return self._answering()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._relax()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close at once if idle; a client that has just connected may still ask its question."""
        never_asked = self.cycle is None
        if self._refused:
            self.transport.close()
        elif never_asked:
            self._last = True
            self._expect(self.transport.close, _LINGER_SECONDS)
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
        if self._answering():
            self._relax()
        elif not self.transport.is_closing():
            self._expect(self._late)

    def _late(self) -> None:
        never_asked = self.cycle is None
        if self._between_requests() and not never_asked and not self.conn.trailing_data[0]:
            self.transport.abort()  # it has its answer
        else:
            self._refuse(408, f"the request was not complete after {self._limits.client_seconds:g} seconds")

    # -- refusing ---------------------------------------------------------------------------------

    def send_400_response(self, msg: str) -> None:
        """Say in JSON what is wrong with a request that cannot be parsed."""
        status = getattr(sys.exc_info()[1], "error_status_hint", 400)
        told = {431: f"the head of the request is larger than {self._limits.head:,} bytes"}
        self._refuse(status, told.get(status, "this is not a request in HTTP/1.1"))

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer without the application, then read on for a moment: the client may still be sending."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._spare = _LINGER_BYTES
        self.flow.resume_reading()
        if not self._between_requests():
            self.cycle.scope["state"]["refused"] = status
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
        self._expect(self.transport.close, _LINGER_SECONDS)
