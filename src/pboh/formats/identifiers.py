"""Titles as others write them: with underscores, as DBpedia resources, as addresses in a Wikipedia."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote, urlsplit

from pboh.document import Entity

NIL = "http://pboh.invalid/notInWiki/"  # .invalid is reserved: no knowledge base can ever own it

# DBpedia's identifiers are IRIs: letters of any script stay as they are, what no IRI may hold is escaped.
_ESCAPED = {ord(c): f"%{ord(c):02X}" for c in '"<>\\^`{|}%?#[]'} | {c: f"%{c:02X}" for c in (*range(33), 127)}

_ARTICLE = re.compile(r"https://([a-z-]+)\.wikipedia\.org/wiki/")
_PLAIN = re.compile(r"[\w.~/-]*+", re.ASCII)  # what quoting would leave as it is

_DBPEDIA = re.compile(r"(?:[a-z\-]+\.)?dbpedia\.org")
_WIKIPEDIA = re.compile(r"(?:[a-z\-]+\.)?(?:m\.)?wikipedia\.org")
_YAGO = re.compile(r"(?:www\.)?yago-knowledge\.org")
_PATHS = {_DBPEDIA: ("/resource/", "/page/", "/data/"), _WIKIPEDIA: ("/wiki/",), _YAGO: ("/resource/",)}
_OPAQUE = re.compile(r"(?:www\.)?wikidata\.org|(?:rdf\.)?freebase\.com")
_NIL = re.compile(
    r"\s*+(?:|nil\d*|none|null|\*null\*|-{2,}|--nme--|--oov--|not_?in_?wiki)\s*+", re.IGNORECASE
)


# -- writing -----------------------------------------------------------------------------------------


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


# -- reading -----------------------------------------------------------------------------------------


def title_of(identifier: str) -> str | None:
    """The page title a URI names, or None when the URI lies outside the knowledge bases (NIL).

    Only the host decides, so a NIL URI that holds a DBpedia URI in its path stays NIL.
    """
    try:
        parts = urlsplit(identifier.strip().strip('"<>'))
    except ValueError:  # an unbalanced bracket in the host: no knowledge base of ours
        return None
    host = (parts.hostname or "").lower()
    for pattern, folders in _PATHS.items():
        if not pattern.fullmatch(host):
            continue
        for folder in folders:
            if parts.path.startswith(folder):
                # A question mark belongs to titles such as "Who's Next?"; key=value does not.
                query = f"?{parts.query}" if parts.query and "=" not in parts.query else ""
                mark = "?" if identifier.endswith("?") else ""
                name = parts.path[len(folder) :] + query + mark
                if name.startswith(("http://", "https://")):  # a prefix that somebody pasted twice
                    return title_of(name)
                return plain_title(name) if name not in {"", "*null*"} else None
        query_title = re.search(r"(?:^|&)title=([^&]+)", parts.query)
        return plain_title(query_title[1]) or None if query_title else None
    return None


def plain_title(name: str) -> str:
    """A title as people read it: %-decoded, blanks for underscores, no section, first letter upper case."""
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        decoded = unquote(name, encoding="latin-1")
    title = " ".join(decoded.partition("#")[0].replace("_", " ").split())
    return title[:1].upper() + title[1:]


def written_title(name: str | None) -> str | None:
    """The title in a field that holds a title or a URL; None when it is empty or a mark for NIL."""
    if name is None or _NIL.fullmatch(name):
        return None
    name = name.strip().strip('"')
    if name.lower().startswith(("http://", "https://")):
        return title_of(name)
    return plain_title(name) or None


def is_opaque(identifier: str) -> bool:
    """Whether the URI names a real entity by a number that says nothing of its title (Wikidata, Freebase)."""
    return bool(re.match(rf"https?://(?:{_OPAQUE.pattern})/", identifier))
