"""Makes a model small: what decides answers stays, what repeats or rarely matters goes.

- The layers of a name become one: p(e|m) is the same weighted sum of counts as before, computed now instead
  of at every look-up, by the folded form of the name. Names as written stay beside it if linked often enough.
- Names made from titles stay for entities that are linked often enough; long tails of a name's entities go.
- Context words stay where they can change an answer: for entities that share a name with another one, the
  words that speak most for the entity. p(w|e) goes on summing to one, so an unmatched word costs less.
- Pages that link an entity stay from a number of them on; a single page says little about its neighbours.
- Types stay for all entities, descriptions for those that are linked most, as many as fit their share.
- The trigram index and the words of entities' own pages go. No entity goes: rare ones are most of the world.

What is left out is decided some rows at a time: only what stays is held in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pboh.errors import InputError
from pboh.files.compression import zstd
from pboh.files.progress import Report, silent
from pboh.files.writing import disk_errors
from pboh.model.names import LAYERS, Layer
from pboh.model.small.columns import LEVEL
from pboh.model.small.compressed import AS_THEY_ARE, FINDER, OUTSIDE, TYPED, pack
from pboh.model.small.vectors import chosen_vectors
from pboh.model.store import Model
from pboh.model.tables import (
    WORD_THRESHOLDS,
    Arrays,
    context_table,
    name_table,
    offsets_of_sizes,
    place_in_run,
    posting_table,
    run_sizes,
    run_starts,
    sums_of_runs,
)
from pboh.model.word_kernels import row_scores
from pboh.model.writing import ModelWriter
from pboh.text.hashing import Array, bucket_index


@dataclass(frozen=True, slots=True)
class PruneOptions:
    """How much of a model stays; recorded in ``model.json``."""

    context_rows: int = 1_500_000  # N(w,e) kept
    words_per_entity: int = 200
    least_share: float = 0.002  # of a name's links that an entity must have
    entries_per_name: int = 20
    as_written: int = 3  # links a name must have to be kept as it is written, with its capital letters
    first_and_last: int = 3  # links that an entity needs to be known by its first or last name
    least_factor: float = 0.1  # of what follows a name: smaller changes of log p(e|m) are left out
    prefixes: int = 20  # the same for beginnings of titles and initials
    documents: int = 1  # documents that must link an entity for its list to stay
    filter_slots: int = 1 << 22
    vectors: int = 200_000  # entities that keep their vectors, the most linked of those that share a name
    description_bytes: int = 1_500_000  # of short descriptions, compressed
    popularity: float = 1.0  # exponent of an entity's links in names made from titles, as used so far
    min_word_count: int = WORD_THRESHOLDS[0]  # smallest N(w,e) kept, as used so far


LEVELS = (
    PruneOptions(as_written=2),
    PruneOptions(),
    PruneOptions(documents=2),
    PruneOptions(documents=2, as_written=5, first_and_last=10, prefixes=50, least_factor=0.5),
    PruneOptions(
        documents=3, as_written=10, first_and_last=20, prefixes=100, least_factor=0.5, filter_slots=1 << 21
    ),
    PruneOptions(
        documents=5, as_written=30, first_and_last=50, prefixes=500, least_factor=0.5, filter_slots=1 << 20
    ),
)
"""From generous to strict; :func:`prune_to` takes the first that leaves room for context words."""
LEFT_OUT = {"arrays", "base", "calibration", "detection", "format", "names", "parcel"}  # of its description
ROOM_FOR_WORDS = 0.06  # of the whole
_TRIED = 20_000  # descriptions that tell how well they compress
ROWS_AT_A_TIME = 1 << 20  # of names, and of words
LICENCE = (
    "Titles, names, counts and short descriptions derived from Wikipedia, by its authors; CC BY-SA 4.0. "
    "Pass it on under the same licence, naming Wikipedia."
)
NOTE = (
    "A small model to start with: it knows part of the world, and part of its names. "
    "Train a full one with: pboh download enwiki --out dump && pboh train dump/*.bz2 --out model"
)


DESCRIPTIONS = 1.5
"""Megabytes of descriptions in a small model."""


def prune_to(
    model: Model,
    settings: dict[str, Any],
    out: Path,
    megabytes: float,
    *,
    descriptions: float = DESCRIPTIONS,
    report: Report = silent,
) -> dict[str, Any]:
    """Write a parcel of at most that many megabytes to ``out``; returns its ``model.json``.

    Descriptions may take ``descriptions`` megabytes of them, but not more than a tenth.
    ``settings`` are those the model was used with, as a ``model.json`` records them.
    """
    if model.overlays:
        todo = "Prune without them, and add them to the small model: pboh entities remove, pboh entities add"
        raise InputError("entities were added to the model", where=model.folder, todo=todo)
    budget, layers = int(megabytes * 1e6), settings["layers"]
    used = {name: settings[name] for name in ("popularity", "min_word_count")}
    with ModelWriter(out) as writer:
        for number, level in enumerate(LEVELS):
            some = int(1e6 * min(descriptions, megabytes / 10))
            options = replace(level, **used, description_bytes=some)
            report(number, len(LEVELS) + 1, f"trying level {number + 1}")
            rest = _packed(model, layers, replace(options, context_rows=100_000), writer.aside)[1]
            words = rest["context_word"]["bytes"] + rest["context_count"]["bytes"]
            per_row = max(1, words) / 100_000  # a model may have no words at all
            fixed = _size(rest) - 100_000 * per_row + 64_000  # model.json is one of the files
            if fixed < budget * (1 - ROOM_FOR_WORDS):
                break
        else:
            raise InputError(
                f"{megabytes:g} MB are too few for this model", todo=f"Allow {fixed / 1e6:.0f} MB"
            )
        rows = int(0.97 * (budget - fixed) / per_row)
        while True:
            chosen = replace(options, context_rows=rows)
            changed, columns = _packed(model, layers, chosen, writer.aside)
            if _size(columns) + 64_000 <= budget:
                break
            rows = int(0.9 * rows)
        info = _description(model, changed, chosen) | {"parcel": columns}
        writer.finish(info)
    report(len(LEVELS) + 1, len(LEVELS) + 1)
    return info


def _packed(
    model: Model, layers: dict[str, float], options: PruneOptions, folder: Path
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    with disk_errors(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    arrays, settings = prune(model, layers, options)
    return settings, pack(model, arrays, folder)


def _size(columns: dict[str, dict[str, Any]]) -> int:
    return sum(int(column["bytes"]) for column in columns.values())


def _description(model: Model, settings: dict[str, Any], options: PruneOptions) -> dict[str, Any]:
    """What the small model says of itself."""
    info = {k: v for k, v in model.info.items() if k not in LEFT_OUT}
    info["options"] = {**(info.get("options") or {}), "prune": asdict(options)}
    info["settings"] = {**info.get("settings", {}), **settings}
    info["settings"].pop("threshold", None)  # it goes with a calibration, which has to be done again
    return info | {"licence": LICENCE, "note": NOTE, "arrays": {}}


def prune(model: Model, layers: dict[str, float], options: PruneOptions) -> tuple[Arrays, dict[str, Any]]:
    """Arrays of the smaller model and the settings it needs; ``layers`` are the weights used so far."""
    names, rivals = _names(model, layers, options)
    arrays = _name_arrays(model, names, options)
    arrays |= _entities(model, options)
    arrays |= _words(model, rivals, options)
    kept = {"cased", "folded", "title", "stripped", "last", "first", "prefix"}
    settings = {
        "layers": {layer: float(layer in kept) for layer in LAYERS},
        "popularity": 0.0,
        "fuzzy": False,
        "min_word_count": options.min_word_count,
    }
    return arrays, settings


# -- names ------------------------------------------------------------------------------------------


def _names(model: Model, layers: dict[str, float], options: PruneOptions) -> tuple[Arrays, Array]:
    """The rows of all names that stay, and the entities that share a name with another one.

    Only for these can context change an answer.
    """
    parts, rivals = [], [np.empty(0, np.int64)]
    for places in _ranges(model["name_offsets"], ROWS_AT_A_TIME):
        rows = merge_layers(model, layers, options, places)
        several = np.bincount(rows["key"] - 2 * places.start) > 1
        rivals.append(np.unique(rows["entity"][several[rows["key"] - 2 * places.start]]))
        rows = _with_factors(model, rows, options, places)
        kinds = {"key": np.int64, "entity": np.uint32, "value": np.float32, "layer": np.uint8}
        parts.append({name: rows[name].astype(kind) for name, kind in kinds.items()})
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return joined, np.unique(np.concatenate(rivals))


def _ranges(offsets: Array, most: int) -> Iterator[range]:
    """Ranges of lists with ``most`` rows together; a longer list is on its own. There is one in any case."""
    first, size = 0, offsets.size - 1
    while True:
        last = int(np.searchsorted(offsets, int(offsets[first]) + most, side="right")) - 1
        last = min(max(last, first + 1), size)
        yield range(first, last)
        if last >= size:
            return
        first = last


def merge_layers(model: Model, layers: dict[str, float], options: PruneOptions, places: range) -> Arrays:
    """One row per folded name and entity: Σ over layers of weight · count (· links, if made from titles).

    Names as written keep rows of their own; lower-case counts go to the folded ones. ``key`` of a row is
    twice the place of the name in the table, plus 1 if the row is about its folded form.
    """
    offsets = model["name_offsets"][places.start : places.stop + 1].astype(np.int64)
    rows = slice(offsets[0], offsets[-1])
    layer, entity = model["name_layer"][rows], model["name_entity"][rows].astype(np.int64)
    count, sizes = model["name_count"][rows], np.diff(offsets)
    place = np.repeat(np.arange(sizes.size), sizes)
    weight = np.asarray([*(layers[name] for name in LAYERS), 0.0])  # the last of what follows names
    weight[Layer.FOLDED] += weight[Layer.LOWER]
    links = model["entity_occurrences"][entity].astype(np.float64) + 1.0
    uses = np.where(layer >= Layer.TITLE, links**options.popularity, 1.0)
    value = weight[layer] * count * uses
    cased, folded = layer == Layer.CASED, (layer >= Layer.FOLDED) & (layer < Layer.FOLLOWED)
    linked = np.bincount(place[cased], count[cased], sizes.size)
    key = 2 * (place + places.start) + folded  # what is said of a name as written stays apart
    keep = np.flatnonzero(folded | (cased & (linked[place] >= options.as_written)))
    order = keep[np.lexsort((layer[keep], entity[keep], key[keep]))]
    key, layer, entity, value = key[order], layer[order].astype(np.int64), entity[order], value[order]
    starts = run_starts(key, entity)
    mask = np.bitwise_or.reduceat(1 << layer, starts) if starts.size else layer
    merged = {"key": key[starts], "entity": entity[starts], "value": sums_of_runs(value, starts)}
    return _cut(merged | {"layer": _main_layer(mask)}, links[order][starts], mask, options)


_BY_RANK = (Layer.TITLE, Layer.STRIPPED, Layer.LAST, Layer.FIRST, Layer.PREFIX)


def _main_layer(mask: Array) -> Array:
    """How a row can be made from its entity's title, if it can; else FOLDED."""
    layer = np.where(mask == 1 << Layer.CASED, np.uint8(Layer.CASED), np.uint8(Layer.FOLDED))
    for candidate in reversed(_BY_RANK):
        layer[mask & (1 << candidate) > 0] = candidate
    return layer


