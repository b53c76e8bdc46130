"""Codes of vectors: the nearest typical pieces, by brute force, and what a few bytes preserve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pboh.model.small.vectors import PIECE, chosen_vectors, decode, encode, learn


def rows(size: int = 3000, dimensions: int = 16) -> np.ndarray:
    rng = np.random.default_rng(0)
    some = rng.normal(size=(size, 4)) @ rng.normal(size=(4, dimensions)) + 0.1 * rng.normal(
        size=(size, dimensions)
    )
    return (some / np.linalg.norm(some, axis=1, keepdims=True)).astype(np.float32)


def test_codes_are_those_of_the_nearest_pieces():
    some = rows(200)
    book = learn(some[:150])
    pieces = some.reshape(200, -1, PIECE)
    distance = ((pieces[:, :, None] - book[None]) ** 2).sum(-1)
    assert (encode(some, book) == distance.argmin(-1)).all()


def test_decoded_rows_point_in_nearly_the_same_direction():
    some = rows()
    book = learn(some)
    assert np.einsum("rd,rd->r", some, decode(encode(some, book), book)).mean() > 0.98


def test_a_book_is_shorter_than_what_is_written_with_it():
    assert learn(rows(80)).shape == (2, 20, PIECE) and learn(rows(3)).shape == (2, 1, PIECE)
    assert not learn(rows(0)).any()


def test_the_most_linked_rivals_keep_their_vectors_and_words_their_new_numbers(linker):
    model = linker.model
    links = np.arange(model.entities, dtype=np.uint32)
    model = replace(model, arrays={**model.arrays, "entity_occurrences": links})
    rivals, words = np.asarray([1, 5, 9]), model["vector_word_number"][[7, 2]].astype(np.int64)
    kept = chosen_vectors(model, rivals, words, 2)
    assert np.array_equal(kept["vector_entity"][[5, 9]], model["vector_entity"][[5, 9]])
    assert not kept["vector_entity"][[0, 1, 2]].any()
    assert np.array_equal(kept["vector_word"], model["vector_word"][[7, 2]])
    assert kept["vector_word_number"].tolist() == [0, 1]
    assert chosen_vectors(model, rivals, words, 0) == {}
