"""Grid search over the global settings: coarse, then fine, one parameter at a time, on all cores.

The objective is the paper's, micro F1 + macro F1, averaged over the validation datasets. A value is taken
only if it is better in nearly all resamples of the documents, so that a plateau keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.metrics import interval, macro_scores, micro_scores
from pboh.evaluation.trials import (
    Counts,
    Integers,
    Score,
    gain_draws,
    macro_f1,
    micro_f1,
    scoring,
    text_numbers,
    value_of,
    with_values,
)
from pboh.files.progress import Report, silent
from pboh.inference.settings import DEFAULT, Settings, parse_changes
from pboh.linker import Linker

Value = float | int | bool | str

SPACE: dict[str, tuple[Value, ...]] = {
    # parameter: coarse values, wider than the paper's grid; "layers.x" is the weight of a name layer
    "tau": (0.25, 0.5, 0.75, 1.0, 1.5),
    "zeta": (0.03, 0.05, 0.075, 0.1, 0.15, 0.2),
    "window": (15, 25, 50, 100),
    "coreference": (0.0, 3.0, 10.0, 30.0, 100.0),
    "delta": (0.1, 0.3, 0.5, 0.7, 0.9, 0.99),
    "xi": (0.1, 0.3, 0.5, 0.7, 0.9, 0.99),
    "backoff": ("paper", "authors"),
    "topic": (0.0, 2.0, 3.5, 5.0),
    "kinship": (0.0, 4.0, 8.0, 16.0),
    "kinship_from": (0.4, 0.5, 0.6, 0.7),
    "few_words": (1.0, 1.5, 2.0, 3.0),
    "few_mentions": (0.0, 1.0, 2.0, 4.0),
    "self_pair": (0.0, 0.001, 0.01, 0.1, 1.0),
    "candidates": (6, 10, 16, 24),
    "top": (16, 32, 64),
    "unmatched": (0.0, 0.25, 0.5, 0.75, 1.0),
    "clip": (3.0, 4.0, 5.0, 7.0, 20.0),
    "floor": (0.0, 0.5, 1.0, 2.0, 3.0, 5.0),
    "min_word_count": (2, 3),
    "popularity": (0.0, 0.5, 1.0),
    "layers.cased": (0.0, 0.3, 1.0, 3.0),
    "layers.lower": (0.03, 0.1, 0.3, 1.0),
    "layers.folded": (0.0, 0.03, 0.1, 0.3),
    "layers.title": (0.0, 0.03, 0.1, 0.3, 1.0),
    "layers.stripped": (0.0, 0.005, 0.02, 0.06, 0.2),
    "layers.redirect": (0.0, 0.03, 0.1, 0.3, 1.0),
    "layers.disambiguation": (0.0, 0.005, 0.02, 0.06, 0.2),
    "layers.last": (0.0, 0.005, 0.02, 0.06),
    "layers.first": (0.0, 0.005, 0.02, 0.06),
    "layers.prefix": (0.0, 0.005, 0.02, 0.06),
    "layers.acronym": (0.0, 0.005, 0.02, 0.06),
    "variants": (False, True),
    "fuzzy_distance": (0.0, 0.2, 0.3, 0.4, 0.5),  # 0 = no name is close enough
    "threshold": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
}


@dataclass(frozen=True, slots=True)
class Trial:
    """One point of the grid: the value tried, what it scored, and its gain over the value before it."""

    parameter: str
    value: Value
    round: int  # 1, 2 … for coarse rounds, the last one is fine
    micro_f1: float
    macro_f1: float
    gain: float = 0.0  # of micro F1 + macro F1
    low: float = 0.0  # 95 % of the gain, documents drawn again
    high: float = 0.0
    better: float = 0.0  # share of the draws in which it is better
    worst: float = 0.0  # gain on the dataset that gains least
    taken: bool = False


@dataclass(slots=True)
class Tuning:
    """The best settings found so far and every trial on the way there."""

    before: Settings
    settings: Settings
    start: Trial
    best: Trial
    rounds: int  # coarse ones
    trials: list[Trial] = field(default_factory=list)
    interrupted: bool = False

    def curves(self) -> dict[str, list[Trial]]:
        """Every value tried of each parameter, ascending, with its gain over the value before the last round.

        Fine values were compared with the winner of the coarse ones, so that one's gain is added to theirs.
        """
        curves = {}
        for parameter in dict.fromkeys(trial.parameter for trial in self.trials):
            mine = [trial for trial in self.trials if trial.parameter == parameter]
            last = max(trial.round for trial in mine if trial.round <= self.rounds)
            points = {trial.value: trial for trial in mine if trial.round == last}
            fine = [trial for trial in mine if trial.round > self.rounds]
            for trial in fine[1:]:
                shift = points[fine[0].value].gain
                low, high = trial.low + shift, trial.high + shift
                points[trial.value] = replace(trial, gain=trial.gain + shift, low=low, high=high)
            curves[parameter] = sorted(points.values(), key=lambda trial: trial.value)
        return curves


def tune(
    linker: Linker,
    datasets: Sequence[Dataset],
    *,
    space: Mapping[str, Sequence[Value]] = SPACE,
    rounds: int = 2,
    fine: bool = True,
    confidence: float = 0.95,
    workers: int = 1,
    report: Report = silent,
) -> Tuning:
    """Coordinate ascent: ``rounds`` times coarse values of one parameter after the other, then ``fine`` ones.

    A value is taken if it is better in at least ``confidence`` of the resamples and no dataset loses by it;
    of several, the one whose worst dataset gains most. Ctrl-C ends the search; what was found until then is
    returned, marked as interrupted.
    """
    if not datasets:
        raise InputError("there is nothing to tune on", todo="Pass a dataset with --validation")
    texts = text_numbers(datasets)
    with scoring(linker, datasets, workers) as score:
        counts = next(score([linker.settings]))
        start = Trial("start", "", 0, *_scores(counts))
        tuning = Tuning(linker.settings, linker.settings, start, start, rounds)
        plan = list(_plan(space, rounds, fine))
        try:
            for step, (parameter, values, number) in enumerate(plan):
                report(step, len(plan), f"{parameter}, {_percents(tuning.best)}")
                present = value_of(tuning.settings, parameter)
                tries = [v for v in (values or fine_values(space[parameter], present)) if v != present]
                counts = _improve(tuning, parameter, tries, number, counts, texts, score, confidence)
        except KeyboardInterrupt:
            tuning.interrupted = True
        else:
            report(len(plan), len(plan), _percents(tuning.best))
    return tuning


def _plan(
    space: Mapping[str, Sequence[Value]], rounds: int, fine: bool
) -> Iterator[tuple[str, Sequence[Value] | None, int]]:
    """Parameter, its coarse values (None in the fine round), and the round's number."""
    for number in range(1, rounds + 1):
        for parameter, values in space.items():
            yield parameter, values, number
    for parameter in space if fine else ():
        if isinstance(value_of(DEFAULT, parameter), float):
            yield parameter, None, rounds + 1


