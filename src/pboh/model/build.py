"""From counts to a model: ``pboh build`` lays the tables of ``pboh count`` out as memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pboh
from pboh.errors import CountsError, InputError
from pboh.files.by_hash import ByHash
from pboh.files.database import arrow_batches, database_errors, open_database, quoted
from pboh.files.mapped import give_pages_back
from pboh.files.memory import processors, release
from pboh.files.progress import Report, silent
from pboh.files.writing import read_json
from pboh.model.fuzzy import index_parts
from pboh.model.link_probability import LinkCounts
from pboh.model.names import Layer, NameCollector
from pboh.model.subjects import add_subjects
from pboh.model.tables import (
    WORD_THRESHOLDS,
    background_probability,
    head_table,
    merged_titles,
    offsets_of_sizes,
    run_starts,
    word_table,
)
from pboh.model.twins import merge_twins
from pboh.model.vectors import COUNTED, DIMENSIONS, VectorOptions, vector_parts
from pboh.model.word_rows import COUNTS, count_rows, degrees, free_degree, least_counts
from pboh.model.writing import ArrayFile, ModelWriter
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, bucket_parts, hash_strings, hash_words
from pboh.text.matcher import beginnings, make_filter

AT_A_TIME = 1 << 17
"""Rows of a table that are held at a time."""
LEAST_MEMORY = 128 << 20
"""What DuckDB needs to put names in order."""
_AGAIN = "Run pboh count again"


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What goes into a model; recorded in ``model.json``."""

    entries_per_name: int = 64  # the paper's R, per layer
    derived_names: bool = True  # names made from titles (stripped, last, first, prefix, acronym)
    fuzzy: bool = True  # the trigram index of the paper's rescue
    vectors: int = DIMENSIONS  # of entities and words: how many dimensions, 0 for none
    merge_twins: bool = False  # titles that are surely another name of an entity
    word_rows: int = 500_000_000  # of N(w,e), six bytes each; of more, the least frequent go


def build_model(
    counts: Path,
    out: Path,
    options: BuildOptions | None = None,
    report: Report = silent,
    memory: int = 4 << 30,
) -> dict[str, Any]:
    """Write the model of a counts folder to ``out``; returns its description (``model.json``).

    ``memory`` decides how much is sorted at a time, and changes nothing in the model.
    """
    options = options or BuildOptions()
    if options.merge_twins and not options.vectors:
        raise InputError("twins are told by vectors", todo="Build with vectors, or do not merge twins")
    info = read_json(counts / "counts.json", "the counts' description", CountsError)
    if not isinstance(info, dict) or info.get("format") != "pboh-counts":
        raise CountsError(
            "this is not a counts folder", where=counts, todo="Make one with: pboh count CORPUS"
        )
    with ModelWriter(out) as writer:
        build = _Build(counts, options, writer, memory)
        steps = (build.entities, build.postings, build.words, build.names, build.fuzzy)
        for k, step in enumerate(steps):
            report(k, len(steps) + 1, step.__name__)
            step()
            release()
        build.totals |= add_subjects(counts, writer)
        release()
        build.vectors(partial(_after, len(steps), report))
        description: dict[str, Any] = {
            "pboh": pboh.__version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "language": info.get("language"),
            **_made_of(info, options),
            "totals": {**info["totals"], **build.totals},
            "settings": {},
        }
        writer.finish(description)
    if options.merge_twins:
        description["totals"]["merged_twins"] = merge_twins(out)
    report(1, 1)
    return description


def _made_of(info: dict[str, Any], options: BuildOptions) -> dict[str, Any]:
    """Corpora and options; folders of the machine it was made on are nobody's business."""
    counted = dict(info.get("options") or {})
    if counted.get("crosswikis"):
        counted["crosswikis"] = Path(counted["crosswikis"]).name
    corpora = [{k: v for k, v in one.items() if k != "folder"} for one in info.get("inputs") or []]
    return {"corpus": corpora, "options": {"count": counted, "build": asdict(options)}}


def _after(steps: int, report: Report, done: float, total: float | None = None, detail: str = "") -> None:
    """Report on the last step, which reads mapped arrays block by block and is done with them."""
    give_pages_back()
    report(steps + done / (total or 1), steps + 1, detail)


