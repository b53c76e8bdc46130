"""``pboh learn``: parameters from the pages of a corpus instead of from counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pboh.cli import app


@app.command("learn")
def learn(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder written by pboh build or train.")],
    corpus: Annotated[Path, typer.Option("--corpus", "-c", metavar="DIR", help="Written by pboh extract.")],
    start: Annotated[str, typer.Option(help="Where to start: zeros, prior (λ = 0) or bethe.")] = "prior",
    centre: Annotated[str, typer.Option(help="What the penalty pulls towards: zero or start.")] = "zero",
    rescaled: Annotated[bool, typer.Option(help="Multiply λ by 2/(n−1), n = mentions of the page.")] = False,
    tau: Annotated[float, typer.Option(help="Factor of the Bethe λ at the start.", min=0.0)] = 1.0,
    min_documents: Annotated[int, typer.Option(help="Learn λ of pairs seen in so many pages.", min=1)] = 7,
    epochs: Annotated[int, typer.Option(help="Passes over the pages, at most.", min=0)] = 10,
    rate: Annotated[float, typer.Option(help="Learning rate of ρ in the first epoch.", min=0.0)] = 0.1,
    pair_rate: Annotated[float, typer.Option(help="The same for λ.", min=0.0)] = 0.1,
    decay: Annotated[float, typer.Option(help="Rate of epoch k is rate/(1 + decay·k).", min=0.0)] = 0.0,
    adaptive: Annotated[bool, typer.Option("--adagrad/--sgd", help="A rate per parameter, or one.")] = True,
    penalty: Annotated[float, typer.Option(help="γ of the penalty γ·‖ρ‖².", min=0.0)] = 0.1,
    pair_penalty: Annotated[float, typer.Option(help="γ of the penalty γ·‖λ‖².", min=0.0)] = 0.1,
    patience: Annotated[int, typer.Option(help="Stop after so many epochs without gain.", min=1)] = 2,
    threads: Annotated[int, typer.Option(help="Threads that learn without locks.", min=1)] = 2,
    held_out: Annotated[int, typer.Option(help="Pages kept for early stopping.", min=1)] = 1000,
    longest: Annotated[int, typer.Option(help="Cut longer pages into pieces (0 = never).", min=0)] = 0,
    pages: Annotated[int, typer.Option(help="Learn from a sample of pages (0 = all).", min=0)] = 0,
    seed: Annotated[int, typer.Option(help="Decides held-out pages and their order.", min=0)] = 0,
    checkpoints: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Checkpoints (default: MODEL.learning).")
    ] = None,
    every: Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0.0)] = 300.0,
    restart: Annotated[bool, typer.Option("--restart", help="Forget an unfinished run.")] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON too.")
    ] = None,
) -> None:
    """Learn ρ and λ by pseudo-likelihood from the pages of a corpus and store them with the model.

    The learned parameters are used by the system "learned" (pboh evaluate --systems learned); all others are
    untouched. A run that was stopped, even killed, goes on when the same command is given again.

    Example: pboh learn model --corpus corpus --start bethe --centre start --rescaled
    """
    from pboh.files.progress import console, progress, summarise
    from pboh.files.writing import check_outputs, write_json
    from pboh.learning.pseudo_likelihood.documents import DataOptions
    from pboh.learning.pseudo_likelihood.learn import ParameterOptions
    from pboh.learning.pseudo_likelihood.learn import learn as learn_parameters
    from pboh.learning.pseudo_likelihood.learner import LearningOptions

    def epoch_done(entry: dict[str, float]) -> None:
        trained = f"loss {entry['train_loss']:.4f}, " if entry["epoch"] else ""
        console.print(
            f"epoch {entry['epoch']:.0f}: {trained}held out {entry['loss']:.4f}, "
            f"{entry['accuracy']:.2%} right ({entry['accuracy_choices']:.2%} of real choices)"
        )

    check_outputs(json)
    with progress("learning") as report:
        figures = learn_parameters(
            model, corpus,
            data_options=DataOptions(held_out, longest, pages, seed),
            parameter_options=ParameterOptions(min_documents, start, centre, rescaled, tau),
            options=LearningOptions(
                epochs, rate, pair_rate, decay, adaptive, penalty, pair_penalty, patience, threads, seed
            ),
            checkpoints=checkpoints, restart=restart, every=every, report=report, epoch_done=epoch_done,
        )  # fmt: skip
    summarise(f"learned for {model}", {name: value for name, value in figures.items() if name != "history"})
    if json is not None:
        write_json(json, figures)
