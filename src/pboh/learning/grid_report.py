"""What a tuning found: tables, all trials as JSON, and one HTML file with a plot of each setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pboh
from pboh.evaluation import svg
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.metrics import macro_scores, micro_scores, percent
from pboh.evaluation.tables import Table
from pboh.evaluation.trials import scoring, value_of, written
from pboh.files.writing import write_whole
from pboh.learning.grid import Trial, Tuning
from pboh.linker import Linker

_NOTE = (
    "Gain of micro F1 + macro F1, in points, over the value before; interval and share of resamples in which "
    "the value is better by a paired bootstrap over documents."
)


def tuning_table(tuning: Tuning) -> Table:
    """For each setting the value before, the one chosen, and how the best other (or the chosen) value did."""
    header = ["Setting", "before", "chosen", "best value tried", "its gain", "95 % interval", "better in"]
    title = f"Tuning: {_objective(tuning.start)} before, {_objective(tuning.best)} now"
    table = Table(title, header, note=_NOTE)
    for parameter, trials in tuning.curves().items():
        before, chosen = (value_of(s, parameter) for s in (tuning.before, tuning.settings))
        if chosen != before:
            table.strong.add((len(table.rows), 2))
            table.ours.add(len(table.rows))
        rivals = [t for t in trials if (t.taken if chosen != before else t.value != before)] or trials
        best = max(rivals, key=lambda trial: trial.gain)
        figures = [f"{100 * best.gain:+.2f}", f"{100 * best.low:+.2f} … {100 * best.high:+.2f}"]
        cells = [written(before), written(chosen), written(best.value), *figures]
        table.add([parameter, *cells, f"{100 * best.better:.0f} %"])
    return table


def _objective(trial: Trial) -> str:
    return f"micro F1 {percent(trial.micro_f1)} and macro F1 {percent(trial.macro_f1)}"


def test_table(linker: Linker, tuning: Tuning, datasets: Sequence[Dataset], workers: int = 1) -> Table:
    """The settings before and after on data that was not tuned on."""
    header = ["Dataset", "micro F1 before", "micro F1 now", "macro F1 before", "macro F1 now"]
    table = Table("Data that was not tuned on", header)
    with scoring(linker, datasets, workers) as score:
        before, now = score([tuning.before, tuning.settings])
    for dataset, one, other in zip(datasets, before, now, strict=True):
        figures = [float(scores(c)[2]) for scores in (micro_scores, macro_scores) for c in (one, other)]
        table.add([dataset.name, *map(percent, figures)])
    return table


def tuning_data(tuning: Tuning, datasets: Sequence[Dataset], seconds: float) -> dict[str, Any]:
    """Everything found, as plain JSON."""
    return {
        "validation": [dataset.name for dataset in datasets],
        "seconds": seconds,
        "interrupted": tuning.interrupted,
        "before": {"micro_f1": tuning.start.micro_f1, "macro_f1": tuning.start.macro_f1},
        "best": {"micro_f1": tuning.best.micro_f1, "macro_f1": tuning.best.macro_f1},
        "changed": tuning.settings.differences(tuning.before),
        "trials": [asdict(trial) for trial in tuning.trials],
    }


def write_tuning_report(
    path: Path, tuning: Tuning, datasets: Sequence[Dataset], tables: Sequence[Table], name: str
) -> None:
    """Write the tables and a plot of each setting's effect as one HTML file."""
    changed = tuning.settings.differences(tuning.before)
    on = ", ".join(f"{dataset.name} ({dataset.mentions:,} mentions)" for dataset in datasets)
    page = svg.assets().get_template("tuning.html").render(
        sections={"result": "Result", "effects": "Effect of each setting"},
        name=name,
        about=f"pboh {pboh.__version__} · tuned on {on}",
        cards=[
            (percent(tuning.best.micro_f1), f"micro F1, {percent(tuning.start.micro_f1)} before"),
            (percent(tuning.best.macro_f1), f"macro F1, {percent(tuning.start.macro_f1)} before"),
            (f"{len(tuning.trials):,}", "trials"),
        ],
        data=None,
        changed=", ".join(f"{key} = {value}" for key, value in changed.items()),
        shown=tables,
        note=_NOTE,
        plots=[
            (parameter, list(map(_effect, trials)), written(value_of(tuning.settings, parameter)))
            for parameter, trials in tuning.curves().items()
        ],
    )  # fmt: skip
    write_whole(path, page)


def _effect(trial: Trial) -> svg.Effect:
    return svg.Effect(written(trial.value), 100 * trial.gain, 100 * trial.low, 100 * trial.high)
