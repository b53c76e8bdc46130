"""Second pass over a chunk: its links, words and texts with the numbers of the whole corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import feather

from pboh.corpus.subjects.title import title_types
from pboh.corpus.tables.context_kernels import count_stretches
from pboh.files.writing import write_json, written_aside
from pboh.text.utf8_kernels import Int32, Int64


def _schema(**columns: pa.DataType) -> pa.Schema:
    """Columns without a value missing: there is less to write."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


_NUMBER = pa.int32()
LINKS = _schema(
    page=_NUMBER, start=_NUMBER, end=_NUMBER, anchor=pa.string(), entity=_NUMBER, followed=pa.bool_()
)
COUNTS = _schema(entity=_NUMBER, word=_NUMBER, count=_NUMBER)
TEXTS = _schema(page=_NUMBER, text=pa.string())
SUBJECTS = _schema(
    entity=_NUMBER, description=pa.string(), type=pa.string(), evidence=pa.string(), hint=pa.string()
)
PLACED_LINKS = pa.schema([*LINKS, *_schema(before=_NUMBER, after=_NUMBER)])
"""With tokens: how many words of the page are before a link, and how many come before the rest of them."""
TOKENS = _schema(page=_NUMBER, tokens=_NUMBER, words=pa.list_(pa.field("element", _NUMBER, nullable=False)))
SCANNED = ("links", "tokens", "ends", "texts", "subjects")
"""Files of a scanned chunk that are not needed once its tables are written; without links, it is spent."""
TITLES = "titles.parquet"
DELTA = "DELTA_BINARY_PACKED"
Rows = tuple[Int32, Int32, Int32]
_ROWS_AT_ONCE = 1 << 20
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
    place: Place, scanned: Path, index: Path, out: Path, window: int, texts: bool, keep_tokens: bool
) -> dict[str, int]:
    """Write the chunk's part of every table below ``out``, then its figures; what was scanned is removed."""
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
    held = np.fromfile(index / "held.i32", np.int32) - np.int32(place.pages.start)
    page = links.column("page").to_numpy()
    before, after = (links.column(name).to_numpy().astype(np.int64) for name in ("before", "after"))
    figures = {"links": page.size}
    if keep_tokens:
        places = {"before": before - token_starts[page], "after": after - token_starts[page]}
        _write_links(out / "links" / name, place, links, entities, places)
        pages = np.flatnonzero(~np.isin(np.arange(len(place.pages)), held) & (token_starts < token_ends))
        _write_tokens(out / "tokens" / name, place, word_of[tokens], token_starts, token_ends, pages)
    else:
        _write_links(out / "links" / name, place, links, entities, {})
        counted = ~np.isin(page, held)
        page = page[counted]
        bounds = (token_starts[page], token_ends[page])
        firsts, lasts = windows(before[counted], after[counted], *bounds, window)
        rows = count_words(tokens, np.repeat(entities[counted], 2), firsts, lasts, word_of)
        figures["context_words"] = _write_counts(out / "context_words" / name, rows)
    if texts:
        _write_texts(out / "texts" / name, place, feather.read_table(str(scanned / "texts.arrow")))
    subjects = feather.read_table(str(scanned / "subjects.arrow"))
    described = _write_subjects(out / "subjects" / name, subjects, _slice(index / "pages.i32", place.pages))
    figures["subjects"] = described
    write_json(out / "done" / f"{place.number:05d}.json", figures)
    for file in SCANNED:
        (scanned / f"{file}.arrow").unlink(missing_ok=True)
    return figures


def windows(
    before: Int64, after: Int64, page_start: Int64, page_end: Int64, size: int
) -> tuple[Int64, Int64]:
    """First and last token of the two windows of each link, ``size`` tokens each way inside its page."""
    firsts = np.stack([np.maximum(page_start, before - size), after], axis=1)
    lasts = np.stack([before, np.minimum(page_end, after + size)], axis=1)
    return firsts.ravel(), np.maximum(firsts, lasts).ravel()


