"""``pboh extract`` and ``pboh count``: from dumps to a corpus, and from it to the statistics of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pboh.cli import app, options
from pboh.errors import InputError
from pboh.files.memory import peak_memory_megabytes
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import folder_size, parse_size

if TYPE_CHECKING:
    from pboh.counts.engine import Engine


@app.command("extract")
def extract_command(
    dumps: options.Dumps,
    out: options.Out,
    memory: options.Memory = "2GB",
    workers: options.Workers = None,
    red_links: options.RedLinks = "keep",
    language: options.Language = None,
    window: Annotated[int, Option(min=1, help="Content words counted on each side of a link.")] = 50,
    conventions: Annotated[
        Path | None, Option(metavar="FILE.toml", help="This wiki's disambiguation templates and the like.")
    ] = None,
    texts: Annotated[bool, Option(help="Keep the plain text of the pages.")] = True,
    json: options.Json = None,
) -> None:
    """Turn Wikipedia dumps, or JSON lines, into tables of pages, links and words.

    Run it again after Ctrl-C, a crash or a full disk: what was finished is kept.

    \b
    Examples:
      pboh extract dewiki-20250101-pages-articles.xml.bz2 --out corpus
      pboh extract enwiki-*-multistream*.bz2 --out corpus --workers 8 --memory 4GB
      pboh extract my-pages.jsonl --out corpus --language de
    """
    from pboh.corpus.extract import Options, extract

    asked = Options(
        window=window, red_links=red_links, language=language, texts=texts, conventions=conventions
    )
    with progress("extracting", continues=True) as report:
        figures = extract(dumps, out, asked, workers=workers, memory=parse_size(memory), report=report)
    for problem in figures.pop("problems", ()):
        console.print(problem, style="yellow", soft_wrap=True, markup=False)
    summarise(f"corpus in {out}", figures, json)


@app.command("count")
def count_command(
    inputs: Annotated[
        list[str],
        Argument(metavar="FOLDER", help="Folders written by pboh extract, or by an earlier pboh count."),
    ],
    out: Annotated[str, options.out("FOLDER", "Folder to write to.")],
    memory: options.Memory = "4GB",
    workers: options.Workers = None,
    engine: options.Engine = "local",
    master: options.Master = None,
    min_word_count: options.MinWordCount = 3,
    top: options.Top = 64,
    min_name_count: Annotated[int, Option(min=1, help="Keep a name of an entity from this count on.")] = 1,
    crosswikis: options.Crosswikis = None,
    min_crosswikis_count: Annotated[int, Option(min=1, help="Keep a Crosswikis pair from this count.")] = 5,
    crosswikis_entities: Annotated[bool, Option(help="Also take entities only Crosswikis knows.")] = False,
    names_in_text: options.NamesInText = False,
    sums: Annotated[bool, Option(help="Keep the unpruned sums, so that more can be added later.")] = True,
    json: options.Json = None,
) -> None:
    """Count names, co-occurrences and context words of a corpus.

    The counts are all the model needs. A stopped run continues where it left off; a changed option
    redoes only what depends on it. The paper's thresholds are the defaults.

    \b
    Examples:
      pboh count corpus --out counts
      pboh count corpus --out counts --memory 1GB --crosswikis dictionary.bz2
      pboh count counts new-pages --out more-counts     (adds new pages to what was counted)
      pboh count hdfs:///corpus --out hdfs:///counts --engine spark --master yarn
    """
    from pboh.counts import CountOptions, count

    asked = CountOptions(
        min_word_count=min_word_count, top=top, min_name_count=min_name_count,
        crosswikis=crosswikis, min_crosswikis_count=min_crosswikis_count,
        crosswikis_entities=crosswikis_entities, names_in_text=names_in_text, sums=sums,
    )  # fmt: skip
    runner = _open_engine(engine, out, parse_size(memory), workers, master)
    try:
        with progress("counting") as report:
            manifest = count(inputs, out, asked, engine=runner, report=report)
    finally:
        runner.close()
    figures = dict(manifest["totals"])
    if found := manifest["crosswikis"]:
        figures |= {"crosswikis_pairs": found["pairs"], "crosswikis_malformed": found["malformed"]}
        for line in found["first"]:
            console.print(f"[yellow]skipped[/] {manifest['options']['crosswikis']}, {line}", soft_wrap=True)
    if "://" not in out:
        figures["disk_megabytes"] = round(folder_size(Path(out)) / 1e6, 1)
    figures["peak_memory_megabytes"] = round(peak_memory_megabytes(), 1)
    title = f"{out} is already counted with these options: nothing to do"
    if manifest["fresh"]:
        figures["seconds"], title = manifest["seconds"], f"counted into {out}"
    summarise(title, figures, json)


def _open_engine(name: str, out: str, memory: int, workers: int | None, master: str | None) -> Engine:
    """The engine the user asked for."""
    if name == "spark":
        from pboh.counts.spark import Spark

        return Spark(memory, master)
    from pboh.counts.engine import DuckDB

    if master is not None:
        raise InputError("--master is for Spark", todo="Add --engine spark")
    if "://" in out:
        raise InputError("DuckDB writes to local folders only", where=out, todo="Add --engine spark")
    return DuckDB(Path(out), memory, workers)
