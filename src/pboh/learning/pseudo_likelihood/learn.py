"""``pboh learn`` as a function: a model and its corpus in, the model with learned parameters out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

from pboh.files.memory import peak_memory_megabytes
from pboh.files.progress import Report, silent
from pboh.inference.bethe import Bethe
from pboh.learning.pseudo_likelihood.checkpoints import Checkpoints
from pboh.learning.pseudo_likelihood.documents import DataOptions, TrainingData, read_training_data
from pboh.learning.pseudo_likelihood.learned import attach, learned_arrays
from pboh.learning.pseudo_likelihood.learner import Learner, LearningOptions
from pboh.learning.pseudo_likelihood.pairs import cooccurring
from pboh.learning.pseudo_likelihood.parameters import Parameters, starting_point
from pboh.model.store import Model, open_model


@dataclass(frozen=True, slots=True)
class ParameterOptions:
    """Which parameters there are and where they start; recorded with the result."""

    min_documents: int = 7  # λ for pairs that co-occur in at least so many training documents (the paper's)
    start: str = "prior"  # zeros, prior or bethe
    centre: str = "zero"  # what the penalty pulls to: zero (the paper) or start
    rescaled: bool = False  # λ is multiplied by 2/(n−1), as Eq. (bethe-normalized-params) does
    tau: float = 1.0  # factor of the Bethe λ at the start


def first_parameters(data: TrainingData, model: Model, options: ParameterOptions) -> Parameters:
    """Parameters of the training data at their starting point."""
    together = cooccurring(data.train, data.names, data.entities, options.min_documents)
    return starting_point(
        data.names, data.counts, together, start=options.start, centre=options.centre,
        rescaled=options.rescaled, backoff=Bethe.of(model).backoff, tau=options.tau,
    )  # fmt: skip


def learn(
    folder: Path,
    corpus: Path,
    *,
    data_options: DataOptions | None = None,
    parameter_options: ParameterOptions | None = None,
    options: LearningOptions | None = None,
    checkpoints: Path | None = None,
    restart: bool = False,
    every: float = 300.0,
    report: Report = silent,
    epoch_done: Callable[[dict[str, float]], None] = lambda entry: None,
) -> dict[str, Any]:
    """Learn ρ and λ, store the best ones with the model, and return the figures of the run.

    A run that was stopped goes on from its checkpoint (by default in a folder beside the model).
    """
    data_options, options = data_options or DataOptions(), options or LearningOptions()
    parameter_options = parameter_options or ParameterOptions()
    began, model = perf_counter(), open_model(folder)
    data = read_training_data(corpus, model, data_options, report)
    parameters = first_parameters(data, model, parameter_options)
    figures = {**data.figures, "lambda_parameters": len(parameters.lam)}
    recipe = {
        "data": asdict(data_options), "parameters": asdict(parameter_options),
        "learning": _lasting(options), "corpus": figures,
    }  # fmt: skip
    prepared = perf_counter() - began
    store = Checkpoints(checkpoints or folder.with_name(f"{folder.name}.learning"), recipe)
    learner = Learner(data.train, data.held, parameters, options)
    if restart:
        store.clear()
    resumed = store.resume(learner)

    def save(better: bool) -> None:
        store.save(learner, better)
        if learner.state.position == 0:
            epoch_done(learner.state.history[-1])

    history = learner.run(report, save=save, every=every)
    rho, lam = store.best()
    description = {**recipe, "history": history, "best_epoch": learner.state.best_epoch}
    attach(folder, learned_arrays(model, data.entry, rho, parameters.pairs, lam), description)
    store.finish({"best_epoch": learner.state.best_epoch})
    best = history[learner.state.best_epoch]
    return {
        **figures, "resumed": resumed, "epochs": learner.state.epoch, "best_epoch": learner.state.best_epoch,
        "held_out_loss_at_start": history[0]["loss"], "held_out_loss": best["loss"],
        "held_out_accuracy_at_start": history[0]["accuracy"], "held_out_accuracy": best["accuracy"],
        "seconds_preparing": prepared, "seconds_per_epoch": _mean([h["seconds"] for h in history[1:]]),
        "seconds": perf_counter() - began, "parameter_megabytes": parameters.bytes / 1e6,
        "peak_megabytes": peak_memory_megabytes(), "history": history,
    }  # fmt: skip


def _lasting(options: LearningOptions) -> dict[str, Any]:
    """The options that a resumed run must share; it may go on longer or with more threads."""
    free = {"epochs", "patience", "threads"}
    return {f.name: getattr(options, f.name) for f in fields(options) if f.name not in free}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
