"""What the tests of the service share: a text, its names, and waiting."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress

import httpx
import psutil
import pytest

PBOH = "from pboh.cli import main; main()"
TEXT = "Jordan and Pippen won with the Bulls in Chicago. Müller scored for Bayern against Dortmund."
NAMES = ("Jordan", "Pippen", "Bulls", "Chicago", "Müller", "Bayern", "Dortmund")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(true, seconds: float = 60.0) -> None:
    """Wait for something that will come; fail with a sentence when it does not."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            pytest.fail(f"nothing happened within {seconds} seconds")
        time.sleep(0.05)


def spans_of(text: str = TEXT, names: tuple[str, ...] = NAMES) -> list[tuple[int, int]]:
    return [(text.index(name), text.index(name) + len(name)) for name in names]


def mentions_of(text: str = TEXT, names: tuple[str, ...] = NAMES) -> list[dict[str, int]]:
    return [{"start": start, "end": end} for start, end in spans_of(text, names)]


BODY = {"text": TEXT, "mentions": mentions_of()}


class Served:
    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log
        self.address = f"http://127.0.0.1:{port}"

    def ask(self, timeout=30):
        # without TLS there is nothing to verify: reading all certificates takes longer than the request
        return httpx.post(f"{self.address}/v1/disambiguate", json=BODY, timeout=timeout, verify=False)

    def ready(self):
        if self.process.poll() is not None:
            pytest.fail(f"the server ended: {self.log.read_text()[-2000:]}")
        with (
            suppress(OSError, http.client.HTTPException),
            closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection,
        ):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        return False

    def workers(self):
        """Processes that serve, without multiprocessing's helpers."""
        found = []
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.Error):  # it may end while we look
                if "spawn_main" in " ".join(child.cmdline()):
                    found.append(child)
        return found

    def pids(self):
        return {worker.pid for worker in self.workers()}

    def lines(self):
        written = self.log.read_text().splitlines()
        return [json.loads(line) for line in written if not line.startswith("compiling kernels")]


@contextmanager
def serving(model, tmp_path, *options):
    port = free_port()
    log = tmp_path / "log"
    command = [sys.executable, "-c", PBOH, "serve", "--model", str(model), "--port", str(port), *options]
    with log.open("wb") as stderr:
        process = subprocess.Popen(command, stderr=stderr, stdout=subprocess.DEVNULL)
    try:
        served = Served(process, port, log)
        # Every new connection may meet another worker, and all of them shall be ready.
        wait_until(lambda: all(served.ready() for _ in range(12)), 240)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
