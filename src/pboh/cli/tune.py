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
        list[str] | None,
        typer.Option(metavar="NAME[=V1,V2…]", help="Tune only these, on the usual grid or these values."),
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Start from the paper's settings.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Start from this, e.g. tau=0.7.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Coarse rounds before the fine one.", min=1)] = 2,
    fine: Annotated[
        bool, typer.Option("--fine/--no-fine", help="End with values between those of the grid.")
    ] = True,
    confidence: Annotated[
        float, typer.Option(help="Take a value that is better in this share of resamples.", min=0, max=1)
    ] = 0.95,
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

    Nothing is rebuilt. Ctrl-C ends the search with the best so far. A test set must share no document with
    the validation data, and "pboh evaluate" will refuse the data that a stored winner was chosen on.

    Examples:

      pboh tune model --validation validation.jsonl.gz#0:150 --report tuning.html --write

      pboh tune model -v aida:AIDA.tsv#testa --only tau --only zeta=0.05,0.1,0.2 --test aida:AIDA.tsv#testb
    """
    from pboh.cli.printing import output, show
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.leakage import check_disjoint
    from pboh.files.progress import console, progress
    from pboh.files.writing import write_json
    from pboh.inference.settings import parse_changes
    from pboh.learning.grid import parse_space, store_winner, tune
    from pboh.learning.grid_report import test_table, tuning_data, tuning_table, write_tuning_report
    from pboh.linker import load

    space = parse_space(only or [])
    datasets, held_out = ([read_dataset(spec) for spec in specs] for specs in (validation, test or []))
    check_disjoint(datasets, held_out)
    linker = load(model, paper=paper, **parse_changes(change or []))
    began = perf_counter()
    with progress("tuning") as bar:
        tuning = tune(
            linker,
            datasets,
            space=space,
            rounds=rounds,
            fine=fine,
            confidence=confidence,
            workers=workers,
            report=bar,
        )
    tables = [tuning_table(tuning)]
    if held_out and not tuning.interrupted:
        tables.append(test_table(linker, tuning, held_out, workers))
    for table in tables:
        show(output(), table)
    if json is not None:
        write_json(json, tuning_data(tuning, datasets, perf_counter() - began))
    if report is not None:
        write_tuning_report(report, tuning, datasets, tables, model.resolve().name)
        console.print(f"report: {report}")
    if tuning.interrupted:
        console.print("interrupted: the best so far is shown, nothing is stored in the model")
        raise typer.Exit(130)
    if write:
        store_winner(model, tuning, datasets)
        console.print(f"stored in {model}")
