"""``pboh extract``: from dumps or JSON lines to a corpus folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from pboh.cli import app, options
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import parse_size


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
