"""From the titles and words of all chunks to entities and word numbers, in bounded memory.

Titles and words are put in order by DuckDB, which spills to disk; per title only a few integers are held.
Redirects may lead from any chunk to any other, so this runs once, between the two passes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pboh.corpus.tables.second_pass import DELTA, Place
from pboh.errors import CorpusError, PbohError
from pboh.files.database import arrow_batches, database_errors, open_database, quoted
from pboh.text.utf8_kernels import Int32, Int64

if TYPE_CHECKING:
    from pboh.corpus.tables.held_out import HeldOut

MISSING, ARTICLE, REDIRECT, DISAMBIGUATION, LIST = range(5)
_KINDS = pa.array(["article", "redirect", "disambiguation", "list"])  # from ARTICLE on
_BATCH = 1 << 17
_ROWS_HELD = 1 << 24


@dataclass(frozen=True, slots=True)
class Chunks:
    """The folders the first pass wrote, and how many pages, targets and words come before each."""

    folders: Sequence[Path]
    offsets: dict[str, Int64]

    @classmethod
    def of(cls, folders: Sequence[Path], figures: Sequence[dict[str, int]]) -> Chunks:
        """Offsets from the chunks' own figures."""
        names = ("pages", "targets", "words")
        sums = {name: np.cumsum([0, *(each[name] for each in figures)]).astype(np.int64) for name in names}
        return cls(folders, sums)

    def place(self, number: int) -> Place:
        """Which rows of the tables of all chunks are those of one."""
        bounds = (offsets[number : number + 2].tolist() for offsets in self.offsets.values())
        return Place(number, *(range(*each) for each in bounds))

    def files(self, name: str, part: range | None = None) -> str:
        """The table's files (of some chunks), as DuckDB's ``read_parquet`` takes them."""
        paths = (self.folders[number] / f"{name}.parquet" for number in part or range(len(self.folders)))
        return f"read_parquet([{', '.join(map(quoted, paths))}])"

    def groups(self, name: str) -> Iterator[range]:
        """Neighbouring chunks whose tables together are short enough to be held in memory."""
        offsets, start = self.offsets[name], 0
        for end in range(1, len(self.folders) + 1):
            if end == len(self.folders) or offsets[end + 1] - offsets[start] > _ROWS_HELD:
                yield range(start, end)
                start = end


@dataclass(frozen=True, slots=True)
class Titles:
    """What is known of every title, by its number (titles are numbered in order)."""

    final: Int32  # number of the title that redirects lead to; -1 when they lead nowhere
    page: Int32  # the first page of that title; -1 if there is none
    entity: Int32  # -1 when it is none
    linked: npt.NDArray[np.bool_]
    counted: npt.NDArray[np.bool_]  # linked by a page that is not set aside


def resolve(
    chunks: Chunks, folder: Path, keep_red_links: bool, held: HeldOut, memory: int, threads: int
) -> dict[str, int]:
    """Write pages, entities and words below ``folder``, and what chunks need to number their own.

    ``targets.i32`` and ``words.i32`` hold the entity (-1: none) of every link target and the number of every
    word, chunk after chunk; ``held.i32`` the pages set aside, ``pages.i32`` the entity of every page.
    """
    held.pages.tofile(folder / "held.i32")
    (folder / "spill").mkdir()
    with database_errors(folder, CorpusError), open_database(folder / "spill", memory, threads) as database:
        words = _write_words(database, chunks, folder, held.words)
        titles, page_titles = _resolve_titles(database, chunks, folder, keep_red_links, held.targets)
        _write_pages(database, chunks, folder, titles, page_titles, held.pages)
    entities = _write_entities(folder, titles)
    shutil.rmtree(folder / "spill", ignore_errors=True)
    (folder / "titles.parquet").unlink()
    linked = int(np.count_nonzero(titles.linked & (titles.entity >= 0)))
    return {
        "entities": entities,
        "distinct_targets": linked,
        "words": words,
        "held_out": int(held.pages.size),
    }


