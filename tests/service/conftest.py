"""A served model: the application in this process, a real server on a free port, its page in a browser."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

import uvicorn
from browsing import DESK, is_mistake, link
from served import TEXT, free_port, wait_until
from starlette.testclient import TestClient

from pboh.linker import Linker, load
from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker
from pboh.service.options import Limits, Options
from pboh.service.server import Protocol


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits(body=1 << 20, mentions=500, documents=20, seconds=60.0, client_seconds=2.0)


@pytest.fixture(scope="session")
def client(linker: Linker, limits: Limits) -> Iterator[TestClient]:
    """The application without a network between."""
    bounded = BoundedLinker(lambda: linker, limits)
    bounded.load()
    with TestClient(create_app(bounded), raise_server_exceptions=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(linker: Linker, limits: Limits) -> Iterator[str]:
    """A real server, on this machine only."""
    with serving(linker, limits) as running:
        yield running


@pytest.fixture(scope="session")
def starter_address(limits: Limits) -> Iterator[str]:
    """A real server of the starter model."""
    with serving(load(), limits) as running:
        yield running


@contextmanager
def serving(linker: Linker, limits: Limits) -> Iterator[str]:
    bounded = BoundedLinker(lambda: linker, limits)
    bounded.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PBOH_SERVICE", "{}")
        Options(limits=limits).to_environment()
        port = free_port()
        config = uvicorn.Config(
            create_app(bounded), port=port, http=Protocol, log_level="error", lifespan="on"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def open_page(browser, address) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end, none of them may have complained or asked anybody else for anything."""
    contexts, mistakes = [], []

    def opened(path="/", viewport=None, scheme="light", text=TEXT, address=address):
        context = browser.new_context(viewport=viewport or DESK, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        page.on("console", lambda said: mistakes.append(said.text) if is_mistake(said) else None)
        page.on("dialog", lambda dialog: (mistakes.append("dialog"), dialog.dismiss()))
        page.on(
            "request", lambda r: mistakes.append(r.url) if not r.url.startswith((address, "data:")) else None
        )
        page.goto(address + path)
        if path == "/":
            page.wait_for_selector("#facts:not(:empty)")
        if text is not None:
            link(page, text)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert mistakes == []
