"""Kernels that cut a text into tokens and sentences, the way the dictionary's names are cut."""

from __future__ import annotations

from numba import njit, uint32, uint64

from pboh.text.hash_kernels import helper

# what a code point is
(
    BLANK,
    LINE,
    SMALL,
    CAPITAL,
    LETTER,
    DIGIT,
    HIRAGANA,
    KATAKANA,
    HAN,
    UNSPACED,
    OTHER,
    STOP,
    CLOSING,
    DASH,
    APOSTROPHE,
) = range(15)
# what a token looks like
(
    S_SMALL,
    S_TITLE,
    S_CAPITALS,
    S_INITIAL,
    S_INNER,
    S_MIXED,
    S_NUMBER,
    S_YEAR,
    S_LONG_NUMBER,
    S_ORDINAL,
    S_CODE,
    S_LETTERS,
    S_HIRAGANA,
    S_KATAKANA,
    S_HAN,
    S_UNSPACED,
    S_OTHER,
    S_STOP,
    S_CLOSING,
    S_DASH,
    S_APOSTROPHE,
) = range(21)
SHAPES = 21
GLUED, SPACED, NEW_LINE = 0, 1, 2

_START = uint64(0xCBF29CE484222325)
_PRIME = uint64(0x100000001B3)


@njit(cache=True, nogil=True, inline="always")
def _short(h):  # type: ignore[no-untyped-def]
    """A 64-bit hash as 32 bits, of which every one depends on all of them."""
    h ^= h >> uint64(29)
    h *= uint64(0xBF58476D1CE4E5B9)
    return uint32(h >> uint64(32))


@helper
def _shape(small, capital, letter, digit, length, begins):  # type: ignore[no-untyped-def]
    """Shape of a word from how many characters of each sort it has and what it begins with."""
    if digit:
        if not (small or capital or letter):
            return S_NUMBER if length <= 2 else S_YEAR if length == 4 else S_LONG_NUMBER
        return S_ORDINAL if begins == DIGIT else S_CODE
    if not capital:
        return S_SMALL if small else S_LETTERS
    if begins != CAPITAL:
        return S_INNER
    if small or letter:
        return S_TITLE if capital == 1 else S_MIXED
    return S_INITIAL if capital == 1 else S_CAPITALS


@njit(cache=True, nogil=True)
def cut(codes, sort, lower, start, end, shape, gap, word, written):  # type: ignore[no-untyped-def]
    """Write the tokens of a text; returns how many there are.

    A token is a run of letters, marks and digits, or one character of any other sort. ``word`` is the hash
    of its lower case, ``written`` that of the token as it is.
    """
    n, found, here, space = codes.size, 0, 0, NEW_LINE
    while here < n:
        first = sort[codes[here]]
        if first <= LINE:
            space = max(space, NEW_LINE if first == LINE else SPACED)
            here += 1
            continue
        start[found], gap[found] = here, space
        h, w = _START, _START
        if first >= HIRAGANA:
            h = (h ^ uint64(codes[here])) * _PRIME
            w = h
            here += 1
            shape[found] = first - HIRAGANA + S_HIRAGANA
        else:
            small, capital, letter, digit = 0, 0, 0, 0
            while here < n and SMALL <= sort[codes[here]] <= DIGIT:
                code = codes[here]
                kind = sort[code]
                h = (h ^ uint64(lower[code])) * _PRIME
                w = (w ^ uint64(code)) * _PRIME
                small += kind == SMALL
                capital += kind == CAPITAL
                letter += kind == LETTER
                digit += kind == DIGIT
                here += 1
            shape[found] = _shape(small, capital, letter, digit, here - start[found], first)
        end[found], word[found], written[found] = here, _short(h), _short(w)
        found, space = found + 1, GLUED
    return found


@njit(cache=True, nogil=True)
def cut_sentences(codes, start, shape, gap, abbreviation, out):  # type: ignore[no-untyped-def]
    """Number the sentences of the tokens; returns how many there are.

    One ends at a line's end and at a full stop (or !, ?) that a space and no small letter follow; not after
    an initial or a word that is nearly always followed by a full stop.
    """
    n, sentence, begins = start.size, 0, -1
    for k in range(n):
        if k > 0 and (gap[k] == NEW_LINE or k == begins):
            sentence += 1
        out[k] = sentence
        if shape[k] != S_STOP:
            continue
        mark, after = codes[start[k]], k + 1
        while after < n and shape[after] in (S_STOP, S_CLOSING, S_APOSTROPHE) and gap[after] == GLUED:
            after += 1
        if after == n or (gap[after] == GLUED and mark < 0x3000):
            continue
        word = after
        while word < n - 1 and word < after + 2 and shape[word] >= S_OTHER:
            word += 1
        short = (
            mark == 46 and k > 0 and gap[k] == GLUED and (shape[k - 1] == S_INITIAL or abbreviation[k - 1])
        )
        if shape[word] != S_SMALL and not short:
            begins = after
    return sentence + 1 if n else 0
