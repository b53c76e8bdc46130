"""`pboh serve` as a process: workers, signals, logs and metrics."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import psutil
import pytest
from served import BODY, PBOH, serving, wait_until

from pboh.service.options import listen


def refused(*options, code=1):
    command = [sys.executable, "-c", PBOH, "serve", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code and "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.mark.slow
def test_one_worker_serves_logs_and_stops_gracefully(world_model, tmp_path):
    with serving(world_model, tmp_path) as served:
        assert served.ask().status_code == 200
        addresses = {c.laddr.ip for c in psutil.Process(served.process.pid).net_connections("tcp")}
        assert addresses == {"127.0.0.1"}  # nobody else can reach it
        forged = httpx.get(f"{served.address}/v1/entities/a%0A%7B%22level%22:%22error%22%7D", verify=False)
        assert forged.status_code == 404
        slow = threading.Thread(target=lambda: answers.append(in_two_halves(served.port)))
        answers: list[bytes] = []
        slow.start()
        time.sleep(0.5)
        served.process.send_signal(signal.SIGTERM)
        slow.join(30)
        assert answers[0].startswith(b"HTTP/1.1 200"), answers  # the running request was finished
        assert served.process.wait(30) in (0, -signal.SIGTERM)
    requests = [line for line in served.lines() if line["message"] == "request"]
    asked = next(line for line in requests if line["path"] == "/v1/disambiguate")
    assert asked["status"] == 200 and asked["mentions"] == len(BODY["mentions"]) and asked["rounds"] > 0
    assert asked["milliseconds"] > 0 and "Jordan" not in json.dumps(requests)  # no texts in the log
    assert not [line for line in served.lines() if line["level"] == "error"]


def in_two_halves(port):
    """A request that takes longer than the signal that ends the server."""
    body = json.dumps(BODY).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        head = f"POST /v1/disambiguate HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
        connection.sendall(head.encode() + b"content-type: application/json\r\n\r\n" + body[:10])
        time.sleep(2)
        connection.sendall(body[10:])
        return connection.recv(65536)


@pytest.fixture(scope="module")
def pair(world_model, tmp_path_factory):
    """A server with two workers."""
    with serving(world_model, tmp_path_factory.mktemp("pair"), "--workers", "2") as served:
        yield served


@pytest.mark.slow
def test_two_workers_share_the_model_and_their_metrics(pair, world_model):
    assert len(pair.workers()) == 2
    before = {name: count(pair, name) for name in ("pboh_documents_total", "pboh_mentions_total")}
    for _ in range(20):
        assert pair.ask().status_code == 200
    for worker in pair.workers():
        mapped = {entry.path for entry in worker.memory_maps() if entry.path.startswith(str(world_model))}
        assert len(mapped) > 10  # arrays are mapped, not copied
    totals = [count(pair, "pboh_documents_total") for _ in range(5)]
    assert set(totals) == {before["pboh_documents_total"] + 20}  # whichever worker is asked
    mentions = count(pair, "pboh_mentions_total") - before["pboh_mentions_total"]
    assert mentions == 20 * len(BODY["mentions"])
    page = httpx.get(f"{pair.address}/metrics", timeout=30, verify=False).text
    for name in ("pboh_requests_total", "pboh_request_seconds_bucket", "pboh_rounds_bucket", "pboh_unlinked"):
        assert name in page


def count(served, name):
    page = httpx.get(f"{served.address}/metrics", timeout=30, verify=False).text
    return sum(float(line.split()[-1]) for line in page.splitlines() if line.startswith(f"{name} "))


@pytest.mark.slow
def test_a_worker_killed_under_load_loses_only_what_it_was_doing(pair):
    expected = pair.ask().json()
    wrong, lost, good = [], [], []
    stop = threading.Event()

    def load():
        with httpx.Client(timeout=30) as client:
            while not stop.is_set():
                try:
                    response = client.post(f"{pair.address}/v1/disambiguate", json=BODY)
                except httpx.HTTPError as reason:
                    lost.append(reason)
                    time.sleep(0.05)
                    continue
                if response.status_code == 200 and response.json() == expected:
                    good.append(1)
                else:
                    wrong.append((response.status_code, response.text[:200]))
                    time.sleep(0.2)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        wait_until(lambda: len(good) > 20, 120)
        victim = pair.workers()[0].pid
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: victim not in (pids := pair.pids()) and len(pids) == 2, 120)
        before = len(good)
        wait_until(lambda: len(good) > before + 20, 120)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    # A new worker may be asked before its model is loaded: it says so.
    assert {status for status, _ in wrong} <= {503}, wrong
    assert len(lost) <= 2 * len(threads)  # at most what was in flight, on connections of the victim
    wait_until(pair.ready)


@pytest.mark.slow
def test_a_hangup_replaces_the_workers_one_by_one(pair):
    before = pair.pids()
    pair.process.send_signal(signal.SIGHUP)
    answers = []
    while pair.pids() & before or len(pair.pids()) < 2:
        answers.append(pair.ask().status_code)
    assert set(answers) <= {200, 503} and pair.ask().status_code == 200


@pytest.mark.slow
def test_workers_do_not_outlive_the_server(world_model, tmp_path):
    with serving(world_model, tmp_path, "--workers", "2") as served:
        workers = served.workers()
        served.process.kill()
        gone, alive = psutil.wait_procs(workers, timeout=60)
        assert len(gone) == 2 and not alive


def test_mistakes_are_told_before_anything_is_served(world_model, tmp_path):
    assert "no model" in refused("--model", str(tmp_path / "nothing"))
    assert "is not one of" in refused("--model", str(world_model), "--log-format", "xml", code=2)
    assert "is not a size" in refused("--model", str(world_model), "--max-body", "much")
    assert "not a setting" in refused("--model", str(world_model), "--set", "nonsense=1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "cannot listen" in refused("--model", str(world_model), "--port", port)
    assert "cannot listen" in refused("--model", str(world_model), "--host", "no such host")


def test_the_web_stack_is_imported_only_when_it_is_used():
    code = "import sys, pboh.linker, pboh.cli.serve, pboh.service.options; print('starlette' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_answers_do_not_wait_for_acknowledgements():
    """asyncio switches Nagle's algorithm off for sockets that say they are TCP, and for no others."""
    with listen("127.0.0.1", 0) as listening:
        listening.listen()
        with socket.create_connection(listening.getsockname()) as client:
            accepted, _ = listening.accept()
            assert accepted.proto == socket.IPPROTO_TCP and client
            accepted.close()


def test_metrics_of_servers_that_live_are_left_alone(tmp_path, monkeypatch):
    from pboh.service import server

    monkeypatch.setattr(server.tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine, theirs = (tmp_path / f"pboh-metrics-{pid}-x" for pid in (os.getpid(), ended.pid))
    for folder in (mine, theirs):
        folder.mkdir()
    with server._metrics_folder():
        assert mine.exists() and not theirs.exists()


@pytest.mark.slow
def test_it_serves_and_stops_where_there_is_no_hangup(world_model, tmp_path, monkeypatch):
    """As on Windows, which has no SIGHUP."""
    monkeypatch.setattr("served.PBOH", f"import signal; del signal.SIGHUP; {PBOH}")
    with serving(world_model, tmp_path) as served:
        assert served.ask().status_code == 200
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(30) in (0, -signal.SIGTERM)
