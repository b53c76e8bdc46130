"""One pool of worker processes for every stage: they end with their parent, and errors come back whole.

Python's own pools leave orphans behind when the parent is killed, and start badly from scripts without a
main guard. Here a worker is a fresh interpreter that reads tasks from its standard input and ends when that
closes; a thread of the parent waits for each.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, Self, TypeVar

from pboh.errors import PbohError
from pboh.files.kernel_cache import say_if_compiling

T = TypeVar("T")
R = TypeVar("R")
Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Workers:
    """``count`` processes that run functions; with one, everything runs in this process.

    The processes start when there is something to do, or with :meth:`start`, and stay until the block ends.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._running: list[_Worker] = []
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._threads = ThreadPoolExecutor(max(1, count))  # starts none before there is a task

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        running, self._running = self._running, []
        for worker in running:
            worker.kill()  # whatever it has finished was received
        self._threads.shutdown(cancel_futures=True)

    def start(self, warm_up: Callable[[], object] | None = None) -> None:
        """Start the processes and have each call a function that loads what it will need.

        One does so before the others: what it has to compile, they find in the cache.
        """
        if self._count <= 1:
            if warm_up:
                _prepare(warm_up, True)
        elif not self._running:
            self._running = [_Worker() for _ in range(self._count)]
            if not warm_up:
                for worker in self._running:
                    self._idle.put(worker)
                return
            first = self._threads.submit(self._prepare, self._running[0], warm_up)
            for worker in self._running[1:]:
                self._threads.submit(self._prepare, worker, warm_up, first)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Arguments and result of every task, as they finish; tasks are drawn only when a worker is free."""
        if self._count <= 1:
            for function, arguments in tasks:
                yield arguments, function(*arguments)
            return
        self.start()
        waiting, drawn = iter(tasks), dict[Future[Any], tuple[Any, ...]]()
        while True:
            while len(drawn) < self._count and (task := next(waiting, None)):
                drawn[self._submit(*task)] = task[1]
            if not drawn:
                return
            for future in wait(drawn, return_when=FIRST_COMPLETED).done:
                yield drawn.pop(future), future.result()

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``map(function, items)``: results in order, items taken only as fast as results are."""
        if self._count <= 1:
            yield from map(function, items)
            return
        self.start()
        yield from _in_order(lambda item: self._submit(function, (item,)), items, 2 * self._count - 1)

    def _submit(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        return self._threads.submit(self._call, function, arguments)

    def _prepare(
        self, worker: _Worker, warm_up: Callable[[], object], first: Future[None] | None = None
    ) -> None:
        if first:
            wait([first])
        try:
            worker.call(_prepare, (warm_up, first is None))
        finally:
            self._idle.put(worker)

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        worker = self._idle.get()  # there are as many as threads
        try:
            return worker.call(function, arguments)
        finally:
            self._idle.put(worker)


def ordered_map(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """``map(function, items)`` on ``workers`` processes."""
    with Workers(workers) as pool:
        yield from pool.map(function, items)


def threaded_map(function: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """``map(function, items)`` on threads of this process, for what leaves Python's lock to others."""
    with ThreadPoolExecutor(threads) as pool:
        yield from _in_order(lambda item: pool.submit(function, item), items, threads)


def _in_order(submit: Callable[[T], Future[R]], items: Iterable[T], ahead: int) -> Iterator[R]:
    """Results in the order of the items, of which ``ahead`` are begun before a result is waited for."""
    waiting: deque[Future[R]] = deque()
    for item in items:
        waiting.append(submit(item))
        if len(waiting) > ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class _Worker:
    """A process, seen from its parent."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", f"from {__name__} import serve; serve({os.getpid()})"]
        single = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}  # for libraries that would take all cores
        path = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **single, "PYTHONPATH": path},
            # a group of its own: Ctrl-C is the parent's to handle
            process_group=None if sys.platform == "win32" else 0,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self.process.stdin and self.process.stdout
        self._tasks, self._answers = self.process.stdin, self.process.stdout
        self._function: Callable[..., Any] | None = None

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Have the process call a function, which is sent only if it is not the one before."""
        message = pickle.dumps((None if function is self._function else function, arguments))
        try:
            self._tasks.write(message)
            self._tasks.flush()
            failed, result = pickle.load(self._answers)
        except (OSError, EOFError, ValueError):
            code = self.process.wait()
            how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
            todo = "Run the same command again: it continues. If memory was short, use fewer --workers"
            raise PbohError(f"a worker process {how}", todo=todo) from None
        self._function = function
        if failed:
            raise result
        return result

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self._tasks, self._answers):
            with contextlib.suppress(OSError):  # what was not sent is not needed
                pipe.close()


# --- in the worker -------------------------------------------------------------------------------------


def _prepare(warm_up: Callable[[], object], say: bool) -> None:
    """Load what is compiled; one process of many says so if that takes long."""
    with say_if_compiling(hint="") if say else contextlib.nullcontext():
        warm_up()


def serve(parent: int) -> None:
    """Run the tasks that arrive at standard input until it closes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed does not get between the answers
    with contextlib.suppress(OSError, AttributeError):  # on Linux, end with the parent even within a task
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        return
    function: Callable[..., Any] | None = None
    while True:
        try:
            other, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        function = other or function
        assert function is not None
        pickle.dump(_answer(function, arguments), answers)
        answers.flush()


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether a task failed, and its result or what to raise in the parent."""
    try:
        return False, function(*arguments)
    except PbohError as error:
        return True, error
    except MemoryError:
        return True, PbohError("memory ran out", todo="Use fewer --workers, then run the command again")
    except Exception as error:  # a defect of ours: shown in the parent, with the trace
        return True, RuntimeError(f"{error!r} in a worker:\n{traceback.format_exc()}")
