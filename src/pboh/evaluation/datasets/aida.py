"""AIDA-YAGO2 / CoNLL TSV: one token a line, mentions as B and I, three parts told apart by document name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, GoldDocument, Problem, build_document, read_text
from pboh.formats.identifiers import written_title

PARTS = ("train", "testa", "testb")
_LAST_OF_TRAIN, _LAST_OF_TESTA = 946, 1162
_HEADING = re.compile(r"-DOCSTART-\s*\(?\s*(\b.*?)\)?\s*")
_NUMBER = re.compile(r"(\d+)?(test[ab])?\b")
_YAGO_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
POLICY = (
    "The text is rebuilt from the tokens, joined by one blank; a sentence ends with a line feed.",
    "The gold title is the Wikipedia URL's, or the YAGO entity's where the file has no URL.",
)


@dataclass(slots=True)
class _Open:
    """The document being read: its text so far and the mentions in it."""

    name: str
    text: str = ""
    annotations: list[Annotation] = field(default_factory=list)

    def separate(self, sign: str) -> None:
        """Append a blank or a line feed, unless a sentence begins here."""
        if self.text and not self.text.endswith("\n"):
            self.text += sign


def part_of(name: str) -> str | None:
    """The part a document belongs to (``train``, ``testa``, ``testb``), by its name: "947testa CRICKET"."""
    match = _NUMBER.match(name)
    number, suffix = match.groups() if match else (None, None)
    if suffix or not number:
        return suffix
    return "train" if int(number) <= _LAST_OF_TRAIN else "testa" if int(number) <= _LAST_OF_TESTA else "testb"


def read_aida(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """The documents of all parts that the file has."""
    current: _Open | None = None
    # Not splitlines(): a token may hold other characters that Python takes for line ends.
    lines = read_text(path, problems).replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        if line.startswith("-DOCSTART-"):
            if current is not None:
                yield _closed(current, problems)
            match = _HEADING.fullmatch(line)
            current = _Open(match[1].strip() if match else line)
        elif current is None:
            if line.strip():
                raise InputError("a token comes before the first -DOCSTART-", where=f"{path}, line {number}")
        elif not line.strip():
            current.separate("\n")
        else:
            _token(current, line.split("\t"), f"{path}, line {number}", problems)
    if current is None:
        raise InputError("no line starts with -DOCSTART-", where=path)
    yield _closed(current, problems)


def _closed(document: _Open, problems: list[Problem]) -> GoldDocument:
    """The finished document; the tokens say where a mention is, whatever its third column spells."""
    text, annotations = document.text, []
    for annotation in document.annotations:
        spelt = text[annotation.start : annotation.end]
        if annotation.surface != spelt:
            where = f"{document.name}, mention at {annotation.start}"
            what = f"the tokens say {spelt!r}, not {annotation.surface!r}"
            problems.append(Problem("repaired", where, what, document.name))
        annotations.append(replace(annotation, surface=spelt))
    return build_document(document.name, text, annotations, problems, document.name)


def _token(document: _Open, fields: list[str], where: str, problems: list[Problem]) -> None:
    """Append one token; a B opens a mention, an I lengthens the last one."""
    document.separate(" ")
    start = len(document.text)
    document.text += fields[0]
    tag = fields[1].strip() if len(fields) > 1 else ""
    if not tag or tag == "O":
        return
    if tag not in {"B", "I"} or len(fields) < 4:
        raise InputError("a mention needs B or I, its text and its entity", where=where)
    last = document.annotations[-1] if document.annotations else None
    if tag == "I" and last is not None and last.end == start - 1:
        document.annotations[-1] = replace(last, end=len(document.text))
        return
    if tag == "I":
        problems.append(Problem("repaired", where, "an I without a B before it, read as a B", document.name))
    wikipedia = fields[4] if len(fields) > 4 else None
    entity = _YAGO_ESCAPE.sub(lambda match: chr(int(match[1], 16)), fields[3])
    title = written_title(entity) and (written_title(wikipedia) or written_title(entity))
    golds = (title,) if title else ()
    document.annotations.append(Annotation(start, len(document.text), fields[2], golds, wikipedia or entity))