def count_words(tokens: Int32, entities: Int32, firsts: Int64, lasts: Int64, names: Int32) -> Iterator[Rows]:
    """N(w,e) of the paper, Section 3: rows (entity, word, count) sorted by both, of the given stretches.

    ``entities[k]`` owns the stretch ``tokens[firsts[k]:lasts[k]]``; ``names`` are the numbers that
    words have in the result, in the same order. Rows must be used before the next are asked for: these
    are written over them.
    """
    order = np.argsort(entities, kind="stable")
    entities, firsts, lasts = entities[order], firsts[order], lasts[order]
    room = max(_ROWS_AT_ONCE, names.size)
    rows = (np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32))
    counts = np.zeros(names.size, dtype=np.int32)
    marks = np.zeros((names.size >> 6) + 1, dtype=np.uint64)
    groups = np.zeros((marks.size >> 6) + 1, dtype=np.uint64)
    here = 0
    while here < entities.size:
        seen = (counts, marks, groups)
        here, written = count_stretches(tokens, entities, firsts, lasts, here, *seen, names, *rows)
        if written:
            yield rows[0][:written], rows[1][:written], rows[2][:written]


def _slice(path: Path, rows: range) -> Int32:
    return np.fromfile(path, dtype=np.int32, count=len(rows), offset=4 * rows.start)


def _write_links(
    path: Path, place: Place, links: pa.Table, entities: Int32, places: dict[str, Int64]
) -> None:
    columns = {name: links.column(name) for name in ("start", "end", "anchor", "followed")}
    page = links.column("page").to_numpy() + np.int32(place.pages.start)
    among = {name: column.astype(np.int32) for name, column in places.items()}
    schema = PLACED_LINKS if places else LINKS
    table = pa.table({"page": page, **columns, "entity": entities, **among}, schema=schema)
    packed = dict.fromkeys(("start", "end", *places), "none")
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


def _write_subjects(path: Path, subjects: pa.Table, entity_of: Int32) -> int:
    """Descriptions and types of the pages that are the first of their title."""
    entities = entity_of[subjects.column("page").to_numpy()]
    kept = entities >= 0
    columns = {"entity": entities[kept]}
    columns |= {name: subjects.column(name).filter(pa.array(kept)) for name in SUBJECTS.names[1:]}
    with written_aside(path) as aside:
        table = pa.table(columns, schema=SUBJECTS)
        pq.write_table(table, aside, compression="zstd", use_dictionary=["type", "evidence", "hint"])
    return int(kept.sum())


def write_named_subjects(index: Path, out: Path, code: str) -> None:
    """What the titles of entities that have no page say: Stardust (film)."""
    with (
        pq.ParquetFile(index / "entities" / "00000.parquet") as file,
        written_aside(out / "subjects" / TITLES) as aside,
        pq.ParquetWriter(aside, SUBJECTS, compression="zstd") as writer,
    ):
        for batch in file.iter_batches(1 << 16, columns=["entity", "title", "page"]):
            some = batch.filter(batch["page"].is_null())
            told, hints = title_types(some["title"], code)
            rows = pc.not_equal(pc.binary_join_element_wise(told, hints, ""), "")
            evidence = pc.if_else(pc.equal(told, ""), "", "title")
            columns = [some["entity"], pa.repeat("", len(some)), told, evidence, hints]
            writer.write_table(pa.table(columns, schema=SUBJECTS).filter(rows))


def _write_tokens(path: Path, place: Place, words: Int32, starts: Int64, ends: Int64, pages: Int64) -> None:
    """The words of some pages, with the numbers of the whole corpus."""
    sizes = ends[pages] - starts[pages]
    kept = np.repeat(starts[pages] - offsets_before(sizes), sizes) + np.arange(sizes.sum())
    bounds = np.append(offsets_before(sizes), sizes.sum()).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(bounds), pa.array(words[kept]), type=TOKENS.field("words").type)
    page = pages.astype(np.int32) + np.int32(place.pages.start)
    with written_aside(path) as aside:
        pq.write_table(
            pa.table({"page": page, "tokens": sizes.astype(np.int32), "words": lists}, schema=TOKENS),
            aside,
            compression="zstd",
            use_dictionary=["words.list.element"],
            dictionary_pagesize_limit=1 << 24,
            write_statistics=["page"],
        )


def offsets_before(sizes: Int64) -> Int64:
    """Where lists of these sizes begin, one behind the other."""
    return np.cumsum(sizes) - sizes


def _write_texts(path: Path, place: Place, texts: pa.Table) -> None:
    page = texts.column("page").to_numpy() + np.int32(place.pages.start)
    table = pa.table({"page": page, "text": texts.column("text")}, schema=TEXTS)
    with written_aside(path) as aside:
        pq.write_table(
            table, aside, compression="zstd", compression_level=6, use_dictionary=False, row_group_size=1 << 9
        )
