"""The report: one self-contained HTML file with tables beside the paper's, plots and an error browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pboh
from pboh.evaluation import breakdowns, published, tables
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import Row, percent, policy_of
from pboh.evaluation.mistakes import KINDS
from pboh.evaluation.runner import Evaluation, compare_models, compare_systems, system_name
from pboh.evaluation.svg import Series, assets
from pboh.evaluation.tables import Table
from pboh.files.writing import write_whole

_SECTIONS = {
    "results": "Results",
    "paper": "Beside the paper",
    "systems": "Components",
    "models": "Two models",
    "inference": "Inference",
    "where": "Where it is right",
    "policy": "Policy and data",
    "errors": "Errors",  # last: its list grows while one scrolls
}


def write_report(path: Path, evaluation: Evaluation, other: Evaluation | None = None) -> None:
    """Write the report, whole or not at all; ``other`` is a second model to compare with."""
    write_whole(path, render_report(evaluation, other))


def render_report(evaluation: Evaluation, other: Evaluation | None = None) -> str:
    """The HTML of the report."""
    runs, datasets = evaluation.main_runs(), evaluation.datasets
    judgements = [run.judgement for run in runs]
    popularity = [evaluation.popularity[run.row.dataset] for run in runs]
    mentions = sum(len(judgement.document) for judgement in judgements)
    title = f"{system_name(evaluation.main)} against the others"
    components = tables.comparison_table(title, compare_systems(evaluation))
    models: list[Table] = []
    if other is not None:
        tests = tables.comparison_table("Paired tests", compare_models(evaluation, other))
        models = [tables.side_by_side_table(evaluation, other), tests]
    absent = {"systems": len(evaluation.systems) < 2, "models": not models, "where": not mentions}
    return assets().get_template("report.html").render(
        sections={key: title for key, title in _SECTIONS.items() if not absent.get(key)},
        name=evaluation.model,
        about=_about(evaluation),
        cards=_cards([run.row for run in runs]),
        data=_error_data(evaluation),
        system=system_name(evaluation.main),
        names=[dataset.name for dataset in datasets],
        series=[_series(evaluation, system) for system in evaluation.systems],
        marks=[_published_f1(dataset) for dataset in datasets],
        results=tables.results_table(evaluation),
        beside=tables.paper_tables(evaluation),
        components=[tables.ablation_table(evaluation), components],
        models=models,
        propagation=[tables.propagation_table(evaluation), tables.graph_table(evaluation)],
        rounds=breakdowns.rounds_histogram(judgements),
        stages=_stages(evaluation),
        accuracy=breakdowns.accuracy_charts(judgements, popularity),
        calibration=breakdowns.calibration_of(judgements),
        policy=policy_of(datasets),
        datasets=tables.dataset_table(datasets),
        damaged=[dataset for dataset in datasets if dataset.problems],
        settings=evaluation.info.get("settings", {}),
    )  # fmt: skip


def _about(evaluation: Evaluation) -> str:
    """What was evaluated, in a line."""
    info = evaluation.info
    totals = info.get("totals", {})
    facts = [f"{totals[name]:,} {name}" for name in ("entities", "names", "documents") if name in totals]
    corpus = [str(info[name]) for name in ("wiki", "language", "date") if info.get(name)]
    mode = "the paper's settings" if info.get("paper") else "default settings"
    parts = [f"pboh {pboh.__version__}", " ".join(corpus), ", ".join(facts), mode]
    return " · ".join(part for part in parts if part)


def _cards(rows: list[Row]) -> list[tuple[str, str]]:
    """The main system's averages over the datasets, large."""

    def mean(value: Callable[[Row], float]) -> float:
        return sum(map(value, rows)) / len(rows)

    return [
        (percent(mean(lambda row: row.micro.f1)), "micro F1, average"),
        (percent(mean(lambda row: row.micro.recall)), "micro recall, average"),
        (percent(mean(lambda row: row.gold_in_candidates)), "gold among candidates"),
        (percent(mean(lambda row: row.accuracy_given_candidate)), "right when it was a candidate"),
        (f"{mean(lambda row: row.ms_per_document):.1f} ms", "a document, end to end"),
        (f"{sum(row.mentions for row in rows):,}", f"mentions in {len(rows)} datasets"),
    ]


def _series(evaluation: Evaluation, system: str) -> Series:
    """Micro F1 of a system on every dataset."""
    runs = [evaluation.run(dataset.name, system) for dataset in evaluation.datasets]
    values = [run.row.micro.f1 if run else None for run in runs]
    intervals = [run.row.intervals.get("micro") if run else None for run in runs]
    return Series(system_name(system), values, intervals)


def _published_f1(dataset: Dataset) -> float | None:
    known = {**published.GERBIL["PBoH"], **published.CLEANED["PBoH"]}
    micro, _ = known.get(tables.paper_name_of(dataset) or "", (None, None))
    return None if micro is None else micro / 100


def _stages(evaluation: Evaluation) -> list[Table]:
    """Mean milliseconds a document by stage, where they are known."""
    names = sorted({stage for run in evaluation.main_runs() for stage in run.row.ms_by_stage})
    table = Table("Milliseconds a document by stage", ["Dataset", *names, "end to end"])
    for run in evaluation.main_runs():
        stages = (f"{run.row.ms_by_stage.get(name, 0.0):.2f}" for name in names)
        table.add([run.row.dataset, *stages, f"{run.row.ms_per_document:.2f}"])
    return [table] if names else []


def _error_data(evaluation: Evaluation) -> dict[str, Any]:
    """What the error browser shows; datasets and kinds are numbered."""
    names, kinds = [dataset.name for dataset in evaluation.datasets], list(KINDS)
    return {
        "datasets": names,
        "kinds": list(KINDS.values()),
        "system": system_name(evaluation.main),
        "errors": [[names.index(e.dataset), *e[1:7], kinds.index(e.kind), *e[8:]] for e in evaluation.errors],
    }
