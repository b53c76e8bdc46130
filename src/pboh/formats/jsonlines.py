"""Documents as JSON lines: ``{id, text, mentions: [{start, end}]}`` in, the same with entities out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pboh.document import Document
from pboh.errors import InputError, PbohError
from pboh.files.processes import ordered_map
from pboh.inference.entities import EntitySet
from pboh.linker import Linker


class MentionLine(msgspec.Struct):
    """A mention as people write it; ``entity`` clamps it."""

    start: int
    end: int
    entity: str | None = None


class DocumentLine(msgspec.Struct):
    """A document as people write it."""

    text: str
    mentions: list[MentionLine]
    id: str | int | None = None


class Resolved(NamedTuple):
    """One answered line, or why there is none."""

    number: int
    line: bytes | None
    error: str | None
    mentions: int = 0
    linked: int = 0


def read_lines(source: str) -> Iterator[bytes]:
    """Lines of a file, or of standard input for ``-``."""
    if source == "-":
        yield from sys.stdin.buffer
        return
    try:
        with Path(source).open("rb") as file:
            yield from file
    except OSError as reason:
        raise InputError(f"the file cannot be read ({reason.strerror})", where=source) from reason


class LineResolver:
    """Answers numbered JSON lines with a linker; goes to worker processes as it is."""

    def __init__(self, linker: Linker, explain: bool = False, only: EntitySet | None = None) -> None:
        self.linker = linker
        self.explain = explain
        self.only = only

    def __call__(self, batch: list[tuple[int, bytes]]) -> list[Resolved]:
        """Answer a batch of numbered lines."""
        return [self.resolve(number, line) for number, line in batch]

    def resolve(self, number: int, line: bytes) -> Resolved:
        """Answer one line; a line that cannot be answered is an error of its own."""
        try:
            given = msgspec.json.decode(line, type=DocumentLine)
            spans = [(m.start, m.end, m.entity) for m in given.mentions]
            document = self.linker.disambiguate(given.text, spans, entities=self.only)
        except (msgspec.DecodeError, UnicodeDecodeError, PbohError) as reason:
            return Resolved(number, None, f"line {number}: {str(reason).rstrip('.')}")
        linked = sum(mention.entity is not None for mention in document)
        answer = {**self._plain(document), "id": given.id}
        return Resolved(number, msgspec.json.encode(answer) + b"\n", None, len(document), linked)

    def _plain(self, document: Document) -> dict[str, Any]:
        plain = document.to_dict()
        if self.explain:
            for row, mention in zip(plain["mentions"], document, strict=True):
                explanation = mention.explain()
                row["explanation"] = asdict(explanation) if explanation else None
        return plain


def resolve_lines(
    linker: Linker,
    lines: Iterable[bytes],
    *,
    workers: int = 1,
    explain: bool = False,
    only: EntitySet | None = None,
    batch: int = 16,
) -> Iterator[Resolved]:
    """Answer JSON lines in order, on several processes if asked; empty lines are passed over."""
    resolver = LineResolver(linker, explain, only)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    size = batch if workers > 1 else 1  # one process answers a line as soon as it comes
    batches = iter(lambda: list(islice(numbered, size)), [])
    for resolved in ordered_map(resolver, batches, workers):
        yield from resolved
