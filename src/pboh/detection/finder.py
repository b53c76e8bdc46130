"""The name finder: spans of a text that are names, with probabilities, whether an entity is known or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pboh.detection.casing import ABBREVIATION, LEVEL, PLAIN
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
from pboh.detection.repeat_kernels import find_again
from pboh.detection.token_kernels import GLUED, S_NUMBER, S_ORDINAL, S_OTHER, SHAPES, SPACED, cut_sentences
from pboh.detection.tokens import CAPITALISED, Tokens, code_points, sorts, tokens
from pboh.model.link_probability import decode
from pboh.model.store import Model
from pboh.text.hashing import Array

LEAST = 0.12
"""Spans less probable than this are not reported."""
SURE = 0.5
"""Names at least this probable are looked for again in the whole text."""


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


class Names(NamedTuple):
    """Spans of a text (code points) that may be names, in order of their place; they may overlap."""

    start: Array
    end: Array
    probability: Array  # as the sentence tells
    again: Array  # highest probability of the same words elsewhere in the text
    link: Array  # how often these words are a link in the corpus, 0 if hardly ever
    touched: Array  # whether a capitalised word that the corpus does not know is beside it: Bukayo Saka

    def __len__(self) -> int:
        return int(self.start.size)


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

    def find(self, text: str, least: float = LEAST) -> Names:
        """Every span that may be a name. Numbers, dates and weekdays are not names."""
        codes = code_points(text)
        cut = tokens(codes)
        known = self._dictionary.find(text)
        seen = read(codes, cut, self._words, known, len(self._weights))
        most = 4 * cut.start.size + 64
        spans, probability = np.empty((most, 2), np.int64), np.empty(most)
        model = self._weights, self._steps
        used = find_spans(seen.features, cut.shape, seen.sentence, *model, least, spans, probability)
        first, last = spans[:used].T
        nothing = (cut.shape >= S_NUMBER) & (cut.shape <= S_ORDINAL)
        nothing |= (cut.shape >= S_OTHER) | (seen.known & PLAIN > 0)
        before = codes[np.maximum(cut.start - 1, 0)]
        nothing |= (cut.gap == GLUED) & ((before == ord("°")) | (before == ord("º")))  # 25 °C
        words = np.concatenate([[0], np.cumsum(~nothing)])
        keep = words[last] > words[first]
        first, last, probability = first[keep], last[keep], probability[:used][keep]
        most = 2 * first.size + cut.start.size
        spans, chance, again = np.empty((most, 2), np.int64), np.empty(most), np.zeros(most)
        used = find_again(cut.written, first, last, probability, SURE, least / 2, spans, chance, again)
        first, last = spans[:used].T
        order = np.lexsort((last, first))
        first, last = first[order], last[order]
        start, end = cut.start[first].astype(np.int64), cut.end[last - 1].astype(np.int64)
        links, touched = _links(known, start, end), _touched(seen, first, last)
        return Names(start, end, chance[order], again[order], links, touched)


def _touched(seen: Read, first: Array, last: Array) -> Array:
    """Which spans (tokens) have a capitalised word that the corpus does not know beside them."""
    strange = CAPITALISED[seen.tokens.shape] & (seen.known & LEVEL == 0)
    apart = (seen.tokens.gap != SPACED) | np.append(True, np.diff(seen.sentence) != 0)
    before = np.append(False, strange[:-1]) & ~apart  # by the token that follows
    after = np.append(strange & ~apart, False)
    return np.asarray(before[first] | after[last])


def _links(known: Matches, start: Array, end: Array) -> Array:
    """Link probabilities of spans, 0 for those that are not in the dictionary."""
    if not known.start.size:
        return np.zeros(start.size)
    keys, wanted = (np.asarray(e, np.int64) << 32 | s for s, e in ((known.start, known.end), (start, end)))
    at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    return np.where(keys[at] == wanted, decode(known.code[at]), 0.0)
