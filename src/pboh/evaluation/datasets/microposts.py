"""Microposts2014 TSV or CSV: a tweet a line, followed by pairs of mention and URI without offsets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, GoldDocument, Problem, build_document, read_text
from pboh.formats.identifiers import written_title

POLICY = (
    "The format has no offsets: a mention is the first occurrence after the mention before it, else the "
    "first in the tweet; '#' and '@' inside it and its case may differ.",
)


def read_microposts(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """The tweets of a file with their mentions."""
    text = read_text(path, problems)
    rows = _tabbed(text) if "\t" in text.partition("\n")[0] else _quoted(text, path)
    for number, row in rows:
        if any(map(str.strip, row)):
            yield _tweet(row, f"{path}, line {number}", problems)


def _tabbed(text: str) -> Iterator[tuple[int, list[str]]]:
    """One tweet a line: a quotation mark that is never closed must not swallow the lines below it."""
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, [_unquoted(field.strip()) for field in line.split("\t")]


def _unquoted(field: str) -> str:
    if len(field) > 1 and field.startswith('"') and field.endswith('"'):
        return field[1:-1].replace('""', '"')
    return field


def _quoted(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Comma-separated values, which cannot do without quotation marks."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in rows:
            yield rows.line_num, row
    except csv.Error as reason:
        raise InputError(f"not CSV ({reason})", where=f"{path}, line {rows.line_num}") from None


def _tweet(row: list[str], where: str, problems: list[Problem]) -> GoldDocument:
    if len(row) < 2:
        raise InputError(
            "a line needs an id and a text",
            where=where,
            todo="If the file has no texts, add them from Twitter's own download first",
        )
    id, text = row[0].strip(), row[1].strip()
    pairs = [field.strip() for field in row[2:]]
    while pairs and not pairs[-1]:
        pairs.pop()
    if len(pairs) % 2:
        problems.append(Problem("lost", where, f"{pairs[-1]!r} has no URI", id))
        pairs.pop()
    annotations: list[Annotation] = []
    for surface, uri in zip(pairs[::2], pairs[1::2], strict=True):
        span = _found(text, surface, annotations)
        if span is None:
            problems.append(Problem("lost", where, f"the tweet does not have {surface!r}", id))
        else:
            gold = written_title(uri)
            annotations.append(Annotation(*span, text[slice(*span)], (gold,) if gold else (), uri))
    return build_document(id, text, annotations, problems, where)


def _found(text: str, surface: str, before: Sequence[Annotation]) -> tuple[int, int] | None:
    """Where the next mention is, never on a span already taken."""
    if not surface:
        return None
    taken = {(annotation.start, annotation.end) for annotation in before}
    after = before[-1].end if before else 0
    # Hash and at signs are written inside words that the annotation spells without them.
    loose = re.compile(r"[#@\s]*".join(re.escape(c) for c in surface if not c.isspace()), re.IGNORECASE)
    for pattern in (re.compile(re.escape(surface)), loose):
        spans = [match.span() for match in pattern.finditer(text) if match.span() not in taken]
        if spans:
            return next((span for span in spans if span[0] >= after), spans[0])
    return None
