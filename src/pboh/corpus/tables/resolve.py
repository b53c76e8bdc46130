"""From the titles and words of all chunks to entities and word numbers, in bounded memory.

Titles and words are put in order by DuckDB, which spills to disk; per title only a few integers are held.
Redirects may lead from any chunk to any other, so this runs once, between the two passes.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pboh.corpus.tables.ordered import SAMPLED, Ordered
from pboh.corpus.tables.second_pass import DELTA, Place
from pboh.errors import CorpusError, PbohError
from pboh.files.database import arrow_batches, database_errors, open_database, quoted
from pboh.files.mapped import note_mapping
from pboh.text.utf8_kernels import Int32, Int64

if TYPE_CHECKING:
    from pboh.corpus.tables.held_out import HeldOut

MISSING, ARTICLE, REDIRECT, DISAMBIGUATION, LIST = range(5)
_KINDS = pa.array(["article", "redirect", "disambiguation", "list"])  # from ARTICLE on
_BATCH = 1 << 17
_BLOCK = 1 << 22  # numbers at a time


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

    def files(self, name: str) -> str:
        """The table's files, as DuckDB's ``read_parquet`` takes them."""
        paths = (folder / f"{name}.parquet" for folder in self.folders)
        return f"read_parquet([{', '.join(map(quoted, paths))}])"

    def strings(self, name: str, column: str) -> str:
        """A query for a column of strings of the table, with the place of each."""
        return f"SELECT chunk, local, {column} AS text FROM {self.files(name)}"

    def some(self, name: str, column: str) -> str:
        """A query for a sample of them."""
        return f"SELECT text FROM ({self.strings(name, column)}) WHERE local % {SAMPLED} = 0"

    def rows(self, name: str) -> int:
        """How many rows the table has in all chunks."""
        return int(self.offsets[name][-1])


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
        words = _write_words(database, chunks, folder, held.words, memory)
        titles, page_titles = _resolve_titles(database, chunks, folder, keep_red_links, held.targets, memory)
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


def _numbers(path: Path, rows: int) -> Int32:
    """A file of numbers, -1 each, to be written in place."""
    with path.open("wb") as file:
        for start in range(0, rows, _BLOCK):
            np.full(min(_BLOCK, rows - start), -1, dtype=np.int32).tofile(file)
    if not rows:
        return np.empty(0, dtype=np.int32)
    numbers = np.memmap(path, dtype=np.int32, mode="r+")
    note_mapping(numbers)  # its pages may go to the file at any time
    return numbers


def _write_words(
    database: duckdb.DuckDBPyConnection, chunks: Chunks, folder: Path, held: pa.Table, memory: int
) -> int:
    path = folder / "words" / "00000.parquet"
    database.register("held_words", held)
    rows = f"""
        SELECT text, count FROM {chunks.files("words")}
        UNION ALL SELECT text, -count FROM held_words"""
    ordered = Ordered(database, chunks.some("words", "text"), chunks.rows("words"), memory)
    columns = "text, sum(count)::BIGINT AS count"
    words = ordered.write(path, "word", rows, columns, having="sum(count) > 0")
    if not words:
        schema = pa.schema([("word", pa.int32()), ("text", pa.string()), ("count", pa.int64())])
        pq.write_table(schema.empty_table(), path)
    known = f"SELECT text, word AS number FROM read_parquet({quoted(path)})"
    numbers = _numbers(folder / "words.i32", chunks.rows("words"))
    ordered.look_up(chunks.strings("words", "text"), known, chunks.offsets["words"], numbers)
    return words


def _resolve_titles(
    database: duckdb.DuckDBPyConnection,
    chunks: Chunks,
    folder: Path,
    keep_red_links: bool,
    held: npt.NDArray[np.int64],
    memory: int,
) -> tuple[Titles, Int32]:
    """What every title is, and the title of every page; the chunks' link targets are written on the way."""
    pages, path = chunks.files("pages"), folder / "titles.parquet"
    rows = f"""
        SELECT title AS text, true AS possible FROM {pages} WHERE kind <> 'other'
        UNION ALL SELECT target, possible FROM {pages}
        UNION ALL SELECT title, possible FROM {chunks.files("targets")}"""
    samples = f"{chunks.some('pages', 'title')} UNION ALL {chunks.some('targets', 'title')}"
    ordered = Ordered(database, samples, 2 * chunks.rows("pages") + chunks.rows("targets"), memory)
    columns = "text AS title, bool_and(possible) AS possible"
    count = ordered.write(path, "number", rows, columns, compression="lz4")  # read often, then removed
    if not count:
        raise PbohError("none of the pages has a title")
    known = f"SELECT title AS text, number FROM read_parquet({quoted(path)})"
    page_titles, kind, first, target = _page_facts(ordered, chunks, known, count)
    final = follow(target)
    targets = _numbers(folder / "targets.i32", chunks.rows("targets"))
    ordered.look_up(chunks.strings("targets", "title"), known, chunks.offsets["targets"], targets)
    linked, counted = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    for start in range(0, targets.size, _BLOCK):
        reached = final[targets[start : start + _BLOCK]]
        linked[reached[reached >= 0]] = True
        aside = held[slice(*np.searchsorted(held, [start, start + reached.size]))]
        reached[aside - start] = -1
        counted[reached[reached >= 0]] = True
    possible = pq.read_table(path, columns=["possible"]).column("possible").to_numpy()
    is_entity = kind == ARTICLE
    if keep_red_links:
        is_entity |= (kind == MISSING) & linked & possible
    entity = np.where(is_entity, np.cumsum(is_entity) - 1, -1).astype(np.int32)
    for start in range(0, targets.size, _BLOCK):
        reached = final[targets[start : start + _BLOCK]]
        targets[start : start + _BLOCK] = np.where(reached >= 0, entity[reached], -1)
    return Titles(final, first, entity, linked, counted), page_titles


def _page_facts(
    ordered: Ordered, chunks: Chunks, known: str, count: int
) -> tuple[Int32, npt.NDArray[np.uint8], Int32, Int32]:
    """Title of every page (-1: another namespace); kind, first page and redirect target of every title."""
    number, redirect = (np.full(chunks.rows("pages"), -1, dtype=np.int32) for _ in range(2))
    for column, numbers in (("title", number), ("target", redirect)):
        ordered.look_up(chunks.strings("pages", column), known, chunks.offsets["pages"], numbers)
    kinds = np.zeros(number.size, dtype=np.uint8)
    for folder, start in zip(chunks.folders, chunks.offsets["pages"], strict=False):
        column = pq.read_table(folder / "pages.parquet", columns=["kind"]).column("kind")
        known_kinds = pc.fill_null(pc.index_in(column, value_set=_KINDS), -1).to_numpy()
        kinds[start : start + len(column)] = known_kinds + 1
    number[kinds == MISSING] = -1
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
