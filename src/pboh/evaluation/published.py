"""Figures printed in the paper (Ganea et al., WWW 2016), to put beside ours; read from published.toml."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

Pair = tuple[float | None, float | None]
"""Micro and macro; None where the paper prints no figure."""

_READ = tomllib.loads((files("pboh.evaluation") / "published.toml").read_text(encoding="utf-8"))


def _pairs(table: str) -> dict[str, dict[str, Pair]]:
    """A table of the paper as {system: {dataset: pair}}."""
    datasets, found = _READ[table]["datasets"], {}
    for line in _READ[table]["figures"].splitlines():
        system, *cells = line.rsplit(maxsplit=2 * len(datasets))
        figures = [None if cell == "–" else float(cell) for cell in cells]
        found[system] = dict(zip(datasets, zip(figures[::2], figures[1::2], strict=True), strict=True))
    return found


GERBIL, AIDA, ABLATION, CLEANED = map(_pairs, ("GERBIL", "AIDA", "ABLATION", "CLEANED"))
PROPAGATION: dict[str, list[float]] = _READ["PROPAGATION"]
GRAPH: dict[str, list[float]] = _READ["GRAPH"]
STATISTICS: dict[str, list[int]] = _READ["STATISTICS"]


def paper_name(dataset: str, cleaned: bool = False) -> str | None:
    """The name the paper's tables use for a dataset of ours, or None when it is not in them.

    ``cleaned`` says that it is in the WNED form, where MSNBC, AQUAINT and ACE2004 are the newer versions.
    """
    bare = re.sub(r"[^a-z0-9]", "", dataset.lower())
    for pattern, name in _READ["NAMES"].items():
        if re.search(pattern, bare):
            return f"new {name}" if cleaned and f"new {name}" in CLEANED["PBoH"] else str(name)
    return None