def _improve(
    tuning: Tuning,
    parameter: str,
    tries: Sequence[Value],
    number: int,
    old: Counts,
    texts: Sequence[Integers],
    score: Score,
    confidence: float,
) -> Counts:
    """Try values of one parameter; the best sure one becomes the present one. Returns its counts."""
    many = [with_values(tuning.settings, {parameter: value}) for value in tries]
    scored = list(score(many))
    trials = [
        _trial(parameter, value, number, new, old, texts) for value, new in zip(tries, scored, strict=True)
    ]
    sure = [
        at for at, trial in enumerate(trials)
        if trial.gain > 0 and trial.better >= confidence and trial.worst >= 0
    ]  # fmt: skip
    best = max(sure, key=lambda at: (trials[at].worst, trials[at].gain), default=None)
    present = value_of(tuning.settings, parameter)
    here = Trial(parameter, present, number, *_scores(old), taken=best is None)
    if best is not None:
        trials[best] = replace(trials[best], taken=True)
        tuning.best, tuning.settings = trials[best], many[best]
    tuning.trials += [here, *trials]
    return old if best is None else scored[best]


def _trial(
    parameter: str, value: Value, number: int, new: Counts, old: Counts, texts: Sequence[Integers]
) -> Trial:
    draws = gain_draws(
        new, old, lambda counts, weights: micro_f1(counts, weights) + macro_f1(counts, weights), texts
    )
    gain = sum(_scores(new)) - sum(_scores(old))
    better = float((draws > 0).mean())
    pairs = zip(new, old, strict=True)
    worst = min(sum(_scores([one])) - sum(_scores([other])) for one, other in pairs)
    return Trial(parameter, value, number, *_scores(new), gain, *interval(draws), better, worst)


def _scores(counts: Counts) -> tuple[float, float]:
    """Micro and macro F1, averaged over datasets."""
    micro = float(np.mean([micro_scores(one)[2] for one in counts]))
    return micro, float(np.mean([macro_scores(one)[2] for one in counts]))


def _percents(trial: Trial) -> str:
    return f"micro F1 {100 * trial.micro_f1:.2f}, macro F1 {100 * trial.macro_f1:.2f}"


def fine_values(values: Sequence[Value], best: Value) -> list[Value]:
    """Values half-way between the best one and its neighbours on the coarse grid."""
    ordered = sorted({float(value) for value in (*values, best)})
    at = ordered.index(float(best))
    neighbours = [ordered[k] for k in (at - 1, at + 1) if 0 <= k < len(ordered)]
    return [round((float(best) + other) / 2, 6) for other in neighbours if np.isfinite(float(best) + other)]


def parse_space(wanted: Sequence[str]) -> dict[str, tuple[Value, ...]]:
    """The grid of ``tau`` (its usual values) and ``tau=0.5,0.7`` (these), or all of :data:`SPACE`."""
    space: dict[str, tuple[Value, ...]] = {}
    for text in wanted:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals and name not in SPACE:
            raise InputError(
                f"{name!r} has no grid", todo=f"Write NAME=V1,V2,… or choose from {', '.join(SPACE)}"
            )
        if equals:
            changed = [parse_changes([f"{name}={value}"]) for value in values.split(",")]
            space[name] = tuple(value_of(DEFAULT.change(**one), name) for one in changed)
        else:
            space[name] = SPACE[name]
    return space or dict(SPACE)
