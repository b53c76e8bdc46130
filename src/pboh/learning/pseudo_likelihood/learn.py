"""``pboh learn`` as a function: a model and its corpus in, the model with learned parameters out.

They are an optional part of the model: arrays beside the others, vouched for by model.json.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from pboh.files.memory import peak_memory_megabytes
from pboh.files.progress import Report, silent
from pboh.inference.bethe import Bethe
from pboh.learning.pseudo_likelihood.checkpoints import Checkpoints
from pboh.learning.pseudo_likelihood.documents import DataOptions, read_training_data
from pboh.learning.pseudo_likelihood.kernels import Array, Pairs
from pboh.learning.pseudo_likelihood.learner import Learner, LearningOptions
from pboh.learning.pseudo_likelihood.parameters import ParameterOptions, cooccurring, starting_point
from pboh.model.names import Layer
from pboh.model.store import Model, open_model, read_manifest
from pboh.model.writing import changing, put_arrays

PREFIX = "learned_"


def learn(
    folder: Path,
    corpus: Path,
    *,
    data_options: DataOptions | None = None,
    parameter_options: ParameterOptions | None = None,
    options: LearningOptions | None = None,
    checkpoints: Path | None = None,
    restart: bool = False,
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
    together = cooccurring(data.train, data.names, data.entities, parameter_options.min_documents)
    backoff = Bethe.of(model).backoff
    parameters = starting_point(data.names, data.counts, together, parameter_options, backoff)
    figures = {**data.figures, "lambda_parameters": len(parameters.lam)}
    # a resumed run may go on longer or with more threads
    learning = {k: v for k, v in asdict(options).items() if k not in ("epochs", "patience", "threads")}
    recipe = {
        "data": asdict(data_options), "parameters": asdict(parameter_options),
        "learning": learning, "corpus": figures,
    }  # fmt: skip
    prepared = perf_counter() - began
    store = Checkpoints(checkpoints or folder.with_name(f"{folder.name}.learning"), recipe)
    learner = Learner(data.train, data.held, parameters, options)
    if restart:
        store.clear()
    resumed = store.resume(learner)

    def save(better: bool) -> None:
        store.save(learner, better)
        epoch_done(learner.state.history[-1])

    history = learner.run(report, save=save)
    rho, lam = store.best()
    description = {**recipe, "history": history, "best_epoch": learner.state.best_epoch}
    attach(folder, learned_arrays(model, data.entry, rho, parameters.pairs, lam), description)
    store.finish({"best_epoch": learner.state.best_epoch})
    best, spent = history[learner.state.best_epoch], sum(h["seconds"] for h in history[1:])
    return {
        **figures, "resumed": resumed, "epochs": learner.state.epoch, "best_epoch": learner.state.best_epoch,
        "held_out_loss_at_start": history[0]["loss"], "held_out_loss": best["loss"],
        "held_out_accuracy_at_start": history[0]["accuracy"], "held_out_accuracy": best["accuracy"],
        "seconds_preparing": prepared, "seconds_per_epoch": spent / max(len(history) - 1, 1),
        "seconds": perf_counter() - began, "parameter_megabytes": parameters.bytes / 1e6,
        "peak_megabytes": peak_memory_megabytes(), "history": history,
    }  # fmt: skip


def learned_arrays(model: Model, entry: Array, rho: Array, pairs: Pairs, lam: Array) -> dict[str, Array]:
    """The arrays inference reads for the system ``learned``.

    ``learned_count`` replaces ``name_count``: for lower-cased names it is Σ_e c(m,e)·softmax(ρ(m,·)), so
    that p(e|m) becomes ∝ e^ρ. ``learned_pair_*`` are rows of λ by entity, both ways, without zeros.
    """
    kept = lam != 0.0
    parameter = pairs.parameter
    stay = kept[parameter]
    row = np.repeat(np.arange(pairs.offsets.size - 1), np.diff(pairs.offsets))[stay]
    return {
        "learned_count": _as_counts(model, entry, rho),
        "learned_pair_offsets": np.searchsorted(row, np.arange(pairs.offsets.size)).astype(np.int64),
        "learned_pair_other": pairs.other[stay].astype(np.uint32),
        "learned_pair_value": lam[parameter[stay]].astype(np.float32),
    }


def _as_counts(model: Model, entry: Array, rho: Array) -> Array:
    """Name counts that say e^ρ; entries no training page uses keep their share of the name.

    A name's ρ are known up to a constant. It is chosen so that the learned entries together weigh what their
    counts weighed, and beside the others (from other sources, or held-out pages) nothing changes.
    """
    counts = model["name_count"].astype(np.float64)
    out = counts.copy()
    owner = np.searchsorted(model["name_offsets"], entry, side="right") - 1
    _, first = np.unique(owner, return_index=True)
    sizes = np.diff(np.append(first, entry.size))
    if entry.size:
        top = np.repeat(np.maximum.reduceat(rho, first), sizes)
        weight = np.exp(rho.astype(np.float64) - top)
        share = weight / np.repeat(np.add.reduceat(weight, first), sizes)
        out[entry] = share * np.repeat(np.add.reduceat(counts[entry], first), sizes)
    out[model["name_layer"] != Layer.LOWER] = counts[model["name_layer"] != Layer.LOWER]
    return np.maximum(out, 1e-30).astype(np.float32)  # a candidate never vanishes: its log must be finite


def attach(folder: Path, arrays: dict[str, Array], description: dict[str, Any]) -> None:
    """Add or replace the learned part of a model folder."""
    learned = {"created": datetime.now(UTC).isoformat(timespec="seconds"), **description}
    with changing(folder):
        info = read_manifest(folder)
        old = [name for name in info["arrays"] if name.startswith(PREFIX)]
        put_arrays(folder, info, arrays, old, learned=learned)
