"""``pboh entities``: a knowledge base of your own on top of a model, and Wikidata ids for its entities."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer
from typer import Argument, Option

from pboh.cli import app, options, printing
from pboh.errors import InputError
from pboh.files.progress import console, progress, summarise

SHOWN = 10  # notes on standard error; a file with thousands of unknown links must not flood the terminal

entities = typer.Typer(
    no_args_is_help=True,
    help="Add entities of your own to a model, list or remove them; add Wikidata ids and types.",
)
app.add_typer(entities, name="entities")


@entities.command("add")
def add(
    source: Annotated[Path, Argument(metavar="ENTITIES.jsonl", help="Entities, one object per line.")],
    model: options.Model = None,
    name: Annotated[
        str | None, Option(metavar="NAME", help="Name of the overlay.", show_default="the name of the file")
    ] = None,
    out: options.BesideModel = None,
    skip_bad: Annotated[bool, Option("--skip-bad", help="Leave bad lines out instead of stopping.")] = False,
    replace: Annotated[bool, Option("--replace", help="Replace the overlay of the same name.")] = False,
    json: options.Json = None,
) -> None:
    """Teach a model entities of your own, in seconds and without counting again.

    A line is {"title", "names": [...], "description": "text or words", "links": [titles], "id": "Q42",
    "type": "person"}; only the title is required. "prior" (0.2) is the share of a name the model already
    knows that means the new entity; "link" (0.9) is how likely its names are mentions wherever they occur. A
    title that the model already knows only gets the names. Overlays stack: later ones may link to entities of
    earlier ones.

    \b
    Examples:
      pboh entities add entities.jsonl --model model
      pboh entities add entities.jsonl --out my-model
    """
    from pboh.linker import model_folder
    from pboh.model.overlays.adding import add_entities

    began, folder = perf_counter(), model_folder(model)
    overlay, notes = add_entities(folder, source, name, out=out, skip_bad=skip_bad, replace=replace)
    for note in notes[:SHOWN]:
        console.print(note, style="yellow", soft_wrap=True, markup=False)
    if len(notes) > SHOWN:
        console.print(f"… and {len(notes) - SHOWN:,} more like these", style="yellow")
    figures = {key: value for key, value in overlay.items() if key not in ("name", "created", "arrays")}
    figures["seconds"] = perf_counter() - began
    summarise(f"overlay {overlay['name']} of {out or model}", figures, json)


@entities.command("list")
def list_(
    name: Annotated[
        str | None, Argument(metavar="OVERLAY", help="List the entities of this overlay.")
    ] = None,
    model: options.Model = None,
    json: options.Json = None,
) -> None:
    """List the overlays of a model, lowest first, or the entities of one.

    \b
    Examples:
      pboh entities list --model model
      pboh entities list entities --model model
    """
    from pboh.linker import model_folder
    from pboh.model.overlays.adding import overlays
    from pboh.model.store import open_model

    folder = model_folder(model)
    keys: tuple[str, ...] = ("name", "entities", "known_before", "names", "links", "words", "created")
    rows: list[dict[str, Any]] = [{key: o[key] for key in keys} for o in overlays(folder)]
    if name is not None:
        found = [overlay for overlay in open_model(folder).overlays if overlay.name == name]
        if not found:
            raise InputError(f"the model has no overlay {name!r}", where=folder)
        [overlay] = found
        keys = ("title", "id", "type", "description")
        rows = []
        for number in range(overlay.first, overlay.first + overlay.size):
            facts = overlay.facts(number)
            named = overlay.title(number), overlay.id(number), facts.type, facts.description
            rows.append(dict(zip(keys, named, strict=True)))
    printing.show_rows(keys, rows, json)


@entities.command("remove")
def remove(
    name: Annotated[str, Argument(metavar="OVERLAY", help="Name of the overlay.")],
    model: options.OwnModel,
    json: options.Json = None,
) -> None:
    """Remove an overlay: the model answers as before, bit for bit.

    Links of other overlays to its entities are dropped with it.

    Example: pboh entities remove entities --model model
    """
    from pboh.linker import model_folder
    from pboh.model.overlays.adding import remove_entities

    gone = remove_entities(model_folder(model), name)
    summarise(f"overlay {name} of {model} removed", {"entities": gone["entities"]}, json)


@entities.command("ids")
def ids(
    properties: Annotated[
        Path | None, Argument(metavar="PAGE_PROPS.sql.gz", help="Wikimedia's table of page properties.")
    ] = None,
    pages: Annotated[
        Path | None,
        Option(metavar="PAGE.sql.gz", help="Wikimedia's table of pages, if the model lacks page numbers."),
    ] = None,
    model: options.Model = None,
    out: options.BesideModel = None,
    remove: Annotated[bool, Option("--remove", help="Remove the ids again.")] = False,
    json: options.Json = None,
) -> None:
    """Add Wikidata ids to the answers of a model.

    Wikimedia publishes the tables beside each dump on dumps.wikimedia.org, such as
    enwiki-latest-page_props.sql.gz. Use those of the same wiki; the date may differ.

    \b
    Examples:
      pboh entities ids enwiki-latest-page_props.sql.gz --model model
      pboh entities ids enwiki-latest-page_props.sql.gz --out my-model
      pboh entities ids enwiki-latest-page_props.sql.gz --pages enwiki-latest-page.sql.gz --model model
      pboh entities ids --remove --model model
    """
    from pboh.linker import model_folder
    from pboh.model.ids import add_ids, remove_ids

    began, folder = perf_counter(), model_folder(model)
    figures: dict[str, Any] = {"ids": "removed"}
    if remove:
        remove_ids(folder)
    elif properties is None:
        raise InputError("the table of page properties is missing", todo="Pass …-page_props.sql.gz")
    else:
        with progress("reading ids") as report:
            found = add_ids(folder, properties, pages, out=out, report=report)
        figures = {**found, "seconds": perf_counter() - began}
    summarise(f"model {out or model}", figures, json)


@entities.command("types")
def types(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE...", help="DBpedia's types or a dump of Wikidata, packed or plain."),
    ],
    model: options.Model = None,
    out: options.BesideModel = None,
    json: options.Json = None,
) -> None:
    """Add types and descriptions that DBpedia or Wikidata know to a model.

    It reads DBpedia's instance types (N-Triples or Turtle, one triple a line), Wikidata's JSON dump, which
    also brings descriptions and ids, and Wikidata's truthy triples, which need a model with ids. What they
    know replaces what the pages said; the rest stays.

    \b
    Examples:
      pboh entities types instance-types_lang=en_transitive.ttl.bz2 --model model
      pboh entities types latest-all.json.bz2 --out my-model
    """
    from pboh.linker import model_folder
    from pboh.model.importing import add_types

    began, folder = perf_counter(), model_folder(model)
    with progress("reading types") as report:
        found = add_types(folder, files, out=out, report=report)
    summarise(f"model {out or model}", {**found, "seconds": perf_counter() - began}, json)


@entities.command("twins")
def twins(
    model: options.Model = None,
    least: Annotated[float, Option(min=0, max=1, help="Least probability that they are one.")] = 0.5,
    json: options.Json = None,
) -> None:
    """List entities that may be one under two titles, most linked first: missing redirects.

    Such twins have names in common, and links that say the title of one lead to the other. The last column
    says which are surely one; pboh build --merge-twins merges those. Nothing is changed here.

    Example: pboh entities twins --model model
    """
    from pboh.linker import model_folder
    from pboh.model.store import open_model
    from pboh.model.twins import SURE, find_twins

    opened = open_model(model_folder(model))
    shown = ("probability", "called", "calling", "cosine", "together")
    rows = [
        {
            "title": opened.title(found.first),
            "twin": opened.title(found.second),
            "links": opened.links(found.first),
            "links_of_twin": opened.links(found.second),
            **{name: round(getattr(found, name), 3) for name in shown},
            "pages": found.pages,
            "sure": found.probability >= SURE,
        }
        for found in find_twins(opened, least)
    ]
    header = ("title", "twin", "links", "links of twin", *shown, "pages", "sure")
    printing.show_rows(header, rows, json)
