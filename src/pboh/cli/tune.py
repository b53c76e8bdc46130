"""``pboh tune`` and ``pboh calibrate``: settings that suit validation data, and how far to trust answers."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from typer import Exit, Option

from pboh.cli import app, options, printing
from pboh.errors import InputError
from pboh.files.memory import processors
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import write_json

if TYPE_CHECKING:
    from pboh.evaluation.datasets import Dataset
    from pboh.inference.settings import Settings
    from pboh.linker import Linker


@app.command("tune")
def tune_command(
    validation: options.Validation,
    model: options.Model = None,
    test: Annotated[
        list[str] | None, Option(metavar="DATASET", help="Documents to judge the winner on; never tuned on.")
    ] = None,
    fit: Annotated[
        bool, Option("--fit", help="Fit the weights ζ and τ in seconds instead of searching a grid.")
    ] = False,
    vary: Annotated[
        list[str] | None,
        Option(
            metavar="NAME[=V1,V2…]",
            help="Vary only these settings, on the usual grid or these values; with --fit, only these terms.",
        ),
    ] = None,
    paper: options.Paper = False,
    change: options.Change = None,
    rounds: Annotated[int, Option(help="Coarse rounds before the fine one.", min=1)] = 2,
    fine: Annotated[bool, Option(help="End with a finer grid around the best values.")] = True,
    topics: Annotated[
        int, Option(help="Divide the documents by this many topics; a value must not harm any.", min=1)
    ] = 1,
    confidence: Annotated[
        float, Option(help="Take a value that is better in this share of resamples.", min=0, max=1)
    ] = 0.95,
    workers: options.Workers = None,
    write: Annotated[bool, Option("--write", help="Store the result in the model.")] = False,
    out: options.BesideModel = None,
    report: options.Report = None,
    json: options.Json = None,
) -> None:
    """Search ζ, τ, δ, ξ, name layers and the other global settings for the best micro F1 + macro F1.

    The search starts from the settings of the model, as changed by --paper and --set. Nothing is rebuilt.
    Ctrl-C ends it with the best so far. A value is taken only if no dataset loses by it: pass the same
    documents in several readings, and --topics, to choose what carries over to other texts. A test set must
    share no document with the validation data, and pboh evaluate refuses the data that a stored winner was
    chosen on.

    With --fit, the weights of the terms of the score (prior, context, pairs …) are fitted to the gold of the
    documents, with standard errors; all other mentions are taken as known, as in pseudo-likelihood.

    \b
    Examples:
      pboh tune --model model --validation validation.jsonl.gz#0:150 --report tuning.html --write
      pboh tune -v aida:AIDA.tsv#testa --vary tau --vary zeta=0.05,0.1,0.2 --test aida:AIDA.tsv#testb
      pboh tune --model model -v validation.jsonl.gz#0:150 -v sentences:validation.jsonl.gz#0:150 --topics 3
      pboh tune --model model -v validation.jsonl.gz#0:150 --fit
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.leakage import check_disjoint
    from pboh.learning.grid import parse_space
    from pboh.learning.store import store, target
    from pboh.learning.topics import by_topic
    from pboh.learning.weights import fit_settings

    if fit and report is not None:
        raise InputError("a fit has no report", todo="Write its figures with --json FILE")
    into = target(model, out) if write or out else None
    grid: dict[str, Any] = {"space": parse_space(() if fit else vary or ())}
    datasets, held_out = ([read_dataset(spec) for spec in specs] for specs in (validation, test or []))
    check_disjoint(datasets, held_out)
    linker = options.load_linker(model, paper, change)
    if topics > 1:
        datasets = [part for dataset in datasets for part in by_topic(linker, dataset, topics)]
    if fit:
        with progress("fitting") as bar:
            settings, figures = fit_settings(linker, datasets, held_out, vary or (), bar)
        summarise(f"weights for {linker.model.folder.name}", figures, json)
    else:
        grid |= {"rounds": rounds, "fine": fine, "confidence": confidence, "workers": workers or processors()}
        settings = _search(linker, datasets, held_out, grid, report, json)
    if into is not None:
        store(into, datasets, settings)
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
    printing.show(tables)
    if tuning.interrupted:
        console.print("interrupted: the best so far is shown, nothing is stored in the model")
        raise Exit(130)
    return tuning.settings


@app.command("calibrate")
def calibrate_command(
    validation: options.Validation,
    model: options.Model = None,
    complete: Annotated[
        list[str] | None,
        Option("--complete", metavar="DATASET", help="Texts of yours in which every name is annotated."),
    ] = None,
    as_they_are: Annotated[
        bool, Option("--as-they-are", help="Fit probabilities for texts just like these, in one reading.")
    ] = False,
    write: Annotated[bool, Option("--write/--no-write", help="Store the result in the model.")] = True,
    out: options.BesideModel = None,
    json: options.Json = None,
) -> None:
    """Turn scores into probabilities that mean what they say, and choose the thresholds.

    This fits the probability that an answer is right (below its threshold, a mention is left unlinked), that
    something found in raw text is a name, and that it is worth a link. Use documents the model was not
    trained on; the figures are for documents left out of the fit. Calibrate after tuning: a calibration
    belongs to the stored settings.

    So that probabilities hold elsewhere, the documents are also read with later mentions of their names, as
    single sentences, in capitals and with half of their words, and one in twenty of the entities that names
    mean is taken for unknown. If all your texts are like these documents, use --as-they-are. A general model
    of English is also fitted on annotated texts that come with pboh, unless you give --complete.

    \b
    Examples:
      pboh calibrate --model model --validation validation.jsonl.gz#0:150
      pboh calibrate --validation validation.jsonl.gz#0:150 --out my-model
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.learning.annotated import texts_for
    from pboh.learning.calibration import calibrate
    from pboh.learning.store import store_calibration, target
    from pboh.linker import load

    into = target(model, out) if write else None
    datasets, given = ([read_dataset(spec) for spec in specs] for specs in (validation, complete or []))
    linker = load(model)
    annotated = given or ([] if as_they_are else texts_for(linker))
    with progress("calibrating") as bar:
        fitted = calibrate(linker, datasets, bar, annotated, as_they_are)
    if into is not None:
        store_calibration(into, [*datasets, *annotated], fitted)
    if json is not None:
        write_json(json, fitted)
    for name, function in fitted.items():
        figures = function["fitted"]
        shown = {
            "answers": figures["answers"],
            "right": figures["right"] / figures["answers"],
            "calibration error": figures["error"],
            "threshold": function["threshold"],
            **{f"{k} at threshold": v for k, v in figures["at_threshold"].items()},
        }
        summarise(name, shown)