def _cut(rows: Arrays, links: Array, mask: Array, options: PruneOptions) -> Arrays:
    """Leave out names that are only made up of rarely linked entities, and the tails of the others."""
    used = (1 << Layer.FOLDED) | (1 << Layer.TITLE) | (1 << Layer.STRIPPED) | (1 << Layer.REDIRECT)
    used |= (1 << Layer.DISAMBIGUATION) | (1 << Layer.CASED)
    either = (1 << Layer.LAST) | (1 << Layer.FIRST)
    least = np.where(mask & either, options.first_and_last, options.prefixes)
    rows = _taken(rows, (mask & used > 0) | (links > least))
    rows = _taken(rows, np.lexsort((rows["entity"], -rows["value"], rows["key"])))
    starts, size = run_starts(rows["key"]), rows["key"].size
    total = np.repeat(sums_of_runs(rows["value"], starts), run_sizes(starts, size))
    place = place_in_run(starts, size)
    keep = (place < options.entries_per_name) & (rows["value"] >= options.least_share * total)
    # an entity stays known by its title whatever else that means
    return _taken(rows, keep | (rows["layer"] == Layer.TITLE) & (place < 64))


def _taken(rows: Arrays, some: Array) -> Arrays:
    return {name: column[some] for name, column in rows.items()}


