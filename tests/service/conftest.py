"""A served model: the application in this process, and a real server on a free port."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

import uvicorn
from served import free_port, wait_until
from starlette.testclient import TestClient

from pboh.linker import Linker
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
