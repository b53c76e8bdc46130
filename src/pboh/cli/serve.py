"""``pboh serve``: the HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pboh.cli import app

_LIMITS = "Limits"


@app.command("serve")
def serve(
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", metavar="MODEL", help="A model folder [default: the starter model]."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8080,
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is reachable from this machine only.")
    ] = "127.0.0.1",
    workers: Annotated[int, typer.Option(help="Processes; they share the mapped model.", min=1)] = 1,
    threads: Annotated[int, typer.Option(help="Computing threads of each worker.", min=1, max=64)] = 2,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's model: every extension off.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, e.g. tau=0.7.")
    ] = None,
    max_body: Annotated[
        str, typer.Option(metavar="SIZE", help="Largest request.", rich_help_panel=_LIMITS)
    ] = "4MB",
    max_mentions: Annotated[
        int, typer.Option(help="Mentions of a document.", min=1, rich_help_panel=_LIMITS)
    ] = 2_000,
    max_documents: Annotated[
        int,
        typer.Option(help="Documents of a batch, cells of a reconciliation.", min=1, rich_help_panel=_LIMITS),
    ] = 100,
    max_seconds: Annotated[
        float, typer.Option(help="Waiting and computing of a request.", min=0.1, rich_help_panel=_LIMITS)
    ] = 30.0,
    client_seconds: Annotated[
        float, typer.Option(help="Time a client has to send a request.", min=0.1, rich_help_panel=_LIMITS)
    ] = 20.0,
    max_waiting: Annotated[
        int, typer.Option(help="Requests that wait in a worker.", min=1, rich_help_panel=_LIMITS)
    ] = 256,
    max_connections: Annotated[
        int, typer.Option(help="Connections of a worker.", min=1, rich_help_panel=_LIMITS)
    ] = 1_000,
    shutdown_seconds: Annotated[
        int, typer.Option(help="Time running requests have to finish.", min=0, rich_help_panel=_LIMITS)
    ] = 30,
    log_format: Annotated[str, typer.Option(help="json or text.")] = "json",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Answer over HTTP: JSON, GERBIL, DBpedia Spotlight, REL, OpenRefine, and a page to look at.

    It listens on this machine only, unless --host says otherwise: there are no accounts, so let a proxy
    decide who may ask. Open http://127.0.0.1:8080 for the page and /docs for all addresses.

    Example: pboh serve --model model --workers 2
    """
    from pboh.errors import InputError, MissingExtraError
    from pboh.files.writing import parse_size
    from pboh.inference.settings import parse_changes
    from pboh.service.options import Limits, Options

    limits = Limits(
        body=parse_size(max_body),
        mentions=max_mentions,
        documents=max_documents,
        seconds=max_seconds,
        client_seconds=client_seconds,
        waiting=max_waiting,
        connections=max_connections,
    )
    if log_format not in ("json", "text"):
        raise InputError(f"unknown log format {log_format!r}", todo="Choose json or text")
    if log_level not in ("debug", "info", "warning", "error"):
        raise InputError(f"unknown log level {log_level!r}", todo="Choose debug, info, warning or error")
    options = Options(
        model=None if model is None else str(model.resolve()),
        paper=paper,
        settings=parse_changes(change or []),
        host=host,
        port=port,
        workers=workers,
        threads=threads,
        log_format=log_format,
        log_level=log_level,
        shutdown_seconds=shutdown_seconds,
        limits=limits,
    )
    try:
        from pboh.service.server import run
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of(missing.name or "fastapi", "serve") from None
    run(options)
