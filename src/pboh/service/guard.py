"""The outermost layer: bodies within bounds, slow clients cut off, every request logged and counted."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import Any

import msgspec

from pboh.service.connection import LINGER_BYTES, LINGER_SECONDS
from pboh.service.metrics import Metrics
from pboh.service.options import Limits

Scope = dict[str, Any]
log = logging.getLogger("pboh.service")

_SMALL = 64 << 10  # bytes of a body that every connection may hold
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
]


class _RefusedError(Exception):
    """The request is not read to its end."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status, self.sentence = status, sentence


class _GoneError(Exception):
    """The client closed the connection before its request was complete."""


class Guard:
    """Wraps an ASGI application; reads request bodies for it, whole and bounded, before it is called."""

    def __init__(self, app: Any, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics
        self._held = 0  # bytes of large bodies

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began, exchange, body = perf_counter(), _Exchange(send), bytearray()
        facts: dict[str, Any] = {}
        scope.setdefault("state", {})["facts"] = facts
        try:
            await self._read(scope, receive, body)
            await self.app(scope, _replay(bytes(body), receive), exchange.send)
        except _RefusedError as refused:
            await exchange.refuse(refused, receive)
        except _GoneError:
            exchange.status = 499
        except asyncio.CancelledError:
            await exchange.answer(503, "the server is being stopped.")
        except Exception:
            log.exception(
                "the request failed", extra={"facts": {"method": scope["method"], "path": scope["path"]}}
            )
            await exchange.answer(500, "something went wrong on this side; the log says what.")
        finally:
            self._held -= max(0, len(body) - _SMALL)
            self._record(scope, exchange.status, perf_counter() - began, facts)

    async def _read(self, scope: Scope, receive: Any, body: bytearray) -> None:
        """Fill ``body``, if the client sends it in time, it is not too long, and there is room for it."""
        limit = self.limits.body
        too_long = _RefusedError(413, f"the request is larger than {limit:,} bytes; send it in parts.")
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and (len(value) > 15 or int(value) > limit):
                raise too_long
        try:
            async with asyncio.timeout(self.limits.client_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _GoneError
                    self._take(body, message.get("body", b""))
                    if len(body) > limit:
                        raise too_long
                    if not message.get("more_body", False):
                        return
        except TimeoutError:
            seconds = f"{self.limits.client_seconds:g} seconds"
            raise _RefusedError(408, f"the request was not complete after {seconds}.") from None

    def _take(self, body: bytearray, part: bytes) -> None:
        """Add a part to a body; large bodies share a limited room, so that small ones always find some."""
        before = max(0, len(body) - _SMALL)
        body += part
        self._held += max(0, len(body) - _SMALL) - before
        if self._held > self.limits.waiting_bytes:
            limit = f"{self.limits.waiting_bytes:,} bytes"
            raise _RefusedError(
                503, f"large requests wait here that together reach {limit}; ask again later."
            )

    def _record(self, scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> None:
        route = facts.pop("route", "unmatched")
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self.metrics.request(method, route, status, seconds)
        if log.isEnabledFor(logging.INFO):
            client = scope.get("client") or ("",)
            shown = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": round(seconds * 1000, 3),
                "client": client[0],
                **facts,
            }
            log.info("request", extra={"facts": shown})


_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))


class _Exchange:
    """The answer on its way out: remembers its status and adds the headers every answer carries."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self.status = 500
        self.started = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.started = message["status"], True
            given = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _HEADERS if pair[0] not in given)]
        await self._send(message)

    async def answer(self, status: int, sentence: str, *, last: bool = True) -> None:
        """A sentence as JSON, unless an answer has begun already; the connection is closed behind it."""
        if self.started:
            return
        body = msgspec.json.encode({"error": sentence})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": not last})

    async def refuse(self, refused: _RefusedError, receive: Any) -> None:
        """Answer at once, then read on for a moment: a client that is still sending would miss the answer."""
        await self.answer(refused.status, refused.sentence, last=False)
        left = LINGER_BYTES
        try:
            async with asyncio.timeout(LINGER_SECONDS):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b"")) or 1
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        break
        except TimeoutError:
            pass
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})


def _replay(body: bytes, receive: Any) -> Any:
    """A ``receive`` that hands out a body read before, then whatever the client does next."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return pending.pop() if pending else await receive()

    return replay
