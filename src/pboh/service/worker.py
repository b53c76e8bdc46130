"""A process that serves: uvicorn around the application, and signs of life for who watches over it."""

from __future__ import annotations

import signal
import socket
from functools import partial
from multiprocessing.connection import Connection as Pipe
from typing import Any

import uvicorn

from pboh.service.app import create_app, open_linker
from pboh.service.bounded import BoundedLinker
from pboh.service.connection import Connection
from pboh.service.logs import log_config
from pboh.service.options import Options

BEAT_SECONDS = 1
_LAST_SECONDS = 2  # of the time for shutting down, for ending what did not finish


def work(options: Options, listening: socket.socket, life: Pipe) -> None:
    """Serve until told to stop, beating through ``life`` as long as the event loop runs."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # meant for the process that replaces workers
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
        timeout_notify=BEAT_SECONDS,
    )
