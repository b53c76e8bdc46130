"""Pages of a MediaWiki XML dump, read without ever trusting it.

Every page is parsed on its own, after the part of the file before the first page was checked to be a
MediaWiki header without a document type. So there is no place where an entity could be declared: neither
an entity bomb nor an external file can be reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lxml import etree

from pboh.corpus.readers.bz2_blocks import LONGEST_BLOCK
from pboh.corpus.readers.chunks import Chunk, Source, codec_of, head, read
from pboh.corpus.subjects.page import Subject
from pboh.errors import CorpusError, InputError

_OPEN, _CLOSE = b"<page>", b"</page>"
_TAIL = 4096
_EXPECTED = "Give a dump such as dewiki-20250101-pages-articles.xml.bz2, or JSON lines (.jsonl)"


@dataclass(frozen=True, slots=True)
class Page:
    """What a dump says about a page in UTF-8; ``links`` is there when they need not be found in the text.

    ``subject`` is there when the page comes with a description or a type.
    """

    id: int | None
    title: str
    namespace: int
    redirect: str | None
    text: bytes
    links: list[tuple[int, int, str]] | None = None
    subject: Subject | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a dump: its ``<siteinfo>`` as XML (empty if it has none), language and wiki."""

    siteinfo: bytes
    language: str | None
    wiki: str | None


_OTHER_FORMATS = (
    (rb"\s*(--|/\*|INSERT INTO|CREATE TABLE)", "an SQL dump"),
    (rb"(?i)\s*(<!doctype html|<html)", "an HTML page"),
    (rb"\s*<feed>", "a dump of abstracts"),
    (rb"7z\xbc\xaf", "a 7z archive"),
    (rb"PK\x03\x04", "a zip archive"),
    (rb"PAR1", "a Parquet file"),
    (rb"\xfd7zXZ", "an xz file"),
    (rb"\s*\[", "a JSON array, not JSON lines"),
)


def open_source(file: Path) -> tuple[Source, Header]:
    """Look at the beginning of a file: what it is, and its header. Anything but a dump is refused."""
    codec = codec_of(file)
    start = head(file, codec, b"</siteinfo>")
    is_jsonl = ".jsonl" in file.suffixes or re.match(rb"(\xef\xbb\xbf)?\s*\{", start)
    records = "jsonl" if is_jsonl else "xml"
    source = Source(file, codec, records, file.stat().st_size)
    if records == "jsonl":
        return source, Header(b"", None, None)
    return source, read_header(start, str(file))


def read_header(start: bytes, where: str) -> Header:
    """Check and read what comes before the first page."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or start[:4] in (b"<\0?\0", b"\0<\0?", b"<\0m\0", b"\0<\0m"):
        raise InputError("the dump is encoded in UTF-16", where=where, todo="Convert it to UTF-8 with iconv")
    before = start.partition(_OPEN)[0].removeprefix(b"\xef\xbb\xbf")
    declared = re.match(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)""", before)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii"):
        name = declared[1].decode()
        raise InputError(f"the dump is encoded in {name}", where=where, todo="Convert it to UTF-8 with iconv")
    for pattern, name in _OTHER_FORMATS:
        if re.match(pattern, before):
            raise InputError(f"this is {name}, not a MediaWiki dump", where=where, todo=_EXPECTED)
    if re.search(rb"<!(DOCTYPE|ENTITY)", before):
        what = "the dump declares a document type or entities, which MediaWiki never does"
        raise InputError(
            what, where=where, todo="Nothing was read from it; get the dump from a source you trust"
        )
    root = re.search(rb"<mediawiki\b([^<>]*)>", before)
    if not root:
        raise InputError("this is not a MediaWiki dump", where=where, todo=_EXPECTED)
    language = re.search(rb"""xml:lang\s*=\s*["']([\w-]+)""", root[1])
    _, begin, info = before.partition(b"<siteinfo>")
    inside, end, _ = info.partition(b"</siteinfo>")
    siteinfo = begin + inside + end if end else b""
    wiki = re.search(rb"<dbname>\s*([\w.-]+)\s*</dbname>", siteinfo)
    return Header(siteinfo, *(found[1].decode() if found else None for found in (language, wiki)))


def pages(chunk: Chunk, own: bytes, following: Iterator[bytes]) -> Iterator[Page]:
    """The pages that begin in a chunk's own bytes; the last one may end in what follows them."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    for offset, found in _page_elements(chunk, own, following):
        try:
            yield _page(etree.fromstring(found, parser))
        except (etree.XMLSyntaxError, UnicodeDecodeError, ValueError) as error:
            where = _where(chunk, offset, found)
            raise CorpusError(_complaint(found, error), where=where, todo=_AGAIN) from error


_AGAIN = "Download the dump again; the chunks finished so far are kept"


def _complaint(xml: bytes, error: Exception) -> str:
    try:
        xml.decode()
    except UnicodeDecodeError as wrong:
        return f"the page is not UTF-8 (byte 0x{xml[wrong.start]:02x} at byte {wrong.start} of the page)"
    if isinstance(error, etree.XMLSyntaxError):
        return f"the page is not well-formed XML ({str(error).partition(' (<string>')[0]})"
    return f"the page cannot be read ({error})"


def _where(chunk: Chunk, offset: int, xml: bytes) -> str:
    title = re.search(rb"<title>([^<]*)</title>", xml[:4096])
    return chunk.where(offset, f', page "{title[1].decode(errors="replace")}"' if title else "")


def _page_elements(chunk: Chunk, own: bytes, following: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Offset in the chunk of every page it owns, and the page's bytes."""
    data, limit, base, here = own, len(own), 0, 0
    if any(own.endswith(_OPEN[:length]) for length in range(1, len(_OPEN))):
        data += next(following, b"")  # the tag itself may be cut
    while 0 <= (start := data.find(_OPEN, here)) < limit:
        end = data.find(_CLOSE, start)
        if end < 0:
            data, limit, base = data[start:], limit - start, base + start
            data, start = _extended(chunk, data, following, base), 0
            end = data.find(_CLOSE)
        here = end + len(_CLOSE)
        yield base + start, data[start:here]
    if not chunk.last:
        return
    if len(own) < _TAIL and chunk.data is None:  # some of the last bytes may belong to the chunk before
        own = read(replace(chunk, start=max(0, chunk.start - 2 * LONGEST_BLOCK)))[0]
    if b"</mediawiki>" not in own[-_TAIL:]:
        what = "the dump ends before </mediawiki>: it is cut off"
        raise CorpusError(what, where=chunk.source.path, todo=_AGAIN)


def _extended(chunk: Chunk, data: bytes, following: Iterator[bytes], offset: int) -> bytes:
    """Read on until the page that begins ``data`` is complete."""
    whole = bytearray(data)
    for piece in following:
        seen = max(0, len(whole) - len(_CLOSE))
        whole += piece
        if whole.find(_CLOSE, seen) >= 0:
            return bytes(whole)
    raise CorpusError("the dump ends in the middle of a page", where=_where(chunk, offset, data), todo=_AGAIN)


def _page(element: etree._Element) -> Page:
    identity, revision = element.findtext("id"), None
    for revision in element.iterfind("revision"):  # noqa: B007 - the last one is the page as it is now
        pass
    title = element.findtext("title")
    if title is None:
        raise ValueError("it has no title")
    redirect = element.find("redirect")
    return Page(
        id=int(identity) if identity else None,
        title=title,
        namespace=int(element.findtext("ns") or 0),
        redirect=None if redirect is None else redirect.get("title"),
        text=(("" if revision is None else revision.findtext("text")) or "").encode(),
    )