def _with_factors(model: Model, names: Arrays, options: PruneOptions, places: range) -> Arrays:
    """The rows of names, and behind those of each the factors for when a word follows it, if they tell."""
    offsets = model["name_offsets"][places.start : places.stop + 1].astype(np.int64)
    begin = int(offsets[0])
    layer = model["name_layer"][begin : offsets[-1]]
    rows = np.flatnonzero(layer == Layer.FOLLOWED)
    factor = model["name_count"][begin : offsets[-1]][rows]
    tells = np.abs(np.log(factor)) >= options.least_factor
    rows, factor = rows[tells], factor[tells]
    place = np.searchsorted(offsets - begin, rows, side="right") - 1
    key = 2 * (place.astype(np.int64) + places.start) + 1
    entity = model["name_entity"][begin : offsets[-1]][rows].astype(np.int64)
    others = np.cumsum(np.append(0, (layer >= Layer.FOLDED) & (layer < Layer.FOLLOWED)))
    ends = offsets - begin
    unlike = others[ends[place + 1]] == others[ends[place]]  # the folded form is another one: müller
    pairs = np.isin(key << 32 | entity, names["key"] << 32 | names["entity"]) | unlike
    factors = {
        "key": key[pairs],
        "entity": entity[pairs],
        "value": factor[pairs].astype(np.float64),
        "layer": np.full(int(pairs.sum()), Layer.FOLLOWED, np.uint8),
    }
    both = {name: np.concatenate([column, factors[name]]) for name, column in names.items()}
    return _taken(both, np.argsort(both["key"], kind="stable"))


