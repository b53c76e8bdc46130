"""Running the application: workers, signals, and connections that may not dawdle."""

from __future__ import annotations

import asyncio
import logging
import logging.config
import os
import tempfile
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from pboh.service.app import open_linker
from pboh.service.logs import log_config
from pboh.service.options import Options, check_port

log = logging.getLogger("pboh.service")
_LATE = b'{"error":"the request was not complete in time."}'
_TIMEOUT = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n%s" % (len(_LATE), _LATE)
)
_Base: Any = AutoHTTPProtocol


class Protocol(_Base):  # type: ignore[misc]
    """uvicorn's HTTP, with time-outs where it has none: for the head of a request, and for taking the answer.

    A request whose head is complete is under the application's own time-out (see ``guard``).
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._seconds = Options.from_environment().limits.client_seconds
        self._timer: asyncio.TimerHandle | None = None

    def _expect(self, late: Any) -> None:
        self._relax()
        self._timer = self.loop.call_later(self._seconds, late)

    def _relax(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: Any) -> None:
        """A client that connects has to say something."""
        super().connection_made(transport)
        self._expect(self._late_head)

    def data_received(self, data: bytes) -> None:
        """The first bytes of a request start its clock; the end of its head stops it."""
        super().data_received(data)
        if not self._between_requests():
            self._relax()
        elif self._timer is None and not self.transport.is_closing():
            self._expect(self._late_head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._relax()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take the answer: it has to, some time."""
        super().pause_writing()
        self._expect(self.transport.abort)

    def resume_writing(self) -> None:
        """It took some of it."""
        super().resume_writing()
        self._relax()

    def _late_head(self) -> None:
        self._timer = None
        if self._between_requests() and not self.transport.is_closing():
            self.transport.write(_TIMEOUT)
            self.transport.close()


def run(options: Options) -> None:
    """Serve until told to stop; running requests are finished first."""
    open_linker(options)  # fails now, with a sentence, rather than in every worker
    check_port(options.host, options.port)
    options.to_environment()
    with tempfile.TemporaryDirectory(prefix="pboh-metrics-") as folder:
        if options.workers > 1:  # before prometheus_client is imported by a worker
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        limits = options.limits
        uvicorn.run(
            "pboh.service.app:from_environment",
            factory=True,
            host=options.host,
            port=options.port,
            workers=options.workers,
            http=Protocol,
            ws="none",
            lifespan="on",
            log_config=log_config(options.log_format, options.log_level),
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limits.connections,
            timeout_keep_alive=max(1, int(limits.client_seconds)),
            timeout_graceful_shutdown=options.shutdown_seconds,
            timeout_worker_healthcheck=30,
        )
