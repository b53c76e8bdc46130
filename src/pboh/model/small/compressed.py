"""A pruned model as a parcel: a few compressed columns from which the arrays of a model are made again.

What can be computed is not stored: hashes of titles and of names made from them, offsets, bucket indexes,
marginal counts. The rest is turned into small integers (differences of ascending numbers, logarithms in steps
of 10 %), cut into planes of equal bytes and compressed with Zstandard. A parcel is opened once, into a folder
of the user's cache, and mapped from there like any other model.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from pboh.errors import ModelError, PbohError
from pboh.model.names import Layer
from pboh.model.pairs import head_table
from pboh.model.small.columns import ColumnReader, ColumnWriter, differences, exponentials, logarithms, sums
from pboh.model.small.title_kernels import title_forms_kernel
from pboh.model.store import Model, ModelWriter
from pboh.text.hashing import Array, bucket_index, hash_strings
from pboh.text.matcher import characters
from pboh.text.words import code_points

OUTSIDE = ("entity_page", "entity_id")  # numbers that others gave to entities, 0 for most of them
FROM_TITLE = (Layer.TITLE, Layer.STRIPPED, Layer.LAST, Layer.FIRST)


def title_forms(titles: str) -> Array:
    """Hashes of the four names that each line of ``titles`` suggests, by :data:`FROM_TITLE`; 0 for none."""
    codes = code_points(titles)
    breaks = np.flatnonzero(codes == 10)
    starts = np.concatenate([[0], breaks + 1]).astype(np.int64)
    ends = np.append(breaks, codes.size).astype(np.int64)
    out = np.zeros((len(FROM_TITLE), starts.size), np.uint64)
    title_forms_kernel(codes, starts, ends, *characters(), out)
    return out


# -- packing ----------------------------------------------------------------------------------------


def pack(model: Model, arrays: dict[str, Array], folder: Path) -> dict[str, dict[str, Any]]:
    """Write pruned ``arrays`` of ``model`` as columns into a folder; returns their description."""
    writer = ColumnWriter(folder)
    titles = [model.title(e) for e in range(model.entities)]
    writer.add_bytes("titles", "\n".join(titles).encode("utf-8", "surrogatepass"))
    own = np.unique(hash_strings(titles))
    more = ~np.isin(arrays["title_hash"], own)
    writer.add("redirect_hash", differences(arrays["title_hash"][more]))
    writer.add("redirect_entity", arrays["title_entity"][more])
    writer.add("occurrences", arrays["entity_occurrences"])
    for name in OUTSIDE:
        if name in arrays:
            writer.add(f"{name}_known", arrays[name] > 0)
            writer.add(name, arrays[name][arrays[name] > 0])
    offsets = arrays["posting_offsets"]
    writer.add("posting_sizes", np.diff(offsets))
    writer.add("postings", differences(arrays["posting_document"], offsets[:-1]))
    writer.add("document_sizes", np.bincount(model["posting_document"], minlength=1))
    _pack_names(writer, arrays, title_forms("\n".join(titles)))
    _pack_words(writer, arrays)
    return writer.columns


def _pack_names(writer: ColumnWriter, arrays: dict[str, Array], forms: Array) -> None:
    """Rows whose name the title suggests as one value per entity; the others with the hash of their name."""
    sizes: Array = np.diff(arrays["name_offsets"].astype(np.int64))
    key = np.repeat(arrays["name_hash"], sizes)
    entity, value = arrays["name_entity"], logarithms(arrays["name_count"])
    stored = np.ones(key.size, bool)
    cased = arrays["name_layer"] == Layer.CASED
    for form, layer in zip(forms, FROM_TITLE, strict=True):
        made = (arrays["name_layer"] == layer) & (form[entity] == key)
        column = np.zeros(form.size, np.uint8)
        column[entity[made]] = value[made]
        writer.add(f"as_{layer.name.lower()}", column)
        stored &= ~made
    hashes, counts = np.unique(key[stored], return_counts=True)
    writer.add("name_hash", differences(hashes))
    writer.add("name_sizes", counts)
    writer.add("name_entity", entity[stored])
    writer.add("name_value", value[stored])
    writer.add("name_cased", cased[stored])
    for name in ("name_link_written", "name_link_folded", "name_filter"):
        if name in arrays:
            writer.add(name, arrays[name])


def _pack_words(writer: ColumnWriter, arrays: dict[str, Array]) -> None:
    writer.add("word_hash", differences(arrays["word_hash"]))
    writer.add("word_id", arrays["word_id"])
    writer.add("word_background", logarithms(1e8 * arrays["word_background"]))
    offsets, total = arrays["context_offsets"], arrays["context_total"]
    writer.add("context_sizes", np.diff(offsets))
    writer.add("context_word", differences(arrays["context_word"], offsets[:-1]))
    writer.add("context_count", arrays["context_count"])
    writer.add("context_total", total[np.diff(offsets) > 0])


# -- unpacking --------------------------------------------------------------------------------------


def unpack(folder: Path, info: dict[str, Any]) -> dict[str, Array]:
    """The arrays of the model in a parcel."""
    read = ColumnReader(folder, info["parcel"])
    raw = read.bytes("titles")
    blob = np.frombuffer(raw, np.uint8)
    breaks = np.append(np.flatnonzero(blob == 10), blob.size)
    entities = int(breaks.size)
    arrays = {
        "title_blob": blob[blob != 10],
        "title_offsets": np.concatenate([[0], breaks - np.arange(entities)]).astype(np.int64),
        "entity_occurrences": read("occurrences").astype(np.uint32),
    }
    titles = raw.decode("utf-8", "surrogatepass")
    arrays |= _exact_titles(titles, sums(read("redirect_hash")), read("redirect_entity"))
    arrays |= _unpack_documents(read)
    arrays |= _unpack_names(read, title_forms(titles))
    arrays |= _unpack_words(read)
    for name in OUTSIDE:
        if name in info["parcel"]:
            arrays[name] = np.zeros(entities, np.uint32)
            arrays[name][read(f"{name}_known") > 0] = read(name)
    return arrays


def _exact_titles(titles: str, hashes: Array, entity: Array) -> dict[str, Array]:
    own = hash_strings(titles.split("\n"))
    both = np.concatenate([own, hashes])
    hashes, first = np.unique(both, return_index=True)
    owner = np.concatenate([np.arange(own.size), entity.astype(np.int64)])
    return {
        "title_hash": hashes,
        "title_buckets": bucket_index(hashes),
        "title_entity": owner[first].astype(np.uint32),
    }


def _offsets(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes.astype(np.int64))]).astype(np.int64)


def _unpack_documents(read: ColumnReader) -> dict[str, Array]:
    """Lists of documents, and c_e = Σ over them of (n_d − 1)."""
    sizes = read("posting_sizes").astype(np.int64)
    offsets = _offsets(sizes)
    documents = sums(read("postings"), offsets[:-1]).astype(np.uint32)
    neighbours = np.maximum(read("document_sizes").astype(np.float64) - 1, 0)
    marginal = np.bincount(np.repeat(np.arange(sizes.size), sizes), neighbours[documents], sizes.size)
    heads, pairs = head_table(offsets, documents)
    return {
        "posting_offsets": offsets,
        "posting_document": documents,
        "entity_marginal": marginal.astype(np.int64),
        "head_entity": heads,
        "head_pairs": pairs,
    }


def _unpack_names(read: ColumnReader, forms: Array) -> dict[str, Array]:
    keys = [np.repeat(sums(read("name_hash")), read("name_sizes").astype(np.int64))]
    entities, values = [read("name_entity").astype(np.uint32)], [exponentials(read("name_value"))]
    layers = [np.where(read("name_cased") > 0, np.uint8(Layer.CASED), np.uint8(Layer.FOLDED))]
    for form, layer in zip(forms, FROM_TITLE, strict=True):
        value = exponentials(read(f"as_{layer.name.lower()}"))
        owner = np.flatnonzero(value)
        keys.append(form[owner])
        entities.append(owner.astype(np.uint32))
        values.append(value[owner])
        layers.append(np.full(owner.size, layer, np.uint8))
    key, value = np.concatenate(keys), np.concatenate(values)
    order = np.argsort(-value, kind="stable")
    order = order[np.argsort(key[order], kind="stable")]
    hashes, starts = np.unique(key[order], return_index=True)
    arrays = {
        "name_hash": hashes,
        "name_buckets": bucket_index(hashes),
        "name_offsets": np.append(starts, key.size).astype(np.uint32),
        "name_entity": np.concatenate(entities)[order],
        "name_layer": np.concatenate(layers)[order],
        "name_count": value[order],
    }
    stored = [n for n in ("name_link_written", "name_link_folded", "name_filter") if n in read.columns]
    return arrays | {name: read(name).astype(np.uint8) for name in stored}


def _unpack_words(read: ColumnReader) -> dict[str, Array]:
    hashes = sums(read("word_hash"))
    sizes = read("context_sizes").astype(np.int64)
    offsets = _offsets(sizes)
    count = read("context_count")
    total = np.zeros(sizes.size, np.float32)
    total[sizes > 0] = read("context_total")
    mass = np.bincount(np.repeat(np.arange(sizes.size), sizes), count, sizes.size).astype(np.float32)
    return {
        "word_hash": hashes,
        "word_buckets": bucket_index(hashes),
        "word_id": read("word_id").astype(np.int32),
        "word_background": exponentials(read("word_background")) / np.float32(1e8),
        "context_offsets": offsets,
        "context_word": sums(read("context_word"), offsets[:-1]).astype(np.int32),
        "context_count": count.astype(np.uint16),
        "context_total": total,
        "context_mass": np.stack([mass, mass]),
        "context_types": np.stack([sizes, sizes]).astype(np.float32),
    }


def open_parcel(folder: Path, info: dict[str, Any]) -> Model:
    """The model in a parcel, mapped from the user's cache; unpacked into it at the first time.

    Where nothing can be written, the arrays stay in the memory of this process.
    """
    from pboh.model.store import open_model  # noqa: PLC0415  (it calls this function)

    home = Path(os.environ.get("XDG_CACHE_HOME", Path("~/.cache").expanduser()))
    named = hashlib.sha256(repr(sorted((k, v["sha256"]) for k, v in info["parcel"].items())).encode())
    place = home / "pboh" / "models" / named.hexdigest()[:16]
    try:
        return Model(folder, info, open_model(place).arrays)
    except ModelError:
        arrays = unpack(folder, info)
    try:
        with ModelWriter(place) as writer:
            for name, array in arrays.items():
                writer.add(name, array)
            writer.finish({"totals": info["totals"], "unpacked_from": str(folder)})
        return Model(folder, info, open_model(place).arrays)
    except (OSError, PbohError):
        return Model(folder, info, arrays)
