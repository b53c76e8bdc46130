"""``pboh learn``: parameters from the pages of a corpus instead of from counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from pboh.cli import app, options
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import write_json


@app.command("learn")
def learn_command(
    model: options.OwnModel,
    corpus: Annotated[Path, Option("--corpus", "-c", metavar="FOLDER", help="Written by pboh extract.")],
    start: Annotated[
        Literal["zeros", "prior", "bethe"], Option(help="Where to start (prior: λ = 0).")
    ] = "prior",
    centre: Annotated[Literal["zero", "start"], Option(help="What the penalty pulls towards.")] = "zero",
    rescaled: Annotated[bool, Option(help="Multiply λ by 2/(n−1), n = mentions of the page.")] = False,
    tau: Annotated[float, Option(help="Factor of the Bethe λ at the start.", min=0.0)] = 1.0,
    min_documents: Annotated[int, Option(help="Learn λ of pairs seen on this many pages.", min=1)] = 7,
    epochs: Annotated[int, Option(help="Passes over the pages, at most.", min=0)] = 10,
    rate: Annotated[float, Option(help="Learning rate of ρ in the first epoch.", min=0.0)] = 0.1,
    pair_rate: Annotated[float, Option(help="The same for λ.", min=0.0)] = 0.1,
    decay: Annotated[float, Option(help="Rate of epoch k is rate/(1 + decay·k).", min=0.0)] = 0.0,
    adaptive: Annotated[bool, Option("--adagrad/--sgd", help="A rate per parameter, or one.")] = True,
    penalty: Annotated[float, Option(help="γ of the penalty γ·‖ρ‖².", min=0.0)] = 0.1,
    pair_penalty: Annotated[float, Option(help="γ of the penalty γ·‖λ‖².", min=0.0)] = 0.1,
    patience: Annotated[int, Option(help="Stop after this many epochs without gain.", min=1)] = 2,
    workers: Annotated[
        int, Option("--workers", "-w", min=1, help="Parallel workers; they learn without locks.")
    ] = 2,
    held_out: Annotated[int, Option(help="Pages kept for early stopping.", min=1)] = 1000,
    sample: Annotated[int, Option(help="Learn from this many pages (0 = all).", min=0)] = 0,
    seed: Annotated[int, Option(help="Decides held-out pages and their order.", min=0)] = 0,
    checkpoints: Annotated[
        Path | None, Option(metavar="FOLDER", help="Where to checkpoint.", show_default="MODEL.learning")
    ] = None,
    restart: Annotated[bool, Option("--restart", help="Forget an unfinished run.")] = False,
    json: options.Json = None,
) -> None:
    """Learn ρ and λ by pseudo-likelihood from the pages of a corpus and store them with the model.

    The learned parameters are used by the system "learned" (pboh evaluate --systems learned); all others are
    untouched. A stopped run, even a killed one, continues when the same command is given again.

    Example: pboh learn --model model --corpus corpus --start bethe --centre start --rescaled
    """
    from pboh.learning.pseudo_likelihood.documents import DataOptions
    from pboh.learning.pseudo_likelihood.learn import learn as learn_parameters
    from pboh.learning.pseudo_likelihood.learner import LearningOptions
    from pboh.learning.pseudo_likelihood.parameters import ParameterOptions
    from pboh.learning.store import target

    def epoch_done(entry: dict[str, float]) -> None:
        trained = f"loss {entry['train_loss']:.4f}, " if entry["epoch"] else ""
        console.print(
            f"epoch {entry['epoch']:.0f}: {trained}held out {entry['loss']:.4f}, "
            f"{entry['accuracy']:.2%} right ({entry['accuracy_choices']:.2%} of real choices)"
        )

    folder = target(model).folder
    with progress("learning") as report:
        figures = learn_parameters(
            folder, corpus,
            data_options=DataOptions(held_out, sample, seed),
            parameter_options=ParameterOptions(min_documents, start, centre, rescaled, tau),
            options=LearningOptions(
                epochs, rate, pair_rate, decay, adaptive, penalty, pair_penalty, patience, workers, seed
            ),
            checkpoints=checkpoints, restart=restart, report=report, epoch_done=epoch_done,
        )  # fmt: skip
    if json is not None:
        write_json(json, figures)
    summarise(f"learned for {model}", {name: value for name, value in figures.items() if name != "history"})
