"""Names of the dictionary that occur in a text, found in one pass over it.

A text is cut into tokens: runs of letters, marks and digits; single characters of scripts written without
spaces; single other characters. A name occurs where its tokens follow each other, from the start of a word to
the end of a token. It is compared as written (white space collapsed), or *folded* as
:func:`pboh.text.folding.fold` does, which is only tried from a token that does not begin with a small letter.

Names are known by the hash of their UTF-8 bytes. FNV-1a grows byte by byte, so a name is extended token by
token without hashing anything twice, and a filter of two bits per slot says after each token whether what was
read is the beginning of a name, or may be one; only then is the table asked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pboh.text.folding import fold
from pboh.text.hashing import Array, bucket_index, hash_strings, look_up
from pboh.text.matcher_kernels import (
    BEGINS,
    DROPPED,
    IS,
    LONGEST,
    OTHER,
    SINGLE,
    SMALL,
    SPACE,
    WORD,
    find_beginnings,
    match_folded,
    match_written,
    set_flags,
)
from pboh.text.word_kernels import BREAK, UNSPACED
from pboh.text.words import character_tables, code_points

_MOST = 18  # code points one may fold to (U+FDFA)


class Characters(NamedTuple):
    """What every code point does: its kind, and what folding makes of it."""

    kind: Array  # SPACE, WORD, SINGLE or OTHER, with the flag SMALL
    folded: Array  # one code point, −1 for nothing, −2−k for the k-th of several
    several: Array  # code points of the k-th, padded with −1


@cache
def characters() -> Characters:
    """The tables of all code points; folding is that of :func:`fold`, character by character."""
    kinds, _ = character_tables()
    kind = np.full(0x110000, WORD, np.uint8)
    kind[kinds == BREAK] = OTHER
    kind[kinds == UNSPACED] = SINGLE
    folded = np.arange(0x110000, dtype=np.int32)
    several: list[list[int]] = []
    for code in range(0x30000):
        character = chr(code)
        if character.isspace():
            kind[code], folded[code] = SPACE, 32
        elif code < 0x300 or character.casefold() != character or _may_change(character):
            inside = fold(f"a{character}a")[1:-1]
            if len(inside) == 1:
                folded[code] = ord(inside)
            elif not inside:
                folded[code] = DROPPED
            else:
                folded[code] = -2 - len(several)
                several.append([ord(c) for c in inside] + [-1] * (_MOST - len(inside)))
        if character.islower() and kind[code] == WORD:
            kind[code] |= SMALL
    return Characters(kind, folded, np.asarray(several, np.int32))


def _may_change(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "MP" or category == "Cf" or bool(unicodedata.decomposition(character))


class Lexicon(NamedTuple):
    """A set of names ready for matching: their hashes in a table, and the filter before it."""

    hashes: Array
    buckets: Array
    filter: Array  # four slots to a byte; the number of slots is a power of two

    @classmethod
    def of(cls, names: list[str]) -> Lexicon:
        """A lexicon of names as written; the k-th place is that of the k-th smallest hash."""
        return cls.of_hashes(np.unique(hash_strings(names)), beginnings(names))

    @classmethod
    def of_hashes(cls, names: Array, begins: Array) -> Lexicon:
        """A lexicon of the ascending hashes of names and of what they begin with."""
        return cls(names, bucket_index(names), make_filter(names, begins))

    def places(self, names: list[str]) -> Array:
        """Place of every name, −1 where it is not in the lexicon."""
        return look_up(self.hashes, self.buckets, names)


def make_filter(names: Array, begins: Array) -> Array:
    """The filter of hashes of names and of their beginnings: either uses at most one slot in eight."""
    slots = 1 << max(3, int(8 * max(names.size, begins.size)).bit_length())
    bits = np.zeros(slots // 4, np.uint8)
    set_flags(bits, names, IS)
    set_flags(bits, begins, BEGINS)
    return bits


def beginnings(names: list[str]) -> Array:
    """Hashes of all that names begin with, cut after each of their tokens but the last; ascending."""
    codes = code_points("\n".join(names))
    out = np.empty(codes.size, np.uint64)
    return np.unique(out[: find_beginnings(codes, characters().kind, LONGEST, out)])


def matches(text: str, lexicon: Lexicon, written: Array, loosely: Array, least: float) -> tuple[Array, Array]:
    """Names in a text: rows (start, end, place in the lexicon, tokens, form), and what each is worth.

    ``written[k]`` and ``loosely[k]`` are what name k is worth as written and folded; a name worth less than
    ``least`` is passed over, and an empty ``loosely`` leaves folding out.
    """
    codes, letters = code_points(text), characters()
    kinds, folding = _kinds(codes, letters), (letters.folded, letters.several)
    exact = _blocks(match_written, codes, kinds, *lexicon, written, least)
    loose = _blocks(match_folded, codes, kinds, *folding, *lexicon, loosely, least) if loosely.size else ()
    rows, folded = (np.concatenate([np.empty((0, 5), np.int64), *blocks]) for blocks in (exact, loose))
    return np.concatenate([rows, folded]), np.concatenate([written[rows[:, 2]], loosely[folded[:, 2]]])


def find_all_written(text: str, lexicon: Lexicon, letters: Characters) -> Iterator[Array]:
    """Rows of all names as written, some thousands at a time."""
    codes = code_points(text)
    any_name = np.ones(lexicon.hashes.size, np.uint8)
    return _blocks(match_written, codes, _kinds(codes, letters), *lexicon, any_name, 1)


def _kinds(codes: Array, letters: Characters) -> Array:
    """The kinds of a text's characters, and one that ends the last token."""
    kinds = np.full(codes.size + 1, OTHER, np.uint8)
    np.take(letters.kind, codes, out=kinds[:-1], mode="clip")
    return kinds


def _blocks(kernel: Any, codes: Array, kinds: Array, *arguments: Any) -> Iterator[Array]:
    size, here = min(1 << 16, LONGEST * (codes.size + 1)), 0
    while here < codes.size:
        found = np.empty((size, 5), np.int64)
        used, here = kernel(codes, kinds, here, *arguments, found)
        yield found[:used]
