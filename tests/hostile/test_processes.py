"""A server under attack as a process: what it remembers, how fast it recovers, and that it can be stopped."""

from __future__ import annotations

import os
import signal
import threading
from types import SimpleNamespace

import psutil
import pytest
from benchmarks.attacks import ATTACKS, computed, watch
from served import serving, wait_until

from pboh.service import server
from pboh.service.options import Options

pytestmark = pytest.mark.slow
BOUND = 1_000  # megabytes of a worker, as docs/how-to/deploy.md says


@pytest.fixture(scope="module")
def served(world_model, tmp_path_factory):
    with serving(world_model, tmp_path_factory.mktemp("served"), "--max-seconds", "5") as found:
        yield found


@pytest.mark.parametrize("attack", ATTACKS)
def test_health_and_memory_under_attack(served, attack):
    seen = watch(served.port, served.workers, ATTACKS[attack], seconds=0.5)
    print(attack, seen)
    assert seen["health_median_work_ms"] < 100
    assert seen["largest_worker_megabytes"] < BOUND


def test_a_killed_worker_is_replaced_at_once(world_model, tmp_path):
    with serving(world_model, tmp_path, "--workers", "2") as served:
        for _ in range(4):
            victim = served.workers()[0].pid
            os.kill(victim, signal.SIGKILL)
            wait_until(
                lambda victim=victim: victim not in (pids := served.pids()) and len(pids) == 2,
                server.HUNG_SECONDS / 2,  # it is seen to end, not only to be silent
            )
        stopped = served.workers()[0]
        assert stopped.is_running()
        wait_until(served.ready)


@pytest.mark.parametrize("count", ["1", "2"])
def test_a_busy_server_stops(world_model, tmp_path, count):
    """With requests that keep coming; it would not stop for minutes if it let them finish."""
    with serving(world_model, tmp_path, "--workers", count, "--shutdown-seconds", "5") as served:
        workers, gone = served.workers(), threading.Event()
        before = computed(workers)

        def again():
            while not gone.is_set():
                ATTACKS["2,000 ambiguous names"](served.port)

        for _ in range(12):
            threading.Thread(target=again, daemon=True).start()
        wait_until(lambda: computed(workers) > before + 1)
        served.process.send_signal(signal.SIGTERM)
        try:
            assert served.process.wait(60) == 0
        finally:
            gone.set()
        assert not psutil.wait_procs(workers, timeout=10)[1]


def test_every_part_of_stopping_has_its_time(monkeypatch):
    """Requests end before the worker has to, and the worker before the server has to."""
    monkeypatch.setattr(server, "monotonic", lambda: 100.0)
    worker = server.Worker(SimpleNamespace(terminate=lambda: None), None)
    worker.stop(5)
    assert not worker.is_hung(104.4) and worker.is_hung(104.6)
    assert server.config(Options(shutdown_seconds=5), None).timeout_graceful_shutdown == 3


def test_what_a_killed_server_left_is_removed_by_the_next(world_model, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with serving(world_model, tmp_path) as served:
        left = list(tmp_path.glob("pboh-metrics-*"))
        assert len(left) == 1
        served.process.kill()
    with serving(world_model, tmp_path):
        assert not left[0].exists() and len(list(tmp_path.glob("pboh-metrics-*"))) == 1
    assert not list(tmp_path.glob("pboh-metrics-*"))
