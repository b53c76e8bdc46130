"""``pboh serve``: the HTTP service, and tools for language models."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import Annotated, Any, Literal

from typer import Option

from pboh.cli import app, options
from pboh.files.writing import parse_size
from pboh.service.options import Limits, Options

LIMITS = Limits()


def _limit(help: str, least: float) -> Any:
    return Option(help=help, min=least, rich_help_panel="Limits")


def _size(help: str) -> Any:
    return Option(metavar="SIZE", help=help, rich_help_panel="Limits")


@app.command("serve")
def serve_command(
    model: options.Model = None,
    port: Annotated[int, Option(help="Port to listen on.", min=1, max=65535)] = 8080,
    host: Annotated[
        str, Option(help="Address to listen on; the default is reachable from this machine only.")
    ] = "127.0.0.1",
    mcp: Annotated[
        Literal["stdio", "http"] | None,
        Option(help="Offer tools to language models; with stdio, the client starts this command."),
    ] = None,
    workers: Annotated[
        int, Option("--workers", "-w", min=1, help="Parallel workers; they share the mapped model.")
    ] = 1,
    threads: Annotated[int, Option(help="Computing threads per worker.", min=1, max=64)] = 2,
    paper: options.Paper = False,
    change: options.Change = None,
    log_format: Annotated[
        Literal["json", "text"] | None,
        Option(help="How to log.", show_default="text on a terminal, json elsewhere"),
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Option(help="Least severe messages to log.")
    ] = "info",
    max_body: Annotated[str, _size("Largest request.")] = "4MB",
    max_characters: Annotated[int, _limit("Longest text of a call with --mcp.", 1)] = 20_000,
    max_head: Annotated[str, _size("Largest address with its headers.")] = "64KB",
    max_mentions: Annotated[int, _limit("Most mentions in a document.", 1)] = LIMITS.mentions,
    max_total_mentions: Annotated[int, _limit("Most mentions in a request.", 1)] = LIMITS.total_mentions,
    max_mention_characters: Annotated[int, _limit("Longest mention.", 1)] = LIMITS.mention_characters,
    max_documents: Annotated[int, _limit("Most documents, or cells, in a request.", 1)] = LIMITS.documents,
    max_seconds: Annotated[
        float, _limit("Longest time to wait for and compute an answer.", 0.1)
    ] = LIMITS.seconds,
    client_seconds: Annotated[
        float, _limit("Longest time for a client to send its request.", 0.1)
    ] = LIMITS.client_seconds,
    max_waiting: Annotated[int, _limit("Most requests that wait in a worker.", 1)] = LIMITS.waiting,
    max_waiting_bytes: Annotated[
        str, _size("Largest total size of the requests waiting in a worker.")
    ] = "64MB",
    max_connections: Annotated[int, _limit("Most connections of a worker.", 1)] = LIMITS.connections,
    shutdown_seconds: Annotated[int, _limit("Time for running requests to finish.", 0)] = 30,
) -> None:
    """Serve a model over HTTP: JSON, GERBIL, DBpedia Spotlight, REL, OpenRefine, and a web page.

    It listens on this machine only, unless --host says otherwise: there are no accounts, so let a proxy
    decide who has access. Open http://127.0.0.1:8080 for the page and /docs for all endpoints.

    With --mcp it speaks the Model Context Protocol instead: an assistant can then ground names
    offline, with a probability and a reason (link_text, disambiguate, look_up_entity, explain). With http the
    address is http://HOST:PORT/mcp.

    \b
    Examples:
      pboh serve --model model --workers 2
      pboh serve --mcp stdio
    """
    from pboh.inference.settings import parse_changes
    from pboh.linker import model_folder

    if mcp is not None:
        from pboh.integrations.mcp import serve

        with redirect_stdout(sys.stderr):  # standard output belongs to the protocol
            linker = options.load_linker(model, paper, change)
        serve(linker, mcp, host, port, max_characters)
        return
    limits = Limits(
        body=parse_size(max_body), head=parse_size(max_head), mentions=max_mentions,
        total_mentions=max_total_mentions, mention_characters=max_mention_characters,
        documents=max_documents, seconds=max_seconds, client_seconds=client_seconds, waiting=max_waiting,
        waiting_bytes=parse_size(max_waiting_bytes), connections=max_connections,
    )  # fmt: skip
    asked = Options(
        model=None if model is None else str(model_folder(model)), paper=paper,
        settings=parse_changes(change or []), host=host, port=port, workers=workers, threads=threads,
        log_format=log_format or ("text" if sys.stderr.isatty() else "json"), log_level=log_level,
        shutdown_seconds=shutdown_seconds, limits=limits,
    )  # fmt: skip
    from pboh.service.server import run

    run(asked)
