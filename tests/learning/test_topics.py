"""Documents divided by topic: all of them, parts of a text together, and those alike in one group."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.datasets.derived import as_sentences
from pboh.learning.topics import by_topic, clusters
from pboh.linker import Linker

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"


def test_rows_that_point_the_same_way_are_one_group():
    rng = np.random.default_rng(0)
    centres = np.eye(3)[[0, 1, 2, 0, 1, 2, 0, 0]]
    rows = centres + 0.1 * rng.normal(size=centres.shape)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = clusters(rows, 3)
    assert len({(a, b) for a, b in zip(found.tolist(), centres.argmax(1).tolist(), strict=True)}) == 3
    assert clusters(rows[:2], 5).tolist() == [0, 1]


def test_every_document_has_one_topic_and_sentences_that_of_their_page(linker):
    pages = read_dataset(WORLD)
    parts = by_topic(linker, pages, 3)
    assert 1 < len(parts) <= 3
    ids = [document.id for part in parts for document in part]
    assert sorted(ids) == sorted(document.id for document in pages)
    topic = {document.text: k for k, part in enumerate(parts) for document in part}
    short = by_topic(linker, as_sentences(pages), 3)
    for part in short:
        assert len({topic[document.whole] for document in part}) == 1


def test_topics_need_vectors(linker):
    arrays = {name: array for name, array in linker.model.arrays.items() if name != "vector_entity"}
    with pytest.raises(InputError, match="vectors"):
        by_topic(Linker(replace(linker.model, arrays=arrays)), read_dataset(WORLD), 2)
