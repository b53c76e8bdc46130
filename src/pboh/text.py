"""Content words of a text, with their positions: the same in extraction and in inference.

A word is a run of letters, marks and digits (Unicode categories L, M, N), lower-cased character by
character so that positions never move. Left out are stop words of the language, words of one character
or of more than 60, and numbers, except those of four digits: they are mostly years. Scripts written
without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) have no such runs, so every pair of neighbouring
characters counts as a word there, as search engines do.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from pboh.stop_words import stop_words

__all__ = ["Vocabulary", "scan", "stop_words", "words"]

Int32 = npt.NDArray[np.int32]

LONGEST_WORD = 60
BREAK, LETTER, UNSPACED, DIGIT = 0, 1, 2, 3

_SCRIPTS_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x3FFFF),
)
_CATEGORIES = {"L": LETTER, "M": LETTER, "N": DIGIT}


@cache
def _tables() -> tuple[npt.NDArray[np.uint8], Int32]:
    """For every code point: what it does to a word, and its lower case (always one code point).

    ``str.lower`` is not used on whole words because it may lengthen them (İ) and because a final
    sigma depends on its neighbours; here İ becomes i, and ς becomes σ.
    """
    kinds = np.zeros(0x110000, dtype=np.uint8)
    lower = np.arange(0x110000, dtype=np.int32)
    for code in range(0x20000):  # nothing beyond is cased or a digit, and its letters are set below
        character = chr(code)
        kinds[code] = _CATEGORIES.get(unicodedata.category(character)[0], BREAK)
        if len(lowered := character.lower()) == 1:
            lower[code] = ord(lowered)
    for first, last in _SCRIPTS_WITHOUT_SPACES:
        inside = kinds[first : last + 1]
        inside[(inside == LETTER) | (first >= 0x20000)] = UNSPACED
    lower[ord("İ")], lower[ord("ς")] = ord("i"), ord("σ")
    return kinds, lower


def _code_points(text: str) -> Int32:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _spans(codes: Int32, kinds: npt.NDArray[np.uint8], starts: Int32, ends: Int32) -> int:
    """Write where words start and end; returns how many there are."""
    found = 0
    here = 0
    while here < codes.size:
        kind = kinds[codes[here]]
        if kind == BREAK:
            here += 1
            continue
        first = here
        if kind == UNSPACED:
            while here < codes.size and kinds[codes[here]] == UNSPACED:
                here += 1
            for start in range(first, max(here - 1, first + 1)):
                starts[found], ends[found] = start, min(start + 2, here)
                found += 1
            continue
        letters = False
        while here < codes.size and (kinds[codes[here]] == LETTER or kinds[codes[here]] == DIGIT):
            letters |= kinds[codes[here]] == LETTER
            here += 1
        length = here - first
        if (letters and 2 <= length <= LONGEST_WORD) or (not letters and length == 4):
            starts[found], ends[found] = first, here
            found += 1
    return found


def _word_spans(codes: Int32) -> tuple[Int32, Int32]:
    starts = np.empty(codes.size, dtype=np.int32)
    ends = np.empty(codes.size, dtype=np.int32)
    found = _spans(codes, _tables()[0], starts, ends)
    return starts[:found], ends[:found]


def scan(text: str) -> tuple[Int32, Int32, Int32]:
    """Lower-cased code points of ``text`` and where its words start and end, stop words included."""
    codes = _code_points(text)
    return _tables()[1][codes], *_word_spans(codes)


def words(text: str, language: str = "en") -> list[tuple[int, int, str]]:
    """``(start, end, lower-cased word)`` of every content word of ``text``, in order."""
    codes = _code_points(text)
    starts, ends = _word_spans(codes)
    lowered = _tables()[1][codes].tobytes().decode("utf-32-le", "surrogatepass")
    stop = stop_words(language)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(start, end, word) for start, end in spans if (word := lowered[start:end]) not in stop]


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._size = 0
        self._slots = np.full(1 << 12, -1, dtype=np.int32)
        self._hashes = np.empty(1 << 10, dtype=np.uint64)
        self._ends = np.zeros((1 << 10) + 1, dtype=np.int64)
        self._letters = np.empty(1 << 14, dtype=np.int32)
        self._stop = 0
        for word in sorted(stop_words(language)):
            codes = _code_points(word)
            self._number(codes, np.zeros(1, np.int32), np.full(1, codes.size, np.int32))
        self._stop = self._size

    def __len__(self) -> int:
        return self._size - self._stop

    def texts(self) -> list[str]:
        """The words, by number."""
        bounds = self._ends[self._stop : self._size + 1]
        letters = self._letters[bounds[0] : bounds[-1]].tobytes().decode("utf-32-le", "surrogatepass")
        ends = (bounds - bounds[0]).tolist()
        return [letters[start:end] for start, end in pairwise(ends)]

    def encode(self, text: str) -> tuple[Int32, Int32, Int32]:
        """Start, end and number of every content word of ``text``; new words are added."""
        codes = _code_points(text)
        starts, ends = _word_spans(codes)
        return self._number(codes, starts, ends)

    def _number(self, codes: Int32, starts: Int32, ends: Int32) -> tuple[Int32, Int32, Int32]:
        self._reserve(starts.size, int(ends.sum() - starts.sum()))
        numbers = np.empty(starts.size, dtype=np.int32)
        known = (self._slots, self._hashes, self._ends, self._letters, self._size, self._stop)
        self._size, kept = _look_up(codes, _tables()[1], starts, ends, *known, numbers)
        return starts[:kept], ends[:kept], numbers[:kept]

    def _reserve(self, new_words: int, new_letters: int) -> None:
        """Make room for the worst case, so that the kernel never has to grow anything."""
        words_needed = self._size + new_words
        if words_needed > self._hashes.size:
            room = max(words_needed, 2 * self._hashes.size)
            self._hashes = _grown(self._hashes, room)
            self._ends = _grown(self._ends, room + 1)
        letters_needed = int(self._ends[self._size]) + new_letters + LONGEST_WORD
        if letters_needed > self._letters.size:
            self._letters = _grown(self._letters, max(letters_needed, 2 * self._letters.size))
        if 2 * words_needed > self._slots.size:
            self._slots = np.full(1 << (4 * words_needed).bit_length(), -1, dtype=np.int32)
            _rehash(self._hashes[: self._size], self._slots)


def _grown(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    larger = np.zeros(room, dtype=array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _look_up(
    codes: Int32,
    lower: Int32,
    starts: Int32,
    ends: Int32,
    slots: Int32,
    hashes: npt.NDArray[np.uint64],
    bounds: npt.NDArray[np.int64],
    letters: Int32,
    size: int,
    stop: int,
    numbers: Int32,
) -> tuple[int, int]:
    """Number each span by its letters (open addressing, FNV-1a, letters compared); stop words are dropped.

    Returns how many words are known now and how many spans were kept (moved to the front).
    """
    mask = np.uint64(slots.size - 1)
    kept = 0
    for k in range(starts.size):
        start, length = starts[k], ends[k] - starts[k]
        fresh = bounds[size]  # the word is written where a new one would stand, and stays if it is new
        code = np.uint64(14695981039346656037)
        for i in range(length):
            letter = lower[codes[start + i]]
            letters[fresh + i] = letter
            code = (code ^ np.uint64(letter)) * np.uint64(1099511628211)
        code ^= code >> np.uint64(29)
        slot = code & mask
        while True:
            number = slots[slot]
            if number < 0:
                number = size
                slots[slot], hashes[number] = number, code
                bounds[number + 1] = fresh + length
                size += 1
                break
            if hashes[number] == code and bounds[number + 1] - bounds[number] == length:
                first = bounds[number]
                same = True
                for i in range(length):
                    same &= letters[first + i] == letters[fresh + i]
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
        if number >= stop:
            starts[kept], ends[kept], numbers[kept] = start, start + length, number - stop
            kept += 1
    return size, kept


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _rehash(hashes: npt.NDArray[np.uint64], slots: Int32) -> None:
    """Put every word into a larger table."""
    mask = np.uint64(slots.size - 1)
    for number in range(hashes.size):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number
