"""``pboh ablate``: what each extension brings alone and on top of the others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pboh.cli import app


@app.command("ablate")
def ablate_command(
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATASET…", help="Files or folders, as for pboh evaluate.")
    ],
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="A model folder.")],
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only extensions whose name has this in it.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a default, e.g. tau=0.7.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = os.cpu_count() or 1,
    out: Annotated[
        Path | None, typer.Option(metavar="TABLE.md", help="Write the tables as Markdown.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the gains as JSON.")
    ] = None,
) -> None:
    """Measure each extension twice: alone on the paper's model (--paper), and on top of all the others.

    A gain is the micro F1 with the extension minus the one without it, so that a positive figure speaks for
    it. Extensions that are not among the defaults are added to them.

    Example: pboh ablate --model model validation.jsonl.gz#150:1000 kore50.ttl RSS-500.ttl --out table.md
    """
    from pboh.cli.printing import output, show
    from pboh.errors import InputError
    from pboh.evaluation.ablation import EXTENSIONS, ablate, ablation_tables, markdown, plain
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.runner import uniquely_named
    from pboh.files.progress import progress
    from pboh.files.writing import write_json, written_aside
    from pboh.inference.settings import parse_changes
    from pboh.linker import load

    extensions = [e for e in EXTENSIONS if not only or any(word in e.name for word in only)]
    if not extensions:
        known = ", ".join(extension.name for extension in EXTENSIONS)
        raise InputError(f"no extension is called {' or '.join(only or [])}", todo=f"Known are {known}")
    read = uniquely_named([read_dataset(spec) for spec in datasets])
    linker = load(model, **parse_changes(change or []))
    with progress("ablating") as bar:
        rows = ablate(linker, read, extensions, workers=workers, report=bar)
    tables = ablation_tables(rows, read)
    for table in tables:
        show(output(), table)
    if out is not None:
        with written_aside(out) as aside:
            aside.write_text("\n".join(map(markdown, tables)), encoding="utf-8")
    if json is not None:
        write_json(json, plain(rows, read))
