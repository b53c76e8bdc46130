"""What a page says it is about: a short description and a type, from its infobox, first sentence, categories.

All that differs from language to language is in ``subjects.toml``. Only the beginning and the end of a page
are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from pboh.corpus.subjects.definition import Definition, definition
from pboh.corpus.subjects.description import shortened
from pboh.corpus.subjects.language import Language, language
from pboh.corpus.subjects.nouns import noun_of
from pboh.corpus.subjects.title import by_form, by_title, qualified
from pboh.corpus.titles import unescape

LEAD = 6000
"""Bytes of a page's text, and of its wikitext, in which a definition or an infobox is looked for."""
_TAIL = 3000  # bytes of wikitext in which categories are looked for
_TEMPLATES = 8  # at the beginning of a page, one of which may be an infobox


class Subject(NamedTuple):
    """A description and a type, empty where there is none, and what told the type."""

    description: str = ""
    type: str = ""
    evidence: str = ""


NOTHING = Subject()


_TEMPLATE = re.compile(rb"\{\{\s*+([^{}|\[<\n]{1,80})")


def read_subject(title: str, wikitext: bytes, text: bytes, code: str) -> Subject:
    """What the page ``title`` is about; ``text`` is the beginning of its plain text."""
    table = language(code)
    begin = wikitext.find(b"{", 0, LEAD)  # one letter is found ten times as fast as two
    templates = wikitext[begin:LEAD] if begin >= 0 else b""
    short = _short_description(templates, table) if templates else ""
    box = _infobox(templates, table) if templates else ""
    side = table.is_side(title)
    # bands have the infobox of musical artists
    clear = bool(box) and box != "person" and not side
    if short and clear:
        return Subject(short, box, "infobox")
    found = definition(text[:LEAD], title, table)
    description = short or shortened(found.phrase, table)
    if clear:
        return Subject(description, box, "infobox")
    sentence = noun_of(found.phrase, table)
    dated = table.dated.match(title)
    if found.name:
        side, dated = side or table.is_side(found.name), dated or table.dated.match(found.name)
    if dated or (side and not (found.sure and sentence in ("organisation", "work", "product", "event"))):
        return Subject(description, "other", "title")
    if box and (box, sentence) != ("person", "organisation"):
        return Subject(description, box, "infobox")
    for evidence, told in _told(title, sentence, found, short, wikitext, table):
        if told:
            return Subject(description, told, evidence)
    return Subject(description) if description else NOTHING


def _told(
    title: str, sentence: str, found: Definition, short: str, wikitext: bytes, table: Language
) -> Iterator[tuple[str, str]]:
    """The types that parts of a page without an infobox tell, those that are trusted most first."""
    if sentence in ("", "other"):
        yield "title", by_form(title, table)
    inside = qualified(title.rpartition("(")[2], table) if title.endswith(")") else ""
    if not sentence:
        yield "title", inside
    better = by_title(sentence, title, found, table)
    if found.name and better == sentence:
        better = by_title(sentence, found.name, found, table)
    named = "sentence" if found.sure and not found.name else "text"
    yield named if better == sentence else "title", better
    yield "sentence", noun_of(short, table)
    yield "title", inside
    yield "category", _category(wikitext[-_TAIL:], table)


def _infobox(templates: bytes, table: Language) -> str:
    names = islice(_TEMPLATE.finditer(templates), _TEMPLATES)
    return next((found for name in names if (found := table.infobox_type(name[1]))), "")


def _category(tail: bytes, table: Language) -> str:
    """The type most of the categories say."""
    votes: dict[str, int] = {}
    for name in table.category.findall(tail):
        text = name.decode(errors="ignore").lower()
        if said := next((kind for part, kind in table.categories if part in text), ""):
            votes[said] = votes.get(said, 0) + 1
    return max(votes, key=lambda kind: votes[kind], default="")


def _short_description(templates: bytes, table: Language) -> str:
    found = table.short_description.search(templates)
    if not found:
        return ""
    text = unescape(found[1].decode(errors="ignore")).strip()
    return "" if text.lower() in ("none", "") else shortened(text, table)
