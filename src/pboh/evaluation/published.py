"""Figures printed in the paper (Ganea et al., WWW 2016), to compare ours with; see ``published.toml``."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from math import isnan
from typing import Any

_TABLES = tomllib.loads(resources.files("pboh.evaluation").joinpath("published.toml").read_text("utf-8"))


def _figures(value: Any) -> Any:
    """Lists as tuples, nan as None."""
    if isinstance(value, dict):
        return {key: _figures(inner) for key, inner in value.items()}
    return tuple(None if isnan(figure) else figure for figure in value)


GERBIL: dict[str, dict[str, tuple[float, float]]] = _figures(_TABLES["GERBIL"])
AIDA: dict[str, dict[str, tuple[float | None, float | None]]] = _figures(_TABLES["AIDA"])
ABLATION: dict[str, dict[str, tuple[float, float]]] = _figures(_TABLES["ABLATION"])
CLEANED: dict[str, dict[str, tuple[float, float]]] = _figures(_TABLES["CLEANED"])
PROPAGATION: dict[str, tuple[float, float, float, float]] = _figures(_TABLES["PROPAGATION"])
GRAPH: dict[str, tuple[float, float, float]] = _figures(_TABLES["GRAPH"])
STATISTICS: dict[str, tuple[int, int]] = _figures(_TABLES["STATISTICS"])
GERBIL_DATASETS = tuple(GERBIL["PBoH"])
CLEANED_DATASETS = tuple(CLEANED["PBoH"])

_NAMES = (
    (r"kore50", "KORE50"),
    (r"spotlight", "DBpediaSpotlight"),
    (r"reuters128", "N3-Reuters-128"),
    (r"rss500", "N3-RSS-500"),
    (r"iitb", "IITB"),
    (r"micropost.*test", "Microposts2014-Test"),
    (r"micropost.*train", "Microposts2014-Train"),
    (r"(?:aida|conll).*testa", "AIDA/CoNLL-Test A"),
    (r"(?:aida|conll).*testb", "AIDA/CoNLL-Test B"),
    (r"(?:aida|conll).*train", "AIDA/CoNLL-Training"),
    (r"(?:aida|conll)", "AIDA/CoNLL-Complete"),
    (r"msnbc", "MSNBC"),
    (r"aquaint", "AQUAINT"),
    (r"ace(?:20)?04", "ACE2004"),
)


def paper_name(dataset: str, cleaned: bool = False) -> str | None:
    """The name the paper's tables use for a dataset of ours, or None when it is not in them.

    ``cleaned`` says that it is in the WNED form, where MSNBC, AQUAINT and ACE2004 are the newer versions.
    """
    bare = re.sub(r"[^a-z0-9]", "", dataset.lower())
    for pattern, name in _NAMES:
        if re.search(pattern, bare):
            return f"new {name}" if cleaned and f"new {name}" in CLEANED_DATASETS else name
    return None
