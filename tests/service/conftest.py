"""A served model: the application in this process, and a real server on a free port."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("prometheus_client", reason="the extra serve is not installed")

import uvicorn
from served import PBOH, free_port, wait_until
from starlette.testclient import TestClient

from pboh.document import Document
from pboh.linker import Linker, load
from pboh.service.app import create_app
from pboh.service.engine import Engine
from pboh.service.options import Limits, Options
from pboh.service.server import Protocol

DATA = Path(__file__).parent.parent / "data"


class Detecting(Linker):
    """A linker that takes every capitalised word for a mention, where the program cannot detect by itself."""

    def link(self, text: str, threshold: float = 0.0) -> Document:
        spans = [match.span() for match in re.finditer(r"[^\W\d_a-z]\w+", text)]
        document = self.disambiguate(text, spans)
        document.mentions = [mention for mention in document if mention.probability >= max(threshold, 1e-9)]
        return document


@pytest.fixture(scope="session")
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the small world."""
    folder = tmp_path_factory.mktemp("world")
    for command in (
        ["extract", str(DATA / "world.xml"), "--out", str(folder / "corpus")],
        ["count", str(folder / "corpus"), "--out", str(folder / "counts")],
        ["build", str(folder / "counts"), "--out", str(folder / "model")],
    ):
        subprocess.run([sys.executable, "-c", PBOH, *command], check=True, capture_output=True)
    return folder / "model"


@pytest.fixture(scope="session")
def linker(model: Path) -> Linker:
    opened = load(model)
    return opened if hasattr(opened, "link") else Detecting(opened.model, opened.settings)


@pytest.fixture(scope="session")
def limits() -> Limits:
    return Limits(body=1 << 20, mentions=500, documents=20, seconds=60.0, client_seconds=2.0)


@pytest.fixture(scope="session")
def client(linker: Linker, limits: Limits) -> Iterator[TestClient]:
    """The application without a network between."""
    engine = Engine(lambda: linker, limits)
    engine.load()
    with TestClient(create_app(engine), raise_server_exceptions=True) as opened:
        yield opened


@pytest.fixture(scope="session")
def address(linker: Linker, limits: Limits) -> Iterator[str]:
    """A real server, on this machine only."""
    engine = Engine(lambda: linker, limits)
    engine.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PBOH_SERVICE", "{}")
        Options(limits=limits).to_environment()
        port = free_port()
        config = uvicorn.Config(
            create_app(engine), port=port, http=Protocol, log_level="error", lifespan="on"
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        wait_until(lambda: server.started)
        yield f"http://127.0.0.1:{port}"
        server.should_exit = True
        thread.join(20)
