"""``pboh annotate``: many documents in, the same documents with linked mentions out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pboh.cli import app

if TYPE_CHECKING:
    from pboh.annotation import Options

_COLUMNS, _ANSWERS, _MACHINE = "Columns", "Answers", "Machine"
SHOWN = 20  # bad rows that are printed


class Engine(StrEnum):
    """What runs the work."""

    local = "local"
    spark = "spark"


@app.command("annotate")
def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="IN...", help="Files .parquet or .jsonl (also .gz, .zst, .bz2), or folders."),
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="OUT", help="File .parquet, .jsonl, .jsonl.gz or .jsonl.zst."),
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="MODEL", help="A model folder [default: the starter model]."),
    ] = None,
    text_column: Annotated[
        str, typer.Option(metavar="NAME", help="Holds the texts.", rich_help_panel=_COLUMNS)
    ] = "text",
    id_column: Annotated[
        str,
        typer.Option(metavar="NAME", help="Copied to the output as id.", rich_help_panel=_COLUMNS),
    ] = "id",
    mentions_column: Annotated[
        str,
        typer.Option(metavar="NAME", help="Given mentions, if it is there.", rich_help_panel=_COLUMNS),
    ] = "mentions",
    find: Annotated[
        bool, typer.Option("--find", help="Find mentions even if some are given.", rich_help_panel=_COLUMNS)
    ] = False,
    keep_columns: Annotated[
        str, typer.Option(metavar="A,B,…", help="Copied to the output.", rich_help_panel=_COLUMNS)
    ] = "",
    candidates: Annotated[
        int, typer.Option(help="Candidates shown per mention.", min=0, max=256, rich_help_panel=_ANSWERS)
    ] = 0,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Least confidence [default: the model's].", rich_help_panel=_ANSWERS),
    ] = None,
    only: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Answer only with these entities, one title a line.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    overlapping: Annotated[
        bool,
        typer.Option("--overlapping", help="Given mentions may overlap.", rich_help_panel=_ANSWERS),
    ] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="The paper's model: every extension off.", rich_help_panel=_ANSWERS),
    ] = False,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting, e.g. tau=0.7.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option("--workers", "-w", help="Processes; 0: one per core.", min=0, rich_help_panel=_MACHINE),
    ] = 0,
    engine: Annotated[
        Engine, typer.Option(help="This machine, or a Spark cluster.", rich_help_panel=_MACHINE)
    ] = Engine.local,
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Spark's master, with --engine spark.", rich_help_panel=_MACHINE),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON.")
    ] = None,
) -> None:
    """Link many documents, on all cores, and go on where a stopped run was.

    A document is a row with a text; a row may bring its mentions ([{"start", "end"}], code points), and is
    searched for names otherwise. Out comes a row for every row, in their order: id, kept columns, mentions,
    and an error if there was one, in which case mentions is null. Bad rows are named and stop nothing.

    Run the same command again after Ctrl-C, a crash or a full disk: it continues, and the file comes out as
    if nothing had happened. OUT.json records what the file was made from.

    \b
    pboh annotate news.parquet --out linked.parquet --model model --keep-columns title,date
    pboh annotate tweets.jsonl.gz --out linked.jsonl --text-column body --candidates 3
    pboh annotate hdfs:///news --out hdfs:///linked --engine spark --model /models/enwiki
    """
    from pboh.annotation import Options
    from pboh.inference.settings import parse_changes

    options = Options(
        text=text_column,
        id=id_column,
        mentions=None if find else mentions_column,
        keep=tuple(dict.fromkeys(name.strip() for name in keep_columns.split(",") if name.strip())),
        candidates=candidates,
        threshold=threshold,
        overlapping=overlapping,
        paper=paper,
        only=_titles(model, only),
        settings=parse_changes(change or []),
    )
    if engine is Engine.spark:
        _on_spark(inputs, out, model, options, master, json)
    else:
        _here(inputs, out, model, options, workers, json)


def _titles(model: str | None, only: Path | None) -> tuple[str, ...]:
    if only is None:
        return ()
    from pboh.cli.only import read_only
    from pboh.linker import load

    linker = load(model)
    found = read_only(linker, only)
    return tuple(linker.model.title(index) for index in found.entities.tolist()) if found else ()


def _here(
    inputs: list[str], out: str, model: str | None, options: Options, workers: int, json: Path | None
) -> None:
    from pboh.annotation import annotate
    from pboh.files.progress import console, progress, summarise

    said = 0

    def complain(what: str) -> None:
        nonlocal said
        said += 1
        if said <= SHOWN:
            console.print(what, style="red", soft_wrap=True, markup=False)
        elif said == SHOWN + 1:
            console.print("… further bad rows are only counted; column error names them all", style="red")

    with progress("annotate", continues=True) as report:
        figures = annotate(
            inputs, out, model, options, workers=workers or None, report=report, complain=complain
        )
    title = f"annotations in {out}" if figures.pop("fresh") else f"{out} is finished already: nothing to do"
    summarise(title, figures, json)


def _on_spark(
    inputs: list[str],
    out: str,
    model: str | None,
    options: Options,
    master: str | None,
    json: Path | None,
) -> None:
    from pboh.files.progress import summarise
    from pboh.integrations.spark import annotate_files

    figures: dict[str, Any] = annotate_files(inputs, out, model, options, master=master)
    summarise(f"annotations in {out}", figures, json)
