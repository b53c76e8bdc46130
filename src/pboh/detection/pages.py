"""Pages of an extracted corpus in an order that depends on nothing but their numbers: text, links, title."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pboh.detection.tokens import Tokens, code_points, tokens
from pboh.files.memory import release
from pboh.text.hashing import Array

FILES = 128
"""Files of texts that are opened where not all is read."""
TURN = 8192
"""Pages that are sampled at a time, about."""


class Page(NamedTuple):
    """A page: its number, title (None if it is not an article), text, and links in order of their place."""

    number: int
    title: str | None
    text: str
    start: Array
    end: Array
    entity: Array

    def tokens(self) -> tuple[Array, Tokens]:
        """Code points and tokens of the text."""
        codes = code_points(self.text)
        return codes, tokens(codes)


def read_pages(corpus: Path, most: int = 1 << 62, longest: int = 1 << 62) -> Iterator[Page]:
    """Pages that have links, spread over the corpus, until their texts have ``most`` characters.

    Of pages longer than ``longest`` the beginning is read, up to the end of a line. Pages that were set aside
    are left out. One file's links and titles are held at a time.
    """
    files = sorted((corpus / "texts").glob("*.parquet"))
    if most < 1 << 62:
        files = files[:: -(-len(files) // FILES) or 1]
    with pq.ParquetFile(corpus / "pages" / "00000.parquet") as about:
        for file in files:
            yield from _up_to(most // len(files), _pages(file, corpus, about, longest))
            release()


def sample_pages(corpus: Path, longest: int = 1 << 62) -> Iterator[Page]:
    """All pages that have links, in an order by turns: every turn is a sample of the whole corpus.

    Who comes in which turn is decided by a hash of the page's number. Of a very large corpus a part of the
    files is read.
    """
    files = sorted((corpus / "texts").glob("*.parquet"))
    files = files[:: -(-len(files) // FILES) or 1]
    turns = max(1, sum(pq.read_metadata(file).num_rows for file in files) // TURN)
    with pq.ParquetFile(corpus / "pages" / "00000.parquet") as about:
        for turn in range(turns):
            for file in files:
                yield from _pages(file, corpus, about, longest, (turn, turns))
                release()


def _turns(pages: Array, turns: int) -> Array:
    """The turn of every page."""
    mixed = pages.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((mixed >> np.uint64(33)) % np.uint64(turns))


def _up_to(most: int, pages: Iterator[Page]) -> Iterator[Page]:
    """Pages until their texts have ``most`` characters."""
    read = 0
    for page in pages:
        yield page
        read += len(page.text)
        if read >= most:
            return


def _pages(
    file: Path, corpus: Path, about: pq.ParquetFile, longest: int, turn: tuple[int, int] = (0, 1)
) -> Iterator[Page]:
    """The pages of one file of texts, those of one turn of some."""
    titles = _titles(about, pq.read_table(file, columns=["page"])["page"].to_numpy())
    links = pq.read_table(corpus / "links" / file.name, columns=["page", "start", "end", "entity"])
    page, *columns = (links[name].to_numpy() for name in ("page", "start", "end", "entity"))
    order = np.lexsort((columns[0], page))
    page, columns = page[order], [column[order] for column in columns]
    for group in pq.ParquetFile(file).iter_batches(batch_size=256):
        number, texts = group.column("page").to_numpy(), group.column("text")
        firsts = np.searchsorted(page, number)
        lasts = np.searchsorted(page, number, side="right")
        due = (lasts > firsts) & (_turns(number, turn[1]) == turn[0])
        numbers = number.tolist()
        for k in np.flatnonzero(due).tolist():
            if (number := numbers[k]) not in titles:
                continue
            text, rows = texts[k].as_py(), slice(firsts[k], lasts[k])
            if len(text) > longest:
                text = text[: text.rfind("\n", 0, longest) + 1 or longest]
                rows = slice(
                    firsts[k], firsts[k] + np.searchsorted(columns[1][rows], len(text), side="right")
                )
            yield Page(number, titles[number], text, *(c[rows] for c in columns))


def _titles(about: pq.ParquetFile, pages: Array) -> dict[int, str | None]:
    """Titles of the pages by ascending number, None where it is not an article; without pages set aside."""
    if not pages.size:
        return {}
    sizes = [about.metadata.row_group(k).num_rows for k in range(about.num_row_groups)]
    ends = np.cumsum(sizes)
    first, last = np.searchsorted(ends, [pages[0], pages[-1]], side="right").tolist()
    columns = ["page", "title", "kind", *({"held"} & set(about.schema_arrow.names))]
    rows = about.read_row_groups(list(range(first, last + 1)), columns)
    rows = rows.filter(pc.field("page").isin(pa.array(pages)))
    if "held" in rows.column_names:
        rows = rows.filter(~pc.field("held"))
    title = pc.if_else(pc.equal(rows["kind"], "article"), rows["title"], None)
    return dict(zip(rows["page"].to_pylist(), title.to_pylist(), strict=True))
