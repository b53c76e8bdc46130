"""Linked documents to look at: one self-contained HTML page, and what a notebook shows of our objects.

What notebooks show has its styles beside what they style, in transparent or inherited colours: so it looks
right on light and dark, and still reads well where a viewer removes all styles.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from pboh.document import Document, Explanation, Mention

SHOWN = 5  # candidates, words and neighbours of a mention
NOTEBOOK_CHARACTERS = 20_000

Piece = tuple[str, Mention | None, int]
"""The text before a mention, the mention (None at the end), and its hue."""


@cache
def templates(folder: str) -> Environment:
    """The templates in a folder of the package: values are escaped, ``as`` formats numbers as Python does."""
    environment = Environment(
        loader=PackageLoader("pboh", folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["as"] = format
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment


def to_html(document: Document, title: str = "Linked text", explain: bool = True) -> str:
    """The page. ``explain`` adds the terms of every answer's score."""
    pieces = _pieces(document, len(document.text))
    return _rendered("page.html", document=document, pieces=pieces, title=title, explain=explain)


def document_in_notebook(document: Document) -> str:
    """The text with its mentions coloured; point at one for its candidates."""
    pieces = _pieces(document, NOTEBOOK_CHARACTERS)
    hidden = len(document.text) - sum(len(before) + len(m.text if m else "") for before, m, _ in pieces)
    return _rendered("document.html", document=document, pieces=pieces, hidden=hidden)


def mention_in_notebook(mention: Mention) -> str:
    """The answer, and the candidates as a table."""
    return _rendered("mention.html", mention=mention)


def explanation_in_notebook(why: Explanation) -> str:
    """The terms of a score as bars; the numbers sum to the score."""
    return _rendered("explanation.html", why=why, terms=why.terms(2 * SHOWN))


def _rendered(template: str, **values: Any) -> str:
    page = templates("formats/templates").get_template(template)
    text = page.render(values, shown=SHOWN)
    return text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


def _pieces(document: Document, characters: int) -> list[Piece]:
    """The text cut at its mentions, each entity in a colour of its own."""
    hues: dict[str, int] = {}
    pieces: list[Piece] = []
    at = 0
    for mention in document:
        if mention.start < at:  # an overlapping one cannot be drawn inside another
            continue
        if mention.end > characters:
            break
        hue = 0
        if mention.entity:  # colours of neighbours are far apart
            hue = hues.setdefault(mention.entity.title, 137 * (len(hues) + 1) % 360)
        pieces.append((document.text[at : mention.start], mention, hue))
        at = mention.end
    return [*pieces, (document.text[at:characters], None, 0)]
