"""How rows become the arrays of a model: the same for building, pruning, unpacking and overlays."""

from __future__ import annotations

import numpy as np

from pboh.model.pair_kernels import pairs_of_heads
from pboh.text.hashing import Array, bucket_index, hash_lines_of

Arrays = dict[str, Array]

WORD_THRESHOLDS = (2, 3)  # smallest N(w,e) a loaded model can be asked to respect (the paper's is 3)
LONG = 8192  # documents that make an entity a head
MOST_HEADS = 2048  # their table has this many rows at most: 16 MB


# -- runs of equal rows in sorted columns -----------------------------------------------------------


def run_starts(*columns: Array) -> Array:
    """Places at which a row differs from the one before in at least one column."""
    new = np.ones(columns[0].size, bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def run_sizes(starts: Array, rows: int) -> Array:
    """Length of every run."""
    return np.diff(np.append(starts, rows))


def place_in_run(starts: Array, rows: int) -> Array:
    """Place of every row in its run, from 0 on."""
    return np.asarray(np.arange(rows) - np.repeat(starts, run_sizes(starts, rows)))


def sums_of_runs(values: Array, starts: Array) -> Array:
    """Sum of the values of every run."""
    return np.asarray(np.add.reduceat(values, starts)) if starts.size else values


def offsets_of(owners: Array, size: int) -> Array:
    """CSR offsets of rows sorted by owner."""
    return np.searchsorted(owners, np.arange(size + 1)).astype(np.int64)


def offsets_of_sizes(sizes: Array) -> Array:
    """CSR offsets of lists of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


# -- tables -----------------------------------------------------------------------------------------


def merged_titles(keys: Array, entities: Array) -> tuple[Array, Array]:
    """The hashes by which titles and redirects are found, and their entities; of equal ones the first."""
    hashes, first = np.unique(keys, return_index=True)
    return hashes, entities[first]


def title_table(titles: bytes, redirects: Array, owners: Array) -> Arrays:
    """Titles by entity (lines of UTF-8), and the hashes by which titles and redirects are found.

    A title comes before a redirect of the same name.
    """
    data = np.frombuffer(titles, np.uint8)
    breaks = np.flatnonzero(data == 10)
    ends = np.append(breaks, data.size) - np.arange(breaks.size + 1)  # without the line feeds before
    entity = np.concatenate([np.arange(ends.size, dtype=np.uint32), owners.astype(np.uint32)])
    hashes, entity = merged_titles(np.concatenate([hash_lines_of(data, ends.size), redirects]), entity)
    return {
        "title_blob": data[data != 10],
        "title_offsets": np.concatenate([[0], ends]).astype(np.int64),
        "title_hash": hashes,
        "title_buckets": bucket_index(hashes),
        "title_entity": entity,
    }


def name_table(keys: Array, entities: Array, layers: Array, counts: Array) -> Arrays:
    """Entries of names by ascending hash; within a name their order stays."""
    hashes, starts = np.unique(keys, return_index=True)
    return {
        "name_hash": hashes,
        "name_buckets": bucket_index(hashes),
        "name_offsets": np.append(starts, keys.size).astype(np.uint32),
        "name_entity": entities.astype(np.uint32),
        "name_layer": layers.astype(np.uint8),
        "name_count": counts.astype(np.float32),
    }


def posting_table(offsets: Array, documents: Array) -> Arrays:
    """The documents that link every entity, and N(e,e′) of the entities with the longest lists.

    There is no pair table: N(e,e′) of a document's candidates is counted from the lists of documents that
    link them (:func:`pboh.model.pair_kernels.cooccurrences`), 3.7 million incidences where a table would hold
    264 million pairs. Entities with very long lists (*heads*, such as countries in a full Wikipedia) are only
    read against the documents of the others, and the counts among the heads are computed here, once.
    """
    heads, pairs = head_table(offsets, documents)
    return {
        "posting_offsets": offsets,
        "posting_document": documents.astype(np.uint32, copy=False),
        "head_entity": heads,
        "head_pairs": pairs,
    }


def head_table(
    offsets: Array, documents: Array, long: int = LONG, most: int = MOST_HEADS
) -> tuple[Array, Array]:
    """The entities with more than ``long`` documents (the longest ``most`` lists), and N among them."""
    lengths = np.diff(offsets)
    longest = np.argsort(-lengths, kind="stable")[:most]
    heads = np.sort(longest[lengths[longest] > long])
    if not heads.size:
        return heads.astype(np.int32), np.zeros((0, 0), np.int32)
    size = int(documents.max(initial=0)) + 1
    return heads.astype(np.int32), pairs_of_heads(heads, offsets, documents, np.zeros(size, np.bool_))


def word_table(hashes: Array) -> Arrays:
    """A vocabulary by hash; the number of a word is its place in ``hashes``."""
    by_hash = np.argsort(hashes)
    return {
        "word_hash": hashes[by_hash],
        "word_buckets": bucket_index(hashes[by_hash]),
        "word_id": by_hash.astype(np.int32),
    }


def background_probability(counts: Array) -> Array:
    """p(w) of every vocabulary word from its count in running text."""
    return np.asarray(np.maximum(counts, 1) / max(int(counts.sum()), 1), np.float32)


def context_table(
    owner: Array, word: Array, count: Array, total: Array, least: tuple[int, ...] = WORD_THRESHOLDS
) -> Arrays:
    """N(w,e) in rows sorted by entity and word; their mass and number per smallest count that is kept."""
    size = total.size
    kept = [count >= threshold for threshold in least]
    mass = [np.bincount(owner[some], count[some], size) for some in kept]
    types = [np.bincount(owner[some], minlength=size) for some in kept]
    return {
        "context_offsets": offsets_of(owner, size),
        "context_word": word.astype(np.int32),
        "context_count": np.minimum(count, 65535).astype(np.uint16),
        "context_total": total.astype(np.float32),
        "context_mass": np.stack(mass).astype(np.float32),
        "context_types": np.stack(types).astype(np.float32),
    }
