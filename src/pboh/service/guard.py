"""The outermost layer: bodies within bounds, slow clients cut off, every request logged and counted."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import Any

import msgspec

from pboh.service.metrics import Metrics
from pboh.service.options import Limits

Scope = dict[str, Any]
log = logging.getLogger("pboh.service")

_LINGER_SECONDS = 1.0  # how long a client that sends too much is read on, so that it sees the answer
_LINGER_BYTES = 8 << 20
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


class Guard:
    """Wraps an ASGI application; reads request bodies for it, whole and bounded, before it is called."""

    def __init__(self, app: Any, limits: Limits, metrics: Metrics) -> None:
        self.app, self.limits, self.metrics = app, limits, metrics

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        began, exchange = perf_counter(), _Exchange(send)
        facts: dict[str, Any] = {}
        scope.setdefault("state", {})["facts"] = facts
        try:
            body = await self._read(scope, receive)
            await self.app(scope, _replay(body, receive), exchange.send)
        except _RefusedError as refused:
            await exchange.refuse(refused, receive)
        except ClientGoneError:
            exchange.status = 499
        except Exception:
            log.exception(
                "the request failed", extra={"facts": {"method": scope["method"], "path": scope["path"]}}
            )
            await exchange.answer(500, "something went wrong on this side; the log says what.")
        finally:
            self._record(scope, exchange.status, perf_counter() - began, facts)

    async def _read(self, scope: Scope, receive: Any) -> bytes:
        """The body, if the client sends it in time and it is not too long."""
        limit = self.limits.body
        too_long = _RefusedError(413, f"the request is larger than {limit:,} bytes; send it in parts.")
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value) > limit:
                raise too_long
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.client_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGoneError
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise too_long
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            seconds = f"{self.limits.client_seconds:g} seconds"
            raise _RefusedError(408, f"the request was not complete after {seconds}.") from None

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


class ClientGoneError(Exception):
    """The client closed the connection before its request was complete."""


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
        left = _LINGER_BYTES
        try:
            async with asyncio.timeout(_LINGER_SECONDS):
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