def _column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    column: npt.NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return column


def _write_numbered(
    database: duckdb.DuckDBPyConnection, query: str, path: Path, number: str, compression: str = "zstd"
) -> int:
    """Write the rows of a query to Parquet, numbered from zero; returns how many there are."""
    how = {"compression": compression, "use_dictionary": False, "column_encoding": {number: DELTA}}
    path.parent.mkdir(exist_ok=True)
    rows, writer = 0, None
    for batch in arrow_batches(database, query, _BATCH):
        numbers = pa.array(np.arange(rows, rows + batch.num_rows, dtype=np.int32))
        table = pa.table({number: numbers, **dict(zip(batch.schema.names, batch.columns, strict=True))})
        writer = writer or pq.ParquetWriter(path, table.schema, **how)
        writer.write_table(table)
        rows += batch.num_rows
    if writer:
        writer.close()
    return rows


def _write_words(database: duckdb.DuckDBPyConnection, chunks: Chunks, folder: Path, held: pa.Table) -> int:
    path = folder / "words" / "00000.parquet"
    database.register("held_words", held)
    query = f"""
        SELECT text, sum(count)::BIGINT AS count FROM (
            SELECT text, count FROM {chunks.files("words")}
            UNION ALL SELECT text, -count FROM held_words
        ) GROUP BY text HAVING sum(count) > 0 ORDER BY text"""
    words = _write_numbered(database, query, path, "word")
    if not words:
        schema = pa.schema([("word", pa.int32()), ("text", pa.string()), ("count", pa.int64())])
        pq.write_table(schema.empty_table(), path)
    known = f"SELECT text, word AS number FROM read_parquet({quoted(path)})"
    with (folder / "words.i32").open("wb") as file:
        for numbers in _look_up(database, chunks, "words", "text", known):
            numbers.tofile(file)
    return words


def _look_up(
    database: duckdb.DuckDBPyConnection, chunks: Chunks, table: str, key: str, known: str
) -> Iterator[Int32]:
    """The number of every row of a chunk table, -1 if its ``key`` is not among the ``known``, in parts."""
    offsets = chunks.offsets[table]
    for group in chunks.groups(table):
        start = int(offsets[group.start])
        numbers = np.full(int(offsets[group.stop]) - start, -1, dtype=np.int32)
        query = f"SELECT chunk, local, number FROM {chunks.files(table, group)} JOIN ({known}) USING ({key})"
        for batch in arrow_batches(database, query, _BATCH):
            place = offsets[_column(batch, "chunk")] + _column(batch, "local") - start
            numbers[place] = _column(batch, "number")
        yield numbers


def _replace(source: Path, result: Path, by: Int32) -> None:
    """Copy a file of numbers, each replaced by what ``by`` says (-1 stays)."""
    with source.open("rb") as old, result.open("wb") as new:
        while (numbers := np.fromfile(old, dtype=np.int32, count=_BATCH)).size:
            np.where(numbers >= 0, by[numbers], -1).astype(np.int32).tofile(new)
    source.unlink()


