"""The application: every address of the service put together, with errors that are sentences."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pboh.errors import PbohError
from pboh.linker import Linker, load
from pboh.service.address import JSON, STRING, Address, openapi
from pboh.service.bounded import BoundedLinker
from pboh.service.call import Call, json_response, problem
from pboh.service.errors import RequestError
from pboh.service.guard import Guard
from pboh.service.metrics import CONTENT_TYPE
from pboh.service.options import Options
from pboh.service.protocols import nif, reconcile, rel, spotlight, v1

_PATIENCE = 5.0  # seconds a worker waits for its model before it takes requests that it can only put off
_PAGE = files("pboh.service") / "page"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


def open_linker(options: Options) -> Linker:
    """The linker a server was asked for."""
    return load(options.model, paper=options.paper, **options.settings)


def create_app(bounded: BoundedLinker) -> Guard:
    """The ASGI application over a linker, which is started and stopped with it."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(bounded.start, _PATIENCE)
        yield
        bounded.stop()

    protocols = (v1, nif, spotlight, rel, reconcile)
    addresses = [address for protocol in protocols for address in protocol.ADDRESSES] + _OPERATION
    description = json_response(openapi(addresses))
    addresses.append(Address("GET", "/openapi.json", lambda *_: description, "page", instant=True))
    by_path: dict[str, dict[str, Address]] = defaultdict(dict)
    for address in [*addresses, *_pages()]:
        by_path[address.path][address.method] = address
    routes = [Route(path, _endpoint(bounded, found), methods=list(found)) for path, found in by_path.items()]
    app = Starlette(routes=routes, lifespan=life, exception_handlers={HTTPException: _elsewhere})
    return Guard(app, bounded.limits, bounded.metrics)


def _endpoint(
    bounded: BoundedLinker, addresses: dict[str, Address]
) -> Callable[[Request], Awaitable[Response]]:
    """Answers the methods of one path."""

    async def endpoint(request: Request) -> Response:
        address = addresses["GET" if request.method == "HEAD" else request.method]
        request.state.facts["route"] = address.path
        call = Call(request, await request.body(), bounded.limits)
        try:
            if address.instant:
                return address.answer(bounded, call)
            return await bounded.run(address.answer, bounded, call)
        except PbohError as error:
            return problem(error)

    return endpoint


async def _elsewhere(_: Request, error: Exception) -> Response:
    """Addresses and methods that do not exist."""
    missing = isinstance(error, HTTPException) and error.status_code == 404
    if missing:
        return problem(RequestError(404, "there is nothing at this address; /docs lists what there is"))
    response = problem(RequestError(405, "this address does not take that method"))
    response.headers.update(getattr(error, "headers", None) or {})
    return response


# -- operation and pages --------------------------------------------------------------------------------


def healthz(bounded: BoundedLinker, call: Call) -> Response:
    """The process lives."""
    return json_response({"status": "alive"})


def readyz(bounded: BoundedLinker, call: Call) -> Response:
    """The model answers."""
    bounded.linker.disambiguate("Ada", [(0, 3)])
    return json_response({"status": "ready"})


def metrics(bounded: BoundedLinker, call: Call) -> Response:
    """Counters for Prometheus, summed over all workers."""
    return Response(bounded.metrics.page(), headers={"content-type": CONTENT_TYPE})


_STATUS: dict[str, Any] = {JSON: {"type": "object", "properties": {"status": STRING}}}
_OPERATION = [
    Address("GET", "/healthz", healthz, "operation", gives=_STATUS, instant=True),
    Address("GET", "/readyz", readyz, "operation", gives=_STATUS),
    Address("GET", "/metrics", metrics, "operation", gives={"text/plain": STRING}, instant=True),
]


def _pages() -> list[Address]:
    """The page at `/` and the reference at `/docs`; nothing is fetched from elsewhere."""
    found = []
    for entry in _PAGE.iterdir():
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is None:
            continue
        response = Response(entry.read_bytes(), headers={"content-type": kind, "cache-control": "no-cache"})
        paths = [f"/page/{entry.name}", *({"index.html": ["/"], "docs.html": ["/docs"]}.get(entry.name, []))]
        found += [
            Address("GET", path, lambda *_, page=response: page, "page", instant=True) for path in paths
        ]
    return found
