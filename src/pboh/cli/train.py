"""`pboh train`: from dumps to a model in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from pboh.cli import app


@app.command("train")
def train_command(
    dumps: Annotated[
        list[Path], typer.Argument(metavar="DUMP...", help="Dump files: .xml, .bz2, .gz, .zst or .jsonl.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Folder of the new model.")],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Most memory to use.")] = "4GB",
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", min=1, help="Processes and threads [default: all cores].")
    ] = None,
    crosswikis: Annotated[
        str | None, typer.Option(metavar="FILE", help="Crosswikis dictionary (plain or .bz2) to add.")
    ] = None,
    red_links: Annotated[
        str, typer.Option(help="Links to pages that are not in the dump: keep them as entities, or drop.")
    ] = "keep",
    language: Annotated[str | None, typer.Option(help="Language code; default: what the dump says.")] = None,
    min_word_count: Annotated[
        int, typer.Option(min=1, help="Keep N(w,e) from this count on; --paper ignores those below 3.")
    ] = 2,
    top: Annotated[int, typer.Option(min=1, max=255, help="Entities kept per name.")] = 64,
    names_in_text: Annotated[
        bool,
        typer.Option(help="Count where names stand in the text, linked or not: pboh link needs it."),
    ] = True,
    keep_work: Annotated[
        bool, typer.Option(help="Keep corpus and counts in MODEL.work, so that changes are cheap.")
    ] = True,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the figures here.")
    ] = None,
) -> None:
    """Train a model from Wikipedia dumps: extract, count and build in one go.

    A training that was stopped goes on where it was; run again after success, it does nothing. More options
    of the single stages are at pboh extract, pboh count and pboh build.

    Examples:

      pboh train simplewiki-latest-pages-articles.xml.bz2 --out model

      pboh train enwiki-*-multistream*.bz2 --out model --memory 8GB --no-keep-work
    """
    from pboh.corpus.extract import Options
    from pboh.counts import CountOptions
    from pboh.errors import InputError
    from pboh.files.progress import progress, summarise
    from pboh.files.writing import parse_size
    from pboh.model.build import BuildOptions
    from pboh.train import train

    if red_links not in ("keep", "drop"):
        raise InputError(f"{red_links!r} is not a choice for --red-links", todo="Write keep or drop")
    kept = cast("Literal['keep', 'drop']", red_links)
    with progress("training", continues=True) as report:
        made = train(
            dumps,
            out,
            extraction=Options(red_links=kept, language=language),
            counting=CountOptions(
                min_word_count=min_word_count, top=top, crosswikis=crosswikis, names_in_text=names_in_text
            ),
            building=BuildOptions(entries_per_name=top),
            memory=parse_size(memory),
            workers=workers,
            keep_work=keep_work,
            report=report,
        )
    title = f"trained {out}" if made["fresh"] else f"{out} is already trained like this: nothing to do"
    figures = {**made["totals"], "model_megabytes": made["model_megabytes"], "seconds": made["seconds"]}
    summarise(title, figures, json_file)
