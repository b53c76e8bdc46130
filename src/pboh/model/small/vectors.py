"""Vectors in few bytes: every eight numbers become the nearest of 256 typical ones (product quantisation).

Jégou, Douze and Schmid, "Product quantization for nearest neighbor search" (2011). 96 numbers take 12 bytes.
"""

from __future__ import annotations

import numpy as np

from pboh.model.small.columns import ColumnReader, ColumnWriter, differences, exponentials, logarithms, sums
from pboh.model.store import Model
from pboh.model.tables import Arrays
from pboh.model.vector_kernels import quantise
from pboh.text.hashing import Array

PIECE = 8
"""Numbers of a vector that one byte stands for."""
PIECES = 256
LEARNED_FROM = 1 << 15  # rows
ROWS_PER_PIECE = 4  # at least: a book must be shorter than what is written with it
ROUNDS = 8
AT_A_TIME = 1 << 14  # rows that are compared with all typical pieces
PARTS = 1e3  # in which lengths are counted


def learn(rows: Array) -> Array:
    """The typical pieces of rows, by k-means; the first ones are those of rows evenly spread."""
    some = rows[:: -(-len(rows) // LEARNED_FROM)] if len(rows) else rows
    pieces = min(PIECES, max(len(rows) // ROWS_PER_PIECE, 1))
    book = np.zeros((rows.shape[1] // PIECE, pieces, PIECE), np.float32)
    if len(some):
        first = some[np.linspace(0, len(some) - 1, pieces).astype(np.int64)]
        book[:] = first.reshape(pieces, -1, PIECE).transpose(1, 0, 2)
    for _ in range(ROUNDS):
        codes = encode(some, book)
        for p, typical in enumerate(book):  # move each to the mean of the pieces that chose it
            size = np.bincount(codes[:, p], minlength=pieces)
            sums = [np.bincount(codes[:, p], some[:, p * PIECE + d], pieces) for d in range(PIECE)]
            typical[size > 0] = (np.stack(sums, axis=1)[size > 0].T / size[size > 0]).T
    return book.astype(np.float16).astype(np.float32)


def encode(rows: Array, book: Array) -> Array:
    """The codes of rows: the number of the typical piece that is nearest to each of their pieces."""
    half = np.einsum("pcd,pcd->pc", book, book) / 2  # of the squared distance, without that of the row
    codes = np.zeros((len(rows), len(book)), np.uint8)
    for first in range(0, len(rows), AT_A_TIME):
        some = rows[first : first + AT_A_TIME]
        for p, typical in enumerate(book):
            nearness = some[:, p * PIECE : (p + 1) * PIECE] @ typical.T - half[p]
            codes[first : first + len(some), p] = nearness.argmax(axis=1)
    return codes


def decode(codes: Array, book: Array) -> Array:
    """Rows of length one, about those that were encoded."""
    rows = np.concatenate([book[p, codes[:, p]] for p in range(len(book))], axis=1)
    return _unit(rows)[0]


def _unit(rows: Array) -> tuple[Array, Array]:
    """Rows of length one, filled up to whole pieces, and how long they were."""
    wide = np.zeros((len(rows), -(-rows.shape[1] // PIECE) * PIECE), np.float32)
    wide[:, : rows.shape[1]] = rows
    length = np.sqrt(np.einsum("rd,rd->r", wide, wide))
    return wide / np.where(length > 0, length, 1)[:, None], length


def chosen_vectors(model: Model, rivals: Array, words: Array, most: int) -> Arrays:
    """The vectors of the ``most`` linked rivals, and of ``words``, whose places are their new numbers."""
    if "vector_entity" not in model or most == 0:
        return {}
    links = model["entity_occurrences"][rivals].astype(np.int64)
    chosen = rivals[np.argsort(-links, kind="stable")[:most]]
    entity = np.zeros(model["vector_entity"].shape, np.int8)  # takes no memory where it stays zero
    entity[chosen] = model["vector_entity"][chosen]
    known = model["vector_word_number"]
    at = np.minimum(np.searchsorted(known, words), max(known.size - 1, 0))
    number = np.flatnonzero(known[at] == words) if known.size else at[:0]
    return {
        "vector_entity": entity,
        "vector_word": model["vector_word"][at[number]],
        "vector_word_scale": model["vector_word_scale"][at[number]],
        "vector_word_number": number.astype(np.int32),
    }


def pack_vectors(writer: ColumnWriter, arrays: Arrays) -> None:
    """Write the vectors of entities and of words, each with typical pieces of their own."""
    if "vector_entity" not in arrays:
        return
    chosen = np.flatnonzero(arrays["vector_entity"].any(axis=1))
    _pack(writer, "entity", chosen, arrays["vector_entity"][chosen])
    length = _pack(writer, "word", arrays["vector_word_number"], arrays["vector_word"])
    writer.add("vector_word_length", logarithms(PARTS * length * arrays["vector_word_scale"]))


def _pack(writer: ColumnWriter, name: str, numbers: Array, rows: Array) -> Array:
    unit, length = _unit(rows)
    book = learn(unit)
    writer.add(f"vector_{name}_numbers", differences(numbers))
    writer.add(f"vector_{name}_book", book.astype(np.float16).reshape(-1).view(np.uint16))
    writer.add_bytes(f"vector_{name}_codes", encode(unit, book).T.reshape(-1))
    return length


def unpack_vectors(read: ColumnReader, entities: int) -> Arrays:
    """The arrays of a model with vectors; entities that were not chosen have none."""
    if "vector_entity_codes" not in read.columns:
        return {}
    chosen, rows, _ = _unpacked(read, "entity")
    number, word, scale = _unpacked(read, "word")
    entity = np.zeros((entities, rows.shape[1]), np.int8)
    entity[chosen] = rows
    return {
        "vector_entity": entity,
        "vector_word": word,
        "vector_word_scale": scale * exponentials(read("vector_word_length")) / np.float32(PARTS),
        "vector_word_number": number.astype(np.int32),
    }


def _unpacked(read: ColumnReader, name: str) -> tuple[Array, Array, Array]:
    """Numbers, rows of about length one as whole numbers, and their scales."""
    numbers = sums(read(f"vector_{name}_numbers")).astype(np.int64)
    codes = np.frombuffer(read.bytes(f"vector_{name}_codes"), np.uint8)
    book = read(f"vector_{name}_book", np.uint16).view(np.float16).astype(np.float32)
    pieces = codes.size // numbers.size if numbers.size else 1
    rows = decode(codes.reshape(pieces, numbers.size).T, book.reshape(pieces, -1, PIECE))
    out, scale = np.zeros(rows.shape, np.int8), np.zeros(len(rows), np.float32)
    quantise(rows, out, scale)
    return numbers, out, scale
