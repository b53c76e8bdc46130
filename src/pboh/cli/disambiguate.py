"""``pboh disambiguate``: JSON lines with mentions in, JSON lines with entities out."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from pboh.cli import app


@app.command("disambiguate")
def disambiguate(
    source: Annotated[str, typer.Argument(metavar="FILE.jsonl|-", help="Documents; - reads standard input.")],
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="A model folder.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the answers here.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes; documents keep their order.", min=1)] = 1,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's model: every extension off.")] = False,
    only: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Answer only with these entities, one title a line."),
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, e.g. tau=0.7.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the terms of every answer's score.")
    ] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write a summary as JSON.")
    ] = None,
) -> None:
    """Resolve given mentions of documents, one JSON object a line.

    In: {"id", "text", "mentions": [{"start", "end"}]}; offsets count code points. A mention may carry
    "entity": it is clamped to that title and steers the rest. Out: the same order, each mention with entity,
    probability, score and candidates. A bad line is reported with its number and does not stop the others;
    the exit code is then 1.

    Example: pboh disambiguate documents.jsonl --model model > answers.jsonl
    """
    from pboh.cli.only import read_only
    from pboh.files.progress import console, summarise
    from pboh.files.writing import written_aside
    from pboh.formats.jsonlines import read_lines, resolve_lines
    from pboh.inference.settings import parse_changes
    from pboh.linker import load

    linker = load(model, paper=paper, **parse_changes(change or []))
    figures: dict[str, Any] = {"documents": 0, "mentions": 0, "linked": 0, "failed_lines": 0}
    with written_aside(out) if out else nullcontext() as aside:
        sink = aside.open("wb") if aside else sys.stdout.buffer
        lines = resolve_lines(
            linker, read_lines(source), workers=workers, explain=explain, only=read_only(linker, only)
        )
        for resolved in lines:
            if resolved.line is None:
                figures["failed_lines"] += 1
                console.print(f"[red]{source}: {resolved.error}[/]", soft_wrap=True)
                continue
            sink.write(resolved.line)
            figures["documents"] += 1
            figures["mentions"] += resolved.mentions
            figures["linked"] += resolved.linked
        sink.flush()
        if aside:
            sink.close()
    if json is not None or out is not None:
        summarise("disambiguated", figures, json)
    if figures["failed_lines"]:
        sys.exit(1)
