"""What a server is started with: the model, where it listens, and how much one request may ask for."""

from __future__ import annotations

import socket
from typing import Any

import msgspec

from pboh.errors import InputError


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request, and all of them together, may use. Safe defaults; every one is an option."""

    body: int = 4 << 20  # bytes of a request
    head: int = 64 << 10  # bytes of its address and headers
    mentions: int = 2_000  # mentions of a document
    total_mentions: int = 10_000  # mentions of all documents of a request
    mention_characters: int = 500  # characters of a mention: no name is longer
    documents: int = 100  # documents of a batch, cells of a reconciliation batch
    seconds: float = 30.0  # waiting and computing
    client_seconds: float = 20.0  # a client's time to send a request, and to take the next part of an answer
    waiting: int = 256  # requests of a worker that wait for their turn
    waiting_bytes: int = 64 << 20  # bytes of all bodies that a worker holds
    connections: int = 1_000  # open connections of a worker


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Everything `pboh serve` was told."""

    model: str | None = None
    paper: bool = False
    settings: dict[str, Any] = {}
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    threads: int = 2  # computing threads of a worker
    log_format: str = "json"
    log_level: str = "info"
    shutdown_seconds: int = 30  # running requests may take this long to finish
    limits: Limits = Limits()


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to an address; fails with a sentence when nobody can listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio sends every part of an answer at once; otherwise each waits 40 ms.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except (OSError, UnicodeError) as reason:
        bound.close()
        what = f"cannot listen on {host} port {port} ({reason})"
        raise InputError(what, todo="Choose another --port or --host") from None
    return bound
