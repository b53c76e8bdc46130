"""Pages of an extracted corpus in an order that depends on nothing but their numbers: text, links, title."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from pboh.detection.tokens import Tokens, code_points, tokens
from pboh.text.hashing import Array


class Page(NamedTuple):
    """A page: its number, title (None if it is no article), text, and links in order of their place."""

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

    Of pages longer than ``longest`` the beginning is read, up to the end of a line.
    """
    about = pq.read_table(corpus / "pages", columns=["page", "title", "kind"])
    titles = dict(zip(about["page"].to_pylist(), about["title"].to_pylist(), strict=True))
    articles = {
        page
        for page, kind in zip(about["page"].to_pylist(), about["kind"].to_pylist(), strict=True)
        if kind == "article"
    }
    files = sorted((corpus / "texts").glob("*.parquet"))
    each = most // max(len(files), 1)
    for file in files:
        links = pq.read_table(corpus / "links" / file.name, columns=["page", "start", "end", "entity"])
        page, *columns = (links[name].to_numpy() for name in ("page", "start", "end", "entity"))
        order = np.lexsort((columns[0], page))
        page, columns = page[order], [column[order] for column in columns]
        read = 0
        for group in pq.ParquetFile(file).iter_batches(batch_size=256):
            numbers, texts = group.column("page").to_pylist(), group.column("text")
            firsts = np.searchsorted(page, numbers)
            lasts = np.searchsorted(page, numbers, side="right")
            for k, number in enumerate(numbers):
                if firsts[k] == lasts[k]:
                    continue
                text, rows = texts[k].as_py(), slice(firsts[k], lasts[k])
                if len(text) > longest:
                    text = text[: text.rfind("\n", 0, longest) + 1 or longest]
                    rows = slice(
                        firsts[k], firsts[k] + np.searchsorted(columns[1][rows], len(text), side="right")
                    )
                yield Page(
                    number, titles[number] if number in articles else None, text, *(c[rows] for c in columns)
                )
                read += len(text)
                if read >= each:
                    break
            if read >= each:
                break
