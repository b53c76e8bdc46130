"""The service under load, on loopback: requests/s, latency, errors, memory, and what a second worker brings.

Every request is a document of the validation set with its mentions (without the sample corpus, the small
world stands in). The client is a plain socket loop in this process, so that it takes little from the cores it
measures. ``PBOH_LOAD=0.1`` runs a tenth of the requests.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import psutil

from benchmarks.common import sample_model, save, table
from benchmarks.inference import documents
from pboh.linker import load

CONNECTIONS = (1, 8, 64)
REQUESTS = {1: 2_000, 8: 8_000, 64: 8_000}
LONG = 50_000
SCALE = float(os.environ.get("PBOH_LOAD", "1"))
MENTIONS = (15, 25)  # documents of about twenty mentions
Job = tuple[str, list[tuple[int, int]]]


def main() -> dict[str, Any]:
    """Measure one worker, two workers, and the memory of a long run."""
    model, jobs = sample_model(), some_documents()
    requests = [as_request(job) for job in jobs]
    results: dict[str, Any] = {"documents": len(jobs), "direct_per_second": directly(model, jobs)}
    for workers in (1, 2):
        with serving(model, workers) as server:
            levels = []
            for connections in CONNECTIONS:
                count = max(connections * 4, int(REQUESTS[connections] * SCALE))
                levels.append(server.measure(requests, connections, count))
            results[f"workers_{workers}"] = levels
            if workers == 2:
                results["memory"] = server.remember(requests, int(LONG * SCALE))
    results["scaling"] = scaling(model, requests)
    results["second_worker"] = results["scaling"][1]["per_second"] / results["scaling"][0]["per_second"]
    show(results)
    return save("service", results)


def scaling(model: Path, requests: list[bytes]) -> list[dict[str, Any]]:
    """One and two workers of one thread each: with more, one worker already computes on both cores."""
    rows = []
    for workers in (1, 2):
        with serving(model, workers, "--threads", "1") as server:
            rows.append(server.measure(requests, 8, max(32, int(REQUESTS[8] * SCALE))))
    return rows


def some_documents() -> list[Job]:
    jobs = documents()
    few = [job for job in jobs if MENTIONS[0] <= len(job[1]) <= MENTIONS[1]]
    return (few or jobs)[:200]


def directly(model: Path, jobs: list[Job]) -> float:
    """Documents per second of the linker without a service around it."""
    linker = load(model)
    for text, spans in jobs:
        linker.disambiguate(text, spans, overlapping=True)
    began = time.perf_counter()
    for text, spans in jobs:
        linker.disambiguate(text, spans, overlapping=True)
    return len(jobs) / (time.perf_counter() - began)


def as_request(job: Job) -> bytes:
    text, spans = job
    mentions = [{"start": start, "end": end} for start, end in spans]
    body = json.dumps({"text": text, "mentions": mentions, "overlapping": True, "candidates": 3}).encode()
    head = "POST /v1/disambiguate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


@dataclass
class Server:
    """A running `pboh serve`."""

    process: psutil.Process
    port: int

    def workers(self) -> list[psutil.Process]:
        """The processes that answer."""
        children = [c for c in self.process.children() if "spawn_main" in " ".join(c.cmdline())]
        return children or [self.process]

    def measure(self, requests: list[bytes], connections: int, count: int) -> dict[str, Any]:
        """Answers per second, latency and computing time at so many connections."""
        fire(self.port, requests, connections, max(connections, count // 10))  # warm
        before = sum(sum(w.cpu_times()[:2]) for w in self.workers())
        began = time.perf_counter()
        latencies, errors = fire(self.port, requests, connections, count)
        seconds = time.perf_counter() - began
        spent = sum(sum(w.cpu_times()[:2]) for w in self.workers()) - before
        milliseconds = 1e3 * np.asarray(latencies)
        return {
            "connections": connections,
            "requests": count,
            "per_second": len(latencies) / seconds,
            "p50_ms": float(np.quantile(milliseconds, 0.5)),
            "p99_ms": float(np.quantile(milliseconds, 0.99)),
            "errors": errors,
            "cpu_ms": 1e3 * spent / count,
        }

    def processor_ms(self, requests: list[bytes], connections: int) -> float:
        """Computing time of a request, in milliseconds."""
        before = sum(sum(w.cpu_times()[:2]) for w in self.workers())
        fire(self.port, requests, connections, len(requests))
        return 1e3 * (sum(sum(w.cpu_times()[:2]) for w in self.workers()) - before) / len(requests)

    def remember(self, requests: list[bytes], count: int) -> dict[str, Any]:
        """Private memory of all workers in MB, ten times during a long run."""
        sizes, errors = [], 0
        for _ in range(10):
            errors += fire(self.port, requests, 64, max(64, count // 10))[1]
            sizes.append(sum(w.memory_full_info().uss for w in self.workers()) / 1e6)
        return {"requests": count, "errors": errors, "megabytes": sizes, "growth": sizes[-1] / sizes[0]}


@contextmanager
def serving(model: Path, workers: int, *options: str) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["serve", "--model", str(model), "--port", str(port), "--workers", str(workers), *options]
    process = subprocess.Popen(
        [sys.executable, "-c", "from pboh.cli import main; main()", *command, "--log-level", "warning"]
    )
    try:
        wait_for_all(process, port, workers)
        yield Server(psutil.Process(process.pid), port)
    finally:
        process.terminate()
        process.wait(60)


def wait_for_all(process: subprocess.Popen[bytes], port: int, workers: int) -> None:
    """Wait until every worker is likely to be ready: many new connections in a row find one that is."""
    end, good = time.monotonic() + 300, 0
    while good < 20 * workers:
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the server ended, or was not ready within five minutes")
        try:
            with urlopen(f"http://127.0.0.1:{port}/readyz", timeout=30):
                good += 1
        except OSError:
            good = 0
            time.sleep(0.2)


@dataclass
class Connection:
    """One client: sends a request, reads its answer, sends the next."""

    socket: socket.socket
    began: float = 0.0
    received: bytearray = field(default_factory=bytearray)

    def complete(self) -> int | None:
        """The status of the answer once all of it is here."""
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return None
        at = self.received.index(b"content-length: ", 0, head) + 16
        length = int(self.received[at : self.received.index(b"\r\n", at)])
        return int(self.received[9:12]) if len(self.received) >= head + 4 + length else None


def fire(port: int, requests: list[bytes], connections: int, count: int) -> tuple[list[float], int]:
    """Send ``count`` requests over kept connections, one at a time on each; latencies and errors."""
    waiting, todo = selectors.DefaultSelector(), cycle(requests)
    latencies: list[float] = []
    errors = sent = 0
    for _ in range(min(connections, count)):
        connection = Connection(socket.create_connection(("127.0.0.1", port)))
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        waiting.register(connection.socket, selectors.EVENT_READ, connection)
        send(connection, next(todo))
        sent += 1
    while len(latencies) + errors < count:
        for key, _ in waiting.select(timeout=60):
            connection = key.data
            connection.received += connection.socket.recv(1 << 18)
            status = connection.complete()
            if status is None:
                continue
            if status == 200:
                latencies.append(time.perf_counter() - connection.began)
            else:
                errors += 1
            if sent < count:
                send(connection, next(todo))
                sent += 1
    for key in list(waiting.get_map().values()):
        key.data.socket.close()
    waiting.close()
    return latencies, errors


def send(connection: Connection, request: bytes) -> None:
    connection.received.clear()
    connection.began = time.perf_counter()
    connection.socket.sendall(request)


def show(results: dict[str, Any]) -> None:
    columns = ("workers", "connections", "requests/s", "p50 ms", "p99 ms", "errors", "CPU ms/request")
    rows = [
        (w, *(row[k] for k in ("connections", "per_second", "p50_ms", "p99_ms", "errors", "cpu_ms")))
        for w in (1, 2)
        for row in results[f"workers_{w}"]
    ]
    table("The service under load (loopback)", columns, rows)
    memory = results["memory"]
    print(f"\nwithout the service: {results['direct_per_second']:.0f} documents/s on one core")
    print(f"two workers of one thread answer {results['second_worker']:.2f} times as many requests as one")
    print(
        f"{memory['requests']:,} requests: memory {memory['megabytes'][0]:.0f} → "
        f"{memory['megabytes'][-1]:.0f} MB, {memory['errors']} errors"
    )


if __name__ == "__main__":
    main()
