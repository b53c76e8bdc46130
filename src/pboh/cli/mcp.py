"""``pboh mcp``: tools for language models."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pboh.cli import app


class Transport(StrEnum):
    """How a client talks to the server."""

    stdio = "stdio"
    http = "http"


@app.command("mcp")
def mcp(
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", metavar="MODEL", help="A model folder [default: the starter model]."),
    ] = None,
    transport: Annotated[
        Transport, typer.Option(help="stdio: the client starts this command; http: it runs by itself.")
    ] = Transport.stdio,
    host: Annotated[
        str, typer.Option(help="Address to listen on; the default is reachable from this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8081,
    max_characters: Annotated[int, typer.Option(help="Longest text of a call.", min=1)] = 20_000,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, e.g. tau=0.7.")
    ] = None,
) -> None:
    """Offer tools to language models: link_text, disambiguate, look_up_entity and explain.

    A server of the Model Context Protocol: an assistant that is told of it can ground names offline, with
    a probability and a reason. Over http the address is http://HOST:PORT/mcp; there are no accounts, so let
    a proxy decide who may ask before you choose another --host.

    Example: pboh mcp --model model
    """
    from pboh.inference.settings import parse_changes
    from pboh.integrations.mcp import serve
    from pboh.linker import load

    with redirect_stdout(sys.stderr):  # standard output belongs to the protocol
        linker = load(model, **parse_changes(change or []))
    serve(linker, transport.value, host, port, max_characters)
