"""Kernel that turns the tokens of a text into hashed features of the name finder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, njit, uint32, uint64

from pboh.detection.token_kernels import (
    NEW_LINE,
    S_CAPITALS,
    S_CODE,
    S_HIRAGANA,
    S_INITIAL,
    S_LETTERS,
    S_MIXED,
    S_SMALL,
    S_TITLE,
)
from pboh.text.hash_kernels import EMPTY, Array, helper, slot_of

FEATURES = 34
_BEYOND = uint64(0x5BD1E995)  # stands for a token outside the sentence


@njit(cache=True, nogil=True, inline="always")
def _row(number, value, mask):  # type: ignore[no-untyped-def]
    """Row of a feature: which it is, and its value, hashed."""
    h = (uint64(value) + uint64(number) * uint64(0x9E3779B97F4A7C15)) * uint64(0xBF58476D1CE4E5B9)
    h ^= h >> uint64(29)
    h *= uint64(0x94D049BB133111EB)
    return uint32((h >> uint64(32)) & mask)


@njit(cache=True, nogil=True, inline="always")
def _capital(shape):  # type: ignore[no-untyped-def]
    return S_TITLE <= shape <= S_INITIAL or shape in (S_MIXED, S_CODE)


@helper
def _affix(codes, lower, start, end):  # type: ignore[no-untyped-def]
    h = uint64(0xCBF29CE484222325)
    for k in range(start, end):
        h = (h ^ uint64(lower[codes[k]])) * uint64(0x100000001B3)
    return h


def own_casing(word: Array, shape: Array, sentence: Array, out: Array) -> None:
    """How the text itself writes each word inside sentences: bit 1 in small letters, bit 2 capitalised."""
    size = 16 << (word.size // 8).bit_length()  # at least twice as many
    _own_casing(word, shape, sentence, np.full(size, EMPTY, np.uint64), np.zeros(size, np.uint8), out)


@njit(cache=True, nogil=True)
def _own_casing(word, shape, sentence, key, flag, out):  # type: ignore[no-untyped-def]
    n = word.size
    for i in range(n):
        if shape[i] > S_LETTERS:
            continue
        slot = slot_of(key, uint64(word[i]))
        key[slot] = word[i]
        if i > 0 and sentence[i] == sentence[i - 1] and shape[i - 1] <= S_LETTERS:
            if shape[i] == S_SMALL:
                flag[slot] |= 1
            elif _capital(shape[i]) and shape[i - 1] == S_SMALL:
                flag[slot] |= 2
    for i in range(n):
        out[i] = flag[slot_of(key, uint64(word[i]))] if shape[i] <= S_LETTERS else 0


@njit(cache=True, nogil=True)
def sentence_style(shape, known, sentence, out):  # type: ignore[no-untyped-def]
    """How much of a token's sentence is capitalised: 0 nothing … 3 most of it (a headline), 4 in capitals."""
    n, first = shape.size, 0
    while first < n:
        last = first
        words, large, capitals, common = 0, 0, 0, 0
        while last < n and sentence[last] == sentence[first]:
            if shape[last] <= S_MIXED:
                words += 1
                large += shape[last] != S_SMALL
                capitals += shape[last] == S_CAPITALS
                # words that the corpus writes small, but this sentence does not
                common += shape[last] != S_SMALL and 0 < known[last] & 15 <= 3
            last += 1
        style = 1
        if words > 0 and capitals >= 0.6 * words and capitals > 1:
            style = 4
        elif large == 0:
            style = 0
        elif words > 3 and (large >= 0.6 * words or common >= 0.3 * words) and common > 1:
            style = 3
        elif large >= 0.4 * words:
            style = 2
        for i in range(first, last):
            out[i] = style
        first = last


def dictionary_tags(first: Array, last: Array, link: Array, share: Array, tag: Array, longest: Array) -> None:
    """What the dictionary says of every token.

    The names ``first[k]:last[k]`` (in order of their end) are covered so that link probability × length is
    largest; a token's ``tag`` is its place in such a name (1 begin, 2 inside, 3 last, 4 alone), with the
    levels of ``link`` (0…7) and ``share`` (0…3); 0 is none. ``longest`` is the length of the longest name
    that begins (low bits) and that ends (high bits) there.
    """
    before = np.searchsorted(last, first, side="right")  # names that end at or before a name's first token
    _dictionary_tags(first, last, link, share, before, np.zeros(first.size + 1, np.int64), tag, longest)


@njit(cache=True, nogil=True)
def _dictionary_tags(first, last, link, share, before, best, tag, longest):  # type: ignore[no-untyped-def]
    n = first.size
    for k in range(n):
        length = last[k] - first[k]
        worth = (1 + link[k]) * (1 + share[k]) * length + best[before[k]]
        best[k + 1] = worth if worth > best[k] else best[k]
        length = length if length < 7 else 7
        i = first[k]
        if longest[i] & 7 < length:
            longest[i] = length | (longest[i] & 56)
        i = last[k] - 1
        if longest[i] >> 3 < length:
            longest[i] = length << 3 | (longest[i] & 7)
    k = n
    while k > 0:
        if best[k] > best[k - 1]:
            k -= 1
            level = (link[k] * 4 + share[k]) * 5
            for i in range(first[k], last[k]):
                tag[i] = level + 2
            tag[first[k]] = level + 1
            tag[last[k] - 1] = level + (3 if last[k] - first[k] > 1 else 4)
            k = before[k]
        else:
            k -= 1


