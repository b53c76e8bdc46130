"""``pboh tune``: the global settings that suit validation data best, by grid search or by a convex fit."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pboh.cli import app

if TYPE_CHECKING:
    from pboh.evaluation.datasets import Dataset
    from pboh.inference.settings import Settings
    from pboh.linker import Linker


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
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the weights ζ and τ in seconds instead of searching a grid.")
    ] = False,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[=V1,V2…]",
            help="Vary only these settings, on the usual grid or these values; with --fit, only these terms.",
        ),
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
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Store it in a model of its own that borrows the rest.")
    ] = None,
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

    With --fit, the weights of the terms of the score (prior, context, pairs …) are fitted to the gold of the
    documents, with standard errors; all other mentions are taken as known, as in pseudo-likelihood.

    Examples:

      pboh tune model --validation validation.jsonl.gz#0:150 --report tuning.html --write

      pboh tune model -v aida:AIDA.tsv#testa --vary tau --vary zeta=0.05,0.1,0.2 --test aida:AIDA.tsv#testb

      pboh tune model -v validation.jsonl.gz#0:150 --fit
    """
    from pboh.errors import InputError
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.leakage import check_disjoint
    from pboh.files.progress import console, progress, summarise
    from pboh.files.writing import check_outputs
    from pboh.inference.settings import parse_changes
    from pboh.learning.grid import differences, parse_space
    from pboh.learning.store import store, target
    from pboh.learning.weights import fit_settings
    from pboh.linker import load

    if fit and report is not None:
        raise InputError("a fit has no report", todo="Write its figures with --json FILE")
    check_outputs(report, json)
    into = target(model, out) if write or out else None
    grid: dict[str, Any] = {"space": parse_space(() if fit else vary or ())}
    datasets, held_out = ([read_dataset(spec) for spec in specs] for specs in (validation, test or []))
    check_disjoint(datasets, held_out)
    linker = load(model, paper=paper, **parse_changes(change or []))
    if fit:
        with progress("fitting") as bar:
            settings, figures = fit_settings(linker, datasets, held_out, vary or (), bar)
        summarise(f"weights for {model}", figures, json)
    else:
        grid |= {"rounds": rounds, "fine": fine, "confidence": confidence, "workers": workers}
        settings = _search(linker, datasets, held_out, grid, report, json)
    if into is not None:
        store(into, datasets, differences(settings))
        console.print(f"stored in {into.folder}")


def _search(
    linker: Linker,
    datasets: list[Dataset],
    held_out: list[Dataset],
    grid: dict[str, Any],
    report: Path | None,
    json: Path | None,
) -> Settings:
    """Search a grid, write and print what was found; Ctrl-C ends the command with the best so far."""
    from pboh.cli.printing import output, show
    from pboh.files.progress import console, progress
    from pboh.files.writing import write_json
    from pboh.learning.grid import tune
    from pboh.learning.grid_report import test_table, tuning_data, tuning_table, write_tuning_report

    began = perf_counter()
    with progress("tuning") as bar:
        tuning = tune(linker, datasets, report=bar, **grid)
    tables = [tuning_table(tuning)]
    if held_out and not tuning.interrupted:
        tables.append(test_table(linker, tuning, held_out, grid["workers"]))
    if json is not None:
        write_json(json, tuning_data(tuning, datasets, perf_counter() - began))
    if report is not None:
        write_tuning_report(report, tuning, datasets, tables, linker.model.folder.name)
        console.print(f"report: {report}")
    for table in tables:
        show(output(), table)
    if tuning.interrupted:
        console.print("interrupted: the best so far is shown, nothing is stored in the model")
        raise typer.Exit(130)
    return tuning.settings
