"""First pass over a chunk: pages become text, links and word numbers, all local to the chunk.

What a link leads to is not known before every redirect was seen, so titles and words get numbers of the
chunk only; the second pass (:mod:`pboh.corpus.tables`) replaces them. The chunk's files appear together.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from pboh.corpus import dump, jsonl
from pboh.corpus.dump import Page
from pboh.corpus.sources import Chunk, read
from pboh.corpus.titles import Site, normalise_title, page_kind, redirect_target, split_target
from pboh.corpus.vocabulary import Vocabulary
from pboh.corpus.wikitext import Segment, segments
from pboh.files import write_json, written_aside

KINDS = ("article", "redirect", "disambiguation", "list", "other")
COUNTED = ("article", "list")  # kinds whose words and contexts count
READ = ("article", "list", "disambiguation")  # kinds whose text and links are kept

Int32 = npt.NDArray[np.int32]
_NONE: Int32 = np.empty(0, dtype=np.int32)
_PLACES = ("page", "start", "end", "before", "after")


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What the first pass depends on, beside the files."""

    site: Site
    texts: bool


class ChunkScan:
    """Collects the pages of one chunk and writes them."""

    def __init__(self, options: ScanOptions, number: int = 0) -> None:
        self._options = options
        self._number = number
        self.bytes = 0
        self._vocabulary = Vocabulary(options.site.language)
        self._ids: list[int | None] = []
        self._titles: list[str] = []
        self._kinds: list[str] = []
        self._redirects: list[str | None] = []
        self._tokens: list[Int32] = []
        self._token_ends = array("q", [0])
        self._text_pages = array("i")
        self._texts: list[bytes] = []
        self._characters = 0
        self._links: dict[str, list[Int32]] = {name: [_NONE] for name in _PLACES}
        self._targets: list[pa.StringArray] = []
        self._anchors: list[pa.StringArray] = []

    def add(self, page: Page, kind: str) -> None:
        """Take in one page."""
        site = self._options.site
        from_wikitext = page.links is None
        self._ids.append(page.id)
        self._titles.append(normalise_title(page.title, site) if from_wikitext else page.title)
        self._kinds.append(kind)
        self._redirects.append(_redirect(page, site) if kind == "redirect" else None)
        tokens = self._add_text(page, counted=kind in COUNTED) if kind in READ else 0
        self._token_ends.append(self._token_ends[-1] + tokens)

    def _add_text(self, page: Page, counted: bool) -> int:
        """The text of a page and its links; returns how many words it has."""
        texts: list[str] = []
        places = []
        at = 0
        parts = segments(page.text, self._options.site) if page.links is None else [_given(page)]
        for part in parts:
            if part.titles:
                places.append((part.starts + np.int32(at), part.ends + np.int32(at)))
                self._targets.append(pa.array(part.titles, pa.string()))
                self._anchors.append(pa.array(_collapsed(part.anchors), pa.string()))
            texts.append(part.text)
            at += len(part.text)
        text = "".join(texts)
        text = text.rstrip() if page.links is None else text
        self._characters += len(text)
        data = text.encode()
        if self._options.texts:
            self._text_pages.append(len(self._titles) - 1)
            self._texts.append(data)
        starts, ends, words = self._vocabulary.encode(data) if counted else (_NONE, _NONE, _NONE)
        self._tokens.append(words)
        for firsts, lasts in places:
            self._add_links(firsts, lasts, starts, ends)
        return words.size

    def _add_links(self, firsts: Int32, lasts: Int32, starts: Int32, ends: Int32) -> None:
        """Places of links among characters and words: those before a link end at `before`, and so on."""
        base = self._token_ends[-1]
        columns = self._links
        columns["page"].append(np.full(firsts.size, len(self._titles) - 1, dtype=np.int32))
        columns["start"].append(firsts)
        columns["end"].append(lasts)
        columns["before"].append((np.searchsorted(ends, firsts, side="right") + base).astype(np.int32))
        columns["after"].append((np.searchsorted(starts, lasts, side="left") + base).astype(np.int32))

    def write(self, folder: Path) -> dict[str, int]:
        """Write all tables of the chunk to ``folder``, which appears when they are complete."""
        site = self._options.site
        words, tokens = self._sorted_words()
        counts = np.bincount(tokens, minlength=len(words))
        links = {name: pa.array(np.concatenate(column)) for name, column in self._links.items()}
        leads_to = pa.chunked_array(self._targets, pa.string()).combine_chunks().dictionary_encode()
        links["target"] = leads_to.indices
        links["anchor"] = pa.chunked_array(self._anchors, pa.string()).combine_chunks()
        figures = {
            "pages": len(self._titles),
            "targets": len(leads_to.dictionary),
            "words": len(words),
            "tokens": int(tokens.size),
            "links": len(links["anchor"]),
            "characters": self._characters,
            "bytes": self.bytes,
            **{kind: self._kinds.count(kind) for kind in KINDS},
        }
        pages = {
            "id": pa.array(self._ids, pa.int64()),
            "title": pa.array(self._titles, pa.string()),
            "kind": pa.array(self._kinds, pa.string()),
            "target": pa.array(self._redirects, pa.string()),
            "possible": pa.array([_possible(target, site) for target in self._redirects], pa.bool_()),
        }
        targets = {
            "title": leads_to.dictionary,
            "possible": _all_possible(leads_to.dictionary, site),
        }
        with written_aside(folder) as aside:
            aside.mkdir()
            self._parquet(aside / "pages.parquet", pages)
            self._parquet(aside / "targets.parquet", targets)
            self._parquet(aside / "words.parquet", {"text": words, "count": pa.array(counts, pa.int64())})
            _feather(aside / "links.arrow", links)
            _feather(aside / "tokens.arrow", {"word": pa.array(tokens)})
            _feather(aside / "ends.arrow", {"token": pa.array(np.frombuffer(self._token_ends, np.int64)[1:])})
            texts = {
                "page": pa.array(np.frombuffer(self._text_pages, np.int32)),
                "text": _strings(np.fromiter(map(len, self._texts), np.int64), b"".join(self._texts)),
            }
            _feather(aside / "texts.arrow", texts)
            write_json(aside / "figures.json", figures)
        return figures

    def _parquet(self, path: Path, columns: dict[str, pa.Array]) -> None:
        """A table whose rows say where they come from: the chunk, and the row in it."""
        rows = len(next(iter(columns.values())))
        own = {
            "chunk": pa.array(np.full(rows, self._number, dtype=np.int32)),
            "local": pa.array(np.arange(rows, dtype=np.int32)),
        }
        pq.write_table(pa.table(own | columns), path, compression="zstd", use_dictionary=["chunk", "kind"])

    def _sorted_words(self) -> tuple[pa.Array, Int32]:
        """Words of the chunk in the order of their text, and all tokens renumbered to match."""
        bounds, letters = self._vocabulary.letters()
        words = _strings(np.diff(bounds), letters)
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


