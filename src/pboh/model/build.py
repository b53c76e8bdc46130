"""From counts to a model: ``pboh build`` lays the tables of ``pboh count`` out as memory-mapped arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
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
from pboh.model.pairs import head_table
from pboh.model.runs import offsets_of
from pboh.model.store import ModelWriter
from pboh.model.words import WORD_THRESHOLDS, background_probability
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, bucket_index, hash_strings, hash_words, string_blob
from pboh.text.matcher import beginnings, make_filter


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What goes into a model; recorded in ``model.json``."""

    entries_per_name: int = 64  # the paper's R, per layer
    derived_names: bool = True  # names made from titles (stripped, last, first, prefix, acronym)
    fuzzy: bool = True  # the trigram index of the paper's rescue


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
        steps = (_entities, _postings, _words, _names, _fuzzy)
        shared: dict[str, Any] = {"options": options}
        for k, step in enumerate(steps):
            report(k, len(steps), step.__name__.strip("_").replace("_", " "))
            step(counts, writer, shared)
        description = {
            "pboh": pboh.__version__,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "language": info.get("language"),
            "corpus": info.get("inputs"),
            "options": {"count": info.get("options"), "build": asdict(options)},
            "totals": {**info["totals"], **shared["totals"]},
            "settings": {},
        }
        writer.finish(description)
        report(len(steps), len(steps))
    return description


def _columns(counts: Path, table: str, *names: str) -> list[Array]:
    """Columns of a table as arrays, in file order."""
    loaded = _open(counts, table).read(columns=list(names))
    return [loaded.column(name).to_numpy() for name in names]


def _open(counts: Path, table: str) -> pq.ParquetDataset:
    try:
        return pq.ParquetDataset(counts / table)
    except (OSError, pa.ArrowInvalid) as reason:
        todo = "Run pboh count again"
        raise CountsError(f"the table {table} cannot be read ({reason})", where=counts, todo=todo) from reason


def _batches(counts: Path, table: str, *names: str) -> Iterator[pa.RecordBatch]:
    """Rows of a table, a million at a time."""
    for fragment in _open(counts, table).fragments:
        yield from fragment.to_batches(columns=list(names), batch_size=1 << 20)


def _entities(counts: Path, writer: ModelWriter, shared: dict[str, Any]) -> None:
    table = _open(counts, "entities").read()
    order = np.argsort(table.column("entity").to_numpy())
    titles = table.column("title").take(pa.array(order)).to_pylist()
    popularity = table.column("occurrences").to_numpy()[order]
    blob, offsets = string_blob(titles)
    writer.add("title_blob", blob)
    writer.add("title_offsets", offsets)
    writer.add("entity_occurrences", popularity.astype(np.uint32))
    writer.add("entity_marginal", table.column("marginal").to_numpy()[order].astype(np.int64))
    if "id" in table.column_names and table.column("id").null_count < len(titles):
        pages = table.column("id").fill_null(0).to_numpy()[order]
        writer.add("entity_page", pages.astype(np.uint32))
    shared |= {"titles": titles, "popularity": popularity, "totals": {"entities": len(titles)}}


def _postings(counts: Path, writer: ModelWriter, shared: dict[str, Any]) -> None:
    entity, document = _columns(counts, "incidences", "entity", "document")
    writer.add("posting_offsets", offsets_of(entity, len(shared["titles"])))
    writer.add("posting_document", document.astype(np.uint32))
    heads, pairs = head_table(offsets_of(entity, len(shared["titles"])), document)
    writer.add("head_entity", heads)
    writer.add("head_pairs", pairs)
    shared["totals"]["documents"] = int(document.max(initial=-1)) + 1


def _words(counts: Path, writer: ModelWriter, shared: dict[str, Any]) -> None:
    word, text, count = _columns(counts, "words", "word", "text", "count")
    order = np.argsort(word)
    background = background_probability(count[order])
    hashes = hash_words([str(t) for t in text[order]])
    by_hash = np.argsort(hashes)
    writer.add("word_hash", hashes[by_hash])
    writer.add("word_buckets", bucket_index(hashes[by_hash]))
    writer.add("word_id", by_hash.astype(np.int32))
    writer.add("word_background", background)
    size = len(shared["titles"])
    entity, total = _columns(counts, "word_totals", "entity", "total")
    totals = np.zeros(size, np.float32)
    totals[entity] = total
    writer.add("context_total", totals)
    _word_rows(counts, "word_entity", "context", writer, size)


