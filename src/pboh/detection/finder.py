"""The name finder: spans of a text that are names, with probabilities, whether an entity is known or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pboh.detection.casing import ABBREVIATION, PLAIN
from pboh.detection.casing_kernels import look_up_words
from pboh.detection.chain_kernels import LABELS, exponentials, find_spans
from pboh.detection.dictionary import Dictionary, Matches
from pboh.detection.feature_kernels import (
    FEATURES,
    dictionary_tags,
    own_casing,
    sentence_style,
    write_features,
)
from pboh.detection.token_kernels import S_NUMBER, S_ORDINAL, S_OTHER, SHAPES, cut_sentences
from pboh.detection.tokens import Tokens, code_points, sorts, tokens
from pboh.model.store import Model
from pboh.text.hashing import Array

LEAST = 0.02
"""Spans less probable than this are not reported."""


class Read(NamedTuple):
    """A text as the chain sees it: its tokens, their sentences, what is known of them, their features."""

    tokens: Tokens
    sentence: Array
    known: Array
    features: Array


def read(codes: Array, cut: Tokens, words: Array, found: Matches, rows: int) -> Read:
    """Read a text with the casing of ``words``, the names ``found`` in it, and ``rows`` of weights."""
    n, lower = cut.start.size, sorts()[1]
    known, style, own, tag, longest = np.zeros((5, n), np.uint8)
    sentence = np.zeros(n, np.int32)
    look_up_words(cut.word, words, known)
    cut_sentences(codes, cut.start, cut.shape, cut.gap, known & ABBREVIATION > 0, sentence)
    own_casing(cut.word, cut.shape, sentence, own)
    sentence_style(cut.shape, known, sentence, style)
    first = np.searchsorted(cut.start, found.start)
    last = np.searchsorted(cut.end, found.end) + 1
    dictionary_tags(first, last, found.link, found.share, tag, longest)
    features = np.empty((n, FEATURES), np.uint32)
    looks = known, style, own, tag, longest
    write_features(codes, lower, *cut[:5], sentence, *looks, np.uint64(rows - 1), features)
    return Read(cut, sentence, known, features)


class Finder:
    """Finds names. It is cheap to make, but for the weights, which are unpacked once."""

    def __init__(self, dictionary: Dictionary, arrays: Mapping[str, Array]) -> None:
        self._dictionary = dictionary
        self._words = arrays["finder_words"]
        self._weights = arrays["finder_weights"].astype(np.float32)
        self._steps = np.empty((SHAPES, LABELS, LABELS))
        exponentials(arrays["finder_steps"].astype(np.float64), self._steps)

    @classmethod
    def of(cls, model: Model) -> Finder | None:
        """The finder of a model, None if it was trained without one."""
        if "finder_weights" not in model:
            return None
        return cls(Dictionary(model, model["entity_nameness"]), model.arrays)

    def spans(self, text: str, least: float = LEAST) -> tuple[Array, Array, Array]:
        """Start, end (code points) and probability of every span that may be a name; they may overlap.

        Numbers, dates and weekdays are not names.
        """
        codes = code_points(text)
        cut = tokens(codes)
        seen = read(codes, cut, self._words, self._dictionary.find(text), len(self._weights))
        most = 4 * cut.start.size + 64
        spans, probability = np.empty((most, 2), np.int64), np.empty(most)
        model = self._weights, self._steps
        used = find_spans(seen.features, cut.shape, seen.sentence, *model, least, spans, probability)
        first, last = spans[:used].T
        nothing = (cut.shape >= S_NUMBER) & (cut.shape <= S_ORDINAL)
        nothing |= (cut.shape >= S_OTHER) | (seen.known & PLAIN > 0)
        words = np.concatenate([[0], np.cumsum(~nothing)])
        keep = words[last] > words[first]
        return cut.start[first[keep]], cut.end[last[keep] - 1], probability[:used][keep]
