"""From counts to a model: ``pboh build`` lays the tables of ``pboh count`` out as memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pboh
from pboh.errors import CountsError
from pboh.files.progress import Report, silent
from pboh.files.writing import read_json
from pboh.model.fuzzy import build_index
from pboh.model.link_probability import LinkCounts
from pboh.model.names import Layer, NameCollector
from pboh.model.store import ModelWriter
from pboh.model.subjects import add_subjects
from pboh.model.tables import (
    Arrays,
    background_probability,
    context_table,
    offsets_of,
    posting_table,
    title_table,
    word_table,
)
from pboh.model.vectors import COUNTED, DIMENSIONS, VectorOptions, make_vectors
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, hash_strings, string_blob
from pboh.text.matcher import beginnings, make_filter


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What goes into a model; recorded in ``model.json``."""

    entries_per_name: int = 64  # the paper's R, per layer
    derived_names: bool = True  # names made from titles (stripped, last, first, prefix, acronym)
    fuzzy: bool = True  # the trigram index of the paper's rescue
    vectors: int = DIMENSIONS  # of entities and words: how many dimensions, 0 for none


def build_model(
    counts: Path, out: Path, options: BuildOptions | None = None, report: Report = silent
) -> dict[str, Any]:
    """Write the model of a counts folder to ``out``; returns its description (``model.json``)."""
    options = options or BuildOptions()
    info = read_json(counts / "counts.json", "the counts' description", CountsError)
    if not isinstance(info, dict) or info.get("format") != "pboh-counts":
        raise CountsError(
            "this is not a counts folder", where=counts, todo="Make one with: pboh count CORPUS"
        )
    with ModelWriter(out) as writer:
        build = _Build(counts, options)
        steps: tuple[Callable[[], Arrays], ...]
        steps = build.entities, build.postings, build.words, build.names, build.fuzzy
        for k, step in enumerate(steps):
            report(k, len(steps) + 1, step.__name__)
            writer.add_all(step())
        build.totals |= add_subjects(counts, writer)
        writer.add_all(build.vectors(writer.aside, partial(_after, len(steps), report)))
        description = {
            "pboh": pboh.__version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "language": info.get("language"),
            "corpus": info.get("inputs"),
            "options": {"count": info.get("options"), "build": asdict(options)},
            "totals": {**info["totals"], **build.totals},
            "settings": {},
        }
        writer.finish(description)
        report(1, 1)
    return description


def _after(steps: int, report: Report, done: float, total: float | None = None, detail: str = "") -> None:
    """Report on the last step."""
    report(steps + done / (total or 1), steps + 1, detail)


