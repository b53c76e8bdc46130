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
from pboh.corpus.wikitext import plain_text
from pboh.files import write_json, written_aside
from pboh.text import Vocabulary

KINDS = ("article", "redirect", "disambiguation", "list", "other")
COUNTED = ("article", "list")  # kinds whose words and contexts count
READ = ("article", "list", "disambiguation")  # kinds whose text and links are kept


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What the first pass depends on, beside the files."""

    site: Site
    texts: bool


class _Titles(dict[str, int]):
    """Numbers of link targets, in order of appearance."""

    def __missing__(self, title: str) -> int:
        number = self[title] = len(self)
        return number


class ChunkScan:
    """Collects the pages of one chunk and writes them."""

    def __init__(self, options: ScanOptions, number: int = 0) -> None:
        self._options = options
        self._number = number
        self.bytes = 0
        self._vocabulary = Vocabulary(options.site.language)
        self._targets = _Titles()
        self._ids: list[int | None] = []
        self._titles: list[str] = []
        self._kinds: list[str] = []
        self._redirects: list[str | None] = []
        self._tokens: list[npt.NDArray[np.int32]] = []
        self._token_ends = array("q", [0])
        self._text_pages = array("i")
        self._texts: list[str] = []
        self._characters = 0
        self._links = {name: array("i") for name in ("page", "start", "end", "target", "before", "after")}
        self._anchors: list[str] = []

    def add(self, page: Page, kind: str) -> None:
        """Take in one page."""
        site = self._options.site
        from_wikitext = page.links is None
        self._ids.append(page.id)
        self._titles.append(normalise_title(page.title, site) if from_wikitext else page.title)
        self._kinds.append(kind)
        self._redirects.append(_redirect(page, site) if kind == "redirect" else None)
        tokens = 0
        if kind in READ:
            text, links = page.text, page.links
            if links is None:
                plain = plain_text(page.text, site)
                text, links = plain.text, plain.links
            tokens = self._add_text(text, links, counted=kind in COUNTED)
        self._token_ends.append(self._token_ends[-1] + tokens)

    def _add_text(self, text: str, links: list[tuple[int, int, str]], counted: bool) -> int:
        number = len(self._titles) - 1
        self._characters += len(text)
        if self._options.texts:
            self._text_pages.append(number)
            self._texts.append(text)
        if counted:
            starts, ends, words = self._vocabulary.encode(text)
            self._tokens.append(words)
        else:
            starts = ends = words = np.empty(0, dtype=np.int32)
        kept = [
            (start, end, target, anchor)
            for start, end, target in links
            if target and (anchor := " ".join(text[start:end].split()))
        ]
        if kept:
            firsts, lasts, titles, anchors = zip(*kept, strict=True)
            base = self._token_ends[-1]
            table = self._links
            table["page"].extend([number] * len(kept))
            table["start"].extend(firsts)
            table["end"].extend(lasts)
            table["target"].extend(map(self._targets.__getitem__, titles))
            # words before the link end at `before`, words after it start at `after`
            table["before"].extend((np.searchsorted(ends, firsts, side="right") + base).tolist())
            table["after"].extend((np.searchsorted(starts, lasts, side="left") + base).tolist())
            self._anchors.extend(anchors)
        return int(words.size)

    def write(self, folder: Path) -> dict[str, int]:
        """Write all tables of the chunk to ``folder``, which appears when they are complete."""
        site = self._options.site
        words, tokens = self._sorted_words()
        counts = np.bincount(tokens, minlength=len(words))
        figures = {
            "pages": len(self._titles),
            "targets": len(self._targets),
            "words": len(words),
            "tokens": int(tokens.size),
            "links": len(self._anchors),
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
            "title": pa.array(list(self._targets), pa.string()),
            "possible": pa.array([_possible(title, site) for title in self._targets], pa.bool_()),
        }
        links = {name: pa.array(np.frombuffer(column, np.int32)) for name, column in self._links.items()}
        links["anchor"] = pa.array(self._anchors, pa.string())
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
                "text": pa.array(self._texts, pa.string()),
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

    def _sorted_words(self) -> tuple[pa.Array, npt.NDArray[np.int32]]:
        """Words of the chunk in the order of their text, and all tokens renumbered to match."""
        words = pa.array(self._vocabulary.texts(), pa.string())
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


def _feather(path: Path, columns: dict[str, pa.Array]) -> None:
    feather.write_feather(pa.table(columns), str(path), compression="zstd", compression_level=1)


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
