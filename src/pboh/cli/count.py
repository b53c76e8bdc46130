"""`pboh count`: from a corpus folder to the sufficient statistics of the paper."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pboh.cli import app

if TYPE_CHECKING:
    from pboh.counts.engine import Engine

DEFAULT_MEMORY = "4GB"


class EngineName(StrEnum):
    """Where the statistics are computed."""

    duckdb = "duckdb"
    spark = "spark"


@app.command("count")
def count_command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="FOLDER...", help="Folders written by pboh extract, or by an earlier pboh count."
        ),
    ],
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder for the counts.")],
    engine: Annotated[
        EngineName, typer.Option(help="Where to count: on this machine, or on Spark.")
    ] = EngineName.duckdb,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Most memory to use; what does not fit goes to disk.")
    ] = DEFAULT_MEMORY,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use [default: all cores].")] = None,
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Spark master, such as local[2] or yarn [default: Spark's own]."),
    ] = None,
    min_word_count: Annotated[
        int, typer.Option(min=1, help="Keep N(w,e) from this count on.", rich_help_panel="Pruning")
    ] = 3,
    top: Annotated[int, typer.Option(min=1, help="Entities kept per name.", rich_help_panel="Pruning")] = 64,
    min_name_count: Annotated[
        int, typer.Option(min=1, help="Links a name must have to an entity.", rich_help_panel="Pruning")
    ] = 1,
    crosswikis: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Crosswikis dictionary (plain or .bz2) to add.", rich_help_panel="Names"
        ),
    ] = None,
    min_crosswikis_count: Annotated[
        int, typer.Option(min=1, help="Count a Crosswikis pair must have.", rich_help_panel="Names")
    ] = 5,
    crosswikis_entities: Annotated[
        bool,
        typer.Option(help="Also take entities only Crosswikis knows.", rich_help_panel="Names"),
    ] = False,
    crosswikis_weight: Annotated[
        float, typer.Option(min=0, help="Weight of a Crosswikis count.", rich_help_panel="Names")
    ] = 1.0,
    title_weight: Annotated[
        float, typer.Option(min=0, help="Weight of a title as a name; 0 = off.", rich_help_panel="Names")
    ] = 0.1,
    redirect_weight: Annotated[
        float, typer.Option(min=0, help="Weight of a redirect's title; 0 = off.", rich_help_panel="Names")
    ] = 0.1,
    disambiguation_weight: Annotated[
        float,
        typer.Option(
            min=0, help="Weight of a disambiguation page's title; 0 = off.", rich_help_panel="Names"
        ),
    ] = 0.02,
    names_in_text: Annotated[
        bool, typer.Option("--names-in-text", help="Also count where names stand in the text, linked or not.")
    ] = False,
    sums: Annotated[
        bool, typer.Option(help="Keep the unpruned sums, so that more can be added later.")
    ] = True,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the figures here.")
    ] = None,
) -> None:
    """Count names, co-occurrences and context words of a corpus.

    The counts are all the model needs. A run that was stopped goes on where it was; a changed option
    redoes only what depends on it. The paper's thresholds are the defaults; for the paper's names add
    --title-weight 0 --redirect-weight 0 --disambiguation-weight 0.

    Examples:

      pboh count corpus --out counts

      pboh count corpus --out counts --memory 1GB --crosswikis dictionary.bz2

      pboh count counts new-pages --out more-counts     (adds new pages to what was counted)

      pboh count hdfs:///corpus --out hdfs:///counts --engine spark --master yarn
    """
    from pboh.counts import CountOptions, count
    from pboh.files.progress import progress

    options = CountOptions(
        min_word_count=min_word_count,
        top=top,
        min_name_count=min_name_count,
        crosswikis=crosswikis,
        min_crosswikis_count=min_crosswikis_count,
        crosswikis_entities=crosswikis_entities,
        crosswikis_weight=crosswikis_weight,
        title_weight=title_weight,
        redirect_weight=redirect_weight,
        disambiguation_weight=disambiguation_weight,
        names_in_text=names_in_text,
        sums=sums,
    )
    runner = open_engine(engine, out, memory, threads, master)
    try:
        with progress("counting") as report:
            manifest = count(inputs, out, options, engine=runner, report=report)
    finally:
        runner.close()
    show(manifest, out, json_file)


def open_engine(name: EngineName, out: str, memory: str, threads: int | None, master: str | None) -> Engine:
    """The engine the user asked for."""
    from pboh.errors import InputError
    from pboh.files.writing import parse_size

    if name is EngineName.spark:
        from pboh.counts.spark import Spark

        return Spark(parse_size(memory), master)
    from pboh.counts.engine import DuckDB

    if master is not None:
        raise InputError("--master is for Spark", todo="Add --engine spark")
    if "://" in out:
        raise InputError("DuckDB writes to local folders only", where=out, todo="Add --engine spark")
    return DuckDB(Path(out), parse_size(memory), threads)


def show(manifest: dict[str, Any], out: str, json_file: Path | None) -> None:
    """Print what was counted."""
    from pboh.files.progress import console, summarise
    from pboh.files.writing import folder_size, peak_memory_megabytes

    figures = dict(manifest["totals"])
    crosswikis = manifest["crosswikis"]
    if crosswikis:
        figures |= {"crosswikis_pairs": crosswikis["pairs"], "crosswikis_malformed": crosswikis["malformed"]}
        for line in crosswikis["first"]:
            console.print(f"[yellow]skipped[/] {manifest['options']['crosswikis']}, {line}", soft_wrap=True)
    if "://" not in out:
        figures["disk_megabytes"] = round(folder_size(Path(out)) / 1e6, 1)
    figures["peak_memory_megabytes"] = round(peak_memory_megabytes(), 1)
    if manifest["fresh"]:
        figures["seconds"] = manifest["seconds"]
        summarise(f"counted into {out}", figures, json_file)
    else:
        summarise(f"{out} is already counted with these options: nothing to do", figures, json_file)
