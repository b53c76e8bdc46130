"""The processes of a server: workers, and one that replaces those that end or hang and stops them in time."""

from __future__ import annotations

import logging
import logging.config
import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from time import monotonic
from typing import Any

import psutil
import uvicorn

from pboh.service.app import create_app, open_linker
from pboh.service.bounded import BoundedLinker
from pboh.service.connection import Connection
from pboh.service.logs import log_config
from pboh.service.options import Options, listen

HUNG_SECONDS = 30.0  # a worker whose event loop hangs that long is replaced
START_SECONDS = 120.0  # the same before it has begun to serve
_BEAT_SECONDS = 1
_LAST_SECONDS = 2  # of the time for shutting down, for ending what did not finish
_KILL_SECONDS = 0.5  # the same, for burying a worker that had to be killed
_METRICS = "pboh-metrics-"
_HANGUP = getattr(signal, "SIGHUP", None)  # Windows has none
log = logging.getLogger("pboh.service")


def run(options: Options) -> None:
    """Serve until told to stop."""
    open_linker(options)  # fails now, with a sentence, rather than in every worker
    with listen(options.host, options.port) as listening, _metrics_folder() as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # before a worker imports prometheus_client
        logging.config.dictConfig(log_config(options.log_format, options.log_level))
        log.info("listening", extra={"facts": {"host": options.host, "port": options.port}})
        Supervisor(options, listening).run()


@dataclass
class Worker:
    """A worker process: when it last showed life, and until when it may live on if it was told to stop."""

    process: SpawnProcess
    life: Pipe
    beat: float = field(default_factory=monotonic)
    serving: bool = False
    ends: float | None = None

    def is_hung(self, now: float) -> bool:
        """Whether it has to be killed."""
        if self.ends is not None:
            return now > self.ends
        return now - self.beat > (HUNG_SECONDS if self.serving else START_SECONDS)

    def hear(self) -> None:
        """Take its signs of life."""
        with suppress(EOFError, OSError):  # it has just ended
            while self.life.poll():
                self.life.recv_bytes()
                self.serving, self.beat = True, monotonic()

    def stop(self, seconds: float) -> None:
        """Tell it to stop within this many seconds."""
        if self.ends is None:
            self.ends = monotonic() + max(0.0, seconds - _KILL_SECONDS)
            self.process.terminate()


class Supervisor:
    """Keeps as many workers as were asked for. SIGHUP replaces all of them, one after the other."""

    def __init__(self, options: Options, listening: socket.socket) -> None:
        self.options, self.listening = options, listening
        self.workers: list[Worker] = []
        self._old: list[Worker] = []  # to be replaced
        self._stopping = False
        self._not_before = 0.0

    def run(self) -> None:
        """Watch until a signal says stop and the last worker has ended."""
        reader, writer = socket.socketpair()
        writer.setblocking(False)
        signal.set_wakeup_fd(writer.fileno())
        for number in filter(None, (signal.SIGTERM, signal.SIGINT, _HANGUP)):
            signal.signal(number, lambda *_: None)  # its number arrives through the socket
        while self.workers or not self._stopping:
            self._tend()
            ready = wait(
                [reader, *(w.process.sentinel for w in self.workers), *(w.life for w in self.workers)], 0.5
            )
            if reader in ready:
                self._obey(reader.recv(64))

    def _obey(self, signals: bytes) -> None:
        if _HANGUP and _HANGUP in signals:
            self._old = list(self.workers)
        if signal.SIGTERM in signals or signal.SIGINT in signals:
            self._stopping = True
            for worker in self.workers:
                worker.stop(self.options.shutdown_seconds)

    def _tend(self) -> None:
        """Bury the dead, kill the hung, start what is missing, retire what has been replaced."""
        now = monotonic()
        for worker in list(self.workers):
            worker.hear()
            if not worker.process.is_alive():
                self._bury(worker, now)
            elif worker.is_hung(now):
                worker.process.kill()
        self._old = [worker for worker in self._old if worker in self.workers]
        staying = [worker for worker in self.workers if worker.ends is None]
        wanted = self.options.workers + bool(self._old)
        if not self._stopping and len(staying) < wanted and now >= self._not_before:
            self.workers += [self._started() for _ in range(wanted - len(staying))]
        elif self._old and all(worker.serving for worker in staying) and len(staying) == wanted:
            self._old.pop().stop(self.options.shutdown_seconds)

    def _bury(self, worker: Worker, now: float) -> None:
        self.workers.remove(worker)
        worker.life.close()
        if worker.ends is None:
            facts = {"worker": worker.process.pid, "exit": worker.process.exitcode}
            log.warning("a worker ended and is replaced", extra={"facts": facts})
        if not worker.serving:
            self._not_before = now + 1.0  # what ends before it serves will hardly do better at once

    def _started(self) -> Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(self.options, self.listening, theirs))
        process.start()
        theirs.close()
        return Worker(process, ours)


@contextmanager
def _metrics_folder() -> Iterator[str]:
    """A folder where workers count; those of servers that were killed are removed."""
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{_METRICS}*"):
        owner = left.name.split("-")[2]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{_METRICS}{os.getpid()}-") as folder:
        yield folder


# -- workers --------------------------------------------------------------------------------------------


def work(options: Options, listening: socket.socket, life: Pipe) -> None:
    """Serve until told to stop, beating through ``life`` as long as the event loop runs."""
    if _HANGUP:
        signal.signal(_HANGUP, signal.SIG_IGN)  # meant for the process that replaces workers
    bounded = BoundedLinker(partial(open_linker, options), options.limits, threads=options.threads)
    server = uvicorn.Server(config(options, create_app(bounded), life))
    server.run(sockets=[listening])


def config(options: Options, app: Any, life: Pipe | None = None) -> uvicorn.Config:
    """How uvicorn runs the application."""
    limits = options.limits

    async def beat() -> None:
        if life is not None:
            try:
                life.send_bytes(b".")
            except OSError:  # nobody watches any more: end like after a SIGTERM
                signal.raise_signal(signal.SIGTERM)

    return uvicorn.Config(
        app,
        loop="asyncio",  # the only one whose protocols say how much they read at a time
        http=partial(Connection, limits=limits),  # type: ignore[arg-type]
        h11_max_incomplete_event_size=limits.head,
        ws="none",
        lifespan="on",
        log_config=log_config(options.log_format, options.log_level),
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(1, int(limits.client_seconds)),
        timeout_graceful_shutdown=max(0, options.shutdown_seconds - _LAST_SECONDS),
        callback_notify=beat,
        timeout_notify=_BEAT_SECONDS,
    )