def _possible(title: str | None, site: Site) -> bool:
    """Whether a title without a page could be an article: a list or disambiguation page says so itself."""
    if title is None or title.startswith(site.conventions.list_titles):
        return False
    # only a title that ends like "Paris (disambiguation)" is worth a closer look
    return not title.endswith(")") or page_kind(title, 0, False, "", site) == "article"


def _all_possible(titles: pa.StringArray, site: Site) -> pa.BooleanArray:
    """:func:`_possible` of many titles."""
    possible = np.ones(len(titles), dtype=np.bool_)
    for prefix in site.conventions.list_titles:
        possible &= ~pc.starts_with(titles, prefix).to_numpy(zero_copy_only=False)
    for at in np.flatnonzero(pc.ends_with(titles, ")").to_numpy(zero_copy_only=False)).tolist():
        possible[at] = _possible(titles[at].as_py(), site)
    return pa.array(possible)


def _given(page: Page) -> Segment:
    """A page whose links came with it; those whose anchor is blank are left out."""
    links = [link for link in page.links or () if page.text[link[0] : link[1]].strip()]
    starts, ends, titles = zip(*links, strict=True) if links else ((), (), ())
    anchors = [page.text[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    return Segment(page.text, np.array(starts, np.int32), np.array(ends, np.int32), list(titles), anchors)


def _collapsed(anchors: list[str]) -> list[str]:
    """The anchors with white space made single; nearly always it is already."""
    together = "|".join(anchors)
    # a blank is the only white space that can be printed
    if together.isprintable() and "  " not in together:
        return anchors
    return [" ".join(anchor.split()) for anchor in anchors]


def _strings(lengths: npt.NDArray[np.int64], data: bytes | npt.NDArray[np.uint8]) -> pa.StringArray:
    """Texts that stand one behind the other as UTF-8."""
    bounds = np.zeros(lengths.size + 1, dtype=np.int32)
    np.cumsum(lengths, out=bounds[1:])
    return pa.StringArray.from_buffers(lengths.size, pa.py_buffer(bounds), pa.py_buffer(data))


def _feather(path: Path, columns: dict[str, pa.Array]) -> None:
    feather.write_feather(pa.table(columns), str(path), compression="lz4")


def _pages(chunk: Chunk, own: bytes, following: Iterator[bytes], site: Site) -> Iterator[tuple[Page, str]]:
    if chunk.source.records == "jsonl":
        yield from jsonl.pages(chunk, own, following)
        return
    for page in dump.pages(chunk, own, following):
        yield page, page_kind(page.title, page.namespace, page.redirect is not None, page.text, site)


def scan(chunk: Chunk, options: ScanOptions, folder: Path) -> dict[str, int]:
    """Read one chunk and write its tables to ``folder``."""
    result = ChunkScan(options, chunk.number)
    own, following = read(chunk)
    result.bytes = len(own)
    for page, kind in _pages(chunk, own, following, options.site):
        result.add(page, kind)
    return result.write(folder)
