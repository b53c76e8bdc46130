"""Titles as other systems write them: with underscores, as DBpedia resources, as addresses in a Wikipedia."""

from __future__ import annotations

import re
from urllib.parse import quote

from pboh.document import Entity

NIL = "http://pboh.invalid/notInWiki/"  # .invalid is reserved: no knowledge base can ever own it

# DBpedia's identifiers are IRIs: letters of any script stay as they are, what no IRI may hold is escaped.
_ESCAPED = {ord(c): f"%{ord(c):02X}" for c in '"<>\\^`{|}%?#[]'} | {c: f"%{c:02X}" for c in (*range(33), 127)}

_ARTICLE = re.compile(r"https://([a-z-]+)\.wikipedia\.org/wiki/")
_PLAIN = re.compile(r"[\w.~/-]*+", re.ASCII)  # what quoting would leave as it is


def underscored(title: str) -> str:
    """A title with underscores for blanks."""
    return title.replace(" ", "_")


def escaped(title: str) -> str:
    """A title as the last part of an IRI."""
    return underscored(title).translate(_ESCAPED)


def dbpedia(language: str) -> str:
    """What the resources of DBpedia begin with, in its chapter of a language."""
    return f"http://{'' if language == 'en' else f'{language}.'}dbpedia.org/resource/"


def resource(entity: Entity) -> str:
    """The DBpedia resource of an entity, or the address of one that is in no Wikipedia."""
    url = entity.url or ""
    if (article := _ARTICLE.match(url)) or not url:
        return dbpedia(article[1] if article else "en") + escaped(entity.title)
    return url.translate({c: code for c, code in _ESCAPED.items() if chr(c) not in "%?#[]"})


def wikipedia(title: str, language: str = "en") -> str:
    """The address of an article in the Wikipedia of a language."""
    name = underscored(title)
    if not _PLAIN.fullmatch(name):  # most are, and quoting takes several times as long as looking
        name = quote(name, errors="replace")
    return f"https://{language}.wikipedia.org/wiki/{name}"


def nil(surface: str) -> str:
    """An identifier outside every knowledge base."""
    return NIL + escaped(" ".join(surface.split()))
