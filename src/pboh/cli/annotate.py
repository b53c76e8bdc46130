"""``pboh annotate``: many documents in, the same documents with linked mentions out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from pboh.cli import app, options
from pboh.errors import InputError
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import write_json

if TYPE_CHECKING:
    from pboh.annotation import Options

SHOWN = 20  # bad rows that are printed


def _column(help: str, metavar: str = "NAME") -> Any:
    return Option(metavar=metavar, help=help, rich_help_panel="Columns")


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
        options.out(
            "OUT",
            "File .parquet, .jsonl, .jsonl.gz or .jsonl.zst.",
            show_default="JSON lines on standard output",
        ),
    ] = None,
    model: options.Model = None,
    text_column: Annotated[str, _column("Holds the texts.")] = "text",
    id_column: Annotated[str, _column("Copied to the output as id.")] = "id",
    mentions_column: Annotated[str, _column("Holds given mentions, if any.")] = "mentions",
    keep_columns: Annotated[str, _column("Copied to the output.", "A,B,…")] = "",
    find: Annotated[bool, Option("--find", help="Find mentions even where some are given.")] = False,
    candidates: Annotated[int, Option(help="Candidates shown per mention.", min=0, max=256)] = 0,
    explain: Annotated[
        bool, Option("--explain", help="Add the terms of each answer's score (JSON lines only).")
    ] = False,
    mentions: options.Mentions = "names",
    nil: options.Nil = False,
    threshold: options.Threshold = None,
    only: options.Only = None,
    types: options.Types = None,
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
    from pboh.annotation import Options, annotate
    from pboh.inference.settings import parse_changes

    if explain and (engine == "spark" or str(out).endswith(".parquet")):
        raise InputError("explanations are only written as JSON lines", todo="Choose another --out")
    asked = Options(
        text=text_column,
        id=id_column,
        mentions=None if find else mentions_column,
        keep=options.listed(keep_columns) or (),
        candidates=candidates,
        explain=explain,
        find=mentions,
        nil=nil,
        threshold=threshold,
        overlapping=overlapping,
        paper=paper,
        only=_titles(model, only),
        types=options.listed(types) or (),
        settings=parse_changes(change or []),
    )
    named = inputs or ["-"]
    if engine == "spark":
        from pboh.integrations.spark import annotate_files

        if out is None or "-" in named:
            raise InputError("Spark reads and writes files", todo="Pass input files and --out")
        figures = annotate_files(named, out, model, asked, master=master)
    elif out is None:
        figures = _to_standard_output(named, model, asked, workers or 1)
    else:
        with progress("annotating", continues=True) as report:
            figures = annotate(
                named, out, model, asked, workers=workers, report=report, complain=_complaints()
            )
    if out is not None:
        fresh = figures.pop("fresh", True)
        title = f"annotations in {out}" if fresh else f"{out} is already finished: nothing to do"
        summarise(title, figures, json)
    elif json is not None:
        write_json(json, figures)
    if figures["failed_rows"] and not figures["documents"]:
        raise InputError(f"none of the {figures['failed_rows']:,} rows could be annotated")


def _titles(model: str | None, only: Path | None) -> tuple[str, ...]:
    """The titles of --only as the model knows them."""
    from pboh.cli.reading import read_only
    from pboh.linker import load

    if only is None:
        return ()
    linker = load(model)
    found = read_only(linker, only)
    return tuple(linker.model.title(index) for index in found.entities.tolist()) if found else ()


def _complaints() -> Callable[[str], None]:
    """Prints the first bad rows."""
    numbers = count()

    def complain(what: str) -> None:
        number = next(numbers)
        if number < SHOWN:
            console.print(what, style="red", soft_wrap=True, markup=False)
        elif number == SHOWN:
            console.print("… further bad rows are only counted; see error in the output", style="red")

    return complain


def _to_standard_output(inputs: list[str], model: str | None, asked: Options, workers: int) -> dict[str, Any]:
    from pboh.annotation import annotate_stream
    from pboh.annotation.job import COUNTED
    from pboh.cli.reading import say_waiting

    if "-" in inputs:
        say_waiting("JSON lines")
    figures = dict.fromkeys(COUNTED, 0)
    for lines, done in annotate_stream(inputs, model, asked, workers=workers, complain=_complaints()):
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()
        figures = {name: value + getattr(done, name) for name, value in figures.items()}
    return figures
