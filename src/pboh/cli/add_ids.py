"""``pboh add-ids``: Wikidata ids for the entities of a model."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from pboh.cli import app


@app.command("add-ids")
def add_ids_command(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or starter.")],
    properties: Annotated[
        Path | None,
        typer.Argument(metavar="PAGE_PROPS.sql.gz", help="Wikimedia's table of the properties of pages."),
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE.sql.gz", help="Wikimedia's table of pages, if the model lacks their numbers."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Leave MODEL alone: write a model beside it."),
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the ids away again.")] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON too.")
    ] = None,
) -> None:
    """Let answers carry Wikidata ids.

    The tables lie beside the dump on dumps.wikimedia.org, such as
    enwiki-latest-page_props.sql.gz. Take those of the same wiki; the date need not be the same.

    Examples:

      pboh add-ids model enwiki-latest-page_props.sql.gz

      pboh add-ids starter enwiki-latest-page_props.sql.gz --out my-model

      pboh add-ids model enwiki-latest-page_props.sql.gz --pages enwiki-latest-page.sql.gz

      pboh add-ids model --remove
    """
    from pboh.errors import InputError
    from pboh.files.progress import progress, summarise
    from pboh.linker import model_folder
    from pboh.model.ids import add_ids, remove_ids

    if remove:
        remove_ids(model_folder(model))
        summarise(f"model {model}", {"ids": "removed"}, json)
        return
    if properties is None:
        raise InputError("the table of page properties is missing", todo="Name …-page_props.sql.gz")
    began = perf_counter()
    with progress("reading ids") as report:
        found = add_ids(model_folder(model), properties, pages, out=out, report=report)
    figures: dict[str, Any] = dict(found)
    summarise(f"model {out or model}", figures | {"seconds": perf_counter() - began}, json)
