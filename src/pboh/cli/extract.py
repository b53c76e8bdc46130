"""``pboh extract``: from dumps or JSON lines to a corpus folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import typer

from pboh.cli import app


@app.command("extract")
def extract(
    dumps: list[Path] = typer.Argument(
        ..., metavar="DUMP...", help="Dump files: .xml, .bz2, .gz, .zst or .jsonl."
    ),
    out: Path = typer.Option(..., "--out", "-o", help="Folder to write; a stopped run goes on in it."),
    workers: int = typer.Option(0, "--workers", "-w", help="Processes; 0 means one per core."),
    memory: str = typer.Option("2GB", "--memory", help="Memory that all processes together may use."),
    red_links: str = typer.Option(
        "keep", "--red-links", help="Links to pages that are not in the dump: keep them as entities, or drop."
    ),
    window: int = typer.Option(50, "--window", help="Content words counted on each side of a link."),
    language: str | None = typer.Option(
        None, "--language", help="Language code; default: what the dump says."
    ),
    conventions: Path | None = typer.Option(
        None, "--conventions", help="TOML file with this wiki's disambiguation templates, list titles …"
    ),
    texts: bool = typer.Option(True, "--texts/--no-texts", help="Keep the plain text of the pages."),
    json_file: Path | None = typer.Option(None, "--json", help="Write the summary to this file too."),
) -> None:
    """Turn Wikipedia dumps, or JSON lines, into tables of pages, links and words.

    Run it again after Ctrl-C, a crash or a full disk: what was finished is kept.

    \b
    pboh extract dewiki-20250101-pages-articles.xml.bz2 --out corpus
    pboh extract enwiki-*-multistream*.bz2 --out corpus --workers 8 --memory 4GB
    pboh extract my-pages.jsonl --out corpus --language de
    """
    from pboh.corpus.extract import Options
    from pboh.corpus.extract import extract as run
    from pboh.errors import InputError
    from pboh.files.progress import progress, summarise
    from pboh.files.writing import parse_size

    if red_links not in ("keep", "drop"):
        raise InputError(f"{red_links!r} is not a choice for --red-links", todo="Write keep or drop")
    kept = cast("Literal['keep', 'drop']", red_links)
    options = Options(window=window, red_links=kept, language=language, texts=texts, conventions=conventions)
    with progress("extract", continues=True) as report:
        figures = run(dumps, out, options, workers=workers or None, memory=parse_size(memory), report=report)
    summarise(f"corpus in {out}", figures, json_file)
