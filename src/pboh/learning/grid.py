"""Grid search over the few global settings: coarse, then fine, one parameter at a time, on all cores.

The objective is the paper's: micro F1 + macro F1, averaged over the validation datasets. Nothing is rebuilt:
every setting is read when a document is scored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.evaluation.metrics import judge, macro_scores, micro_scores
from pboh.evaluation.runner import answer_document
from pboh.files import write_json
from pboh.inference.settings import DEFAULT, Settings
from pboh.linker import Linker
from pboh.model.store import MANIFEST, read_manifest
from pboh.parallel import pool
from pboh.progress import Report, silent

SPACE: dict[str, tuple[float, ...]] = {
    # parameter: coarse values, wider than the paper's grid; "layers.x" is the weight of a name layer
    "tau": (0.25, 0.5, 0.75, 1.0, 1.5),
    "zeta": (0.03, 0.05, 0.075, 0.1, 0.15, 0.2),
    "window": (15, 25, 50),
    "coreference": (0.0, 3.0, 10.0, 30.0),
    "layers.cased": (0.0, 0.3, 1.0, 3.0),
    "layers.lower": (0.03, 0.1, 0.3, 1.0),
    "layers.folded": (0.0, 0.03, 0.1, 0.3),
    "layers.title": (0.0, 0.03, 0.1, 0.3, 1.0),
    "layers.stripped": (0.0, 0.003, 0.01, 0.03, 0.1),
    "layers.redirect": (0.0, 0.03, 0.1, 0.3, 1.0),
    "layers.disambiguation": (0.0, 0.01, 0.03, 0.1),
    "layers.last": (0.0, 0.005, 0.02, 0.06),
    "layers.first": (0.0, 0.005, 0.02, 0.06),
    "layers.prefix": (0.0, 0.005, 0.02, 0.06),
    "layers.acronym": (0.0, 0.005, 0.02, 0.06),
    "popularity": (0.0, 0.25, 0.5, 0.75, 1.0),
    "own_words": (0.0, 0.1, 0.2, 0.4, 0.8),
    "unmatched": (0.0, 0.25, 0.5, 0.75, 1.0),
    "clip": (3.0, 4.0, 5.0, 7.0, 20.0),
    "floor": (0.0, 1.0, 2.0, 3.0, 5.0),
    "delta": (0.1, 0.3, 0.5, 0.7, 0.9, 0.99),
    "xi": (0.1, 0.3, 0.5, 0.7, 0.9, 0.99),
    "self_pair": (0.0, 0.001, 0.01, 0.1, 1.0),
    "damping": (0.0, 0.3, 0.6),
    "candidates": (6, 10, 16),
    "threshold": (0.0, 0.1, 0.2, 0.3, 0.4),
}
WHOLE = {"window", "candidates", "top", "rounds", "min_word_count"}


@dataclass(frozen=True, slots=True)
class Trial:
    """One point of the grid: the value tried, and what it scored."""

    parameter: str
    value: float
    micro_f1: float
    macro_f1: float

    @property
    def objective(self) -> float:
        """micro F1 + macro F1."""
        return self.micro_f1 + self.macro_f1


@dataclass(slots=True)
class Tuning:
    """The best settings found and every trial on the way there."""

    settings: Settings
    start: Trial
    best: Trial
    trials: list[Trial] = field(default_factory=list)

    def curves(self) -> dict[str, list[Trial]]:
        """The last trial at every value of each parameter, by value."""
        latest = {(trial.parameter, trial.value): trial for trial in self.trials}
        curves: dict[str, list[Trial]] = {}
        for (parameter, _), trial in sorted(latest.items()):
            curves.setdefault(parameter, []).append(trial)
        return curves


@lru_cache(maxsize=32)
def _dataset(spec: str) -> Dataset:
    return read_dataset(spec)


class Objective:
    """micro F1 + macro F1 of settings on the validation datasets; travels to worker processes."""

    def __init__(self, linker: Linker, specs: Sequence[str]) -> None:
        self.linker = linker
        self.specs = tuple(specs)

    def __call__(self, item: tuple[str, float, Settings]) -> Trial:
        """Score one grid point: the parameter, its value and the settings that follow."""
        parameter, value, settings = item
        linker = Linker(self.linker.model, settings)
        micro, macro = 0.0, 0.0
        for spec in self.specs:
            dataset = _dataset(spec)
            judged = judge(dataset, [answer_document(linker, d) for d in dataset], linker.resolve)
            micro += float(micro_scores(judged.counts)[2]) / len(self.specs)
            macro += float(macro_scores(judged.counts)[2]) / len(self.specs)
        return Trial(parameter, value, micro, macro)


def change(parameter: str, value: float) -> dict[str, Any]:
    """A change of settings from a grid point."""
    name, _, layer = parameter.partition(".")
    if layer:
        return {name: {layer: value}}
    return {name: int(value) if name in WHOLE else value}


def value_of(settings: Settings, parameter: str) -> float:
    """The present value of a grid parameter."""
    name, _, layer = parameter.partition(".")
    found = getattr(settings, name)
    return float(found[layer] if layer else found)


def fine_values(values: Sequence[float], best: float) -> list[float]:
    """Values half-way between the best one and its neighbours on the coarse grid."""
    ordered = sorted({*values, best})
    at = ordered.index(best)
    neighbours = [ordered[k] for k in (at - 1, at + 1) if 0 <= k < len(ordered)]
    return [(best + other) / 2 for other in neighbours]


def tune(
    linker: Linker,
    specs: Sequence[str],
    *,
    space: Mapping[str, Sequence[float]] = SPACE,
    passes: int = 2,
    workers: int = 1,
    report: Report = silent,
) -> Tuning:
    """Coordinate ascent over ``space``: coarse values of one parameter after the other, then finer ones.

    A value is taken only if it is strictly better, so that parameters without effect keep their place.
    """
    if not specs:
        raise InputError("there is nothing to tune on", todo="Name a dataset with --validation")
    with pool(Objective(linker, specs), workers) as score:
        start = next(score([("start", 0.0, linker.settings)]))
        tuning = Tuning(linker.settings, start, start)
        plan = list(_plan(space, passes))
        for step, (parameter, values, fine) in enumerate(plan):
            report(step, len(plan), f"{parameter}, F1 {tuning.best.objective / 2:.4f}")
            present = value_of(tuning.settings, parameter)
            tries = fine_values(values, present) if fine else list(values)
            items = [
                (parameter, value, tuning.settings.change(**change(parameter, value)))
                for value in tries
                if value != present
            ]
            _improve(tuning, parameter, list(score(items)))
        report(len(plan), len(plan))
    return tuning


def _plan(space: Mapping[str, Sequence[float]], passes: int) -> Iterator[tuple[str, Sequence[float], bool]]:
    for number in range(passes + 1):
        for parameter, values in space.items():
            if number < passes or parameter not in WHOLE:
                yield parameter, values, number == passes


def _improve(tuning: Tuning, parameter: str, trials: list[Trial]) -> None:
    here = tuning.best
    present = Trial(parameter, value_of(tuning.settings, parameter), here.micro_f1, here.macro_f1)
    tuning.trials += [present, *trials]
    winner = max(trials, key=lambda trial: trial.objective, default=here)
    if winner.objective > here.objective:
        tuning.best = winner
        tuning.settings = tuning.settings.change(**change(parameter, winner.value))


def fingerprints(dataset: Dataset) -> set[str]:
    """A short hash of every document's text, by which a test document is recognised as tuned on."""
    return {hashlib.sha256(document.text.encode("utf-8", "replace")).hexdigest()[:16] for document in dataset}


