"""Content words of a text, with their positions: the same in extraction and in inference.

A word is a run of letters, marks and digits (Unicode categories L, M, N), lower-cased character by
character so that positions never move. Left out are stop words of the language, words of one character
or of more than 60, and numbers, except those of four digits: they are mostly years. Scripts written
without spaces (Han, Kana, Thai, Lao, Khmer, Burmese) have no such runs, so every pair of neighbouring
characters counts as a word there, as search engines do.
"""

from __future__ import annotations

import tomllib
import unicodedata
from functools import cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from pboh.text.word_kernels import BREAK, DIGIT, LETTER, UNSPACED, Int32, find_words

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
def character_tables() -> tuple[npt.NDArray[np.uint8], Int32]:
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


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language code such as ``de``; empty for a language without a list."""
    return frozenset(lists().get(language.partition("-")[0], "").split())


@cache
def lists() -> dict[str, str]:
    """The words of every language, as ``stop_words.toml`` lists them."""
    return tomllib.loads(resources.files("pboh.text").joinpath("stop_words.toml").read_text("utf-8"))


def code_points(text: str) -> Int32:
    """The characters of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


def _word_spans(codes: Int32) -> tuple[Int32, Int32]:
    starts = np.empty(codes.size, dtype=np.int32)
    ends = np.empty(codes.size, dtype=np.int32)
    found = find_words(codes, character_tables()[0], starts, ends)
    return starts[:found], ends[:found]


def scan(text: str) -> tuple[Int32, Int32, Int32]:
    """Lower-cased code points of ``text`` and where its words start and end, stop words included."""
    codes = code_points(text)
    return character_tables()[1][codes], *_word_spans(codes)


def words(text: str, language: str = "en") -> list[tuple[int, int, str]]:
    """``(start, end, lower-cased word)`` of every content word of ``text``, in order."""
    codes = code_points(text)
    starts, ends = _word_spans(codes)
    lowered = character_tables()[1][codes].tobytes().decode("utf-32-le", "surrogatepass")
    stop = stop_words(language)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [(start, end, word) for start, end in spans if (word := lowered[start:end]) not in stop]
