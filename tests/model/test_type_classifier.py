"""The classifier of entities without a page: features, learning, probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.model import type_kernels as kernels
from pboh.model.names import Layer
from pboh.model.type_classifier import TypeClassifier, _sharpness, _written_small
from pboh.text.hashing import string_blob

KINDS = {1: ("Ada {} Vale", range(20)), 3: ("{} Valley", range(20, 40)), 4: ("The {} (film)", range(40, 60))}


def small_model(size: int = 600, seed: int = 0):
    """Entities of three types, with a title, words and documents that go with them, and their types."""
    chance = np.random.default_rng(seed)
    codes = chance.choice([*KINDS], size).astype(np.uint8)
    blob, offsets = string_blob([KINDS[c][0].format(f"X{e}") for e, c in enumerate(codes)])
    words = np.sort([chance.choice(KINDS[c][1], 5, replace=False) for c in codes], axis=1)
    documents = np.sort(chance.integers(0, 50, (size, 2)) * 3 + (codes[:, None] % 3), axis=1)
    arrays = {
        "title_blob": blob, "title_offsets": offsets,
        "context_offsets": np.arange(size + 1) * 5, "context_word": words.ravel().astype(np.int32),
        "context_count": np.ones(5 * size, np.uint16),
        "posting_offsets": np.arange(size + 1) * 2, "posting_document": documents.ravel().astype(np.uint32),
        "name_offsets": np.arange(size + 1, dtype=np.uint32),
        "name_entity": np.arange(size, dtype=np.uint32),
        "name_layer": np.zeros(size, np.uint8), "name_count": np.ones(size, np.float32),
    }  # fmt: skip
    return arrays, codes


def tell(arrays, codes, hidden):
    known = np.where(hidden, 0, codes).astype(np.uint8)
    classifier = TypeClassifier(arrays.__getitem__, known, np.zeros_like(known))
    classifier.learn()
    entities, probability = (
        np.concatenate(part) for part in zip(*classifier.tell(np.flatnonzero(hidden)), strict=True)
    )
    return entities, probability.argmax(1), probability.max(1)


def test_entities_get_the_type_of_those_like_them():
    arrays, codes = small_model()
    hidden = np.arange(codes.size) % 4 == 0
    entities, told, probability = tell(arrays, codes, hidden)
    assert (told == codes[entities]).mean() > 0.98
    assert ((probability > 0) & (probability <= 1)).all() and probability.mean() > 0.9


def test_who_was_learned_is_told_by_the_others():
    arrays, codes = small_model()
    wrong = codes.copy()
    wrong[:20] = np.where(codes[:20] == 1, 3, 1)  # what their pages say is not what they look like
    classifier = TypeClassifier(arrays.__getitem__, wrong, np.zeros_like(codes))
    classifier.learn()
    [(_, probability)] = classifier.tell(np.arange(20))
    assert (probability.argmax(1) == codes[:20]).mean() > 0.9


def test_entities_of_many_links_are_told_as_surely_as_it_is_right():
    arrays, codes = small_model(1600)
    often = np.arange(codes.size) % 2 == 0
    pages = np.where(often, 40, 2)  # what is linked often looks like anything
    codes[often] = np.random.default_rng(3).permutation(codes[often])
    arrays["posting_offsets"] = np.append(0, np.cumsum(pages))
    arrays["posting_document"] = np.arange(pages.sum(), dtype=np.uint32) % 100
    known = np.where(np.arange(codes.size) % 10 == 1, 0, codes).astype(np.uint8)
    classifier = TypeClassifier(arrays.__getitem__, known, np.zeros_like(known))
    classifier.learn()
    [(_, probability)] = classifier.tell(np.arange(codes.size))
    assert probability[often].max(1).mean() < 0.6
    assert probability[~often].max(1).mean() > 0.8


def test_learning_twice_gives_the_same():
    arrays, codes = small_model()
    hidden = np.arange(codes.size) % 3 == 0
    first, second = tell(arrays, codes, hidden), tell(arrays, codes, hidden)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_probabilities_are_a_softmax_of_weighted_sums():
    arrays, codes = small_model(40)
    classifier = TypeClassifier(arrays.__getitem__, codes, np.zeros_like(codes))
    entities = np.arange(40)
    found = classifier.features(entities, taught=True, links=np.zeros(40, np.int64))
    several = np.random.default_rng(2).normal(size=(2, kernels.SLOTS, kernels.CLASSES)).astype(np.float32)
    teller = (entities % 2).astype(np.uint8)
    out, sharpness = np.empty((40, kernels.CLASSES), np.float32), np.linspace(0.5, 1, 40)
    kernels.probabilities(found.offsets, found.slots, found.values, several, teller, sharpness, out)
    for row in range(40):
        mine = slice(found.offsets[row], found.offsets[row + 1])
        scores = (several[row % 2][found.slots[mine]] * found.values[mine, None]).sum(0)[1:]
        expected = np.exp(sharpness[row] * (scores - scores.max()))
        np.testing.assert_allclose(out[row, 1:], expected / expected.sum(), rtol=1e-3, atol=1e-6)


def test_documents_count_the_types_they_link():
    arrays, codes = small_model(30)
    expected = np.zeros((200, kernels.CLASSES), np.uint16)
    for entity, pair in enumerate(arrays["posting_document"].reshape(-1, 2)):
        for document in pair:
            expected[document, codes[entity]] += 1
    out = np.zeros_like(expected)
    kernels.document_types(codes, arrays["posting_offsets"], arrays["posting_document"], 0, out)
    np.testing.assert_array_equal(out, expected)


@given(st.text(max_size=300))
def test_any_title_has_features_within_bounds(title):
    data = np.frombuffer(title.encode("utf-8", "ignore"), np.uint8)
    out = np.full(kernels.MOST_TITLE, -1, np.int32)
    used = kernels.title_features(data, out)
    assert 5 <= used <= kernels.MOST_TITLE
    assert ((out[:used] >= 0) & (out[:used] < kernels.SLOTS)).all() and (out[used:] == -1).all()


@pytest.mark.parametrize(("right", "expected"), [(0.95, "sharper"), (0.4, "softer")])
def test_probabilities_are_made_as_sharp_as_they_are_right(right, expected):
    chance = np.random.default_rng(3)
    told = np.zeros((4000, kernels.CLASSES))
    told[:, 1], told[:, 2] = 0.7, 0.3
    types = np.where(chance.random(4000) < right, 1, 2).astype(np.uint8)
    assert (_sharpness(told, types) > 1) == (expected == "sharper")


def test_letters_are_counted_as_by_numpy():
    chance = np.random.default_rng(4)
    layers = [Layer.CASED, Layer.LOWER, Layer.REDIRECT]
    rows = chance.integers(0, [200, 9, 3], (600, 3))
    name, entity, layer = np.unique(rows, axis=0).T
    layer = np.asarray(layers, np.uint8)[layer]
    count = chance.integers(1, 9, name.size).astype(np.float32)
    offsets = np.searchsorted(name, np.arange(201)).astype(np.uint32)
    small, every = np.zeros((2, 9))
    kernels.small_letters(offsets, entity, layer, count, int(Layer.CASED), int(Layer.LOWER), small, every)
    cased, key = layer == Layer.CASED, 9 * name + entity
    plain = cased & np.isin(key, key[layer == Layer.LOWER])
    np.testing.assert_array_equal(every, np.bincount(entity[cased], count[cased], 9))
    np.testing.assert_array_equal(small, np.bincount(entity[plain], count[plain], 9))
    assert 0 < small.sum() < every.sum()


def test_names_in_small_letters_are_told_by_their_own_lower_case():
    arrays = {
        "name_offsets": np.asarray(
            [0, 2, 3, 4], np.uint32
        ),  # "tree" as written and lower-cased; "Ulm"; "ulm"
        "name_entity": np.asarray([0, 0, 1, 1], np.uint32),
        "name_layer": np.asarray([Layer.CASED, Layer.LOWER, Layer.CASED, Layer.LOWER], np.uint8),
        "name_count": np.ones(4, np.float32),
    }
    assert _written_small(arrays.__getitem__, 3).tolist() == [5, 1, 0]
