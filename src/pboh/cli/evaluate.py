"""``pboh evaluate``: the paper's tables for a model, from the datasets in the formats they come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from typer import Argument, Option

from pboh.cli import app, options, printing
from pboh.errors import InputError
from pboh.files.memory import processors
from pboh.files.progress import console, progress
from pboh.files.writing import write_json, write_whole

if TYPE_CHECKING:
    from pboh.evaluation.datasets import Dataset
    from pboh.evaluation.runner import Evaluation
    from pboh.evaluation.tables import Table
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
        Option(
            metavar="MODEL|paper|NAME=VALUE,…",
            help="Compare with another model, the paper's settings, or other settings.",
        ),
    ] = None,
    end_to_end: Annotated[
        bool, Option("--end-to-end", help="Hide the mentions, so that they must be found too (A2KB).")
    ] = False,
    mentions: options.Mentions = "names",
    threshold: options.Threshold = None,
    ablate: Annotated[
        bool, Option("--ablate", help="Measure each extension alone and on top of the others.")
    ] = False,
    extensions: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="With --ablate: only extensions whose name contains this."),
    ] = None,
    topics: Annotated[
        int,
        Option(help="Divide the documents by this many topics; with --ablate, the first dataset's.", min=1),
    ] = 1,
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

    --mentions and --threshold go with --end-to-end, --workers with --ablate. A gain of an ablation is the
    micro F1 with an extension minus the one without it; its report is Markdown. Extensions that are off are
    added. One carries over if it surely gains on some kind of text (a dataset, or the mean of several
    readings of the same texts) and surely loses on none.

    \b
    Examples:
      pboh evaluate kore50.ttl RSS-500.ttl --systems all --report report.html
      pboh evaluate aida:AIDA-YAGO2-dataset.tsv#testb wned:wned/MSNBC --model model --compare paper
      pboh evaluate kore50.ttl --end-to-end
      pboh evaluate kore50.ttl RSS-500.ttl --ablate --extensions coreference
    """
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.leakage import check_not_tuned_on
    from pboh.evaluation.runner import uniquely_named
    from pboh.linker import model_folder

    if end_to_end and report is not None:
        raise InputError("--end-to-end has no report", todo="Write its figures with --json FILE")
    if topics > 1 and not ablate:
        raise InputError("--topics goes with --ablate", todo="Add --ablate, or leave --topics out")
    chosen = _systems(systems)
    sides = [_Side(model_folder(model).name, options.load_linker(model, paper, change), paper)]
    if compare == "paper":
        sides.append(_Side("paper", options.load_linker(model, True, None), True))
    elif compare is not None and "=" in compare:
        linker = options.load_linker(model, paper, [*(change or ()), *compare.split(",")])
        sides.append(_Side(compare, linker, paper))
    elif compare is not None:
        linker = options.load_linker(compare, paper, change)
        sides.append(_Side(model_folder(compare).name, linker, paper))
    read = uniquely_named([read_dataset(spec) for spec in datasets])
    for side in sides:
        if not (side.paper or allow_tuned or ablate):
            check_not_tuned_on(side.linker.model.info, read)
    if ablate:
        found = _ablate(sides[0].linker, read, extensions or [], topics, workers or processors())
    elif end_to_end:
        found = _end_to_end(sides, read, {"mentions": mentions, "threshold": threshold})
    else:
        found = _given_mentions(sides, read, chosen, None if report is None else explained_errors)
    if json is not None:  # files first: who reads the tables may stop early
        write_json(json, found.data)
    if report is not None:
        found.write_report(report)
        console.print(f"report: {report}")
    printing.show(found.tables, found.policy)
    for note in found.notes:
        console.print(note, soft_wrap=True, style="yellow", markup=False)


class _Side(NamedTuple):
    """A model to evaluate, what to call it, and whether the paper's settings are used."""

    name: str
    linker: Linker
    paper: bool


class _Found(NamedTuple):
    """What an evaluation found: to print, to write as JSON and to report."""

    tables: list[Table]
    data: Any
    write_report: Callable[[Path], None]
    policy: Iterable[str] = ()
    notes: Iterable[str] = ()  # what the readers of the datasets met


