"""The outermost layer: every request is logged and counted, and every answer carries the same headers."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect

from pboh.errors import PbohError
from pboh.service.call import problem
from pboh.service.errors import RequestError
from pboh.service.metrics import Metrics

Scope = dict[str, Any]
log = logging.getLogger("pboh.service")

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"))


class Guard:
    """Wraps an ASGI application."""

    def __init__(self, app: Any, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 0
        facts: dict[str, Any] = {}
        scope.setdefault("state", {})["facts"] = facts

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status, headers = message["status"], message["headers"]
                given = {name for name, _ in headers}
                message["headers"] = headers + [header for header in _HEADERS if header[0] not in given]
            await send(message)

        try:
            try:
                await self.app(scope, receive, answer)
            except PbohError as error:
                await problem(error)(scope, receive, answer)
            except asyncio.CancelledError:
                if not status:
                    await problem(RequestError(503, "the server is being stopped"))(scope, receive, answer)
            except ClientDisconnect:  # nobody reads this any more
                status = status or scope["state"].get("refused", 499)
            except Exception:
                asked = {"method": scope["method"], "path": scope["path"]}
                log.exception("the request failed", extra={"facts": asked})
                if not status:
                    failed = RequestError(500, "something went wrong on this side; the log says what")
                    await problem(failed)(scope, receive, answer)
        finally:
            self._record(scope, status, perf_counter() - began, facts)

    def _record(self, scope: Scope, status: int, seconds: float, facts: dict[str, Any]) -> None:
        route = facts.pop("route", "unmatched")
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self.metrics.request(method, route, status, seconds)
        if log.isEnabledFor(logging.INFO):
            shown = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": round(seconds * 1000, 3),
                "client": (scope.get("client") or ("",))[0],
                **facts,
            }
            log.info("request", extra={"facts": shown})
