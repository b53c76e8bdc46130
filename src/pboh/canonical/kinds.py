"""The kinds of things that extractors name, as types of entities: ORG, company and Organization are one."""

from __future__ import annotations

from pboh.formats.types import TABLE, TYPES
from pboh.text.folding import fold

_ALSO = {
    "person": "people human character individual politician author artist actor",
    "organisation": "organization company corporation institution business agency university team party "
    "government brand group",
    "place": "location geo city country region facility area state landmark geopolitical",
    "work": "book film movie song album artwork publication document law",
    "event": "conflict war incident conference",
    "product": "technology device software vehicle tool",
    "species": "animal plant organism",
    "other": "concept thing entity category unknown misc none object",
}
_KINDS = {
    fold(word): row.name
    for row in TABLE
    for word in (row.name, *row.spacy, *row.dbpedia, *row.schema, *_ALSO.get(row.name, "").split())
}
VAGUE = frozenset(("", "unknown", "other"))
"""Kinds that say nothing: any name may be one of them."""
INCOMPATIBLE, UNTOLD = 0.1, 0.25
"""How probable a given type is for an entity of another type (types are guesses on both sides), and for one
of which no type or nothing at all is known, as parts of how probable it is for an entity of that type."""


def kind_of(label: str | None) -> str:
    """The type of entities that a label means, else the label itself in small letters; empty for none."""
    key = fold(label.rsplit("/", 1)[-1].rsplit("#", 1)[-1]) if label and label.strip() else ""
    return _KINDS.get(key, key)


def code_of(label: str | None) -> int:
    """Its code in models; 0 where a label does not tell entities apart."""
    kind = kind_of(label)
    return TYPES.index(kind) if kind in TYPES and kind not in VAGUE else 0


def may_be_same(one: str | None, two: str | None) -> bool:
    """Whether things of these kinds may be the same."""
    return one == two or len({kind_of(one), kind_of(two)} - VAGUE) < 2
