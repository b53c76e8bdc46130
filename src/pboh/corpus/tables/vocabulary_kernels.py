"""The words of a text, found and lower-cased: the compiled half of the vocabulary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.corpus.utf8_kernels import Bytes, Int32, Int64, Number, decoded, put
from pboh.text.word_kernels import BREAK, DIGIT, LONGEST_WORD, UNSPACED


class Letters(NamedTuple):
    """For every code point: what it does to a word, and its lower case."""

    kinds: Bytes
    lower: Int32


class Words(NamedTuple):
    """The words of a text: their letters one behind the other, and where each begins and ends there.

    ``firsts`` and ``lasts`` are their places in the text, in code points.
    """

    letters: Bytes
    begins: Int64
    ends: Int64
    firsts: Int64
    lasts: Int64

    @classmethod
    def empty(cls, size: int) -> Words:
        """Room for the words of a text of that many bytes: each unspaced character is in two of them."""
        return cls(np.empty(2 * size + 8, np.uint8), *np.empty((4, size // 2 + 1), np.int64))


@njit(cache=True, nogil=True)
def _pair(data: Bytes, letters: Letters, out: Bytes, here: Number, end: Number) -> tuple[int, int, int, int]:
    """A character of a script without spaces and the one behind it; returns what :func:`_any_word` does.

    The next word begins with the second character, unless that is the last of its row.
    """
    kinds, lower = letters.kinds, letters.lower
    code, second = decoded(data, here)
    end = put(lower[code], out, end)
    if second >= data.size:
        return end, second, 1, 1
    code, third = decoded(data, second)
    if kinds[code] != UNSPACED:
        return end, second, 1, 1
    end = put(lower[code], out, end)
    if third < data.size and kinds[decoded(data, third)[0]] == UNSPACED:
        return end, second, 1, 2
    return end, third, 2, 2


@njit(cache=True, nogil=True)
def _any_word(
    data: Bytes, letters: Letters, out: Bytes, here: Number, end: Number
) -> tuple[int, int, int, int]:
    """What begins here, whatever its letters, written to ``out[end:]`` in lower case.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: none if it is not a content word.
    """
    kinds, lower = letters.kinds, letters.lower
    code, after = decoded(data, here)
    if kinds[code] == BREAK:
        return end, after, 1, 0
    if kinds[code] == UNSPACED:
        return _pair(data, letters, out, here, end)
    length = digits = 0
    while kinds[code] != BREAK and kinds[code] != UNSPACED:
        digits += kinds[code] == DIGIT
        length += 1
        if length <= LONGEST_WORD:
            end = put(lower[code], out, end)
        here = after
        if here >= data.size:
            break
        code, after = decoded(data, here)
    return end, here, length, length if _is_word(length, digits) else 0


@njit(cache=True, nogil=True)
def _is_word(length: Number, digits: Number) -> Number:
    """Whether this many characters, this many of them digits, are a content word."""
    return length == 4 if digits == length else 2 <= length <= LONGEST_WORD


@njit(cache=True, nogil=True)
def find_words(data: Bytes, letters: Letters, words: Words) -> int:
    """Write the content words of a text, stop words included; returns how many there are.

    Words of ASCII are read here, others character by character by :func:`_any_word`.
    """
    kinds, lower, out = letters.kinds, letters.lower, words.letters
    here, size, one = np.uint64(0), np.uint64(data.size), np.uint64(1)
    end, count = np.uint64(0), 0
    shift: Number = np.int64(0)  # to be added to bytes to get code points
    while here < size:
        first, begin, digits = here, end, 0
        while here < size and data[here] < 128 and kinds[data[here]] != BREAK:
            out[end] = lower[data[here]]
            digits += kinds[data[here]] == DIGIT
            here, end = here + one, end + one
        characters: Number = np.int64(here - first)
        length: Number = characters
        if here < size and data[here] >= 128:
            last, after, characters, length = _any_word(data, letters, out, np.int64(first), np.int64(begin))
            here, end = np.uint64(after), np.uint64(last)
        elif not _is_word(length, digits):
            length = 0
        if length:
            words.begins[count], words.ends[count] = begin, end
            words.firsts[count] = np.int64(first) + shift
            words.lasts[count] = np.int64(first) + shift + length
            count += 1
        else:
            end = begin
        shift += np.int64(first) + characters - np.int64(here)
        while here < size and data[here] < 128 and kinds[data[here]] == BREAK:
            here += one
    return count
