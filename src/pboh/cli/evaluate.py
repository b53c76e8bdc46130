"""``pboh evaluate``: the paper's tables for a model, from the datasets in the formats they come in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Argument, Option

from pboh.cli import app, options

if TYPE_CHECKING:
    from pboh.evaluation.datasets import Dataset
    from pboh.evaluation.runner import Evaluation
    from pboh.linker import Linker


@app.command("evaluate")
def evaluate_command(
    datasets: Annotated[
        list[str],
        Argument(
            metavar="DATASET", help="Files or folders, such as kore50.ttl, aida:FILE#testb, wned:FOLDER."
        ),
    ],
    model: options.Model = None,
    systems: Annotated[
        str,
        Option(metavar="all|NAME,…", help="localmention, localcontext, unnorm, rescaled, pboh, learned."),
    ] = "pboh",
    paper: options.Paper = False,
    change: options.Change = None,
    compare: Annotated[
        str | None,
        Option(metavar="MODEL|paper", help="Compare with another model, or with the paper's settings."),
    ] = None,
    end_to_end: Annotated[
        bool, Option("--end-to-end", help="Hide the mentions, so that they must be found too (A2KB).")
    ] = False,
    threshold: options.Threshold = None,
    ablate: Annotated[
        bool, Option("--ablate", help="Measure each extension alone and on top of the others.")
    ] = False,
    extensions: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="With --ablate: only extensions whose name contains this."),
    ] = None,
    workers: options.Workers = None,
    allow_tuned: Annotated[
        bool, Option("--allow-tuned", help="Allow data the model was tuned on, which flatters it.")
    ] = False,
    report: options.Report = None,
    explained_errors: Annotated[
        int, Option(min=0, help="Errors per dataset that the report explains; it lists all of them.")
    ] = 1000,
    json: options.Json = None,
) -> None:
    """Measure a model on gold datasets, with the policy printed beside the figures.

    Formats are recognised or named: aida:, wned:, bat:, nif:, iitb:, microposts:, jsonl:. A part follows a
    hash sign: aida:FILE#testb, or a slice of the documents: pages.jsonl.gz#150:1000.

    --threshold goes with --end-to-end, --workers with --ablate. A gain of an ablation is the micro F1 with an
    extension minus the one without it; its report is Markdown. Extensions that are off are added.

    \b
    Examples:
      pboh evaluate kore50.ttl RSS-500.ttl --systems all --report report.html
      pboh evaluate aida:AIDA-YAGO2-dataset.tsv#testb wned:wned/MSNBC --model model --compare paper
      pboh evaluate kore50.ttl --end-to-end
      pboh evaluate kore50.ttl RSS-500.ttl --ablate --extensions coreference
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.runner import uniquely_named
    from pboh.inference.settings import parse_changes
    from pboh.linker import model_folder

    chosen = _systems(systems)
    changes = parse_changes(change or [])
    read = uniquely_named([read_dataset(spec) for spec in datasets])
    sides = [_Side(model, model_folder(model).name, paper, changes)]
    if compare == "paper":
        sides.append(_Side(model, "paper", True, {}))
    elif compare is not None:
        sides.append(_Side(compare, model_folder(compare).name, paper, changes))
    linkers = [side.load([] if allow_tuned or ablate else read) for side in sides]
    if ablate:
        _ablate(linkers[0], read, extensions or [], options.cores(workers), report, json)
    elif end_to_end:
        _end_to_end(dict(zip([side.name for side in sides], linkers, strict=True)), read, threshold, json)
    else:
        wanted = {
            "systems": chosen,
            "explain": explained_errors if report else 0,
            "errors": report is not None,
        }
        first = _run(sides[0], linkers[0], read, wanted)
        second = None
        if compare is not None:
            second = _run(sides[1], linkers[1], read, {**wanted, "explain": 0, "errors": False})
        _write(first, second, report, json)
        _print(first, second)


def _write(first: Evaluation, second: Evaluation | None, report: Path | None, json: Path | None) -> None:
    """The files, before anything is printed: who reads the tables may stop early."""
    from pboh.evaluation.report import write_report
    from pboh.files.progress import console
    from pboh.files.writing import write_json

    if json is not None:
        write_json(json, [row for side in (first, second) if side for row in _rows(side)])
    if report is not None:
        write_report(report, first, second)
        console.print(f"report: {report}")


