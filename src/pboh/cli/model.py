"""``pboh build``, ``prune`` and ``info``: the model artefact."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from typer import Argument, Option

from pboh.cli import app, options, printing
from pboh.files.progress import progress, summarise
from pboh.files.usage import Usage
from pboh.files.writing import folder_size, parse_size


@app.command("build")
def build(
    counts: Annotated[Path, Argument(metavar="COUNTS", help="A folder written by pboh count.")],
    out: options.Out,
    memory: options.Memory = "4GB",
    top: options.Top = 64,
    derived_names: Annotated[bool, Option(help="Also learn names that titles suggest.")] = True,
    fuzzy: Annotated[bool, Option(help="Index names so that misspelt ones are found.")] = True,
    finder: Annotated[
        Path | None,
        Option(metavar="CORPUS", help="Also train a name finder, on the corpus that was counted."),
    ] = None,
    vectors: Annotated[
        int, Option(min=0, max=512, help="Dimensions of the vectors of entities and words; 0 for none.")
    ] = 96,
    merge_twins: options.MergeTwins = False,
    word_rows: options.WordRows = 500_000_000,
    json: options.Json = None,
) -> None:
    """Lay counts out as a memory-mapped model.

    The name finder needs counts of names in running text (pboh count --names-in-text).

    \b
    Examples:
      pboh build counts --out model
      pboh build counts --out model --finder corpus
    """
    from pboh.model.build import BuildOptions, build_model

    began = perf_counter()
    with progress("building") as report:
        asked = BuildOptions(top, derived_names, fuzzy, vectors, merge_twins, word_rows)
        info = build_model(counts, out, asked, report, parse_size(memory))
    added = {}
    if finder is not None:
        from pboh.learning.finishing import add_finder

        with progress("training the name finder") as report:
            added = add_finder(finder, out, report=report)
    figures = {
        **{name: info["totals"][name] for name in ("entities", "names", "documents")},
        **({"merged_twins": info["totals"]["merged_twins"]} if merge_twins else {}),
        **added,
        "seconds": perf_counter() - began,
        "megabytes": folder_size(out) / 1e6,
    }
    summarise(f"model {out}", figures, json)


@app.command("prune")
def prune(
    model: options.OwnModel,
    out: options.Out,
    megabytes: Annotated[float, Option(min=0.1, help="How large it may be.")] = 32,
    descriptions: Annotated[
        float, Option(min=0, help="Megabytes of them for short descriptions, at most a tenth of all.")
    ] = 1.5,
    memory: options.Memory = "4GB",
    json: options.Json = None,
) -> None:
    """Make a model small enough to carry around: the same entities, less evidence, compressed.

    It opens like any other model; the first time, it is unpacked into the user's cache. Calibrate it again
    afterwards: less evidence means different probabilities.

    What stays is held in memory, so a large result may take more than --memory, which bounds the rest.

    Example: pboh prune --model model --out small --megabytes 32
    """
    from pboh.linker import load
    from pboh.model.small.prune import prune_to

    began = perf_counter()
    linker = load(model)
    used = linker.settings.record()
    with progress("pruning") as bar, Usage(memory=parse_size(memory)) as usage, usage.stage("prune"):
        info = prune_to(linker.model, used, out, megabytes, descriptions=descriptions, report=bar)
    figures = {
        "entities": info["totals"]["entities"],
        "megabytes": folder_size(out) / 1e6,
        "megabytes_before": folder_size(linker.model.folder) / 1e6,
        **info["options"]["prune"],
        "seconds": perf_counter() - began,
        "peak_memory_megabytes": usage.figures()["prune"]["memory_megabytes"],
    }
    summarise(f"model {out}", figures, json)


@app.command("info")
def info(
    model: options.Model = None,
    verify: Annotated[bool, Option("--verify", help="Check every file against its checksum.")] = False,
    json: options.Json = None,
) -> None:
    """Show what a model was made from, how large it is, and whether it is intact.

    Example: pboh info --model model --verify
    """
    from pboh.inference.settings import DEFAULT, Settings
    from pboh.linker import model_folder
    from pboh.model import store

    folder = model_folder(model)
    opened = store.open_model(folder)
    if verify:
        store.verify(folder)
    told = ("version", "pboh", "created", "language", "licence", "note")
    figures: dict[str, Any] = {key: opened.info[key] for key in told if opened.info.get(key)}
    if changed := Settings.stored(opened.info).differences(DEFAULT):
        figures["settings"] = changed
    sources = [name for corpus in opened.info.get("corpus") or () for name in corpus.get("sources", ())]
    if sources:
        figures["trained_on"] = ", ".join(sources)
    figures |= opened.info["totals"]
    if "entity_id" in opened:
        figures["entities_with_an_id"] = int((opened["entity_id"] > 0).sum())
    if "vector_entity" in opened:
        figures["dimensions_of_vectors"] = opened["vector_entity"].shape[1]
    found = "names" if "finder_weights" in opened else "what the dictionary has: no name finder"
    figures["found_in_raw_text"] = found
    if "base" in opened.info:
        figures["borrows_from"] = opened.info["base"]["model"]
    if opened.overlays:
        figures["overlays"] = ", ".join(f"{o.name} ({o.size:,} entities)" for o in opened.overlays)
    figures |= {"megabytes": folder_size(folder) / 1e6, "files": len(opened.arrays)}
    if verify:
        figures["verified"] = "every checksum agrees"
    summarise(f"model {folder}", figures, json, printing.output())
