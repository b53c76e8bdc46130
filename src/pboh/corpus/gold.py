"""The pages set aside as gold: text and links of each as a line of JSON, for ``pboh evaluate``."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pboh.corpus.tables.held_out import page_hashes
from pboh.files.writing import written_aside

LONGEST = 20_000
"""Of longer pages the beginning is taken, up to the end of a line."""


def write_gold(corpus: Path, path: Path) -> int:
    """Write the pages of a corpus that were set aside, in the order of their hashes; returns how many.

    Without such pages there is no file.
    """
    held = ds.dataset(corpus / "pages").to_table(["page", "id", "title"], filter=pc.field("held"))
    if not held.num_rows:
        path.unlink(missing_ok=True)
        return 0
    held = held.take(pa.array(np.argsort(page_hashes(held), kind="stable")))
    texts, links = _texts(corpus, held.column("page")), _links(corpus, held.column("page"))
    with written_aside(path) as aside, aside.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as file:
        for row in held.to_pylist():
            text = _beginning(texts.get(row["page"], ""))
            inside = [link for link in links.get(row["page"], ()) if link[1] <= len(text)]
            line = {"id": row["id"], "title": row["title"], "text": text, "links": inside}
            file.write(msgspec.json.encode(line) + b"\n")
    return int(held.num_rows)


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST else text[: text.rfind("\n", 0, LONGEST) + 1 or LONGEST]


def _texts(corpus: Path, pages: pa.ChunkedArray) -> dict[int, str]:
    """The texts of pages."""
    return {row["page"]: row["text"] for row in _rows(corpus / "texts", ["page", "text"], pages)}


def _links(corpus: Path, pages: pa.ChunkedArray) -> dict[int, list[tuple[int, int, str]]]:
    """Start, end and title of the links on pages, in the order of the text."""
    rows = list(_rows(corpus / "links", ["page", "start", "end", "entity"], pages))
    wanted = pa.array(sorted({row["entity"] for row in rows}), pa.int32())
    known = ds.dataset(corpus / "entities").to_table(
        ["entity", "title"], filter=pc.field("entity").isin(wanted)
    )
    titles = dict(zip(known.column("entity").to_pylist(), known.column("title").to_pylist(), strict=True))
    links: dict[int, list[tuple[int, int, str]]] = {}
    for row in rows:
        links.setdefault(row["page"], []).append((row["start"], row["end"], titles[row["entity"]]))
    return links


def _rows(folder: Path, columns: list[str], pages: pa.ChunkedArray) -> Iterator[dict[str, Any]]:
    """Rows of some pages, file after file: one file's matches are held at a time."""
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                numbers = file.read_row_group(group, ["page"]).column("page")
                mask = pc.is_in(numbers, value_set=pages.combine_chunks())
                if pc.any(mask).as_py():
                    yield from file.read_row_group(group, columns).filter(mask).to_pylist()
