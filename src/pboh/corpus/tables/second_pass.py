"""Second pass over a chunk: its links, words and texts with the numbers of the whole corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from pboh.corpus.tables.context_words import Rows, count_words, windows
from pboh.files.writing import write_json, written_aside


def _schema(**columns: pa.DataType) -> pa.Schema:
    """Columns without a value missing: there is less to write."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


_NUMBER = pa.int32()
LINKS = _schema(page=_NUMBER, start=_NUMBER, end=_NUMBER, anchor=pa.string(), entity=_NUMBER)
COUNTS = _schema(entity=_NUMBER, word=_NUMBER, count=_NUMBER)
TEXTS = _schema(page=_NUMBER, text=pa.string())
DELTA = "DELTA_BINARY_PACKED"
# data pages of version 2 are compressed without being copied together first
_QUICK: dict[str, Any] = {"data_page_version": "2.0", "write_batch_size": 1 << 17}


@dataclass(frozen=True, slots=True)
class Place:
    """Which pages, targets and words of all chunks are those of one."""

    number: int
    pages: range
    targets: range
    words: range


def write_chunk(
    place: Place, scanned: Path, index: Path, out: Path, window: int, texts: bool
) -> dict[str, int]:
    """Write the chunk's part of every table below ``out``, and its figures last."""
    name = f"{place.number:05d}.parquet"
    entity_of = _slice(index / "targets.i32", place.targets)
    word_of = _slice(index / "words.i32", place.words)
    links = feather.read_table(str(scanned / "links.arrow"))
    entities = entity_of[links.column("target").to_numpy()]
    kept = entities >= 0
    links, entities = links.filter(pa.array(kept)), entities[kept]
    tokens = feather.read_table(str(scanned / "tokens.arrow")).column("word").to_numpy()
    token_ends = feather.read_table(str(scanned / "ends.arrow")).column("token").to_numpy()
    token_starts = np.concatenate([np.zeros(1, np.int64), token_ends[:-1]])

    _write_links(out / "links" / name, place, links, entities)
    page = links.column("page").to_numpy()
    before = links.column("before").to_numpy().astype(np.int64)
    after = links.column("after").to_numpy().astype(np.int64)
    firsts, lasts = windows(before, after, token_starts[page], token_ends[page], window)
    rows = count_words(tokens, np.repeat(entities, 2), firsts, lasts, word_of)
    contexts = _write_counts(out / "context_words" / name, rows)
    if texts:
        _write_texts(out / "texts" / name, place, feather.read_table(str(scanned / "texts.arrow")))
    figures = {"links": links.num_rows, "context_words": contexts}
    write_json(out / "done" / f"{place.number:05d}.json", figures)
    return figures


def _slice(path: Path, rows: range) -> npt.NDArray[np.int32]:
    return np.fromfile(path, dtype=np.int32, count=len(rows), offset=4 * rows.start)


def _write_links(path: Path, place: Place, links: pa.Table, entities: npt.NDArray[np.int32]) -> None:
    columns = {name: links.column(name) for name in ("start", "end", "anchor")}
    page = links.column("page").to_numpy() + np.int32(place.pages.start)
    table = pa.table({"page": page, **columns, "entity": entities}, schema=LINKS)
    packed = {"start": "none", "end": "none"}
    with written_aside(path) as aside:
        pq.write_table(
            table,
            aside,
            compression=dict.fromkeys(("page", "anchor", "entity"), "zstd") | packed,
            use_dictionary=["page", "anchor"],
            column_encoding=dict.fromkeys(packed, DELTA),
            write_statistics=["page", "entity"],
            **_QUICK,
        )


def _write_counts(path: Path, parts: Iterable[Rows]) -> int:
    """Rows in order of entity and word: the order of words is the same in the chunk and in the corpus."""
    written = 0
    with (
        written_aside(path) as aside,
        pq.ParquetWriter(
            aside,
            COUNTS,
            # zstd would make words no smaller, and counts by a quarter, in half as much time again
            compression={"entity": "zstd", "word": "none", "count": "zstd"},
            use_dictionary=False,
            column_encoding={"word": DELTA, "count": DELTA},
            write_statistics=["entity"],
            **_QUICK,
        ) as writer,
    ):
        for entity, word, count in parts:
            writer.write_table(pa.table({"entity": entity, "word": word, "count": count}, schema=COUNTS))
            written += entity.size
    return written


def _write_texts(path: Path, place: Place, texts: pa.Table) -> None:
    page = texts.column("page").to_numpy() + np.int32(place.pages.start)
    table = pa.table({"page": page, "text": texts.column("text")}, schema=TEXTS)
    with written_aside(path) as aside:
        pq.write_table(table, aside, compression="zstd", use_dictionary=False, row_group_size=1 << 12)
