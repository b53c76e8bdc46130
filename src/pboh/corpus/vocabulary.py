"""Words of many texts numbered as they appear: the tokeniser of :mod:`pboh.text` over UTF-8, in one sweep.

Extraction reads every text of a dump once, so finding a word, lower-casing, hashing and looking it up are one
loop over the bytes that are written to the table of texts anyway; positions are still code points.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pboh.text import BREAK, DIGIT, LONGEST_WORD, UNSPACED, _tables, stop_words

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_LONGEST = 4 * (LONGEST_WORD + 1)  # bytes


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._table = np.zeros(1 << 14, dtype=np.uint64)
        self._bounds = np.zeros((1 << 12) + 1, dtype=np.int64)
        self._letters = np.empty(1 << 16, dtype=np.uint8)
        self._found = np.empty((3, 0), dtype=np.int32)
        # how many words are known, how many of these are stop words; then where the sweep over a text is:
        # byte, code point, words found
        self._state = np.zeros(5, dtype=np.int64)
        self.encode("\n".join(sorted(stop_words(language))))
        self._state[1] = self._state[0]

    def __len__(self) -> int:
        return int(self._state[0] - self._state[1])

    def letters(self) -> tuple[Int64, Bytes]:
        """The words by number, as UTF-8: where each begins (and the last one ends), and the bytes."""
        bounds = self._bounds[self._state[1] : self._state[0] + 1]
        return bounds - bounds[0], self._letters[bounds[0] : bounds[-1]]

    def texts(self) -> list[str]:
        """The words, by number."""
        bounds, letters = self.letters()
        data = letters.tobytes()
        return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]

    def encode(self, text: str | bytes) -> tuple[Int32, Int32, Int32]:
        """Start, end and number of every content word of a text (bytes are UTF-8); new words are added."""
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        codes = np.frombuffer(data, dtype=np.uint8)
        if self._found.shape[1] <= codes.size // 2 + 1:  # a word takes two bytes or more
            self._found = np.empty((3, codes.size // 2 + 2), dtype=np.int32)
        self._state[2:] = 0
        while not _number(
            codes, _ascii(), *_tables(), self._table, self._bounds, self._letters, self._state, self._found
        ):
            self._grow()
        starts, ends, numbers = self._found[:, : self._state[4]].copy()
        return starts, ends, numbers

    def _grow(self) -> None:
        """Twice as much room for words."""
        self._bounds = _grown(self._bounds, 2 * self._bounds.size - 1)
        self._letters = _grown(self._letters, 2 * self._letters.size)
        smaller, self._table = self._table, np.zeros(2 * self._table.size, dtype=np.uint64)
        _rehash(smaller, self._table)


def _grown(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    larger = np.empty(room, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@cache
def _ascii() -> Bytes:
    """What becomes of a byte in a word: its lower case, 0 if it ends the word, 255 if it is not ASCII."""
    kinds, lower = _tables()
    table = np.where(kinds[:256] == BREAK, 0, lower[:256]).astype(np.uint8)
    table[128:] = 255
    return table


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _decoded(data: Bytes, at: int) -> tuple[np.int64, int]:
    """The code point at a byte, and where the next one is; the text is known to be UTF-8."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, at + 1
    if first < 0xE0:
        return (first & 0x1F) << 6 | np.int64(data[at + 1] & 0x3F), at + 2
    second = np.int64(data[at + 1] & 0x3F) << 6 | np.int64(data[at + 2] & 0x3F)
    if first < 0xF0:
        return (first & 0xF) << 12 | second, at + 3
    return (first & 0x7) << 18 | second << 6 | np.int64(data[at + 3] & 0x3F), at + 4


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _put(code: int, letters: Bytes, at: int) -> int:
    """Write a code point as UTF-8; returns where the next one goes."""
    if code < 0x80:
        letters[at] = code
        return at + 1
    if code < 0x800:
        letters[at] = 0xC0 | code >> 6
        letters[at + 1] = 0x80 | code & 0x3F
        return at + 2
    if code < 0x10000:
        letters[at] = 0xE0 | code >> 12
        letters[at + 1] = 0x80 | code >> 6 & 0x3F
        letters[at + 2] = 0x80 | code & 0x3F
        return at + 3
    letters[at] = 0xF0 | code >> 18
    letters[at + 1] = 0x80 | code >> 12 & 0x3F
    letters[at + 2] = 0x80 | code >> 6 & 0x3F
    letters[at + 3] = 0x80 | code & 0x3F
    return at + 4


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _mixed(key: np.uint64) -> np.uint64:
    """Spread a key's bits (Fibonacci hashing)."""
    key = (key ^ key >> np.uint64(29)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ key >> np.uint64(32)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _look_up(
    table: Uint64, bounds: Int64, letters: Bytes, size: np.int64, end: np.int64, packed: np.uint64
) -> np.int64:
    """The number of the word that stands behind the known ones, up to ``end``; ``size`` if it is new.

    Open addressing; ``table`` holds pairs of a key and a number (0: free). The key of a word of at most seven
    bytes is the word itself (``packed``); that of others is a hash, and the letters are compared.
    """
    fresh = bounds[size]
    length = end - fresh
    key = packed
    if length > 7:
        for i in range(fresh, end):
            key = (key ^ np.uint64(letters[i])) * np.uint64(1099511628211)
        key |= np.uint64(1 << 63)
    mask = np.uint64(table.size // 2 - 1)
    slot = _mixed(key) & mask
    while True:
        number = np.int64(table[2 * slot + 1])
        if number == 0:
            table[2 * slot], table[2 * slot + 1] = key, size + 1
            bounds[size + 1] = end
            return size
        if table[2 * slot] == key:
            first = bounds[number - 1]
            same = length <= 7 or bounds[number] - first == length
            for i in range(length if same and length > 7 else 0):
                same &= letters[first + i] == letters[fresh + i]
            if same:
                return number - 1
        slot = (slot + np.uint64(1)) & mask


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _rehash(smaller: Uint64, larger: Uint64) -> None:
    """Put every word into a larger table."""
    mask = np.uint64(larger.size // 2 - 1)
    for pair in range(smaller.size // 2):
        if smaller[2 * pair + 1]:
            slot = _mixed(smaller[2 * pair]) & mask
            while larger[2 * slot + 1]:
                slot = (slot + np.uint64(1)) & mask
            larger[2 * slot], larger[2 * slot + 1] = smaller[2 * pair], smaller[2 * pair + 1]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _pair(
    data: Bytes, kinds: Bytes, lower: Int32, letters: Bytes, here: int, end: int
) -> tuple[int, int, int, int]:
    """A character of a script without spaces and the one behind it, written at ``end``.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: the next word begins with the second character, unless that is the last of its row.
    """
    code, second = _decoded(data, here)
    end = _put(lower[code], letters, end)
    if second >= data.size:
        return end, second, 1, 1
    code, third = _decoded(data, second)
    if kinds[code] != UNSPACED:
        return end, second, 1, 1
    end = _put(lower[code], letters, end)
    if third < data.size and kinds[_decoded(data, third)[0]] == UNSPACED:
        return end, second, 1, 2
    return end, third, 2, 2


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _any_word(
    data: Bytes, kinds: Bytes, lower: Int32, letters: Bytes, here: int, end: int
) -> tuple[int, int, int, int]:
    """What begins here, whatever its letters, written at ``end`` in lower case.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: none if it is no content word.
    """
    code, after = _decoded(data, here)
    if kinds[code] == UNSPACED:
        return _pair(data, kinds, lower, letters, here, end)
    if kinds[code] == BREAK:
        return end, after, 1, 0
    length = digits = 0
    while kinds[code] not in (BREAK, UNSPACED):
        digits += kinds[code] == DIGIT
        length += 1
        if length <= LONGEST_WORD:
            end = _put(lower[code], letters, end)
        here = after
        if here >= data.size:
            break
        code, after = _decoded(data, here)
    return end, here, length, length if _is_word(length, digits) else 0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _is_word(length: int, digits: int) -> bool:
    """Whether so many characters, so many of them digits, are a content word."""
    return length == 4 if digits == length else 2 <= length <= LONGEST_WORD


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _number(
    data: Bytes,
    ascii_lower: Bytes,
    kinds: Bytes,
    lower: Int32,
    table: Uint64,
    bounds: Int64,
    letters: Bytes,
    state: Int64,
    found: Int32,
) -> bool:
    """Number the content words from ``state`` on; False when there must be more room before it can go on.

    A word is written where a new one would stand, and stays there if it is new; of a short word in ASCII that
    is done only when it is.
    """
    size, stop, here, at, kept = state
    while here < data.size:
        low = ascii_lower[data[here]]
        if low == 0:
            here, at = here + 1, at + 1
            continue
        end = bounds[size]
        if size + 2 >= bounds.size or end + _LONGEST >= letters.size:
            state[0], state[2], state[3], state[4] = size, here, at, kept
            return False
        first, begin, fresh, packed = at, here, end, np.uint64(0)
        while 0 < low < 128:
            packed = packed << np.uint64(8) | np.uint64(low)
            here += 1
            low = ascii_lower[data[here]] if here < data.size else 0
        if low == 0:
            length = here - begin
            at += length
            digits = 0
            if data[begin] <= 57:  # it begins with a digit
                for i in range(begin, here):
                    digits += data[i] <= 57
            if not _is_word(length, digits):
                continue
            end = fresh + length
        else:
            end, here, characters, length = _any_word(data, kinds, lower, letters, begin, fresh)
            at += characters
            if not length:
                continue
            packed = np.uint64(0)
            for i in range(fresh, end):
                packed = packed << np.uint64(8) | np.uint64(letters[i])
        if low == 0 and length > 7:
            for i in range(length):
                letters[fresh + i] = ascii_lower[data[begin + i]]
        number = _look_up(table, bounds, letters, size, end, packed)
        if number == size:
            if low == 0:
                for i in range(length):
                    letters[fresh + i] = ascii_lower[data[begin + i]]
            size += 1
        # no branch: whether a word is a stop word cannot be foreseen
        found[0, kept], found[1, kept], found[2, kept] = first, first + length, number - stop
        kept += number >= stop
    state[0], state[2], state[3], state[4] = size, here, at, kept
    return True
