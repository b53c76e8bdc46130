"""``pboh tune``: grid search of the global settings on validation data."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from pboh.cli import app


@app.command("tune")
def tune_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.")],
    validation: Annotated[
        list[str],
        typer.Option("--validation", "-v", metavar="DATASET", help="Data to tune on; may be repeated."),
    ],
    test: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="DATASET", help="Data to report on with the winner; never tuned on."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help="Tune only these settings, e.g. tau.")
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Start from the paper's settings.")] = False,
    passes: Annotated[int, typer.Option(help="Coarse passes before the fine one.", min=1)] = 2,
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = os.cpu_count() or 1,
    write: Annotated[bool, typer.Option("--write", help="Store the winner in the model.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Plot each setting's effect.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write all trials as JSON.")
    ] = None,
) -> None:
    """Search ζ, τ, δ, ξ, name layers and the other global settings for the best micro F1 + macro F1.

    Nothing is rebuilt. A test set given with --test must share no document with the validation data.

    Example: pboh tune model --validation validation.jsonl.gz#0:150 --write
    """
    from pboh.learning.grid import SPACE, Objective, check_disjoint, store_winner, tune
    from pboh.learning.grid_report import summary_of, write_report
    from pboh.linker import load
    from pboh.progress import progress, summarise

    check_disjoint(validation, test or [])
    unknown = set(only or []) - set(SPACE)
    if unknown:
        raise typer.BadParameter(f"unknown settings {sorted(unknown)}; known are {', '.join(SPACE)}")
    space = {name: values for name, values in SPACE.items() if not only or name in only}
    linker = load(model, paper=paper)
    began = perf_counter()
    with progress("tuning") as shown:
        tuning = tune(linker, validation, space=space, passes=passes, workers=workers, report=shown)
    figures = summary_of(tuning) | {"seconds": perf_counter() - began}
    for spec in test or []:
        trial = Objective(linker, [spec])(("test", 0.0, tuning.settings))
        figures[f"test {spec}"] = f"micro F1 {trial.micro_f1:.4f}, macro F1 {trial.macro_f1:.4f}"
    if write:
        store_winner(model, tuning, validation)
        figures["stored in"] = str(model)
    if report:
        write_report(report, tuning, validation)
    summarise("tuned", figures, json)
