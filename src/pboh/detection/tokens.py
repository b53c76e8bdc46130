"""Tokens and sentences of a text, with what each token looks like: what the name finder reads."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np

from pboh.detection.token_kernels import (
    APOSTROPHE,
    BLANK,
    CAPITAL,
    CLOSING,
    DASH,
    DIGIT,
    HAN,
    HIRAGANA,
    KATAKANA,
    LETTER,
    LINE,
    OTHER,
    S_CAPITALS,
    S_CODE,
    S_INITIAL,
    S_MIXED,
    S_TITLE,
    SHAPES,
    SMALL,
    STOP,
    UNSPACED,
    cut,
)
from pboh.text.hashing import Array
from pboh.text.word_kernels import BREAK as NO_WORD
from pboh.text.word_kernels import UNSPACED as NO_SPACES
from pboh.text.words import character_tables, code_points

_STOPS = ".!?…。！？．։؟।॥"
_KANA = (
    (0x3040, 0x309F, HIRAGANA),
    (0x30A0, 0x30FF, KATAKANA),
    (0x31F0, 0x31FF, KATAKANA),
    (0xFF66, 0xFF9F, KATAKANA),
)
_HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
CAPITALISED = np.zeros(SHAPES, bool)
CAPITALISED[[S_TITLE, S_CAPITALS, S_INITIAL, S_MIXED, S_CODE]] = True


class Tokens(NamedTuple):
    """The tokens of a text, one entry of each array per token (places count code points)."""

    start: Array
    end: Array
    shape: Array
    gap: Array  # what comes before it: nothing, a space or a line's end
    word: Array  # hash of its lower case
    written: Array  # hash of the token as written


@cache
def sorts() -> tuple[Array, Array]:
    """For every code point: its sort, and its lower case."""
    kinds, lower = character_tables()
    sort = np.full(0x110000, LETTER, np.uint8)
    sort[kinds == NO_WORD] = OTHER
    for code in range(0x20000):
        character = chr(code)
        category = unicodedata.category(character)
        if character.isspace():
            sort[code] = LINE if character in "\n\r\x0b\x0c\x85\u2028\u2029" else BLANK
        elif character in _STOPS:
            sort[code] = STOP
        elif character in "'’`":
            sort[code] = APOSTROPHE
        elif category in ("Pe", "Pf") or character == '"':
            sort[code] = CLOSING
        elif category == "Pd":
            sort[code] = DASH
        elif kinds[code] != NO_WORD:
            if category == "Ll":
                sort[code] = SMALL
            elif category in ("Lu", "Lt"):
                sort[code] = CAPITAL
            elif category[0] == "N":
                sort[code] = DIGIT
    sort[kinds == NO_SPACES] = UNSPACED
    for first, last, kind in (*_KANA, *((first, last, HAN) for first, last in _HAN)):
        inside = sort[first : last + 1]
        inside[inside == UNSPACED] = kind
    return sort, lower


def tokens(codes: Array) -> Tokens:
    """Cut the code points of a text."""
    sort, lower = sorts()
    n = codes.size
    places = np.empty((2, n), np.int32)
    looks = np.empty((2, n), np.uint8)
    hashes = np.empty((2, n), np.uint32)
    found = cut(codes, sort, lower, *places, *looks, *hashes)
    return Tokens(*(column[:found] for array in (places, looks, hashes) for column in array))


__all__ = ["CAPITALISED", "Tokens", "code_points", "sorts", "tokens"]