def check_disjoint(validation: Sequence[str], test: Sequence[str]) -> None:
    """Refuse test data that shares a document with the data that is tuned on."""
    tuned_on = set().union(*(fingerprints(_dataset(spec)) for spec in validation))
    for spec in test:
        shared = tuned_on & fingerprints(_dataset(spec))
        if shared:
            raise InputError(
                f"{len(shared)} of its documents are also in the validation data",
                where=spec,
                todo="Tune on data you do not evaluate on",
            )


def store_winner(folder: Path, tuning: Tuning, validation: Sequence[str]) -> None:
    """Make the winner the model's own settings, and record what it was chosen on."""
    info = read_manifest(folder)
    documents = sorted(set().union(*(fingerprints(_dataset(spec)) for spec in validation)))
    info["settings"] = differences(tuning.settings)
    info["tuned_on"] = {"datasets": [_dataset(spec).name for spec in validation], "documents": documents}
    write_json(folder / MANIFEST, info)


def differences(settings: Settings, base: Settings = DEFAULT) -> dict[str, Any]:
    """The values in which settings differ from the defaults, as plain JSON."""
    changed = {k: v for k, v in asdict(settings).items() if k != "layers" and v != getattr(base, k)}
    layers = {k: v for k, v in settings.layers.items() if v != base.layers[k]}
    return {**changed, **({"layers": layers} if layers else {})}