def _resolve_titles(
    database: duckdb.DuckDBPyConnection,
    chunks: Chunks,
    folder: Path,
    keep_red_links: bool,
    held: npt.NDArray[np.int64],
) -> tuple[Titles, Int32]:
    """What every title is, and the title of every page; the chunks' link targets are written on the way."""
    pages, path = chunks.files("pages"), folder / "titles.parquet"
    every = f"""
        SELECT title, bool_and(possible) AS possible FROM (
            SELECT title, true AS possible FROM {pages} WHERE kind <> 'other'
            UNION ALL SELECT target, possible FROM {pages} WHERE target IS NOT NULL
            UNION ALL SELECT title, possible FROM {chunks.files("targets")}
        ) GROUP BY title ORDER BY title"""
    count = _write_numbered(database, every, path, "number", "lz4")  # read again and again, then removed
    if not count:
        raise PbohError("none of the pages has a title")
    known = f"SELECT title, number FROM read_parquet({quoted(path)})"
    page_titles, kind, first, target = _page_facts(database, chunks, known, count)
    final = follow(target)
    linked, counted, rows = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_), 0
    with (folder / "reached.i32").open("wb") as file:
        for targets in _look_up(database, chunks, "targets", "title", known):
            reached = final[targets]
            linked[reached[reached >= 0]] = True
            reached.tofile(file)
            aside = held[slice(*np.searchsorted(held, [rows, rows + reached.size]))]
            reached[aside - rows] = -1
            counted[reached[reached >= 0]] = True
            rows += reached.size
    possible = pq.read_table(path, columns=["possible"]).column("possible").to_numpy()
    is_entity = kind == ARTICLE
    if keep_red_links:
        is_entity |= (kind == MISSING) & linked & possible
    entity = np.where(is_entity, np.cumsum(is_entity) - 1, -1).astype(np.int32)
    _replace(folder / "reached.i32", folder / "targets.i32", entity)
    return Titles(final, first, entity, linked, counted), page_titles


def _page_facts(
    database: duckdb.DuckDBPyConnection, chunks: Chunks, known: str, count: int
) -> tuple[Int32, npt.NDArray[np.uint8], Int32, Int32]:
    """Title of every page (-1: another namespace); kind, first page and redirect target of every title."""
    number = np.concatenate(list(_look_up(database, chunks, "pages", "title", known)))
    kinds = np.zeros(number.size, dtype=np.uint8)
    for folder, start in zip(chunks.folders, chunks.offsets["pages"], strict=False):
        column = pq.read_table(folder / "pages.parquet", columns=["kind"]).column("kind")
        known_kinds = pc.fill_null(pc.index_in(column, value_set=_KINDS), -1).to_numpy()
        kinds[start : start + len(column)] = known_kinds + 1
    number[kinds == MISSING] = -1
    renamed = f"SELECT title AS target, number FROM ({known})"
    redirect = np.concatenate(list(_look_up(database, chunks, "pages", "target", renamed)))
    # of two pages with one title, the first counts: it is written last
    pages = np.flatnonzero(number >= 0)[::-1]
    kind = np.zeros(count, dtype=np.uint8)
    first = np.full(count, -1, dtype=np.int32)
    target = np.arange(count, dtype=np.int32)
    kind[number[pages]] = kinds[pages]
    first[number[pages]] = pages
    target[number[pages]] = np.where(kinds[pages] == REDIRECT, redirect[pages], number[pages])
    # a redirect to itself must not look like a page
    target[(kind == REDIRECT) & (target == np.arange(count))] = -1
    return number, kind, first, target


def follow(target: Int32) -> Int32:
    """Final target of every title; ``target[i]`` is ``i`` if it is not a redirect, -1 if it leads nowhere.

    Every round doubles the distance followed; who has not arrived after log2(n) rounds runs in a circle. This
    is where redirects of one corpus are followed; counting follows only those that lead from one corpus to
    another, by title, when it merges several.
    """
    arrived = target == np.arange(target.size, dtype=np.int32)
    final = target.copy()
    for _ in range(int(target.size).bit_length()):
        following = np.where(final >= 0, final[final], -1).astype(np.int32)
        if np.array_equal(following, final):
            break
        final = following
    final[(final >= 0) & ~arrived[final]] = -1
    return final


