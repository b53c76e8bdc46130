"""``pboh calibrate``: fit how far answers and detected mentions can be trusted, on documents with gold."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from pboh.cli import app, options
from pboh.files.progress import progress, summarise
from pboh.files.writing import write_json


@app.command("calibrate")
def calibrate_command(
    validation: options.Validation,
    model: options.Model = None,
    complete: Annotated[
        list[str] | None,
        Option("--complete", metavar="DATASET", help="Texts in which every name is annotated; repeatable."),
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
    mean is taken for unknown. If all your texts are like these documents, use --as-they-are.

    \b
    Examples:
      pboh calibrate --model model --validation validation.jsonl.gz#0:150
      pboh calibrate --validation validation.jsonl.gz#0:150 --out my-model
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.learning.calibration import calibrate
    from pboh.learning.store import store_calibration, target
    from pboh.linker import load

    into = target(model, out) if write else None
    datasets, annotated = ([read_dataset(spec) for spec in specs] for specs in (validation, complete or []))
    with progress("calibrating") as bar:
        fitted = calibrate(load(model), datasets, bar, annotated, as_they_are)
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
