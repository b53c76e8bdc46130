"""Attacks on a server, each made of requests nobody should send, and what a health check sees meanwhile."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from statistics import median
from typing import Any

import psutil

Attack = Callable[[int], None]
"""Something done to the server on a port, once."""
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
START = b"GET / HTTP/1.1\r\nhost: x\r\n"
CHUNKED = b"POST /nif HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
MENTION = b'{"start": 0, "end": 1},'


def flood(start: bytes, piece: bytes, most: int) -> Attack:
    """Send a start and then a piece again and again, until the server hangs up."""

    def attack(port: int) -> None:
        with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), timeout=2)) as client:
            client.sendall(start)
            for _ in range(most // len(piece)):
                client.sendall(piece)

    return attack


def ask(path: str, body: bytes | str, kind: str = "application/json") -> Attack:
    """One request with a body."""
    content = body.encode() if isinstance(body, str) else body

    def attack(port: int) -> None:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with suppress(OSError, http.client.HTTPException), closing(client):
            client.request("POST", path, content, {"content-type": kind})
            client.getresponse().read()

    return attack


def spans(count: int, length: int, text: str = "Müller " * 50_000) -> str:
    """A request in REL's protocol with many spans of a length."""
    return f'{{"text": "{text}", "spans": [{",".join(f"[{i},{length}]" for i in range(count))}]}}'


PREFIX = f"@prefix p: <http://{'x' * 1_700_000}> .\n" + "p:a p:b p:c .\n" * 120_000
BASE = f"@base <http://{'x' * 1_700_000}/> .\n" + "<a> <b> <c> .\n" * 120_000
ATTACKS: dict[str, Attack] = {
    "a mention of 80,000 commas": ask(
        "/v1/disambiguate", b'{"text": "%s", "mentions": [{"start": 0, "end": 80000}]}' % (b"," * 80_000)
    ),
    "2,000 overlapping spans of 300,000 characters": ask("/rel", spans(2_000, 300_000)),
    "2,000 ambiguous names": ask("/rel", spans(2_000, 6)),
    "a text of 380,000 names": ask("/v1/link", b'{"text": "%s"}' % (b"Bayern met Dortmund. " * 190_000)),
    "150,000 mentions": ask("/v1/disambiguate", b'{"text": "x", "mentions": [%s{}]}' % (MENTION * 150_000)),
    "150,000 mentions where none belong": ask(
        "/v1/link", b'{"text": "x", "mentions": [%s{}]}' % (MENTION * 150_000)
    ),
    "JSON nested four million deep": ask("/v1/link", b"[" * 4_000_000),
    "Turtle: a prefix bomb": ask("/nif", PREFIX, "text/turtle"),
    "Turtle: a base bomb": ask("/nif", BASE, "text/turtle"),
    "Turtle: 190,000 triples": ask(
        "/nif", "".join(f"<a:{i}> a <b:b> .\n" for i in range(190_000)), "text/turtle"
    ),
    "Turtle: two million objects": ask("/nif", "<a:a> <a:b> 1" + ",1" * 2_000_000 + " .", "text/turtle"),
    "Turtle: four million brackets": ask("/nif", "<a:a> <a:b> " + "(" * 4_000_000, "text/turtle"),
    "Turtle: statements nested 200,000 deep": ask(
        "/nif", "<a:a> <a:b> " + "<<( <a:a> <a:b> " * 200_000 + "1" + ")>>" * 200_000, "text/turtle"
    ),
    "a header of 300 MB": flood(START + b"x: ", b"y" * 65_536, 300_000_000),
    "300 MB of headers": flood(START, b"a: b\r\n" * 9_000, 300_000_000),
    "chunks of one byte": flood(CHUNKED, b"1\r\nx\r\n" * 5_000, 61_000_000),
    "chunks of five bytes": flood(CHUNKED, b"5\r\nxxxxx\r\n" * 5_000, 61_000_000),
    "61 MB of requests sent ahead": flood(b"", HEALTH * 2_000, 61_000_000),
}


def megabytes(worker: psutil.Process) -> float:
    """Memory of a worker without the pages of files that it maps, the model first of all."""
    seen = worker.memory_info()
    return float(seen.rss - getattr(seen, "shared", 0)) / 1e6


def computed(workers: list[psutil.Process]) -> float:
    """Seconds of processor time that workers have used."""
    return sum(sum(worker.cpu_times()[:2]) for worker in workers)


def watch(
    port: int, workers: Callable[[], list[psutil.Process]], attack: Attack, seconds: float = 3.0
) -> dict[str, Any]:
    """Attack a server on two threads, again and again: how long health checks wait, how large workers get.

    The work of a health check is what workers compute until it is answered: unlike the wait, it does not
    depend on what else the machine has to do.
    """
    stop = threading.Event()

    def again() -> None:
        while not stop.is_set():
            attack(port)

    threads = [threading.Thread(target=again) for _ in range(2)]
    for thread in threads:
        thread.start()
    waited, worked, largest, end = [], [], 0.0, time.monotonic() + seconds
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
            while time.monotonic() < end:
                before, began = computed(workers()), time.perf_counter()
                client.request("GET", "/healthz")
                response = client.getresponse()
                assert response.status == 200 and response.read()
                waited.append(time.perf_counter() - began)
                worked.append(computed(workers()) - before)
                largest = max(largest, *map(megabytes, workers()))
                time.sleep(0.02)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return {
        "health_median_ms": 1e3 * median(waited),
        "health_longest_ms": 1e3 * max(waited),
        "health_median_work_ms": 1e3 * median(worked),
        "largest_worker_megabytes": largest,
    }
