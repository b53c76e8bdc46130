"""A pruned model as a parcel: a few compressed columns from which the arrays of a model are made again.

What can be computed is not stored: hashes of titles and of names made from them, offsets, bucket indexes,
marginal counts. The rest is turned into small integers (differences of ascending numbers, logarithms in steps
of 10 %), cut into planes of equal bytes and compressed with Zstandard. A parcel is opened once, into a folder
of the user's cache, and mapped from there like any other model.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from pboh.errors import ModelError, PbohError
from pboh.files.kernel_cache import user_cache
from pboh.model.names import Layer
from pboh.model.small.columns import ColumnReader, ColumnWriter, differences, exponentials, logarithms, sums
from pboh.model.small.title_kernels import title_forms_kernel
from pboh.model.small.vectors import pack_vectors, unpack_vectors
from pboh.model.store import Model
from pboh.model.tables import Arrays, context_table, name_table, offsets_of_sizes, posting_table, title_table
from pboh.model.writing import ModelWriter
from pboh.text.hashing import LINE_FEED, Array, blocks_of_lines, bucket_index, hash_lines_of, lines_of
from pboh.text.matcher import characters
from pboh.text.words import code_points

OUTSIDE = ("entity_page", "entity_id")  # numbers that others gave to entities, 0 for most of them
FROM_TITLE = (Layer.TITLE, Layer.STRIPPED, Layer.LAST, Layer.FIRST)
FINDER: dict[str, tuple[str, str, tuple[int, ...]]] = {
    # of the name finder: number type, the unsigned one of its size, and the shape of a row
    "finder_words": ("<u4", "<u4", ()),
    "finder_weights": ("<f2", "<u2", (4,)),
    "finder_steps": ("<f4", "<u4", (5, 5)),
    "finder_told": ("|b1", "|u1", ()),
    "entity_nameness": ("|u1", "|u1", ()),
}
_STORED = np.asarray([Layer.FOLDED, Layer.CASED, Layer.FOLLOWED], np.uint8)
"""Layers of the rows that are stored with the hash of their name; the column name_cased numbers them."""
TYPED = ("entity_type", "entity_type_sure")
STEP_SURE = 32  # probabilities of types in eight steps
AS_THEY_ARE = ("name_link_written", "name_link_folded", "name_filter")


def title_forms(titles: Array) -> Array:
    """Hashes of the four names that each line of ``titles`` suggests, by :data:`FROM_TITLE`; 0 for none."""
    parts = []
    for some in blocks_of_lines(titles):
        codes = code_points(some.tobytes().decode("utf-8", "surrogatepass"))
        breaks = np.flatnonzero(codes == LINE_FEED)
        starts = np.concatenate([[0], breaks + 1]).astype(np.int64)
        ends = np.append(breaks, codes.size).astype(np.int64)
        parts.append(np.zeros((len(FROM_TITLE), starts.size), np.uint64))
        title_forms_kernel(codes, starts, ends, *characters(), parts[-1])
    return np.concatenate(parts, axis=1)


# -- packing ----------------------------------------------------------------------------------------


def pack(model: Model, arrays: Arrays, folder: Path) -> dict[str, dict[str, Any]]:
    """Write pruned ``arrays`` of ``model`` as columns into a folder; returns their description."""
    writer = ColumnWriter(folder)
    titles = lines_of(model["title_blob"], model["title_offsets"])
    writer.add_bytes("titles", titles)
    more = np.ones(arrays["title_hash"].size, bool)
    more[np.searchsorted(arrays["title_hash"], hash_lines_of(titles, model.entities))] = False
    writer.add("redirect_hash", differences(arrays["title_hash"][more]))
    writer.add("redirect_entity", arrays["title_entity"][more])
    writer.add("occurrences", arrays["entity_occurrences"])
    for name in OUTSIDE:
        if name in arrays:
            writer.add(f"{name}_known", arrays[name] > 0)
            writer.add(name, arrays[name][arrays[name] > 0])
    _pack_types(writer, arrays)
    for name, (_, plain, _) in FINDER.items():
        if name in arrays:
            writer.add(name, np.ascontiguousarray(arrays[name]).reshape(-1).view(plain))
    offsets = arrays["posting_offsets"]
    writer.add("posting_sizes", np.diff(offsets))
    writer.add("postings", differences(arrays["posting_document"], offsets[:-1]))
    writer.add("document_sizes", np.bincount(model["posting_document"], minlength=1))
    _pack_names(writer, arrays, title_forms(titles))
    _pack_words(writer, arrays)
    pack_vectors(writer, arrays)
    return writer.columns


def _pack_types(writer: ColumnWriter, arrays: Arrays) -> None:
    for name in TYPED:
        if name in arrays:
            writer.add(name, arrays[name] // (STEP_SURE if name == "entity_type_sure" else 1))
    if "description_offsets" in arrays:
        writer.add("description_sizes", np.diff(arrays["description_offsets"]))
        writer.add_bytes("descriptions", arrays["description_blob"])


def _pack_names(writer: ColumnWriter, arrays: Arrays, forms: Array) -> None:
    """Rows whose name the title suggests as one value per entity; the others with the hash of their name."""
    sizes: Array = np.diff(arrays["name_offsets"].astype(np.int64))
    key = np.repeat(arrays["name_hash"], sizes)
    entity, layers, value = arrays["name_entity"], arrays["name_layer"], logarithms(arrays["name_count"])
    stored = np.ones(key.size, bool)
    for form, layer in zip(forms, FROM_TITLE, strict=True):
        made = (layers == layer) & (form[entity] == key)
        column = np.zeros(form.size, np.uint8)
        column[entity[made]] = value[made]
        writer.add(f"as_{layer.name.lower()}", column)
        stored &= ~made
    hashes, counts = np.unique(key[stored], return_counts=True)
    writer.add("name_hash", differences(hashes))
    writer.add("name_sizes", counts)
    writer.add("name_entity", entity[stored])
    writer.add("name_value", value[stored])
    writer.add("name_cased", (layers[stored][:, None] == _STORED).argmax(1))
    for name in AS_THEY_ARE:
        if name in arrays:
            writer.add(name, arrays[name])


def _pack_words(writer: ColumnWriter, arrays: Arrays) -> None:
    writer.add("word_hash", differences(arrays["word_hash"]))
    writer.add("word_id", arrays["word_id"])
    writer.add("word_background", logarithms(1e8 * arrays["word_background"]))
    offsets = arrays["context_offsets"]
    writer.add("context_sizes", np.diff(offsets))
    writer.add("context_word", differences(arrays["context_word"], offsets[:-1]))
    writer.add("context_count", arrays["context_count"])
    writer.add("context_total", arrays["context_total"][np.diff(offsets) > 0])


# -- unpacking --------------------------------------------------------------------------------------


def unpack(folder: Path, info: dict[str, Any]) -> Arrays:
    """The arrays of the model in a parcel."""
    read = ColumnReader(folder, info["parcel"])
    titles = read.bytes("titles")
    arrays = title_table(titles, sums(read("redirect_hash")), read("redirect_entity"))
    arrays["entity_occurrences"] = read("occurrences", np.uint32)
    for name in OUTSIDE:
        if name in info["parcel"]:
            arrays[name] = read(f"{name}_known", np.uint32)
            arrays[name][arrays[name] > 0] = read(name)
    for name, (kind, plain, row) in FINDER.items():
        if name in info["parcel"]:
            arrays[name] = read(name).astype(plain).view(kind).reshape(-1, *row)
    arrays |= _unpack_types(read)
    forms = title_forms(np.frombuffer(titles, np.uint8))
    arrays |= _unpack_documents(read) | _unpack_names(read, forms) | _unpack_words(read)
    return arrays | unpack_vectors(read, arrays["entity_occurrences"].size)


def _unpack_types(read: ColumnReader) -> Arrays:
    """Types, how sure they are to the middle of a step, and descriptions."""
    arrays = {name: read(name, np.uint8) for name in TYPED if name in read.columns}
    if "entity_type_sure" in arrays:
        arrays["entity_type_sure"] = arrays["entity_type_sure"] * STEP_SURE + STEP_SURE // 2
    if "descriptions" in read.columns:
        arrays["description_blob"] = np.frombuffer(read.bytes("descriptions"), np.uint8)
        arrays["description_offsets"] = offsets_of_sizes(read("description_sizes", np.int64))
    return arrays


def _unpack_documents(read: ColumnReader) -> Arrays:
    """Lists of documents, and c_e = Σ over them of (n_d − 1)."""
    sizes = read("posting_sizes", np.int64)
    offsets = offsets_of_sizes(sizes)
    documents = sums(read("postings"), offsets[:-1]).astype(np.uint32)
    neighbours = np.maximum(read("document_sizes", np.float64) - 1, 0)
    marginal = np.bincount(np.repeat(np.arange(sizes.size), sizes), neighbours[documents], sizes.size)
    return posting_table(offsets, documents) | {"entity_marginal": marginal.astype(np.int64)}


def _unpack_names(read: ColumnReader, forms: Array) -> Arrays:
    keys = [np.repeat(sums(read("name_hash")), read("name_sizes", np.int64))]
    entities, values = [read("name_entity", np.int64)], [exponentials(read("name_value"))]
    layers = [_STORED[read("name_cased", np.int64)]]
    for form, made in zip(forms, FROM_TITLE, strict=True):
        value = exponentials(read(f"as_{made.name.lower()}"))
        owner = np.flatnonzero(value)
        keys.append(form[owner])
        entities.append(owner)
        values.append(value[owner])
        layers.append(np.full(owner.size, made, np.uint8))
    key, value = np.concatenate(keys), np.concatenate(values)
    entity, layer = np.concatenate(entities), np.concatenate(layers)
    order = np.lexsort((-value, layer == Layer.FOLLOWED, key))
    arrays = name_table(key[order], entity[order], layer[order], value[order])
    return arrays | {name: read(name, np.uint8) for name in AS_THEY_ARE if name in read.columns}


def _unpack_words(read: ColumnReader) -> Arrays:
    hashes, sizes = sums(read("word_hash")), read("context_sizes", np.int64)
    total = np.zeros(sizes.size, np.float32)
    total[sizes > 0] = read("context_total")
    owner = np.repeat(np.arange(sizes.size), sizes)
    word = sums(read("context_word"), offsets_of_sizes(sizes)[:-1])
    return {
        "word_hash": hashes,
        "word_buckets": bucket_index(hashes),
        "word_id": read("word_id", np.int32),
        "word_background": exponentials(read("word_background")) / np.float32(1e8),
        **context_table(owner, word, read("context_count"), total, (0, 0)),
    }


def open_parcel(folder: Path, info: dict[str, Any]) -> Model:
    """The model in a parcel, mapped from the user's cache; unpacked into it at the first time.

    Where nothing can be written, the arrays stay in the memory of this process.
    """
    from pboh.model.store import open_model  # noqa: PLC0415  (it calls this function)

    place = unpacked_folder(info)
    try:
        return Model(folder, info, open_model(place).arrays)
    except ModelError:
        arrays = unpack(folder, info)
    try:
        with ModelWriter(place) as writer:
            writer.add_all(arrays)
            writer.finish({"totals": info["totals"], "unpacked_from": str(folder)})
        return Model(folder, info, open_model(place).arrays)
    except (OSError, PbohError):
        return Model(folder, info, arrays)


def unpacked_folder(info: dict[str, Any]) -> Path:
    """Where in the user's cache a parcel is unpacked."""
    named = hashlib.sha256(repr(sorted((k, v["sha256"]) for k, v in info["parcel"].items())).encode())
    return user_cache() / "models" / named.hexdigest()[:16]
