"""The application: every address of the service put together, with errors that are sentences."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from threading import Thread
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import pboh
from pboh.errors import PbohError
from pboh.linker import Linker, load
from pboh.service import api, nif, reconcile, rel, spotlight
from pboh.service.engine import Engine
from pboh.service.guard import Guard
from pboh.service.metrics import CONTENT_TYPE
from pboh.service.options import Options
from pboh.service.wire import json_response, media_type, problem

_PATIENCE = 5.0  # seconds a worker waits for its model before it takes requests that it can only put off
_PAGE = files("pboh.service") / "page"
_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


def from_environment() -> Guard:
    """The application a worker process runs."""
    options = Options.from_environment()
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent,), name="pboh-parent", daemon=True).start()
    return create_app(Engine(lambda: open_linker(options), options.limits, threads=options.threads))


def _end_with(parent: Any) -> None:
    """Stop this worker when the server that started it is gone: nobody else could."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def open_linker(options: Options) -> Linker:
    """The linker a server was asked for."""
    return load(options.model, paper=options.paper, **options.settings)


def create_app(engine: Engine) -> Guard:
    """The ASGI application over an engine, which is started and stopped with it."""

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(engine.start, _PATIENCE)
        yield
        engine.stop()

    app = FastAPI(
        title="pboh",
        version=pboh.__version__,
        summary="Entity linking: all names of a document resolved together, with probability and reason.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    for protocol in (api, nif, spotlight, rel, reconcile):
        app.include_router(protocol.router(engine))
    _health(app, engine)
    _pages(app)
    _errors(app)
    return Guard(app, engine.limits, engine.metrics)


def _health(app: FastAPI, engine: Engine) -> None:
    @app.get("/healthz", tags=["operation"])
    async def healthz() -> dict[str, str]:
        """The process lives."""
        return {"status": "alive"}

    @app.get("/readyz", tags=["operation"], responses={503: api.PROBLEMS[503]})
    async def readyz() -> dict[str, str]:
        """The model answers."""
        await engine.run(lambda: engine.linker.disambiguate("Ada", [(0, 3)]))
        return {"status": "ready"}

    @app.get("/metrics", tags=["operation"], response_class=Response)
    async def metrics() -> Response:
        """Counters for Prometheus, summed over all workers."""
        return Response(engine.metrics.page(), headers={"content-type": CONTENT_TYPE})


def _pages(app: FastAPI) -> None:
    """The page at `/` and the reference at `/docs`; nothing is fetched from elsewhere."""
    known = {
        entry.name: entry.read_bytes() for entry in _PAGE.iterdir() if entry.name.rpartition(".")[2] in _TYPES
    }

    def page(name: str) -> Response:
        kind = _TYPES[name.rpartition(".")[2]]
        return Response(known[name], headers={"content-type": kind, "cache-control": "no-cache"})

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return page("index.html")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return page("docs.html")

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        if name not in known:
            raise HTTPException(404)
        return page(name)


def _errors(app: FastAPI) -> None:
    async def ours(_: Request, error: Exception) -> Response:
        if not isinstance(error, PbohError):
            raise error
        return problem(error)

    async def invalid(request: Request, error: Exception) -> Response:
        kind, _ = media_type(request)
        if request.method == "POST" and kind != "application/json":
            return json_response({"error": "this address reads application/json."}, 415)
        return json_response({"error": _sentence(error)}, 422)

    async def plain(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        sentences = {
            404: "there is nothing at this address; /docs lists what there is.",
            405: "this address does not take that method.",
        }
        detail = getattr(error, "detail", "") or "the request cannot be answered"
        response = json_response({"error": sentences.get(status, f"{detail}.".lower())}, status)
        response.headers.update(getattr(error, "headers", None) or {})
        return response

    app.add_exception_handler(PbohError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, plain)


def _sentence(error: Any) -> str:
    """The first complaint of a validation, without repeating what the client sent."""
    first: dict[str, Any] = error.errors()[0]
    steps = [str(step) for step in first["loc"] if step not in ("body", "query", "path")]
    where = ".".join(step if len(step) <= 40 and step.isprintable() else "…" for step in steps)
    what = str(first["msg"]).rstrip(".")
    if first["type"] == "json_invalid":
        return "the body is not JSON."
    return f"{where}: {what}." if where else f"{what}."
