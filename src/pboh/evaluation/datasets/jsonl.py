"""JSON lines: ``{id, text, mentions: [{start, end, gold}]}``, or pages as ``{title, text, links}``.

``gold`` is a title, a list of titles that all count as right, or null for NIL. A document may also have a
``genre`` and a ``language``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, GoldDocument, Problem, build_document
from pboh.files.writing import NOT_JSON
from pboh.formats.identifiers import written_title
from pboh.formats.jsonlines import read_lines


def read_jsonl(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """The documents of a file of JSON lines, plain or compressed."""
    for line in read_lines(path):
        yield _document(line.data, f"{path}, line {line.number}", problems)


def _document(line: bytes, where: str, problems: list[Problem]) -> GoldDocument:
    try:
        page = msgspec.json.decode(line)
        text = page["text"]
        if not isinstance(text, str):
            raise TypeError
        annotations = [_annotation(mention) for mention in page.get("mentions", page.get("links", ()))]
    except NOT_JSON as reason:
        raise InputError(f"not JSON ({reason})", where=where) from None
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            "a line needs a text and mentions with start, end and gold",
            where=where,
            todo='Write {"id": "1", "text": "…", "mentions": [{"start": 0, "end": 5, "gold": "Title"}]}',
        ) from None
    name = str(page.get("title") or page.get("id") or where.rpartition(" ")[2])
    document = build_document(name, text, annotations, problems, where)
    return replace(document, genre=page.get("genre"), language=page.get("language"))


def _annotation(mention: Any) -> Annotation:
    """A mention as an object, or as ``[start, end, title]``."""
    if isinstance(mention, list):
        mention = dict(zip(("start", "end", "gold"), mention, strict=True))
    start, end, surface, gold = mention["start"], mention["end"], mention.get("text"), mention.get("gold")
    if type(start) is not int or type(end) is not int:
        raise TypeError
    golds = [gold] if isinstance(gold, str) or gold is None else list(gold)
    titles = tuple(title for title in map(written_title, golds) if title)
    return Annotation(start, end, surface, titles, golds[0] if golds else None)
