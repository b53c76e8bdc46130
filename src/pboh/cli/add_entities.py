"""``pboh add-entities``, ``pboh overlays`` and ``pboh remove-entities``: a knowledge base of your own."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from pboh.cli import app

ModelFolder = Annotated[str, typer.Argument(metavar="MODEL", help="A model folder, or starter.")]
JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON too.")
]
SHOWN = 10  # notes on standard error; a file with thousands of unknown links must not flood the terminal


@app.command("add-entities")
def add_entities_command(
    model: ModelFolder,
    source: Annotated[Path, typer.Argument(metavar="ENTITIES.jsonl", help="Entities, one object a line.")],
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the overlay [default: that of the file].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Leave MODEL alone: write a model beside it."),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad lines out instead of stopping.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the overlay of the same name.")] = False,
    json: JsonFile = None,
) -> None:
    """Let a model know entities of your own, in seconds and without counting again.

    A line is {"title", "names": [...], "description": "text or words", "links": [titles], "id": "Q42"}; only
    the title is required. "prior" (0.2) is the share of a name that the model knows already which means the
    new entity, "link" (0.9) how likely its names are mentions where they stand in a text. A title that the
    model knows already only gets the names. Overlays stack: later ones may link to entities of earlier ones.

    Examples:

      pboh add-entities model entities.jsonl

      pboh add-entities starter entities.jsonl --out my-model
    """
    from pboh.files.progress import console, summarise
    from pboh.linker import model_folder
    from pboh.model.overlays.adding import add_entities

    began = perf_counter()
    overlay, notes = add_entities(
        model_folder(model), source, name, out=out, skip_bad=skip_bad, replace=replace
    )
    for note in notes[:SHOWN]:
        console.print(note, style="yellow", soft_wrap=True, markup=False)
    if len(notes) > SHOWN:
        console.print(f"… and {len(notes) - SHOWN:,} more like these", style="yellow")
    figures = {key: value for key, value in overlay.items() if key not in ("name", "created", "arrays")}
    figures["seconds"] = perf_counter() - began
    summarise(f"overlay {overlay['name']} of {out or model}", figures, json)


@app.command("overlays")
def overlays_command(
    model: ModelFolder,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="List the entities of this overlay.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """List the overlays of a model, lowest first, or the entities of one.

    Examples:

      pboh overlays model

      pboh overlays model entities
    """
    from pboh.errors import InputError
    from pboh.files.writing import write_json
    from pboh.linker import model_folder
    from pboh.model.overlays import adding as add
    from pboh.model.store import open_model

    folder = model_folder(model)
    keys: tuple[str, ...] = ("name", "entities", "known_before", "names", "links", "words", "created")
    rows: list[dict[str, Any]] = [{key: o[key] for key in keys} for o in add.overlays(folder)]
    if name is not None:
        found = [overlay for overlay in open_model(folder).overlays if overlay.name == name]
        if not found:
            raise InputError(f"the model has no overlay {name!r}", where=folder)
        numbers = range(found[0].first, found[0].first + found[0].size)
        rows = [{"title": found[0].title(n), "id": found[0].id(n)} for n in numbers]
        keys = ("title", "id")
    print("\t".join(key.replace("_", " ") for key in keys))
    for row in rows:
        print("\t".join("" if row[key] is None else str(row[key]) for key in keys))
    if json is not None:
        write_json(json, rows)


@app.command("remove-entities")
def remove_entities_command(
    model: ModelFolder,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the overlay.")],
    json: JsonFile = None,
) -> None:
    """Take an overlay away: the model answers as before, bit for bit.

    Links of other overlays to its entities are dropped with it.

    Example: pboh remove-entities model entities
    """
    from pboh.files.progress import summarise
    from pboh.linker import model_folder
    from pboh.model.overlays.adding import remove_entities

    gone = remove_entities(model_folder(model), name)
    summarise(f"overlay {name} of {model} removed", {"entities": gone["entities"]}, json)
