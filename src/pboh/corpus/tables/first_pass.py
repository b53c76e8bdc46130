"""First pass over a chunk: pages become text, links and word numbers, all local to the chunk.

What a link leads to is not known before every redirect was seen, so titles and words get numbers of the
chunk only; the second pass (:mod:`second_pass`) replaces them.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from pboh.corpus.readers import dump, jsonl
from pboh.corpus.readers.chunks import Chunk, Source, read
from pboh.corpus.readers.dump import Page
from pboh.corpus.subjects.page import LEAD, Subject, read_subject
from pboh.corpus.subjects.title import title_types
from pboh.corpus.tables.vocabulary import Vocabulary
from pboh.corpus.titles import (
    Site,
    disambiguation_title,
    normalise_title,
    page_kind,
    redirect_target,
    split_target,
)
from pboh.corpus.wikitext.output_kernels import AFTER, BEFORE, END, FOLLOWED, LAST, PAGE, START, TITLE
from pboh.corpus.wikitext.reader import Reader
from pboh.files.writing import write_json, written_aside
from pboh.text.utf8_kernels import Bytes, Int32

KINDS = ("article", "redirect", "disambiguation", "list", "other")
COUNTED = ("article", "list")  # kinds whose words and contexts count
READ = ("article", "list", "disambiguation")  # kinds whose text and links are kept
SHOWN = 20  # problems
TOGETHER = 256  # articles whose subjects are read together
_ROWS_TOGETHER = 1 << 15

Figures = dict[str, Any]
"""What a chunk or the whole has of everything."""


class ChunkScan:
    """Collects the pages of one chunk and writes them."""

    def __init__(self, site: Site, number: int = 0) -> None:
        self._site, self._number = site, number
        self.bytes = 0
        self.problems: list[str] = []
        self._vocabulary = Vocabulary(site.language)
        self._ids: list[int | None] = []
        self._titles: list[str] = []
        self._kinds: list[str] = []
        self._redirects: list[str | None] = []
        self._reader = Reader(site)
        self._tokens: list[Int32] = []
        self._token_ends = array("q", [0])
        self._text_pages = array("i")
        self._text_ends = array("q", [0])
        self._unread: list[tuple[int, Page, int, int]] = []
        self._subjects: list[tuple[int, Subject]] = []
        self._characters = 0

    def add(self, page: Page, kind: str) -> None:
        """Take in one page."""
        fits = page.id is None or -(1 << 63) <= page.id < 1 << 63
        if not fits:
            self.problems.append(f'the id of page "{page.title}" has more than 64 bits: it is left out')
        self._ids.append(page.id if fits else None)
        self._titles.append(normalise_title(page.title, self._site) if page.links is None else page.title)
        self._kinds.append(kind)
        self._redirects.append(_redirect(page, self._site) if kind == "redirect" else None)
        begin = self._reader.size
        tokens = self._add_text(page, counted=kind in COUNTED) if kind in READ else 0
        if kind == "article":
            self._unread.append((len(self._titles) - 1, page, begin, min(begin + LEAD, self._reader.size)))
            if len(self._unread) == TOGETHER:
                self._read_subjects()
        self._token_ends.append(self._token_ends[-1] + tokens)

    def _add_text(self, page: Page, counted: bool) -> int:
        """The text of a page and its links; returns how many words it has."""
        reader = self._reader
        begin, first = reader.size, reader.count
        characters = reader.read(page.text) if page.links is None else reader.take(page.text, page.links)
        self._characters += characters
        self._text_pages.append(len(self._titles) - 1)
        self._text_ends.append(reader.size)
        text = reader.text[begin : reader.size] if counted else reader.text[:0]
        starts, ends, words = self._vocabulary.encode(text)
        self._tokens.append(words)
        links = reader.links[:, first : reader.count]
        links[PAGE] = len(self._titles) - 1
        links[BEFORE] = self._token_ends[-1] + np.searchsorted(ends, links[START], side="right")
        after = np.searchsorted(starts, links[END])
        links[AFTER] = self._token_ends[-1] + after
        links[FOLLOWED] = self._followed(links, np.append(starts, -1)[after])
        return words.size

    def _followed(self, links: Int32, next_word: Int32) -> npt.NDArray[np.bool_]:
        """Whether the next content word begins one blank behind each link."""
        behind = np.minimum(links[LAST], self._reader.text.size - 1)
        return np.asarray((next_word == links[END] + 1) & (self._reader.text[behind] == ord(" ")))

    def _read_subjects(self) -> None:
        """What articles are about, by what they say themselves or by the beginnings of their texts.

        Many are asked one after the other: the processor then has the words at hand, and takes half as long.
        """
        for row, page, begin, end in self._unread:
            lead = self._reader.text[begin:end].tobytes()
            wikitext = page.text if page.links is None else b""
            subject = read_subject(page.title, wikitext, lead, self._site.language)
            if page.subject is not None:
                subject = Subject(*(given or told for given, told in zip(page.subject, subject, strict=True)))
            self._subjects.append((row, subject))
        self._unread.clear()

    def write(self, folder: Path, texts: bool) -> Figures:
        """Write all tables of the chunk to ``folder``, which appears when they are complete."""
        words, tokens = self._sorted_words()
        counts = np.bincount(tokens, minlength=len(words))
        links, targets = self.link_columns()
        figures = {
            "pages": len(self._titles),
            "targets": len(targets),
            "words": len(words),
            "tokens": int(tokens.size),
            "links": len(links["anchor"]),
            "characters": self._characters,
            "bytes": self.bytes,
            **{kind: self._kinds.count(kind) for kind in KINDS},
            "problems": self.problems[:SHOWN],
            "more_problems": len(self.problems[SHOWN:]),
        }
        redirects = pa.array(self._redirects, pa.string())
        pages = {
            "id": pa.array(self._ids, pa.int64()),
            "title": pa.array(self._titles, pa.string()),
            "kind": pa.array(self._kinds, pa.string()),
            "target": redirects,
            "possible": _possible(redirects, self._site),
            "links": np.bincount(links["page"], minlength=len(self._titles)).astype(np.int32),
        }
        leads_to = {"title": targets, "possible": _possible(targets, self._site)}
        with written_aside(folder) as aside:
            aside.mkdir()
            self._parquet(aside / "pages.parquet", pages)
            self._parquet(aside / "targets.parquet", leads_to, pc.sort_indices(targets))
            self._parquet(aside / "words.parquet", {"text": words, "count": pa.array(counts, pa.int64())})
            _feather(aside / "links.arrow", links)
            _feather(aside / "tokens.arrow", {"word": pa.array(tokens)})
            _feather(aside / "ends.arrow", {"token": pa.array(np.frombuffer(self._token_ends, np.int64)[1:])})
            _feather(aside / "subjects.arrow", self._subject_columns())
            if texts:
                _feather(aside / "texts.arrow", self._text_columns())
            write_json(aside / "figures.json", figures)
        return figures

    def link_columns(self) -> tuple[dict[str, pa.Array], pa.StringArray]:
        """Links in page order, with numbers of the titles they lead to; and these titles."""
        links = self._reader.links
        rows = {"page": PAGE, "start": START, "end": END, "before": BEFORE, "after": AFTER}
        columns = {name: pa.array(links[row, : self._reader.count]) for name, row in rows.items()}
        columns["followed"] = pa.array(links[FOLLOWED, : self._reader.count] > 0)
        titles = _strings(*self._reader.titles.strings())
        used = np.zeros(len(titles), dtype=np.bool_)  # links in what is not shown of an image are gone
        used[links[TITLE, : self._reader.count]] = True
        numbers = np.cumsum(used, dtype=np.int32) - np.int32(1)
        columns["target"] = pa.array(numbers[links[TITLE, : self._reader.count]])
        return columns | {"anchor": _strings(*self._reader.anchors())}, titles.filter(pa.array(used))

    def _text_columns(self) -> dict[str, pa.Array]:
        pages = pa.array(np.frombuffer(self._text_pages, np.int32))
        text = self._reader.text[: self._reader.size]
        return {"page": pages, "text": _strings(np.frombuffer(self._text_ends, np.int64), text)}

    def _subject_columns(self) -> dict[str, pa.Array]:
        self._read_subjects()
        pages = [page for page, _ in self._subjects]
        columns = {
            name: pa.array([subject[k] for _, subject in self._subjects], pa.string())
            for k, name in enumerate(Subject._fields)
        }
        titles = pa.array([self._titles[page] for page in pages], pa.string())
        _, columns["hint"] = title_types(titles, self._site.language)
        return {"page": pa.array(pages, pa.int32()), **columns}

    def _parquet(self, path: Path, columns: dict[str, pa.Array], order: pa.Array | None = None) -> None:
        """A table whose rows say where they come from: the chunk, and the row in it.

        Rows are written in short groups: who reads a part of the alphabet skips the others.
        """
        rows = len(next(iter(columns.values())))
        own = {
            "chunk": pa.array(np.full(rows, self._number, dtype=np.int32)),
            "local": pa.array(np.arange(rows, dtype=np.int32)),
        }
        table = pa.table(own | columns)
        pq.write_table(
            table if order is None else table.take(order),
            path,
            compression="zstd",
            use_dictionary=["chunk", "kind"],
            row_group_size=_ROWS_TOGETHER,
        )

    def _sorted_words(self) -> tuple[pa.Array, Int32]:
        """Words of the chunk in the order of their text, and all tokens renumbered to match."""
        words = _strings(*self._vocabulary.letters())
        order = pc.sort_indices(words)
        rank = np.empty(len(words), dtype=np.int32)
        rank[order.to_numpy()] = np.arange(len(words), dtype=np.int32)
        tokens = np.concatenate(self._tokens) if self._tokens else np.empty(0, dtype=np.int32)
        return words.take(order), rank[tokens]


def _redirect(page: Page, site: Site) -> str | None:
    """Where a redirect leads; None if it leads out of the articles."""
    if page.links is not None:
        return page.redirect
    raw = page.redirect or redirect_target(page.text, site)
    target = split_target(raw, site) if raw else None
    return target[1] or None if target and target[0] == 0 else None


def _possible(titles: pa.StringArray, site: Site) -> pa.BooleanArray:
    """Whether titles without a page could be articles: a list or disambiguation page says so itself."""
    impossible = pc.match_substring_regex(titles, disambiguation_title(site))
    for prefix in site.conventions.list_titles:
        impossible = pc.or_(impossible, pc.starts_with(titles, prefix))
    return pc.invert(impossible).fill_null(False)


def _strings(bounds: npt.NDArray[np.integer[Any]], letters: Bytes) -> pa.StringArray:
    """Texts one behind the other as UTF-8: where each begins (and the last one ends), and the bytes."""
    offsets = pa.py_buffer(bounds.astype(np.int32, copy=False))
    return pa.StringArray.from_buffers(bounds.size - 1, offsets, pa.py_buffer(letters))


def _feather(path: Path, columns: dict[str, pa.Array]) -> None:
    feather.write_feather(pa.table(columns), str(path), compression="zstd")


def _read(chunk: Chunk, site: Site) -> ChunkScan:
    """All pages of a chunk."""
    result = ChunkScan(site, chunk.number)
    own, following = read(chunk)
    result.bytes = len(own)
    if chunk.source.records == "jsonl":
        for page, kind in jsonl.pages(chunk, own, following, result.problems):
            result.add(page, kind)
    else:
        for page in dump.pages(chunk, own, following):
            is_redirect = page.redirect is not None
            result.add(page, page_kind(page.title, page.namespace, is_redirect, page.text, site))
    return result


def scan(chunk: Chunk, site: Site, texts: bool, folder: Path) -> Figures:
    """Read one chunk and write its tables to ``folder``, with the texts of pages or without."""
    return _read(chunk, site).write(folder, texts)


_SOME = b"""<mediawiki><page><title>A</title><ns>0</ns><id>1</id><revision>
<text>a [[B|b]] [[:c]] &amp;amp;</text></revision></page></mediawiki>"""


def warm_up() -> None:
    """Load all that is compiled, before there is a chunk to read: the same is done to a page of no use."""
    chunk = Chunk(0, Source(Path("some.xml"), "plain", "xml", len(_SOME)), 0, len(_SOME), _SOME)
    _read(chunk, Site.default("en")).link_columns()
