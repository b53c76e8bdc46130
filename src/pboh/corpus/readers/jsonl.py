"""Pages of somebody's own knowledge base: JSON lines with a title, a text and the links in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from pboh.corpus.readers.chunks import Chunk
from pboh.corpus.readers.dump import Page
from pboh.corpus.subjects.description import tidy
from pboh.corpus.subjects.page import Subject
from pboh.errors import CorpusError
from pboh.formats.types import TYPES


class Line(msgspec.Struct, forbid_unknown_fields=False):
    """One page; ``links`` are ``[start, end, target]`` in code points, ``redirect`` is a title.

    ``description`` and ``type`` say what the page is about, instead of its text.
    """

    title: str
    text: str = ""
    links: list[tuple[int, int, str]] = []
    id: int | None = None
    redirect: str | None = None
    kind: Literal["article", "disambiguation", "list"] = "article"
    description: str = ""
    type: str = ""


_DECODER = msgspec.json.Decoder(Line)
_SHAPE = 'Write one {"title": …, "text": …, "links": [[start, end, target], …]} a line'


def pages(
    chunk: Chunk, own: bytes, following: Iterator[bytes], problems: list[str]
) -> Iterator[tuple[Page, str]]:
    """The pages that begin in a chunk's own bytes, and the kind of each; what is left out is a problem."""
    for offset, line in _lines(chunk, own, following):
        if line.strip():
            try:
                page = _page(line, chunk.where(offset))
            except RecursionError:
                problems.append(f"{chunk.where(offset)}: the line is nested too deeply and was left out")
            else:
                yield page


def _page(line: bytes, where: str) -> tuple[Page, str]:
    try:
        read = _DECODER.decode(line)
        f"{read.title}{read.description}".encode()
        text = read.text.encode()
    except (msgspec.DecodeError, UnicodeError) as error:
        raise CorpusError(f"the line is not a page ({error})", where=where, todo=_SHAPE) from error
    title = " ".join(read.title.split())
    if not title:
        raise CorpusError("the page has no title", where=where, todo=_SHAPE)
    for start, end, target in read.links:
        if not 0 <= start < end <= len(read.text) or not target.strip():
            what = f'page "{title}" has a link [{start}, {end}, "{target}"] that is not in its text'
            raise CorpusError(
                what, where=where, todo="Offsets count code points; the end is one past the last"
            )
    links = sorted((start, end, " ".join(target.split())) for start, end, target in read.links)
    redirect = " ".join(read.redirect.split()) if read.redirect else None
    subject = _subject(read, where)
    return Page(read.id, title, 0, redirect, text, links, subject), "redirect" if redirect else read.kind


def _subject(read: Line, where: str) -> Subject | None:
    """The description and the type that a line gives."""
    if not (read.description or read.type):
        return None
    if read.type and read.type not in TYPES:
        what = f'page "{read.title}" has the type {read.type!r}'
        raise CorpusError(what, where=where, todo=f"Use one of {', '.join(TYPES)}")
    return Subject(tidy(read.description), read.type, "given" if read.type else "")


def _lines(chunk: Chunk, own: bytes, following: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each line whose preceding line break the chunk holds (or the file's first line)."""
    if chunk.first:
        own = own.removeprefix(b"\xef\xbb\xbf")
    if chunk.first or chunk.data is not None:
        start = 0
    else:
        start = own.find(b"\n") + 1
        if not start:
            return
    while (end := own.find(b"\n", start)) >= 0:
        yield start, own[start:end]
        start = end + 1
    last = bytearray(own[start:])
    for piece in following:
        head, line_break, _ = piece.partition(b"\n")
        last += head
        if line_break:
            break
    yield start, bytes(last)