def _systems(text: str) -> list[str]:
    from pboh.evaluation.runner import SYSTEMS
    from pboh.inference.settings import SYSTEMS as KNOWN

    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    unknown = [name for name in names if name not in KNOWN]
    if unknown and text != "all":
        raise InputError(f"unknown system {unknown[0]!r}", todo=f"Choose all, or some of {', '.join(KNOWN)}")
    return list(SYSTEMS) if text == "all" else names


def _ablate(linker: Linker, datasets: list[Dataset], names: list[str], topics: int, workers: int) -> _Found:
    """Measure extensions twice: alone on the paper's model, and on top of all the others."""
    from pboh.evaluation.ablation import ablate, ablation_tables, find_extensions
    from pboh.learning.topics import by_topic

    some = find_extensions(names)
    parts = by_topic(linker, datasets[0], topics) if topics > 1 else []
    with progress("ablating") as bar:
        rows = ablate(linker, datasets, some, topics=parts, workers=workers, report=bar)
    tables = ablation_tables(rows)
    text = "\n".join(table.markdown() for table in tables)
    return _Found(tables, [asdict(row) for row in rows], lambda report: write_whole(report, text))


def _end_to_end(sides: list[_Side], datasets: list[Dataset], linking: dict[str, Any]) -> _Found:
    """Link raw texts with each model: what was found, and what of it is right."""
    from pboh.evaluation.end_to_end import POLICY, end_to_end_tables, evaluate_end_to_end

    rows, tables = [], []
    for side in sides:
        with progress(f"linking with {side.name}") as bar:
            results = evaluate_end_to_end(side.linker, datasets, report=bar, **linking)
        rows += [{**asdict(result), "model": side.name} for result in results]
        tables += end_to_end_tables(results, side.name)
    return _Found(tables, rows, lambda _: None, POLICY)


def _given_mentions(
    sides: list[_Side], datasets: list[Dataset], systems: list[str], explained: int | None
) -> _Found:
    """Resolve the mentions of the gold; ``explained`` errors are for a report, if there is one."""
    from pboh.evaluation import tables
    from pboh.evaluation.breakdowns import calibration_of
    from pboh.evaluation.metrics import policy_of
    from pboh.evaluation.report import write_report
    from pboh.evaluation.runner import compare_models, compare_systems, evaluate

    def run(side: _Side, explain: int | None) -> Evaluation:
        wanted: dict[str, Any] = {"explain": explain or 0, "errors": explain is not None}
        with progress(f"evaluating {side.name}") as bar:
            done = evaluate(side.linker, datasets, systems, name=side.name, report=bar, **wanted)
        settings = {key: value for key, value in asdict(side.linker.settings).items() if key != "system"}
        return replace(done, info={**side.linker.model.info, "settings": settings, "paper": side.paper})

    first, *others = [run(side, None if number else explained) for number, side in enumerate(sides)]
    second = others[0] if others else None
    shown = [tables.results_table(first), *tables.paper_tables(first)]
    if len(first.systems) > 1:
        shown.append(tables.ablation_table(first))
        shown.append(tables.comparison_table("Paired tests between systems", compare_systems(first)))
    if second is not None:
        shown.append(tables.side_by_side_table(first, second))
        shown.append(tables.comparison_table("Paired tests between models", compare_models(first, second)))
    shown += [tables.nil_table(first), tables.calibration_table(first), tables.propagation_table(first)]
    shown += [tables.graph_table(first), tables.dataset_table(first.datasets)]
    data = [
        {**asdict(run.row), "model": e.model, "calibration_error": calibration_of([run.judgement]).error}
        for e in (first, *others)
        for run in e.runs
    ]
    notes = []
    for dataset in datasets:
        problems = [p for p in dataset.problems if p.kind in {"lost", "unmapped"}]
        notes += [f"{dataset.name}: {problem}" for problem in problems[:5]]
    return _Found(shown, data, lambda report: write_report(report, first, second), policy_of(datasets), notes)
