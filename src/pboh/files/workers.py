"""Worker processes that end when their parent does, and the memory they all use together.

Python's own pools leave orphans behind when the parent is killed, and start badly from scripts without a
main guard; here a worker is a fresh interpreter at the other end of a pipe and ends when the pipe closes.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Self

from pboh.errors import PbohError
from pboh.files.writing import peak_memory_megabytes
from pboh.warmup import say_if_compiling

Task = tuple[Callable[..., Any], tuple[Any, ...]]


class Workers:
    """``count`` processes that run functions; with one, everything runs in this process.

    The processes start when there is something to do, or before, and stay until the block ends: loading what
    they need takes longer than some tasks.
    """

    def __init__(self, count: int) -> None:
        self._running: dict[Connection, subprocess.Popen[bytes]] = {}
        self._count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        running, self._running = self._running, {}
        for connection, process in running.items():
            process.kill()  # whatever it has finished was received
            connection.close()
        for process in running.values():
            process.wait()

    def start(self, *modules: str) -> None:
        """Start the processes and have them load modules they will need, and call their ``warm_up``."""
        if self._count <= 1:
            _load(modules)
            return
        for number in range(0 if self._running else self._count):
            ours, theirs = Pipe()
            arguments = [theirs.fileno(), os.getpid(), number]
            command = [sys.executable, "-m", "pboh.files.workers", *map(str, arguments), *modules]
            # a group of its own: Ctrl-C is the parent's to handle
            process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], process_group=0, env=_environment()
            )
            theirs.close()
            self._running[ours] = process

    def processes(self) -> list[int]:
        """Ids of this process and of the workers."""
        return [os.getpid(), *(process.pid for process in list(self._running.values()))]

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Arguments and result of every task, as they finish; tasks are drawn only when a worker is free."""
        if self._count <= 1:
            for function, arguments in tasks:
                yield arguments, function(*arguments)
            return
        self.start()
        yield from self._share(tasks)

    def give_back(self) -> None:
        """Have the processes return memory they do not use, before something else needs much."""
        for connection in self._running:
            self._send(connection, (_give_back, ()))
        for connection in self._running:
            self._receive(connection)

    def _share(self, tasks: Iterable[Task]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        waiting, drawn = iter(tasks), {}
        idle = list(self._running)
        while True:
            while idle and (task := next(waiting, None)):
                connection = idle.pop()
                self._send(connection, task)
                drawn[connection] = task[1]
            if not drawn:
                return
            for ready in wait(list(drawn)):
                connection = next(each for each in drawn if each is ready)
                result = self._receive(connection)
                idle.append(connection)
                yield drawn.pop(connection), result

    def _send(self, connection: Connection, task: Task) -> None:
        try:
            connection.send(task)
        except OSError:
            raise self._died(connection) from None

    def _receive(self, connection: Connection) -> Any:
        try:
            failed, result = connection.recv()
        except (EOFError, OSError):
            raise self._died(connection) from None
        if failed:
            raise result
        return result

    def _died(self, connection: Connection) -> PbohError:
        code = self._running[connection].wait()
        how = f"was killed by signal {-code}" if code < 0 else f"ended with code {code}"
        todo = "Run the same command again: it continues. If memory was short, use fewer --workers"
        return PbohError(f"a worker process {how}", todo=todo)


def _load(modules: Sequence[str], say: bool = True) -> None:
    """Import modules and have them load what is compiled; one process of many says so if that takes long."""
    if modules:
        with say_if_compiling(hint="") if say else contextlib.nullcontext():
            for name in modules:
                importlib.import_module(name).warm_up()


def _give_back() -> None:
    """Return free memory to the system, which the allocators keep otherwise."""
    import pyarrow as pa  # noqa: PLC0415 - loaded already where there is something to return

    gc.collect()
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


def _environment() -> dict[str, str]:
    """The parent's, with its module path, and one thread for each library that would take all cores."""
    single = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    return {**os.environ, **single, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _serve(connection: Connection) -> None:
    """Run what arrives until the pipe closes."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # the lists of a page hold no cycles
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[bool, Any] = (False, function(*arguments))
        except PbohError as error:
            answer = (True, error)
        except MemoryError:
            answer = (
                True,
                PbohError("memory ran out", todo="Use fewer --workers, then run the command again"),
            )
        except Exception as error:  # a defect of ours: shown in the parent, with the trace
            answer = (True, RuntimeError(f"{error!r} in a worker:\n{traceback.format_exc()}"))
        connection.send(answer)


def _end_with_parent(parent: int) -> None:
    """Ask Linux to end this process with its parent, even in the middle of a chunk."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


class PeakMemory:
    """The most memory several processes held together, shared pages counted once; ten looks a second.

    Linux only; elsewhere, this process's own peak times the number of processes. Pages of files (libraries,
    mostly) are taken to be the same ones in all processes: asking the system which are would cost far more.
    """

    def __init__(self, processes: Callable[[], list[int]]) -> None:
        self._processes = processes
        self._peak = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def megabytes(self) -> float:
        """The peak so far."""
        return self._peak or peak_memory_megabytes() * len(self._processes())

    def _watch(self) -> None:
        while not self._done.wait(0.1):
            held = [_resident(process) for process in self._processes()]
            together = sum(own for own, _ in held) + max(of_files for _, of_files in held)
            self._peak = max(self._peak, together / (1 << 20))


def _resident(process: int) -> tuple[int, int]:
    """Bytes of memory of its own, and bytes of files it has mapped."""
    try:
        _, resident, of_files, *_ = Path(f"/proc/{process}/statm").read_text().split()
    except (OSError, ValueError):  # it has just ended, or this is not Linux
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return (int(resident) - int(of_files)) * page, int(of_files) * page


if __name__ == "__main__":
    _end_with_parent(int(sys.argv[2]))
    _load(sys.argv[4:], say=sys.argv[3] == "0")
    _serve(Connection(int(sys.argv[1])))
