"""Titles as other systems write them: with underscores, as DBpedia resources, as addresses in a Wikipedia."""

from __future__ import annotations

import re
from urllib.parse import quote

DBPEDIA = "http://dbpedia.org/resource/"
NIL = "http://pboh.invalid/notInWiki/"  # .invalid is reserved: no knowledge base can ever own it

# DBpedia's identifiers are IRIs: letters of any script stay as they are, what no IRI may hold is escaped.
_ESCAPED = {ord(c): f"%{ord(c):02X}" for c in '"<>\\^`{|}%?#[]'} | {c: f"%{c:02X}" for c in (*range(33), 127)}

_PLAIN = re.compile(r"[\w.~/-]*+", re.ASCII)  # what quoting would leave as it is


def underscored(title: str) -> str:
    """A title with underscores for blanks."""
    return title.replace(" ", "_")


def escaped(title: str) -> str:
    """A title as the last part of an IRI."""
    return underscored(title).translate(_ESCAPED)


def dbpedia(title: str) -> str:
    """The DBpedia resource of a title."""
    return DBPEDIA + escaped(title)


def wikipedia(title: str, language: str = "en") -> str:
    """The address of an article in the Wikipedia of a language."""
    name = underscored(title)
    if not _PLAIN.fullmatch(name):  # most are, and quoting takes several times as long as looking
        name = quote(name, errors="replace")
    return f"https://{language}.wikipedia.org/wiki/{name}"


def nil(surface: str) -> str:
    """An identifier outside every knowledge base."""
    return NIL + escaped(" ".join(surface.split()))
