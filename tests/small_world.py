"""Texts about the small world of ``tests/data``, and how tests point at names in them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from pboh.document import Document
from pboh.formats.types import TYPES
from pboh.model.store import open_model, read_manifest
from pboh.model.writing import changing, put_arrays
from pboh.text.hashing import string_blob

FOOTBALL = "Müller scored for Bayern before the striker of Dortmund was sent off; Paris watched the goal."
WRITERS = "Müller won the prize for her novel, and so did Hemingway, who wrote of Paris."


WHAT = {
    "Herta Müller": ("person", "German writer, winner of the Nobel Prize"),
    "Gerd Müller": ("person", "German footballer, called Der Bomber"),
    "Thomas Müller": ("person", "German footballer"),
    "Max Müller": ("person", None),
    "Michael Jordan": ("person", "American basketball player"),
    "Ernest Hemingway": ("person", "American writer"),
    "FC Bayern Munich": ("organisation", "football club in Munich"),
    "Borussia Dortmund": ("organisation", "football club in Dortmund"),
    "Apple Inc.": ("organisation", "American company"),
    "Dortmund": ("place", "city in Germany"),
    "Paris": ("place", "capital of France"),
    "Paris, Texas": ("place", "town in Texas"),
    "Jordan": ("place", "country in Asia"),
    "A Moveable Feast": ("work", "memoir by <Hemingway>"),
    "FIFA World Cup": ("event", "football tournament"),
    "Macintosh": ("product", "family of computers"),
    "Tiger": ("species", "large cat"),
    "Paris (mythology)": ("other", "son of Priam"),
}
"""Types and descriptions of some entities; the others are of unknown type."""


def with_types(folder: Path) -> None:
    """Tell a model of the small world what its entities are, and the Wikidata item of Paris."""
    model = open_model(folder)
    titles = [model.title(k) for k in range(model.entities)]
    what = [WHAT.get(title, ("unknown", None)) for title in titles]
    blob, offsets = string_blob([description or "" for _, description in what])
    arrays = {
        "entity_type": np.asarray([TYPES.index(type) for type, _ in what], np.uint8),
        "entity_type_sure": np.asarray([204 if title in WHAT else 0 for title in titles], np.uint8),
        "entity_id": np.asarray([90 if title == "Paris" else 0 for title in titles], np.uint32),
        "description_blob": blob,
        "description_offsets": offsets,
    }
    with changing(folder):
        put_arrays(folder, read_manifest(folder), arrays)


def mark(text: str, *names: str) -> list[tuple[int, int]]:
    """Spans of all occurrences of names."""
    return sorted(m.span() for name in names for m in re.finditer(re.escape(name), text))


def titles(document: Document) -> list[str | None]:
    """Titles of the answers."""
    return [mention.entity.title if mention.entity else None for mention in document]
