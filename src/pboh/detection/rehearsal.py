"""Compile the second half of what a text needs: ``python -m pboh.detection.rehearsal``.

While ``pboh link`` compiles what reads a text, this compiles what chooses its names and their entities.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pboh.detection.chain_kernels import LABELS, find_spans
from pboh.detection.cover_kernels import best_cover, strongest_rivals
from pboh.detection.feature_kernels import FEATURES
from pboh.detection.repeat_kernels import find_again
from pboh.detection.token_kernels import SHAPES
from pboh.inference.engine import Engine
from pboh.inference.settings import DEFAULT
from pboh.inference.spans import Span
from pboh.model.names import Layer
from pboh.model.store import Model
from pboh.model.tables import context_table, name_table, posting_table, title_table, word_table
from pboh.text.hashing import hash_strings, hash_words

TITLES = "Paris", "Rome"


def tiny_model() -> Model:
    """Two entities on one page, made as a parcel's arrays are, so that no number has another type."""
    entities, names = np.arange(2), hash_strings(list(TITLES))
    order, one, none = np.argsort(names), np.ones(2, np.float32), np.empty(0, np.uint64)
    arrays = {
        **title_table("\n".join(TITLES).encode(), none, none),
        **posting_table(np.arange(3), np.zeros(2, np.int64)),
        **name_table(names[order], entities[order], np.full(2, Layer.CASED), one),
        **word_table(hash_words(["river", "tower"])),
        **context_table(entities, entities, np.full(2, 9), np.full(2, 99)),
        "word_background": one / 2,
        "entity_occurrences": np.ones(2, np.uint32),
        "entity_marginal": np.ones(2, np.int64),
        "vector_entity": np.ones((2, 8), np.int8),
        "vector_word": np.ones((2, 8), np.int8),
        "vector_word_scale": one,
        "vector_word_number": np.arange(2, dtype=np.int32),
    }
    totals = {"documents": 1, "pairs": 2, "distinct_pairs": 1}
    return Model(Path(), {"language": "en", "totals": totals}, arrays)


def choose() -> None:
    """Choose the names of a text of one token."""
    token, sentence, sort = np.zeros((1, FEATURES), np.uint32), np.zeros(1, np.int32), np.zeros(1, np.uint8)
    model = np.zeros((2, LABELS - 1), np.float32), np.ones((SHAPES, LABELS, LABELS))
    spans, (chance, again) = np.empty((8, 2), np.int64), np.empty((2, 8))
    find_spans(token, sort, sentence, *model, 0.1, spans, chance)
    (first, last), probability = np.asarray([[0], [1]]), np.ones(1)
    find_again(np.zeros(1, np.uint32), first, last, probability, 0.5, 0.1, spans, chance, again)
    strongest_rivals(first, last, probability)
    best_cover(first, last, probability)


def main() -> None:
    """In the order in which a text needs it."""
    choose()
    Engine(tiny_model(), DEFAULT).solve("Paris and Rome, a river", [Span(0, 5), Span(10, 14)])


if __name__ == "__main__":
    main()
