"""``pboh build``, ``pboh info`` and ``pboh warmup``: the model artefact."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from pboh.cli import app

JsonFile = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON too.")
]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A folder written by pboh build or train, or starter.")
]


@app.command("build")
def build(
    counts: Annotated[Path, typer.Argument(metavar="COUNTS", help="A folder written by pboh count.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="MODEL", help="Folder of the new model.")],
    top: Annotated[int, typer.Option(help="Entities kept per name and layer.", min=1, max=255)] = 64,
    derived_names: Annotated[bool, typer.Option(help="Also learn names that titles suggest.")] = True,
    fuzzy: Annotated[bool, typer.Option(help="Index names for the rescue of misspelt ones.")] = True,
    own_words: Annotated[bool, typer.Option(help="Keep the words of entities' own pages.")] = True,
    json: JsonFile = None,
) -> None:
    """Lay counts out as a memory-mapped model.

    Example: pboh build counts --out model
    """
    from pboh.files.progress import progress, summarise
    from pboh.files.writing import folder_size
    from pboh.model.build import BuildOptions, build_model

    began = perf_counter()
    with progress("building") as report:
        info = build_model(counts, out, BuildOptions(top, derived_names, fuzzy, own_words), report)
    figures = {
        **{name: info["totals"][name] for name in ("entities", "names", "documents")},
        "seconds": perf_counter() - began,
        "megabytes": folder_size(out) / 1e6,
    }
    summarise(f"model {out}", figures, json)


@app.command("info")
def info(
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="A model folder (default: the starter model).")
    ] = None,
    verify: Annotated[bool, typer.Option(help="Compare every file with its checksum.")] = False,
    json: JsonFile = None,
) -> None:
    """Say what a model was made from, how large it is, and whether it is intact.

    Example: pboh info model --verify
    """
    from pboh.files.progress import summarise
    from pboh.files.writing import folder_size
    from pboh.model import store
    from pboh.model.starter import starter_folder

    if model is None or (str(model) == "starter" and not model.exists()):
        model = starter_folder()
    opened = store.open_model(model)
    if verify:
        store.verify(model)
    figures: dict[str, Any] = {
        key: opened.info.get(key)
        for key in ("version", "pboh", "created", "language", "settings", "licence", "note")
        if opened.info.get(key)
    }
    sources = [name for corpus in opened.info.get("corpus") or () for name in corpus.get("sources", ())]
    if sources:
        figures["trained_on"] = ", ".join(sources)
    figures |= opened.info["totals"]
    if "entity_id" in opened:
        figures["entities_with_an_id"] = int((opened["entity_id"] > 0).sum())
    if "base" in opened.info:
        figures["borrows_from"] = opened.info["base"]["model"]
    if opened.overlays:
        figures["overlays"] = ", ".join(f"{o.name} ({o.size:,} entities)" for o in opened.overlays)
    figures |= {"megabytes": folder_size(model) / 1e6, "files": len(opened.arrays)}
    if verify:
        figures["verified"] = "every checksum agrees"
    summarise(f"model {model}", figures, json)


@app.command("warmup")
def warmup() -> None:
    """Compile the numeric kernels now, so that the first document does not wait for it.

    Example: pboh warmup
    """
    from pboh.files.progress import console
    from pboh.warmup import warm_up

    console.print("compiling kernels (once per machine and version) …")
    console.print(f"kernels are ready ({warm_up():.1f} s)")