def _name_arrays(model: Model, names: Arrays, options: PruneOptions) -> Arrays:
    places = names["key"] // 2
    hashes = model["name_hash"][places]
    arrays = name_table(hashes, names["entity"], names["layer"], names["value"])
    for name in AS_THEY_ARE:
        if name in model:
            arrays[name] = (
                _smaller_filter(model[name], options.filter_slots)
                if name == "name_filter"
                else model[name][np.unique(places)]
            )
    return arrays


def _smaller_filter(bits: Array, slots: int) -> Array:
    """The filter with neighbouring slots united, until few enough are left (a slot is a hash's top bits)."""
    while bits.size * 4 > slots:
        pairs = (bits | (bits >> 2)) & 0b00110011  # slots 0|1 and 2|3 of every byte
        halves = ((pairs & 3) | (pairs >> 2)).astype(np.uint8)  # four bits: two slots
        bits = halves[0::2] | (halves[1::2] << 4)
    return np.asarray(bits, np.uint8)


# -- entities and documents -------------------------------------------------------------------------


SAME = ("title_blob", "title_offsets", "title_hash", "title_buckets", "title_entity", "entity_occurrences")


def _entities(model: Model, options: PruneOptions) -> Arrays:
    sizes = np.diff(model["posting_offsets"])
    keep = sizes >= options.documents
    documents = model["posting_document"][np.repeat(keep, sizes)]
    return {
        **{name: model[name] for name in (*SAME, *OUTSIDE, *FINDER, *TYPED) if name in model},
        **_descriptions(model, options.description_bytes),
        **posting_table(offsets_of_sizes(np.where(keep, sizes, 0)), documents),
        "entity_marginal": np.where(keep, model["entity_marginal"], 0),
    }