def _word_rows(counts: Path, table: str, prefix: str, writer: ModelWriter, size: int) -> None:
    """Rows (entity, word, count) as CSR, with the kept mass and types per smallest count."""
    entity, word, count = _columns(counts, table, "entity", "word", "count")
    order = np.lexsort((word, entity))
    entity, word, count = entity[order], word[order], count[order]
    writer.add(f"{prefix}_offsets", offsets_of(entity, size))
    writer.add(f"{prefix}_word", word.astype(np.int32))
    writer.add(f"{prefix}_count", np.minimum(count, 65535).astype(np.uint16))
    mass = np.zeros((len(WORD_THRESHOLDS), size), np.float32)
    types = np.zeros_like(mass)
    for k, threshold in enumerate(WORD_THRESHOLDS):
        kept = count >= threshold
        mass[k] = np.bincount(entity[kept], count[kept], size)
        types[k] = np.bincount(entity[kept], minlength=size)
    writer.add(f"{prefix}_mass", mass)
    writer.add(f"{prefix}_types", types)


def _names(counts: Path, writer: ModelWriter, shared: dict[str, Any]) -> None:
    """The layered name table, and the titles and redirects by which an entity is known exactly."""
    begins = [np.empty(0, np.uint64)]
    collector = NameCollector(lambda names: begins.append(beginnings(names)))
    titles: list[str] = shared["titles"]
    exact = [hash_strings(titles)]
    owners = [np.arange(len(titles), dtype=np.uint32)]
    rescue: list[str] = []
    for batch in _batches(counts, "names", "name", "entity", "source", "count"):
        names = np.asarray(batch.column("name").to_pylist(), object)
        source = np.asarray(batch.column("source").to_pylist(), object)
        entity, count = batch.column("entity").to_numpy(), batch.column("count").to_numpy()
        anchors = (source == "anchor") | (source == "crosswikis")
        collector.add_anchors(names[anchors].tolist(), entity[anchors], count[anchors])
        rescue += {squeeze(name).lower() for name in names[anchors]}
        for layer in (Layer.REDIRECT, Layer.DISAMBIGUATION):
            rows = source == layer.name.lower()
            collector.add(layer, [fold(name) for name in names[rows]], entity[rows], count[rows])
        redirects = source == "redirect"
        exact.append(hash_strings(names[redirects].tolist()))
        owners.append(entity[redirects].astype(np.uint32))
    for start in range(0, len(titles) if shared["options"].derived_names else 0, 1 << 18):
        part = titles[start : start + (1 << 18)]
        collector.add_titles(part, np.arange(start, start + len(part)))
    arrays = collector.table(shared["popularity"], shared["options"].entries_per_name)
    arrays["name_filter"] = make_filter(arrays["name_hash"], np.unique(np.concatenate(begins)))
    if (counts / "names_in_text").exists():
        arrays |= _link_probability(counts, arrays)
    for name, array in arrays.items():
        writer.add(name, array)
    hashes, first = np.unique(np.concatenate(exact), return_index=True)
    writer.add("title_hash", hashes)
    writer.add("title_buckets", bucket_index(hashes))
    writer.add("title_entity", np.concatenate(owners)[first])
    shared["rescue"] = sorted(set(rescue))
    shared["totals"] |= {"names": len(shared["rescue"]), "name_keys": int(arrays["name_hash"].size)}


def _link_probability(counts: Path, names: dict[str, Array]) -> dict[str, Array]:
    """How often each name is a link where it stands in running text."""
    links = LinkCounts(names["name_hash"], names["name_buckets"])
    for batch in _batches(counts, "names_in_text", "name", "linked", "total"):
        links.add(
            batch.column("name").to_pylist(),
            batch.column("linked").to_numpy(),
            batch.column("total").to_numpy(),
        )
    return links.probabilities()


def _fuzzy(counts: Path, writer: ModelWriter, shared: dict[str, Any]) -> None:
    """Trigram index of the lower-cased anchor texts (section "Candidate Selection")."""
    if not shared["options"].fuzzy:
        return
    blob, offsets = string_blob(shared["rescue"])
    writer.add("rescue_blob", blob)
    writer.add("rescue_offsets", offsets)
    for name, array in build_index(blob, offsets).items():
        writer.add(f"rescue_{name}", array)
