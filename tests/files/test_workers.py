"""The one pool of processes: order, errors, what happens when a worker or its parent is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from operator import mul
from pathlib import Path

import psutil
import pytest

from pboh.errors import InputError, PbohError
from pboh.files.memory import processors
from pboh.files.usage import Usage
from pboh.files.workers import Workers, ordered_map, threaded_map

pytestmark = pytest.mark.slow


def slowest_first(number: int) -> int:
    time.sleep(0.3 / (1 + number))
    return number * number


def refused(number: int) -> None:
    raise InputError(f"{number} is refused", where="there", todo="Give another")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers get the module path of this process, with which they find the functions above."""
    monkeypatch.syspath_prepend(os.path.dirname(__file__))  # noqa: PTH120


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order(workers: int) -> None:
    assert list(ordered_map(slowest_first, iter(range(8)), workers)) == [n * n for n in range(8)]


def counting(taken: list[int]) -> Iterator[int]:
    for number in range(100):
        taken.append(number)
        yield number


def test_items_are_taken_only_as_fast_as_results_are() -> None:
    taken: list[int] = []
    with Workers(2) as pool:
        results = pool.map(partial(mul, 3), counting(taken))
        assert [next(results) for _ in range(3)] == [0, 3, 6]
        assert len(taken) < 10


def test_threads_keep_the_order_and_do_not_run_ahead() -> None:
    assert list(threaded_map(slowest_first, range(8), 3)) == [n * n for n in range(8)]
    taken: list[int] = []
    results = threaded_map(partial(mul, 3), counting(taken), 2)
    assert [next(results) for _ in range(3)] == [0, 3, 6]
    assert len(taken) == 5
    with pytest.raises(InputError):
        list(threaded_map(refused, range(3), 2))


def test_tasks_of_several_kinds() -> None:
    with Workers(2) as pool:
        tasks = [(mul, (2, 3)), (slowest_first, (3,)), (mul, (4, 5)), (slowest_first, (1,))]
        assert sorted(result for _, result in pool.run(tasks)) == [1, 6, 9, 20]
        assert [*pool.map(partial(mul, 2), range(3)), *pool.map(partial(mul, 5), range(3))] == [
            0,
            2,
            4,
            0,
            5,
            10,
        ]


def prepare(log: Path) -> None:
    for what in ("begins", "has ended"):
        with log.open("a") as file:
            file.write(f"{what}\n")
        time.sleep(0.1)


def test_one_worker_prepares_before_the_others(tmp_path: Path) -> None:
    """What it compiles, they load."""
    with Workers(3) as pool:
        pool.start(partial(prepare, tmp_path / "log"))
        assert list(pool.map(partial(mul, 2), range(6))) == [0, 2, 4, 6, 8, 10]
    assert (tmp_path / "log").read_text().splitlines()[:2] == ["begins", "has ended"]


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_arrive_whole(workers: int) -> None:
    with pytest.raises(InputError, match=r"there: 7 is refused\. Give another\."):
        list(ordered_map(refused, [7], workers))


def test_defects_arrive_with_their_trace() -> None:
    with pytest.raises(RuntimeError, match=r"ValueError.*in a worker"), Workers(2) as pool:
        list(pool.map(int, ["1", "x"]))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals")
def test_a_killed_worker_is_reported() -> None:
    again = r"killed by signal 9.*Run the same command again"
    others = set(psutil.Process().children())
    with pytest.raises(PbohError, match=again), Workers(2) as pool:
        for _ in pool.run((time.sleep, (0.05,)) for _ in range(20)):
            (set(psutil.Process().children()) - others).pop().kill()
    assert set(psutil.Process().children()) <= others


SCRIPT = """
import time

import psutil
from pboh.files.workers import Workers

with Workers(2) as pool:  # no main guard
    pool.start()
    print(*(child.pid for child in psutil.Process().children()), flush=True)
    list(pool.run((time.sleep, (60,)) for _ in range(2)))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere they end after their task")
def test_workers_end_with_their_parent() -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    children = [int(child) for child in process.stdout.readline().split()]
    assert len(children) == 2
    time.sleep(1)
    process.kill()
    process.wait()
    process.stdout.close()
    limit = time.monotonic() + 20
    while any(map(psutil.pid_exists, children)) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, children))


def test_memory_of_all_processes_is_counted() -> None:
    with Workers(2) as pool, Usage() as usage, usage.stage("work"):
        list(pool.map(bytearray, [100_000_000] * 4))
        time.sleep(0.3)
    alone = psutil.Process().memory_info().rss / 1e6
    assert usage.figures()["work"]["memory_megabytes"] > alone
    assert processors() >= 1
