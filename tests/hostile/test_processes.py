"""A server under attack as a process: what it remembers, how fast it recovers, and that it can be stopped."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import closing, suppress
from statistics import median

import httpx
import psutil
import pytest
from served import serving, wait_until

pytestmark = pytest.mark.slow
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"


def resident(served) -> float:
    """Megabytes of the largest worker."""
    return max(worker.memory_info().rss for worker in served.workers()) / 1e6


def connect(served):
    return closing(socket.create_connection(("127.0.0.1", served.port), timeout=2))


def flood(served, start: bytes, piece: bytes, most: int) -> None:
    with suppress(OSError), connect(served) as connection:
        connection.sendall(start)
        for _ in range(most // len(piece)):
            connection.sendall(piece)


NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
PREFIX = f"@prefix p: <http://{'x' * 1_700_000}> .\n" + "p:a p:b p:c .\n" * 120_000


def ask(path, content, kind="application/json"):
    def attack(served):
        headers = {"content-type": kind}
        with suppress(httpx.HTTPError):
            httpx.post(f"{served.address}{path}", content=content, headers=headers, timeout=60)

    return attack


def spans(count, length, text="Müller " * 50_000):
    shape = '{"text": "%s", "spans": [%s]}'
    return (shape % (text, ",".join(f"[{i},{length}]" for i in range(count)))).encode()


ATTACKS = {
    "heads": lambda served: flood(served, b"GET / HTTP/1.1\r\nhost: x\r\nx: ", b"y" * 65_536, 300_000_000),
    "headers": lambda served: flood(
        served, b"GET / HTTP/1.1\r\nhost: x\r\n", b"a: b\r\n" * 9_000, 300_000_000
    ),
    "chunks": lambda served: flood(
        served,
        b"POST /nif HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n",
        b"1\r\nx\r\n" * 5_000,
        61_000_000,
    ),
    "sent ahead": lambda served: flood(served, b"", HEALTH * 2_000, 61_000_000),
    "commas": ask(
        "/v1/disambiguate", b'{"text": "%s", "mentions": [{"start": 0, "end": 80000}]}' % (b"," * 80_000)
    ),
    "spans": ask("/rel", spans(2_000, 300_000)),
    "mentions": ask(
        "/v1/link", b'{"text": "x", "mentions": [%s{}]}' % (b'{"start": 0, "end": 1},' * 150_000)
    ),
    "validation": ask(
        "/v1/disambiguate", b'{"text": "x", "mentions": [%s{}]}' % (b'{"start": 0, "end": 1},' * 150_000)
    ),
    "names": ask("/v1/link", b'{"text": "%s"}' % (b"Bayern met Dortmund. " * 190_000)),
    "ambiguous": ask("/rel", spans(2_000, 6)),
    "prefix": ask("/nif", PREFIX, "text/turtle"),
    "triples": ask("/nif", "".join(f"<a:{i}> a <b:b> .\n" for i in range(190_000)), "text/turtle"),
    "objects": ask("/nif", "<a:a> <a:b> 1" + ",1" * 2_000_000 + " .", "text/turtle"),
    "brackets": ask("/nif", "<a:a> <a:b> " + "(" * 4_000_000, "text/turtle"),
    "deep": ask("/v1/link", b"[" * 4_000_000),
}


@pytest.fixture(scope="module")
def served(world_model, tmp_path_factory):
    with serving(world_model, tmp_path_factory.mktemp("served"), "--max-seconds", "5") as found:
        yield found


@pytest.mark.parametrize("attack", ATTACKS)
def test_health_and_memory_under_attack(served, attack):
    before, stop = resident(served), threading.Event()

    def again():
        while not stop.is_set():
            ATTACKS[attack](served)

    threads = [threading.Thread(target=again) for _ in range(2)]
    for thread in threads:
        thread.start()
    seconds, largest = [], 0.0
    with httpx.Client(timeout=30) as client:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            began = time.perf_counter()
            assert client.get(f"{served.address}/healthz").status_code == 200
            seconds.append(time.perf_counter() - began)
            largest = max(largest, resident(served))
            time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    waited = f"median {1e3 * median(seconds):.0f} ms, largest {max(seconds):.2f} s"
    print(f"{attack}: {waited}, {before:.0f} → {largest:.0f} MB")
    assert median(seconds) < 0.1
    assert largest < 1_000


def test_a_killed_worker_is_replaced_at_once(world_model, tmp_path):
    with serving(world_model, tmp_path, "--workers", "2") as served:
        for _ in range(10):
            victim = served.workers()[0].pid
            os.kill(victim, signal.SIGKILL)
            wait_until(lambda victim=victim: victim not in (pids := served.pids()) and len(pids) == 2, 2)
        stopped = served.workers()[0]
        assert stopped.is_running()
        wait_until(served.ready)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_busy_server_stops_in_time(world_model, tmp_path, workers):
    with serving(world_model, tmp_path, "--workers", workers, "--shutdown-seconds", "5") as served:
        body = spans(2_000, 6)
        ask_again = lambda: ask("/rel", body)(served)
        threads = [threading.Thread(target=ask_again, daemon=True) for _ in range(12)]
        for thread in threads:
            thread.start()
        time.sleep(1)
        workers = served.workers()
        began = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(15) == 0
        assert time.monotonic() - began < 6
        assert not psutil.wait_procs(workers, timeout=1)[1]


def test_what_a_killed_server_left_is_removed_by_the_next(world_model, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(world_model, tmp_path) as served:
        left = list(tmp_path.glob("pboh-metrics-*"))
        assert len(left) == 1
        served.process.kill()
    with serving(world_model, tmp_path):
        assert not left[0].exists() and len(list(tmp_path.glob("pboh-metrics-*"))) == 1
    assert not list(tmp_path.glob("pboh-metrics-*"))
