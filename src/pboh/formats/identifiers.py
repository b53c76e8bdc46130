"""Titles as other systems write them: with underscores, as DBpedia resources, as nobody's resource."""

from __future__ import annotations

DBPEDIA = "http://dbpedia.org/resource/"
NIL = "http://pboh.invalid/notInWiki/"  # .invalid is reserved: no knowledge base can ever own it

# DBpedia's identifiers are IRIs: letters of any script stand as they are, what no IRI may hold is escaped.
_ESCAPED = {ord(c): f"%{ord(c):02X}" for c in '"<>\\^`{|}%?#[]'} | {c: f"%{c:02X}" for c in (*range(33), 127)}


def underscored(title: str) -> str:
    """A title with underscores for blanks."""
    return title.replace(" ", "_")


def escaped(title: str) -> str:
    """A title as the last part of an IRI."""
    return underscored(title).translate(_ESCAPED)


def dbpedia(title: str) -> str:
    """The DBpedia resource of a title."""
    return DBPEDIA + escaped(title)


def nil(surface: str) -> str:
    """An identifier outside every knowledge base."""
    return NIL + escaped(" ".join(surface.split()))