class _Build:
    """The steps from counts to arrays, in order: later ones use what earlier ones found."""

    def __init__(self, counts: Path, options: BuildOptions) -> None:
        self.counts, self.options = counts, options
        self.titles: list[str] = []
        self.popularity = np.empty(0)
        self.totals: dict[str, int] = {}
        self.known: list[str] = []  # lower-cased anchor texts

    def _open(self, table: str) -> pq.ParquetDataset:
        try:
            return pq.ParquetDataset(self.counts / table)
        except (OSError, pa.ArrowInvalid) as reason:
            what, todo = f"the table {table} cannot be read ({reason})", "Run pboh count again"
            raise CountsError(what, where=self.counts, todo=todo) from reason

    def _columns(self, table: str, *names: str) -> list[Array]:
        """Columns of a table as arrays, in file order."""
        loaded = self._open(table).read(columns=list(names))
        return [loaded.column(name).to_numpy() for name in names]

    def _batches(self, table: str, *names: str) -> Iterator[list[Array]]:
        """Columns of a table, a million rows at a time."""
        for fragment in self._open(table).fragments:
            for batch in fragment.to_batches(columns=list(names), batch_size=1 << 20):
                yield [batch.column(name).to_numpy(zero_copy_only=False) for name in names]

    def entities(self) -> Arrays:
        """How often every entity is linked, and the number of its page; titles follow with the names."""
        table = self._open("entities").read()
        order = np.argsort(table.column("entity").to_numpy())
        self.titles = table.column("title").take(pa.array(order)).to_pylist()
        self.popularity = table.column("occurrences").to_numpy()[order]
        self.totals["entities"] = len(self.titles)
        arrays = {
            "entity_occurrences": self.popularity.astype(np.uint32),
            "entity_marginal": table.column("marginal").to_numpy()[order].astype(np.int64),
        }
        if "id" in table.column_names and table.column("id").null_count < len(self.titles):
            arrays["entity_page"] = table.column("id").fill_null(0).to_numpy()[order].astype(np.uint32)
        return arrays

    def postings(self) -> Arrays:
        """The documents that link every entity."""
        entity, document = self._columns("incidences", "entity", "document")
        self.totals["documents"] = int(document.max(initial=-1)) + 1
        return posting_table(offsets_of(entity, len(self.titles)), document)

    def words(self) -> Arrays:
        """The vocabulary, and N(w,e)."""
        number, text, count = self._columns("words", "word", "text", "count")
        order = np.argsort(number)
        vocabulary = word_table([str(t) for t in text[order]])
        owner, sums = self._columns("word_totals", "entity", "total")
        total = np.zeros(len(self.titles), np.float32)
        total[owner] = sums
        background = background_probability(count[order])
        entity, word, count = self._columns("word_entity", "entity", "word", "count")
        order = np.lexsort((word, entity))
        contexts = context_table(entity[order], word[order], count[order], total)
        return vocabulary | {"word_background": background} | contexts

    def names(self) -> Arrays:
        """The layered name table, and the titles and redirects by which an entity is known exactly."""
        begins = [np.empty(0, np.uint64)]
        collector = NameCollector(lambda names: begins.append(beginnings(names)))
        redirects, owners = [np.empty(0, np.uint64)], [np.empty(0, np.uint32)]
        known: set[str] = set()
        for names, entity, source, count in self._batches("names", "name", "entity", "source", "count"):
            anchors = (source == "anchor") | (source == "crosswikis")
            collector.add_anchors(names[anchors].tolist(), entity[anchors], count[anchors])
            known.update(squeeze(name).lower() for name in names[anchors])
            for layer in (Layer.REDIRECT, Layer.DISAMBIGUATION):
                rows = source == layer.name.lower()
                collector.add(layer, [fold(name) for name in names[rows]], entity[rows], count[rows])
            rows = source == "redirect"
            redirects.append(hash_strings(names[rows].tolist()))
            owners.append(entity[rows].astype(np.uint32))
        for start in range(0, len(self.titles) if self.options.derived_names else 0, 1 << 18):
            part = self.titles[start : start + (1 << 18)]
            collector.add_titles(part, np.arange(start, start + len(part)))
        arrays = collector.table(self.popularity, self.options.entries_per_name)
        arrays["name_filter"] = make_filter(arrays["name_hash"], np.unique(np.concatenate(begins)))
        if (self.counts / "names_in_text").exists():
            links = LinkCounts(arrays["name_hash"], arrays["name_buckets"])
            for texts, linked, total in self._batches("names_in_text", "name", "linked", "total"):
                links.add(texts.tolist(), linked, total)
            arrays |= links.probabilities()
        self.known = sorted(known)
        self.totals |= {"names": len(known), "name_keys": int(arrays["name_hash"].size)}
        return arrays | title_table(self.titles, np.concatenate(redirects), np.concatenate(owners))

    def fuzzy(self) -> Arrays:
        """Trigram index of the lower-cased anchor texts (section "Candidate Selection")."""
        if not self.options.fuzzy:
            return {}
        blob, offsets = string_blob(self.known)
        index = {"blob": blob, "offsets": offsets, **build_index(blob, offsets)}
        return {f"rescue_{name}": array for name, array in index.items()}

    def vectors(self, folder: Path, report: Report) -> Arrays:
        """Vectors of entities and words, from arrays that are written already."""
        if not self.options.vectors:
            return {}
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in COUNTED}
        return make_vectors(arrays, VectorOptions(self.options.vectors), report)
