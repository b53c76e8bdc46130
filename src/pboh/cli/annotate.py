"""``pboh annotate``: many documents in, the same documents with linked mentions out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from pboh.cli import app, options

if TYPE_CHECKING:
    from pboh.annotation import Options

_COLUMNS = "Columns"
SHOWN = 20  # bad rows that are printed


@app.command("annotate")
def annotate_command(
    inputs: Annotated[
        list[str] | None,
        Argument(
            metavar="IN",
            help="Files .parquet or .jsonl (also .gz, .zst, .bz2), folders, or - for standard input.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="OUT",
            help="File .parquet, .jsonl, .jsonl.gz or .jsonl.zst.",
            show_default="JSON lines on standard output",
        ),
    ] = None,
    model: options.Model = None,
    text_column: Annotated[
        str, Option(metavar="NAME", help="Holds the texts.", rich_help_panel=_COLUMNS)
    ] = "text",
    id_column: Annotated[
        str, Option(metavar="NAME", help="Copied to the output as id.", rich_help_panel=_COLUMNS)
    ] = "id",
    mentions_column: Annotated[
        str, Option(metavar="NAME", help="Holds given mentions, if any.", rich_help_panel=_COLUMNS)
    ] = "mentions",
    keep_columns: Annotated[
        str, Option(metavar="A,B,…", help="Copied to the output.", rich_help_panel=_COLUMNS)
    ] = "",
    find: Annotated[bool, Option("--find", help="Find mentions even where some are given.")] = False,
    candidates: Annotated[int, Option(help="Candidates shown per mention.", min=0, max=256)] = 0,
    explain: Annotated[
        bool, Option("--explain", help="Add the terms of each answer's score (JSON lines only).")
    ] = False,
    threshold: options.Threshold = None,
    only: options.Only = None,
    overlapping: Annotated[bool, Option("--overlapping", help="Allow given mentions to overlap.")] = False,
    paper: options.Paper = False,
    change: options.Change = None,
    workers: options.Workers = None,
    engine: options.Engine = "local",
    master: options.Master = None,
    json: options.Json = None,
) -> None:
    """Link many documents, on all cores, and continue where a stopped run left off.

    A document is a row with a text. A row may bring its mentions ([{"start", "end"}], code points; "entity"
    clamps one), which are then disambiguated; any other row is searched for names. Every row yields one row,
    in the same order: id, kept columns, mentions, and an error if there was one, in which case mentions is
    null. Bad rows are reported and stop nothing; the exit code is 1 if every row was bad.

    Run the same command again after Ctrl-C, a crash or a full disk: it continues, and the file comes out as
    if nothing had happened. OUT.json records what the file was made from. Without --out each answer is
    written to standard output as soon as it is known, by one worker unless --workers says otherwise.

    \b
    Examples:
      pboh annotate news.parquet --out linked.parquet --model model --keep-columns title,date
      pboh annotate tweets.jsonl.gz --out linked.jsonl --text-column body --candidates 3
      zcat news.jsonl.gz | pboh annotate - | jq .mentions
      pboh annotate hdfs:///news --out hdfs:///linked --engine spark --model /models/enwiki
    """
    from pboh.annotation import Options
    from pboh.errors import InputError
    from pboh.inference.settings import parse_changes

    if explain and (engine == "spark" or str(out).endswith(".parquet")):
        raise InputError("explanations are only written as JSON lines", todo="Choose another --out")
    asked = Options(
        text=text_column,
        id=id_column,
        mentions=None if find else mentions_column,
        keep=tuple(dict.fromkeys(name.strip() for name in keep_columns.split(",") if name.strip())),
        candidates=candidates,
        explain=explain,
        threshold=threshold,
        overlapping=overlapping,
        paper=paper,
        only=_titles(model, only),
        settings=parse_changes(change or []),
    )
    named = inputs or ["-"]
    if engine == "spark":
        figures = _on_spark(named, out, model, asked, master)
    elif out is None:
        figures = _to_standard_output(named, model, asked, workers or 1)
    else:
        figures = _to_file(named, out, model, asked, workers)
    _finish(out, figures, json)


def _titles(model: str | None, only: Path | None) -> tuple[str, ...]:
    from pboh.cli.reading import read_only
    from pboh.linker import load

    if only is None:
        return ()
    linker = load(model)
    found = read_only(linker, only)
    return tuple(linker.model.title(index) for index in found.entities.tolist()) if found else ()


class _Complaints:
    """Prints the first bad rows."""

    def __init__(self) -> None:
        self._said = 0

    def __call__(self, what: str) -> None:
        from pboh.files.progress import console

        self._said += 1
        if self._said <= SHOWN:
            console.print(what, style="red", soft_wrap=True, markup=False)
        elif self._said == SHOWN + 1:
            console.print("… further bad rows are only counted; see error in the output", style="red")


def _to_file(
    inputs: list[str], out: str, model: str | None, asked: Options, workers: int | None
) -> dict[str, Any]:
    from pboh.annotation import annotate
    from pboh.files.progress import progress

    with progress("annotating", continues=True) as report:
        return annotate(inputs, out, model, asked, workers=workers, report=report, complain=_Complaints())


def _to_standard_output(inputs: list[str], model: str | None, asked: Options, workers: int) -> dict[str, Any]:
    from pboh.annotation import annotate_stream
    from pboh.cli.reading import say_waiting

    if "-" in inputs:
        say_waiting("JSON lines")
    figures = {"documents": 0, "mentions": 0, "linked": 0, "failed_rows": 0}
    for lines, done in annotate_stream(inputs, model, asked, workers=workers, complain=_Complaints()):
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()
        figures = {name: value + getattr(done, name) for name, value in figures.items()}
    return figures


def _on_spark(
    inputs: list[str], out: str | None, model: str | None, asked: Options, master: str | None
) -> dict[str, Any]:
    from pboh.errors import InputError
    from pboh.integrations.spark import annotate_files

    if out is None or "-" in inputs:
        raise InputError("Spark reads and writes files", todo="Name input files and --out")
    return annotate_files(inputs, out, model, asked, master=master)


def _finish(out: str | None, figures: dict[str, Any], json: Path | None) -> None:
    from pboh.errors import InputError
    from pboh.files.progress import summarise
    from pboh.files.writing import write_json

    if out is not None:
        fresh = figures.pop("fresh", True)
        title = f"annotations in {out}" if fresh else f"{out} is already finished: nothing to do"
        summarise(title, figures, json)
    elif json is not None:
        write_json(json, figures)
    if figures["failed_rows"] and not figures["documents"]:
        raise InputError(f"none of the {figures['failed_rows']:,} rows could be annotated")
