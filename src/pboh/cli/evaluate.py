"""``pboh evaluate``: the paper's tables for a model, from the datasets in the formats they come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pboh.cli import app

if TYPE_CHECKING:
    from rich.console import Console

    from pboh.evaluation.datasets import Dataset
    from pboh.evaluation.runner import Evaluation
    from pboh.evaluation.tables import Table


@app.command("evaluate")
def evaluate_command(
    datasets: Annotated[
        list[str],
        typer.Argument(
            metavar="DATASET…", help="Files or folders, e.g. kore50.ttl, aida:FILE#testb, wned:DIR."
        ),
    ],
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="A model folder.")],
    systems: Annotated[
        str, typer.Option(metavar="all|NAME,…", help="localmention, localcontext, unnorm, rescaled, pboh.")
    ] = "pboh",
    paper: Annotated[bool, typer.Option("--paper", help="The paper's model: every extension off.")] = False,
    change: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a setting, e.g. tau=0.7.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL2|paper", help="Run a second model (or the paper's settings) and test the two."
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the rows as JSON.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.html", help="Write the report, one HTML file.")
    ] = None,
    explain: Annotated[
        int, typer.Option(min=0, help="Errors a dataset that the report explains; it lists all of them.")
    ] = 1000,
) -> None:
    """Measure a model on gold datasets, with the policy printed beside the figures.

    Formats are recognised or named: aida:, wned:, bat:, nif:, iitb:, microposts:, jsonl:. A part follows a
    hash sign: aida:FILE#testb, or a slice of the documents: pages.jsonl.gz#150:1000.

    Examples:

      pboh evaluate --model model kore50.ttl RSS-500.ttl --systems all --report report.html

      pboh evaluate --model model aida:AIDA-YAGO2-dataset.tsv#testb wned:wned/MSNBC --compare paper
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.report import write_report
    from pboh.files import write_json
    from pboh.inference.settings import parse_changes
    from pboh.progress import console

    chosen = _systems(systems)
    changes = parse_changes(change or [])
    read = [read_dataset(spec) for spec in datasets]
    wanted = {"systems": chosen, "explain": explain if report else 0, "errors": report is not None}
    first = _run(model, read, paper=paper, changes=changes, title=None, options=wanted)
    second = None
    if compare is not None:
        other, papers = (model, True) if compare == "paper" else (Path(compare), paper)
        title = "paper" if compare == "paper" else None
        options = {**wanted, "explain": 0, "errors": False}
        second = _run(
            other, read, paper=papers, changes={} if papers else changes, title=title, options=options
        )
    _print(first, second)
    if json is not None:
        write_json(json, [row for side in (first, second) if side for row in _rows(side)])
    if report is not None:
        write_report(report, first, second)
        console.print(f"report: {report}")


def _systems(text: str) -> list[str]:
    from pboh.errors import InputError
    from pboh.evaluation.runner import SYSTEMS

    names = (
        list(SYSTEMS)
        if text == "all"
        else list(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    )
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown:
        raise InputError(
            f"unknown system {unknown[0]!r}", todo=f"Choose all, or some of {', '.join(SYSTEMS)}"
        )
    return names


def _run(
    model: Path,
    datasets: list[Dataset],
    *,
    paper: bool,
    changes: dict[str, Any],
    title: str | None,
    options: dict[str, Any],
) -> Evaluation:
    """Open a model and evaluate it, with a progress bar."""
    from dataclasses import asdict, replace

    from pboh.evaluation.runner import evaluate
    from pboh.linker import load
    from pboh.progress import progress

    linker = load(model, paper=paper, **changes)
    name = title or model.resolve().name
    with progress(f"evaluating {name}") as bar:
        evaluation = evaluate(linker, datasets, name=name, report=bar, **options)
    settings = {key: value for key, value in asdict(linker.settings).items() if key != "system"}
    return replace(evaluation, info={**linker.model.info, "settings": settings, "paper": paper})


def _rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    return [{**run.row.to_dict(), "model": evaluation.model} for run in evaluation.runs]


def _print(first: Evaluation, second: Evaluation | None) -> None:
    """The tables on standard output, the policy below them, what the readers met on standard error."""
    from rich.console import Console

    from pboh.evaluation import tables
    from pboh.evaluation.metrics import POLICY
    from pboh.evaluation.runner import compare_models, compare_systems
    from pboh.progress import console

    out = Console(highlight=False)
    if not out.is_terminal:
        out = Console(highlight=False, width=220)
    shown = [tables.results_table(first), *tables.paper_tables(first)]
    if len(first.systems) > 1:
        shown.append(tables.ablation_table(first))
        shown.append(tables.comparison_table("Paired tests between systems", compare_systems(first)))
    if second is not None:
        shown.append(tables.side_by_side_table(first, second))
        shown.append(tables.comparison_table("Paired tests between models", compare_models(first, second)))
    shown += [
        tables.propagation_table(first),
        tables.graph_table(first),
        tables.dataset_table(first.datasets),
    ]
    for table in shown:
        _show(out, table)
    lines = dict.fromkeys([*POLICY, *(line for dataset in first.datasets for line in dataset.policy)])
    out.print("[bold]Policy[/]", *(f"- {line}" for line in lines), sep="\n")
    for dataset in first.datasets:
        for problem in [p for p in dataset.problems if p.kind in {"lost", "unmapped"}][:5]:
            console.print(f"[yellow]{dataset.name}[/]: {problem}", soft_wrap=True)


def _show(out: Console, table: Table) -> None:
    """Print one table."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table as RichTable

    shown = RichTable(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    shown.caption, shown.caption_justify = table.note or None, "left"
    for at, name in enumerate(table.header):
        shown.add_column(escape(name), justify="left" if at in table.words else "right")
    for number, cells in enumerate(table.rows):
        stressed = [
            f"[bold]{escape(cell)}[/]" if (number, column) in table.strong else escape(cell)
            for column, cell in enumerate(cells)
        ]
        shown.add_row(*stressed, style="cyan" if number in table.ours else None)
    out.print(shown)
    out.print()
