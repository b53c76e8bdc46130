"""``pboh prune``: a small model out of a large one."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from pboh.cli import app


@app.command("prune")
def prune_command(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SMALL", help="Folder of the small model.")],
    megabytes: Annotated[float, typer.Option(min=0.1, help="How large it may be.")] = 32,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the summary as JSON too.")
    ] = None,
) -> None:
    """Make a model small enough to carry around: the same entities, less evidence, compressed.

    It opens like any other model; the first time it is unpacked into the user's cache. Calibrate it again
    afterwards: less evidence means other probabilities.

    Example: pboh prune model --out small --megabytes 32
    """
    from pboh.files.progress import progress, summarise
    from pboh.files.writing import folder_size
    from pboh.linker import load
    from pboh.model.small.prune import prune_to

    began = perf_counter()
    linker = load(model)
    with progress("pruning") as bar:
        info = prune_to(
            linker.model,
            linker.settings.layers,
            out,
            megabytes,
            popularity=linker.settings.popularity,
            report=bar,
        )
    figures = {
        "entities": info["totals"]["entities"],
        "megabytes": folder_size(out) / 1e6,
        "megabytes_before": folder_size(model) / 1e6,
        **info["options"]["prune"],
        "seconds": perf_counter() - began,
    }
    summarise(f"model {out}", figures, json)
