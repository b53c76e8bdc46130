"""The application: every address of the service put together, with errors that are sentences."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

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
_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_INDEX = {"text/html": STRING}
_PLACES = {"index.html": ["/"], "docs.html": ["/docs"]}


def open_linker(options: Options) -> Linker:
    """The linker a server was asked for."""
    return load(options.model, paper=options.paper, **options.settings)


def create_app(bounded: BoundedLinker) -> Guard:
    """The ASGI application over a linker, which is started and stopped with it."""

    @asynccontextmanager
    async def life(_: Any) -> AsyncIterator[None]:
        await asyncio.to_thread(bounded.start, _PATIENCE)
        yield
        bounded.stop()

    protocols = (v1, nif, spotlight, rel, reconcile)
    addresses = [address for protocol in protocols for address in protocol.ADDRESSES] + _OPERATION + _pages()
    description = _fixed(json_response(openapi(addresses)))
    addresses.append(Address("GET", "/openapi.json", description, "page", instant=True))
    by_path: dict[str, dict[str, Address]] = defaultdict(dict)
    for address in addresses:
        by_path[address.path][address.method] = address
    routes = [Route(path, _Path(bounded, found)) for path, found in by_path.items()]
    return Guard(Router(routes, default=_nowhere, lifespan=life), bounded.metrics)


class _Path:
    """Answers the methods of one path."""

    def __init__(self, bounded: BoundedLinker, addresses: dict[str, Address]) -> None:
        self.bounded, self.addresses = bounded, addresses

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        address = self.addresses.get("GET" if scope["method"] == "HEAD" else scope["method"])
        if address is not None:
            response = await self._response(address, scope, receive)
        else:
            response = problem(RequestError(405, "this address does not take that method"))
            methods = [*self.addresses, *(["HEAD"] if "GET" in self.addresses else [])]
            response.headers["allow"] = ", ".join(methods)
        await response(scope, receive, send)

    async def _response(self, address: Address, scope: Any, receive: Any) -> Response:
        scope["state"]["facts"]["route"] = address.path
        request = Request(scope, receive)
        async with self.bounded.body(request) as body:
            call = Call(request, body, self.bounded)
            if address.instant:
                return address.response(call)
            return await self.bounded.run(address.response, call)


async def _nowhere(scope: Any, receive: Any, send: Any) -> None:
    raise RequestError(404, "there is nothing at this address; /docs lists what there is")


# -- operation and pages --------------------------------------------------------------------------------


def healthz(call: Call) -> Any:
    """The process lives."""
    return {"status": "alive"}


def readyz(call: Call) -> Any:
    """The model answers."""
    call.linker.disambiguate("Ada", [(0, 3)])
    return {"status": "ready"}


def metrics(call: Call) -> Response:
    """Counters for Prometheus, summed over all workers."""
    return Response(call.bounded.metrics.page(), headers={"content-type": CONTENT_TYPE})


_STATUS: dict[str, Any] = {JSON: {"type": "object", "properties": {"status": STRING}}}
_OPERATION = [
    Address("GET", "/healthz", healthz, "operation", gives=_STATUS, instant=True),
    Address("GET", "/readyz", readyz, "operation", gives=_STATUS),
    Address("GET", "/metrics", metrics, "operation", gives={"text/plain": STRING}, instant=True),
]


def _pages() -> list[Address]:
    """The page at `/` and the reference at `/docs`; nothing is fetched from elsewhere."""
    found = []
    for entry in (files("pboh.service") / "page").iterdir():
        if kind := _TYPES.get(entry.name.rpartition(".")[2]):
            page = Response(entry.read_bytes(), headers={"cache-control": "no-cache"}, media_type=kind)
            paths = [f"/page/{entry.name}", *_PLACES.get(entry.name, ())]
            found += [
                Address("GET", path, _fixed(page), "page", gives=_INDEX if path == "/" else {}, instant=True)
                for path in paths
            ]
    return found


def _fixed(response: Response) -> Callable[[Call], Response]:
    def page(call: Call) -> Response:
        """A page for browsers."""
        return response

    return page