def _write_pages(
    database: duckdb.DuckDBPyConnection,
    chunks: Chunks,
    folder: Path,
    titles: Titles,
    page_titles: Int32,
    held: Int32,
) -> None:
    """Pages in input order, with their entity or, for redirects, the title they lead to."""
    ends = np.where(page_titles >= 0, titles.final[page_titles], -1)
    redirects = np.flatnonzero((ends >= 0) & (ends != page_titles)).astype(np.int32)
    database.register("redirect", pa.table({"page": redirects, "number": ends[redirects].astype(np.int32)}))
    known = f"read_parquet({quoted(folder / 'titles.parquet')})"
    query = f"SELECT page, title FROM redirect JOIN {known} USING (number) ORDER BY page"
    bounds = np.searchsorted(redirects, chunks.offsets["pages"])
    finals = _pieces(arrow_batches(database, query, _BATCH), np.diff(bounds).tolist())
    entities = np.where((page_titles >= 0) & (ends == page_titles), titles.entity[page_titles], -1)
    first = titles.page[page_titles] == np.arange(page_titles.size)
    np.where(first, entities, -1).astype(np.int32).tofile(folder / "pages.i32")
    (folder / "pages").mkdir()
    how = {"use_dictionary": ["kind"], "column_encoding": {"page": DELTA, "id": DELTA}}
    with pq.ParquetWriter(folder / "pages" / "00000.parquet", PAGES, compression="zstd", **how) as writer:
        for number, (source, final) in enumerate(zip(chunks.folders, finals, strict=True)):
            table = pq.read_table(source / "pages.parquet")
            start = int(chunks.offsets["pages"][number])
            rows = slice(start, start + table.num_rows)
            leads = np.zeros(table.num_rows, dtype=np.bool_)
            leads[redirects[slice(*bounds[number : number + 2])] - start] = True
            place = pa.array(np.cumsum(leads) - 1, mask=~leads)
            columns = {
                "page": pa.array(np.arange(rows.start, rows.stop, dtype=np.int32)),
                "id": table.column("id"),
                "title": table.column("title"),
                "kind": table.column("kind"),
                "target": final.take(place),
                "entity": pa.array(entities[rows].astype(np.int32), mask=entities[rows] < 0),
                "held": np.isin(np.arange(rows.start, rows.stop), held),
            }
            writer.write_table(pa.table(columns, schema=PAGES))


def _pieces(batches: Iterator[pa.RecordBatch], sizes: Iterable[int]) -> Iterator[pa.ChunkedArray]:
    """Titles that come in batches, cut into pieces of the given sizes."""
    held = _EMPTY
    for size in sizes:
        while held.num_rows < size:
            held = pa.concat_tables([held, pa.Table.from_batches([next(batches)])])
        yield held.column("title").slice(0, size)
        held = held.slice(size)


PAGES = pa.schema(
    [
        ("page", pa.int32()),
        ("id", pa.int64()),
        ("title", pa.string()),
        ("kind", pa.string()),
        ("target", pa.string()),
        ("entity", pa.int32()),
        ("held", pa.bool_()),
    ]
)
ENTITIES = pa.schema(
    [("entity", pa.int32()), ("title", pa.string()), ("page", pa.int32()), ("held", pa.bool_())]
)
_EMPTY = pa.schema([("page", pa.int32()), ("title", pa.string())]).empty_table()


def _write_entities(folder: Path, titles: Titles) -> int:
    """The titles that are entities, in order."""
    (folder / "entities").mkdir()
    how = {"compression": "zstd", "use_dictionary": False, "column_encoding": {"entity": DELTA}}
    start = 0
    with (
        pq.ParquetFile(folder / "titles.parquet") as known,
        pq.ParquetWriter(folder / "entities" / "00000.parquet", ENTITIES, **how) as writer,
    ):
        for batch in known.iter_batches(_BATCH, columns=["title"]):
            rows = slice(start, start + batch.num_rows)
            kept = np.flatnonzero(titles.entity[rows] >= 0)
            page = titles.page[rows][kept]
            columns = {
                "entity": titles.entity[rows][kept],
                "title": batch.column("title").take(pa.array(kept)),
                "page": pa.array(page, mask=page < 0),
                "held": (page < 0) & ~titles.counted[rows][kept],
            }
            writer.write_table(pa.table(columns, schema=ENTITIES))
            start = rows.stop
    return int(np.count_nonzero(titles.entity >= 0))