class _Build:
    """The steps from counts to arrays, in order: later ones use what earlier ones found.

    Tables are read in batches and arrays written as they come; what has to be sorted is sorted outside
    memory. Held are a few numbers per entity and word, and the strings of one batch.
    """

    def __init__(self, counts: Path, options: BuildOptions, writer: ModelWriter, memory: int) -> None:
        self.counts, self.options, self.writer = counts, options, writer
        self.totals: dict[str, int] = {}
        self._memory, self._held = memory, memory // 16  # bytes of rows to be sorted, which takes more
        self._titles = ByHash(writer.scratch("titles"), self._held // 2, entity="<u4")

    def _batches(self, table: str, *names: str) -> Iterator[list[Array]]:
        """Columns of a table in its order, many rows at a time."""
        for batch in self._rows(table, *names):
            yield [batch.column(name).to_numpy(zero_copy_only=False) for name in names]

    def _rows(self, table: str, *names: str) -> Iterator[pa.RecordBatch]:
        for path in self._files(table):
            with _readable(table, path), pq.ParquetFile(path) as file:
                yield from file.iter_batches(AT_A_TIME, columns=list(names))

    def _files(self, table: str) -> list[Path]:
        found = sorted(p for p in (self.counts / table).rglob("*.parquet") if not p.name.startswith("."))
        if not found:
            raise CountsError(f"the table {table} is missing", where=self.counts, todo=_AGAIN)
        return found

    def entities(self) -> None:
        """Titles, how often every entity is linked, and the number of its page."""
        [first, *_] = self._files("entities")
        with _readable("entities", first):
            pages = ["id"] if "id" in pq.read_schema(first).names else []
        numbered = False
        with (
            _strings(self.writer, "title") as titles,
            self.writer.stream(entity_occurrences="<u4", entity_marginal="<i8") as (links, marginal),
            self.writer.stream(entity_page="<u4") as [page],
        ):
            for batch in self._rows("entities", "entity", "title", "occurrences", "marginal", *pages):
                start, rows = links.size, batch.num_rows
                if not np.array_equal(batch["entity"].to_numpy(), np.arange(start, start + rows)):
                    raise CountsError("the table entities is not in order", where=self.counts, todo=_AGAIN)
                titles.append(batch["title"])
                hashes = hash_strings(batch["title"].to_pylist())
                self._titles.add(hashes, entity=np.arange(start, start + rows))
                links.append(batch["occurrences"].to_numpy())
                marginal.append(batch["marginal"].to_numpy())
                for name in pages:
                    numbered |= batch[name].null_count < rows
                    page.append(batch[name].fill_null(0).to_numpy())
        if not numbered:
            self.writer.drop("entity_page")
        self.totals["entities"] = links.size

    def postings(self) -> None:
        """The documents that link every entity, and N(e,e′) of those with the longest lists."""
        sizes, documents = np.zeros(self.totals["entities"], np.int64), 0
        with self.writer.stream(posting_document="<u4") as [posting]:
            for entity, document in self._batches("incidences", "entity", "document"):
                _add_up(sizes, entity)
                documents = max(documents, int(document.max(initial=-1)) + 1)
                posting.append(document)
        self.totals["documents"] = documents
        offsets = offsets_of_sizes(sizes)
        heads, pairs = head_table(offsets, self.writer.mapped("posting_document"))
        self.writer.add_all({"posting_offsets": offsets, "head_entity": heads, "head_pairs": pairs})

    def words(self) -> None:
        """The vocabulary, and N(w,e)."""
        hashes, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
        for text, count in self._batches("words", "text", "count"):
            hashes.append(hash_words(text.tolist()))
            counts.append(count)
        self.writer.add_all(word_table(np.concatenate(hashes)))
        self.writer.add("word_background", background_probability(np.concatenate(counts)))
        total = np.zeros(self.totals["entities"], np.float32)
        for owner, sums in self._batches("word_totals", "entity", "total"):
            total[owner] = sums
        self.writer.add("context_total", total)
        self._contexts(total.size, self._least_counts(total))

    def _least_counts(self, total: Array) -> Array | None:
        """The smallest N(w,e) to keep of every entity, if there are too many rows to keep them all."""
        rows = sum(pq.read_metadata(path).num_rows for path in self._files("word_entity"))
        if rows <= self.options.word_rows:
            return None
        degree = degrees(total)
        table = np.zeros((int(degree.max()) + 1, COUNTS), np.int64)
        for entity, count in self._batches("word_entity", "entity", "count"):
            count_rows(table, degree[entity], count)
        return least_counts(degree, free_degree(table, self.options.word_rows))

    def _word_rows(self, smallest: Array | None) -> Iterator[tuple[Array, Array, Array]]:
        """The rows of N(w,e) to keep, by entity and word."""
        last = (-1, -1)
        for entity, word, count in self._batches("word_entity", "entity", "word", "count"):
            if (int(entity[0]), int(word[0])) <= last or not _ascending(entity, word):
                raise CountsError("the table word_entity is not in order", where=self.counts, todo=_AGAIN)
            last = int(entity[-1]), int(word[-1])
            kept = slice(None) if smallest is None else count >= smallest[entity]
            yield entity[kept], word[kept], count[kept]

    def _contexts(self, entities: int, smallest: Array | None) -> None:
        """N(w,e) in rows by entity and word; their mass and number per smallest count that is asked for."""
        sizes = np.zeros(entities, np.int64)
        mass, types = np.zeros((2, len(WORD_THRESHOLDS), entities), np.uint32)
        with self.writer.stream(context_word="<i4", context_count="<u2") as (words, counts):
            for entity, word, count in self._word_rows(smallest):
                _add_up(sizes, entity)
                for k, least in enumerate(WORD_THRESHOLDS):
                    kept = count >= least
                    _add_up(mass[k], entity[kept], count[kept])
                    _add_up(types[k], entity[kept])
                words.append(word)
                counts.append(np.minimum(count, 65535))
        if smallest is not None:
            self.totals["word_rows"] = int(sizes.sum())
        self.writer.add("context_offsets", offsets_of_sizes(sizes))
        self.writer.add("context_mass", mass.astype(np.float32))
        self.writer.add("context_types", types.astype(np.float32))

    def names(self) -> None:
        """The layered name table, and the titles and redirects by which an entity is known exactly."""
        begins = ByHash(self.writer.scratch("begins"), self._held // 2)
        collector = NameCollector(
            lambda names: begins.add(beginnings(names)), self.writer.scratch("names"), self._held
        )
        known = self.writer.scratch("known.parquet")
        with pq.ParquetWriter(known, _KNOWN, compression="zstd") as lowered:
            for names, *columns in self._batches("names", "name", "entity", "source", "count"):
                anchors = self._add_names(collector, names, *columns)
                lower = {squeeze(name).lower() for name in anchors}
                lowered.write_batch(pa.record_batch([pa.array(sorted(lower), pa.string())], schema=_KNOWN))
        if self.options.derived_names:
            for titles, entity in self._batches("entities", "title", "entity"):
                collector.add_titles(titles.tolist(), entity)
        self._write_names(collector)
        self._write_filter(begins)
        self._write_links()
        self._write_titles()
        self._write_known(known)

    def _add_names(
        self, collector: NameCollector, names: Array, entity: Array, source: Array, count: Array
    ) -> list[str]:
        """Add a batch of names of all sources; returns the anchor texts among them."""
        linked = (source == "anchor") | (source == "crosswikis")
        anchors: list[str] = names[linked].tolist()
        collector.add_anchors(anchors, entity[linked], count[linked])
        for layer in (Layer.REDIRECT, Layer.DISAMBIGUATION):
            rows = source == layer.name.lower()
            collector.add(layer, [fold(name) for name in names[rows]], entity[rows], count[rows])
        for which in ("anchor", "followed"):
            rows = source == which
            collector.add_followed(names[rows].tolist(), entity[rows], count[rows], links=which == "anchor")
        rows = source == "redirect"
        self._titles.add(hash_strings(names[rows].tolist()), entity=entity[rows])
        return anchors

    def _write_names(self, collector: NameCollector) -> None:
        popularity = np.array(self.writer.mapped("entity_occurrences"))
        with (
            self.writer.stream(name_hash="<u8", name_offsets="<u4") as (hashes, offsets),
            self.writer.stream(name_entity="<u4", name_layer="|u1", name_count="<f4") as rows,
        ):
            for keys, *columns in collector.entries(popularity, self.options.entries_per_name):
                starts = run_starts(keys) if keys.size else np.empty(0, np.int64)
                hashes.append(keys[starts])
                offsets.append(starts + rows[0].size)
                for file, column in zip(rows, columns, strict=True):
                    file.append(column)
            offsets.append(np.asarray([rows[0].size]))
        self._write_buckets("name")
        self.totals["name_keys"] = hashes.size

    def _write_buckets(self, table: str) -> None:
        with self.writer.stream(**{f"{table}_buckets": "<u4"}) as [buckets]:
            for part in bucket_parts(self.writer.mapped(f"{table}_hash")):
                buckets.append(part)

    def _write_filter(self, begins: ByHash) -> None:
        distinct = ArrayFile(self.writer.scratch("begins.npy"), "<u8")
        for *_, rows in begins.parts():
            distinct.append(np.unique(rows["key"]))
        distinct.close()
        mapped = np.load(distinct.path, mmap_mode="c" if distinct.size else None)
        self.writer.add("name_filter", make_filter(self.writer.mapped("name_hash"), np.asarray(mapped)))

    def _write_links(self) -> None:
        """How often names are links, if that was counted."""
        if not (self.counts / "names_in_text").exists():
            return
        links = LinkCounts(self.writer.scratch("links"), self._held)
        for texts, linked, total in self._batches("names_in_text", "name", "linked", "total"):
            links.add(texts.tolist(), linked, total)
        with self.writer.stream(name_link_written="|u1", name_link_folded="|u1") as (written, folded):
            for form, codes in links.probabilities(self.writer.mapped("name_hash")):
                (written if form == "written" else folded).append(codes)

    def _write_titles(self) -> None:
        with self.writer.stream(title_hash="<u8", title_entity="<u4") as (hashes, entities):
            for *_, rows in self._titles.parts():
                keys, owners = merged_titles(rows["key"], rows["entity"])
                hashes.append(keys)
                entities.append(owners)
        self._write_buckets("title")

    def _write_known(self, path: Path) -> None:
        """The distinct lower-cased anchor texts, in order: what :meth:`fuzzy` indexes."""
        query, spill = f"SELECT DISTINCT name FROM read_parquet({quoted(path)})", self.writer.scratch("spill")
        with (
            database_errors(self.counts, CountsError),
            open_database(spill, max(self._memory // 3, LEAST_MEMORY), processors()) as database,
        ):
            if not self.options.fuzzy:
                [[self.totals["names"]]] = database.execute(f"SELECT COUNT(*) FROM ({query})").fetchall()
                return
            with _strings(self.writer, "rescue") as names:
                for batch in arrow_batches(database, f"{query} ORDER BY name", AT_A_TIME):
                    names.append(batch["name"])
        self.totals["names"] = names.size

    def fuzzy(self) -> None:
        """Trigram index of the lower-cased anchor texts (section "Candidate Selection")."""
        if not self.options.fuzzy:
            return
        blob, offsets = self.writer.mapped("rescue_blob"), self.writer.mapped("rescue_offsets")
        with self.writer.stream(rescue_postings="<u4") as [postings]:
            for name, array in index_parts(blob, offsets, self._memory // 4):
                if name == "postings":
                    postings.append(array)
                else:
                    self.writer.add(f"rescue_{name}", array)

    def vectors(self, report: Report) -> None:
        """Vectors of entities and words, from arrays that are written already."""
        if not (dimensions := self.options.vectors):
            return
        arrays = {name: self.writer.mapped(name) for name in COUNTED}
        with self.writer.stream(vector_entity=f"({dimensions},)|i1") as [rows]:
            for name, array in vector_parts(arrays, VectorOptions(dimensions), report):
                if name == "vector_entity":
                    rows.append(array)
                else:
                    self.writer.add(name, array)


_KNOWN = pa.schema([("name", pa.string())])


class _Strings:
    """Strings one behind the other as UTF-8, and the offsets that cut them apart, written as they come."""

    def __init__(self, blob: ArrayFile, offsets: ArrayFile) -> None:
        self._blob, self._offsets = blob, offsets
        self._offsets.append(np.zeros(1, np.int64))

    @property
    def size(self) -> int:
        """How many there are."""
        return self._offsets.size - 1

    def append(self, strings: pa.StringArray) -> None:
        """Write more of them."""
        _, bounds, letters = strings.cast(pa.string()).buffers()
        if not len(strings):
            return
        ends = np.frombuffer(bounds, np.int32)[strings.offset : strings.offset + len(strings) + 1]
        self._offsets.append(ends[1:].astype(np.int64) + (self._blob.size - ends[0]))
        if letters is not None:
            self._blob.append(np.frombuffer(letters, np.uint8)[ends[0] : ends[-1]])


@contextmanager
def _strings(writer: ModelWriter, name: str) -> Iterator[_Strings]:
    with writer.stream(**{f"{name}_blob": "|u1", f"{name}_offsets": "<i8"}) as (blob, offsets):
        yield _Strings(blob, offsets)


@contextmanager
def _readable(table: str, path: Path) -> Iterator[None]:
    """Say in one sentence that a table is damaged."""
    try:
        yield
    except (OSError, pa.ArrowException) as reason:
        raise CountsError(f"the table {table} cannot be read ({reason})", where=path, todo=_AGAIN) from reason


def _add_up(sums: Array, owners: Array, values: Array | None = None) -> None:
    """Add values (or 1 for each row) to the sums of their owners, which ascend."""
    if owners.size:
        first, last = int(owners[0]), int(owners[-1]) + 1
        sums[first:last] += np.bincount(owners - first, values, last - first).astype(sums.dtype)


def _ascending(entity: Array, word: Array) -> bool:
    """Whether rows are in the order of entities, and of words within each."""
    return bool(np.all((entity[1:] > entity[:-1]) | ((entity[1:] == entity[:-1]) & (word[1:] > word[:-1]))))
