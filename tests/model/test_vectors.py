"""Vectors against slow twins: the decomposition, cosines with words, kinship; the same on any machine."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.model.tables import offsets_of
from pboh.model.vector_kernels import eigen, kinships, topic_scores
from pboh.model.vectors import DISCOUNT, VectorOptions, vector_parts

SMALL = VectorOptions(dimensions=6, extra=10, rounds=6, words=40, least_documents=2, least=0.5, block=7)


def counts(seed: int = 0, entities: int = 60, words: int = 50, documents: int = 30) -> dict[str, np.ndarray]:
    """A world of four subjects: entities, words and documents prefer their own."""
    rng = np.random.default_rng(seed)
    alike = (np.arange(entities)[:, None] % 4) == (np.arange(words) % 4)
    times = rng.poisson(np.where(alike, 4.0, 0.4))
    linked = rng.random((entities, documents)) < np.where(
        np.arange(entities)[:, None] % 4 == np.arange(documents) % 4, 0.3, 0.03
    )
    linked[:5] = False
    linked[np.arange(5), np.arange(5)] = True  # linked once
    times[5] = linked[5] = 0  # nothing is known of this one
    (e, w), (f, d) = np.nonzero(times), np.nonzero(linked)
    return {
        "context_offsets": offsets_of(e, entities), "context_word": w.astype(np.int32),
        "context_count": times[e, w].astype(np.uint16), "context_total": times.sum(1).astype(np.float32),
        "posting_offsets": offsets_of(f, entities), "posting_document": d.astype(np.uint32),
        "word_background": (times.sum(0) / times.sum()).astype(np.float32),
    }  # fmt: skip


def make_vectors(a: dict[str, np.ndarray], *options, **more) -> dict[str, np.ndarray]:
    """All arrays, their parts joined."""
    parts: dict[str, list[np.ndarray]] = {}
    for name, array in vector_parts(a, *options, **more):
        parts.setdefault(name, []).append(array)
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def matrix(a: dict[str, np.ndarray], o: VectorOptions) -> np.ndarray:
    """Positive mutual information of all entities with the chosen words, and with documents."""
    size, words = (
        a["context_total"].size,
        np.sort(np.argsort(-a["word_background"], kind="stable")[: o.words]),
    )
    entity = np.repeat(np.arange(size), np.diff(a["context_offsets"]))
    times = np.zeros((size, a["word_background"].size))
    times[entity, a["context_word"]] = a["context_count"]
    linked = np.zeros((size, a["posting_document"].max() + 1))
    linked[np.repeat(np.arange(size), np.diff(a["posting_offsets"])), a["posting_document"]] = 1
    with np.errstate(divide="ignore", invalid="ignore"):
        by_word = np.log((times - DISCOUNT) / a["context_total"][:, None] / a["word_background"])[:, words]
        by_document = np.log(linked * linked.sum() / linked.sum(0) / linked.sum(1)[:, None])
    by_word = np.where(by_word > o.least, by_word, 0)
    return np.hstack([by_word, o.document_weight * np.where(by_document > 0, by_document, 0)])


def cosine(rows: np.ndarray) -> np.ndarray:
    """Cosines between all rows."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows @ rows.T


@pytest.mark.parametrize("seed", range(3))
def test_vectors_are_those_of_the_largest_singular_values(seed):
    a = counts(seed)
    made, full = make_vectors(a, SMALL), matrix(a, SMALL)
    core = np.diff(a["posting_offsets"]) >= SMALL.least_documents
    _, values, right = np.linalg.svd(full[core], full_matrices=False)
    values, right = values[: SMALL.dimensions], right[: SMALL.dimensions].T
    entities, words = full @ right / np.sqrt(values), (right * np.sqrt(values))[: SMALL.words]
    assert cosine(made["vector_entity"].astype(float)) == pytest.approx(cosine(entities), abs=0.03)
    scaled = made["vector_word"] * made["vector_word_scale"][:, None]
    assert scaled @ scaled.T == pytest.approx(words @ words.T, abs=0.05)
    together = cosine(np.vstack([made["vector_entity"].astype(float), scaled]))
    assert together == pytest.approx(cosine(np.vstack([entities, words])), abs=0.03)