def _ablate(
    linker: Linker,
    datasets: list[Dataset],
    names: list[str],
    workers: int,
    report: Path | None,
    json: Path | None,
) -> None:
    """Measure extensions twice: alone on the paper's model, and on top of all the others."""
    from pboh.cli.printing import output, show
    from pboh.evaluation.ablation import ablate, ablation_tables, find_extensions, plain
    from pboh.files.progress import progress
    from pboh.files.writing import write_json, written_aside

    with progress("ablating") as bar:
        rows = ablate(linker, datasets, find_extensions(names), workers=workers, report=bar)
    tables = ablation_tables(rows, datasets)
    if json is not None:
        write_json(json, plain(rows, datasets))
    if report is not None:
        with written_aside(report) as aside:
            aside.write_text("\n".join(table.markdown() for table in tables), encoding="utf-8")
    for table in tables:
        show(output(), table)


def _end_to_end(
    linkers: dict[str, Linker], datasets: list[Dataset], threshold: float | None, json: Path | None
) -> None:
    """Link raw texts with each model and print what was found and what of it is right."""
    from dataclasses import asdict

    from pboh.cli.printing import output, show
    from pboh.evaluation.end_to_end import POLICY, end_to_end_tables, evaluate_end_to_end
    from pboh.files.progress import progress
    from pboh.files.writing import write_json

    rows, tables, out = [], [], output()
    for name, linker in linkers.items():
        with progress(f"linking with {name}") as bar:
            results = evaluate_end_to_end(linker, datasets, threshold=threshold, report=bar)
        rows += [{**asdict(result), "model": name} for result in results]
        tables += end_to_end_tables(results, name)
    if json is not None:
        write_json(json, rows)
    for table in tables:
        show(out, table)
    out.print("[bold]Policy[/]", *(f"- {line}" for line in POLICY), sep="\n")


class _Side(NamedTuple):
    """A model to evaluate, what to call it, and its settings."""

    model: str | None
    name: str
    paper: bool
    changes: dict[str, Any]

    def load(self, datasets: list[Dataset]) -> Linker:
        """Open it; refuses datasets that chose its settings."""
        from pboh.evaluation.leakage import check_not_tuned_on
        from pboh.linker import load

        linker = load(self.model, paper=self.paper, **self.changes)
        if not self.paper:
            check_not_tuned_on(linker.model.info, datasets)
        return linker


def _systems(text: str) -> list[str]:
    from pboh.errors import InputError
    from pboh.evaluation.runner import SYSTEMS
    from pboh.inference.settings import SYSTEMS as KNOWN

    names = (
        list(SYSTEMS)
        if text == "all"
        else list(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    )
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise InputError(f"unknown system {unknown[0]!r}", todo=f"Choose all, or some of {', '.join(KNOWN)}")
    return names


def _run(side: _Side, linker: Linker, datasets: list[Dataset], options: dict[str, Any]) -> Evaluation:
    """Evaluate one side, with a progress bar."""
    from dataclasses import asdict, replace

    from pboh.evaluation.runner import evaluate
    from pboh.files.progress import progress

    with progress(f"evaluating {side.name}") as bar:
        evaluation = evaluate(linker, datasets, name=side.name, report=bar, **options)
    settings = {key: value for key, value in asdict(linker.settings).items() if key != "system"}
    return replace(evaluation, info={**linker.model.info, "settings": settings, "paper": side.paper})


def _rows(evaluation: Evaluation) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from pboh.evaluation.breakdowns import calibration_of

    return [
        {
            **asdict(run.row),
            "model": evaluation.model,
            "calibration_error": calibration_of([run.judgement]).error,
        }
        for run in evaluation.runs
    ]


def _print(first: Evaluation, second: Evaluation | None) -> None:
    """The tables on standard output, the policy below them, what the readers met on standard error."""
    from pboh.cli.printing import output, show
    from pboh.evaluation import tables
    from pboh.evaluation.metrics import POLICY
    from pboh.evaluation.runner import compare_models, compare_systems
    from pboh.files.progress import console

    out = output()
    shown = [tables.results_table(first), *tables.paper_tables(first)]
    if len(first.systems) > 1:
        shown.append(tables.ablation_table(first))
        shown.append(tables.comparison_table("Paired tests between systems", compare_systems(first)))
    if second is not None:
        shown.append(tables.side_by_side_table(first, second))
        shown.append(tables.comparison_table("Paired tests between models", compare_models(first, second)))
    shown += [
        tables.nil_table(first),
        tables.calibration_table(first),
        tables.propagation_table(first),
        tables.graph_table(first),
        tables.dataset_table(first.datasets),
    ]
    for table in shown:
        show(out, table)
    lines = dict.fromkeys([*POLICY, *(line for dataset in first.datasets for line in dataset.policy)])
    out.print("[bold]Policy[/]", *(f"- {line}" for line in lines), sep="\n")
    for dataset in first.datasets:
        for problem in [p for p in dataset.problems if p.kind in {"lost", "unmapped"}][:5]:
            console.print(f"[yellow]{dataset.name}[/]: {problem}", soft_wrap=True)