def _descriptions(model: Model, room: int) -> Arrays:
    """The descriptions of the entities that are linked most, as many as compress into that many bytes."""
    if "description_offsets" not in model:
        return {}
    offsets, blob = model["description_offsets"], model["description_blob"]
    sizes: Array = np.diff(offsets)
    order = np.argsort(-model["entity_occurrences"].astype(np.int64), kind="stable")
    order = order[sizes[order] > 0]
    first = order[:_TRIED]
    tried = b"".join(blob[offsets[e] : offsets[e + 1]].tobytes() for e in first.tolist())
    share = len(zstd.compress(tried, LEVEL)) / max(1, len(tried))
    kept = np.zeros(sizes.size, bool)
    kept[order[np.cumsum(sizes[order]) * share <= room]] = True
    return {
        "description_blob": blob[np.repeat(kept, sizes)],
        "description_offsets": offsets_of_sizes(np.where(kept, sizes, 0)),
    }


# -- words ------------------------------------------------------------------------------------------


def _words(model: Model, rivals: Array, options: PruneOptions) -> Arrays:
    """The context words that speak most for the entities that have rivals, the vocabulary cut to them."""
    offsets, most = model["context_offsets"], options.context_rows
    sizes = offsets[rivals + 1] - offsets[rivals]
    kept: list[tuple[Array, ...]] = []
    for some in _ranges(offsets_of_sizes(sizes), ROWS_AT_A_TIME):
        part, size = rivals[some.start : some.stop], sizes[some.start : some.stop]
        rows = np.repeat(offsets[part] - offsets_of_sizes(size)[:-1], size)
        rows += np.arange(rows.size)
        owner = np.repeat(part.astype(np.int32), size)
        word, count = model["context_word"][rows], model["context_count"][rows]
        worth = np.where(count >= options.min_word_count, _worth(model, owner, word, count), 0)
        keep = (worth > 0) & (_place(owner, -worth) < options.words_per_entity)
        kept.append((owner[keep], word[keep], count[keep], worth[keep]))
        if sum(rows[0].size for rows in kept) > most + max(most // 4, ROWS_AT_A_TIME):
            kept = [_best(kept, most)]
    owner, word, count, _ = _best(kept, most)
    return _word_arrays(model, owner, word, count, rivals, options.vectors)


def _best(parts: Sequence[tuple[Array, ...]], most: int) -> tuple[Array, ...]:
    """All parts together, but only the rows whose last value is among the ``most`` largest."""
    columns = tuple(np.concatenate(column) for column in zip(*parts, strict=True))
    worth = columns[-1]
    if worth.size <= most:
        return columns
    least = np.partition(worth, worth.size - most)[worth.size - most]
    return tuple(column[worth >= least] for column in columns)


def _place(owner: Array, rank: Array) -> Array:
    """Place of every row among those of its owner (owners ascending), by ascending rank."""
    order = np.lexsort((rank, owner))
    place = np.empty(owner.size, np.int64)
    place[order] = place_in_run(run_starts(owner[order]), owner.size)
    return place


def _worth(model: Model, owner: Array, word: Array, count: Array) -> Array:
    """What a word brings where it occurs, times how often it does: N(w,e)^½ · score; 0 below a ratio of 3."""
    statistics = model["context_total"], model["context_mass"][0], model["context_types"][0]
    score = row_scores(owner, word, count, *statistics, model["word_background"], 0.5, 4.0, 3.0)
    return np.asarray(score * np.sqrt(count))


def _word_arrays(
    model: Model, owner: Array, word: Array, count: Array, rivals: Array, vectors: int
) -> Arrays:
    """The kept rows by entity; what was dropped joins the mass that is spread over all words."""
    size = model.entities
    used = np.bincount(word, minlength=model["word_background"].size)
    frequent = np.argsort(-used, kind="stable")[: int((used > 0).sum())]
    number = np.full(used.size, -1, np.int64)
    number[frequent] = np.arange(frequent.size)
    order = np.lexsort((number[word], owner))
    by_hash = number[model["word_id"]]
    known = by_hash >= 0
    total = np.where(np.bincount(owner, minlength=size) > 0, model["context_total"], 0)
    return {
        "word_hash": model["word_hash"][known],
        "word_buckets": bucket_index(model["word_hash"][known]),
        "word_id": by_hash[known].astype(np.int32),
        "word_background": model["word_background"][frequent],
        **chosen_vectors(model, rivals, frequent, vectors),
        **context_table(owner[order], number[word][order], count[order], total, (0, 0)),
    }
