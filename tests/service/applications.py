"""Fixtures of a served model: the application in this process, and a real server on a free port."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

import uvicorn
from served import free_port, wait_until
from starlette.testclient import TestClient

from pboh.linker import Linker, load
from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker
from pboh.service.options import Limits, Options
from pboh.service.server import config


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits(
        body=1 << 20, mentions=500, documents=20, seconds=60.0, client_seconds=2.0, waiting_bytes=4 << 20
    )


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
    running = config(Options(limits=limits, log_level="error"), create_app(bounded))
    for name in ("pboh", "uvicorn"):  # other tests of this process want to see what is logged
        logging.getLogger(name).propagate = True
    logging.getLogger("pboh").setLevel(logging.NOTSET)
    running.port = free_port()
    server = uvicorn.Server(running)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{running.port}"
    server.should_exit = True
    thread.join(20)