@njit(cache=True, nogil=True, inline="always")
def _letters(codes, lower, start, end, large, value):  # type: ignore[no-untyped-def]
    """Endings and beginning of a word."""
    for length in range(2, 5):
        ending = _affix(codes, lower, end - length if end - length > start else start, end)
        value[6 + length] = ending * uint64(2) + large
    value[11] = _affix(codes, lower, start, start + 3 if start + 3 < end else end) * uint64(2) + large


@helper
def _words(w, s, large, begins, value):  # type: ignore[no-untyped-def]
    """The word and its neighbours ``w``, alone, in pairs and with its shape ``s[2]``."""
    high = uint64(32)
    value[1] = w[2]
    value[2] = w[1]
    value[3] = w[3]
    value[4] = w[0]
    value[5] = w[4]
    value[6] = (w[2] << high) | w[1]
    value[7] = (w[2] << high) | w[3]
    value[22] = w[2] * 32 + s[2]
    value[24] = w[1] * 32 + s[2]
    value[25] = w[3] * 32 + s[2]
    value[27] = (w[1] << high) | w[3]
    value[28] = w[2] * 2 + begins
    value[30] = w[0] * 64 + s[1] * 2 + large
    value[31] = w[4] * 64 + s[3] * 2 + large


@helper
def _signs(s, c, t, style, own, begins, value):  # type: ignore[no-untyped-def]
    """Shapes ``s``, casing ``c`` and dictionary tags ``t`` of the token and its neighbours."""
    value[0] = s[2] * 8 + style
    value[12] = ((s[1] * 32 + s[2]) * 32 + s[3]) * 8 + style
    value[13] = ((s[2] * 32 + s[3]) * 32 + s[4]) * 8 + style
    value[14] = ((s[0] * 32 + s[1]) * 32 + s[2]) * 8 + style
    value[15] = ((s[2] * 256 + c[1]) * 2 + begins) * 8 + style
    value[16] = ((c[0] * 256 + c[1]) * 32 + s[2]) * 32 + s[1]
    value[17] = ((c[2] * 256 + c[1]) * 32 + s[2]) * 32 + s[3]
    value[18] = (t[1] * 32 + s[2]) * 8 + style
    value[19] = t[0] * 256 + t[1]
    value[20] = t[2] * 256 + t[1]
    value[26] = (t[1] * 256 + c[1]) * 32 + s[2]
    value[29] = ((own * 2 + begins) * 32 + s[2]) * 256 + c[1]
    value[32] = (c[1] * 8 + style) * 256 + t[1]


def write_features(
    codes: Array, lower: Array, start: Array, end: Array, shape: Array, gap: Array, word: Array,
    sentence: Array, known: Array, style: Array, own: Array, tag: Array, longest: Array, mask: Any,
    out: Array,
) -> None:  # fmt: skip
    """Write the rows of every token's features to ``out``; ``mask`` is the number of rows of weights − 1."""
    looks = shape, gap, word, sentence, known, style, own, tag, longest
    w, s, c, t, value = (np.empty(size, np.uint64) for size in (5, 5, 3, 3, FEATURES))
    _write_features(codes, lower, start, end, *looks, mask, w, s, c, t, value, out)


@njit(cache=True, nogil=True)
def _write_features(  # type: ignore[no-untyped-def]
    codes, lower, start, end, shape, gap, word, sentence, known, style, own, tag, longest, mask,
    w, s, c, t, value, out,
):  # fmt: skip
    n = start.size
    for i in range(n):
        for k in range(5):
            j = i + k - 2
            inside = 0 <= j < n and sentence[j] == sentence[i]
            w[k] = word[j] if inside else _BEYOND
            s[k] = shape[j] if inside else 31
            if 1 <= k <= 3:
                c[k - 1] = known[j] if inside else 128
                t[k - 1] = tag[j] if inside else 255
        large = uint64(_capital(shape[i]))
        begins = uint64(s[1] == 31 or (s[0] == 31 and s[1] > S_LETTERS))
        _words(w, s, large, begins, value)
        if shape[i] < S_HIRAGANA:
            _letters(codes, lower, int64(start[i]), int64(end[i]), large, value)
        else:
            high = uint64(32)
            value[8] = (w[1] << high) ^ (w[0] * uint64(31))
            value[9] = (w[3] << high) ^ (w[4] * uint64(31))
            value[10] = (w[1] << high) ^ (w[2] * uint64(31)) ^ (w[3] * uint64(0x9E3779B1))
            value[11] = s[2]
        _signs(s, c, t, uint64(style[i]), uint64(own[i]), begins, value)
        before = uint64(NEW_LINE if s[1] == 31 else gap[i])
        after = uint64(NEW_LINE if s[3] == 31 else gap[i + 1])
        value[21] = uint64(longest[i]) * 32 + s[2]
        value[23] = (before * 4 + after) * 32 + s[2]
        length = end[i] - start[i]
        value[33] = uint64(length if length < 12 else 12) * 32 + s[2]
        for f in range(FEATURES):
            out[i, f] = _row(f, value[f], mask)