def test_who_is_linked_once_has_a_vector_and_who_is_unknown_has_none():
    made = make_vectors(counts(), SMALL)["vector_entity"]
    assert made[:5].any(axis=1).all() and not made[5].any()


def test_threads_and_blocks_change_no_bit(monkeypatch):
    a = counts()
    made = [make_vectors(a, SMALL, threads=threads) for threads in (1, 3)]
    made.append(make_vectors(a, VectorOptions(**{**_options(), "block": 1000})))
    monkeypatch.setattr("pboh.model.vectors.ENTRIES", 20)  # less than some entities have
    made.append(make_vectors(a, SMALL))
    for other in made[1:]:
        assert {name: array.tobytes() for name, array in other.items()} == {
            name: array.tobytes() for name, array in made[0].items()
        }


def _options() -> dict[str, float]:
    return {name: getattr(SMALL, name) for name in VectorOptions.__dataclass_fields__}


def test_counts_of_nothing_have_no_vectors():
    a = counts()
    for name in ("context_word", "context_count", "posting_document"):
        a[name] = a[name][:0]
    a["context_offsets"], a["posting_offsets"] = a["context_offsets"] * 0, a["posting_offsets"] * 0
    made = make_vectors(a, SMALL)
    assert made["vector_entity"].shape == (60, 6) and not made["vector_entity"].any()


def test_eigenvalues_and_vectors_are_those_of_lapack():
    rng = np.random.default_rng(1)
    some = rng.normal(size=(20, 12))
    values, vectors = eigen(some.T @ some, 12)
    assert values == pytest.approx(np.linalg.eigvalsh(some.T @ some)[::-1])
    assert vectors @ np.diag(values) @ vectors.T == pytest.approx(some.T @ some)
    assert vectors.T @ vectors == pytest.approx(np.eye(12), abs=1e-12)


def test_topic_scores_are_cosines_with_the_words_around():
    rng = np.random.default_rng(2)
    vectors, words = (
        rng.integers(-127, 128, (9, 5)).astype(np.int8),
        rng.integers(-9, 9, (4, 5)).astype(np.int8),
    )
    vectors[3] = 0
    known, scale = np.asarray([2, 5, 6, 9], np.int32), rng.random(4).astype(np.float32)
    text = np.asarray([5, -1, 2, 7, 9, 6, 6, 2])
    runs = tuple(np.asarray(run) for run in ([0, 4], [2, 4], [3, 4], [6, 4]))  # the second has no words
    entity, size = np.asarray([[0, 3, 8, 40], [1, 2, 0, 0]]), np.asarray([4, 2])
    out = np.zeros(entity.shape)
    topic_scores(entity, size, text, runs, vectors, (known, words, scale), out)
    place = {number: i for i, number in enumerate(known.tolist())}
    around = sum(scale[place[w]] * words[place[w]].astype(float) for w in (5, 9, 6))
    expected = [
        around @ vectors[e] / np.linalg.norm(around) / np.linalg.norm(vectors[e].astype(float))
        for e in (0, 8)
    ]
    assert out[0, [0, 2]] == pytest.approx(expected)
    assert out[0, [1, 3]] == pytest.approx(np.mean(expected))  # no vector, no difference
    assert out[1].tolist() == [0, 0, 0, 0]


def test_kinships_are_cosines_above_the_least():
    rng = np.random.default_rng(3)
    vectors = rng.integers(-127, 128, (12, 6)).astype(np.int8)
    vectors[4] = 0
    entities = np.asarray([0, 2, 4, 5, 9, 11])
    start, other, value = kinships(entities, vectors, 0.2)
    table = np.zeros((6, 6))
    for i in range(6):
        table[i, other[start[i] : start[i + 1]]] = value[start[i] : start[i + 1]]
    full = cosine(vectors[entities].astype(float))
    assert table == pytest.approx(np.where(full > 0.2, full, 0), abs=1e-6)
