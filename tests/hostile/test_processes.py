"""A server under attack as a process: what it remembers, how fast it recovers, and that it can be stopped."""

from __future__ import annotations

import os
import signal
import threading
import time

import psutil
import pytest
from benchmarks.attacks import ATTACKS, watch
from served import serving, wait_until

pytestmark = pytest.mark.slow
BOUND = 1_000  # megabytes of a worker, as docs/how-to/deploy.md says


@pytest.fixture(scope="module")
def served(world_model, tmp_path_factory):
    with serving(world_model, tmp_path_factory.mktemp("served"), "--max-seconds", "5") as found:
        yield found


@pytest.mark.parametrize("attack", ATTACKS)
def test_health_and_memory_under_attack(served, attack):
    seen = watch(served.port, served.workers, ATTACKS[attack])
    print(attack, seen)
    assert seen["health_median_ms"] < 100
    assert seen["largest_worker_megabytes"] < BOUND


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
        attack = ATTACKS["2,000 ambiguous names"]
        threads = [threading.Thread(target=attack, args=(served.port,), daemon=True) for _ in range(12)]
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
