"""Names of the dictionary that stand in a text, found in one pass over it.

A text is cut into tokens: runs of letters, marks and digits; single characters of scripts written without
spaces; single other characters. A name occurs where its tokens stand in a row, from the start of a word to
the end of a token. It is compared as written (white space collapsed), or *folded* as
:func:`pboh.model.names.fold` does, which is only tried from a token that does not begin with a small letter.

Names are known by the hash of their UTF-8 bytes. FNV-1a grows byte by byte, so a name is extended token by
token without hashing anything twice, and a filter of two bits per slot says after each token whether what was
read is the beginning of a name, or may be one; only then is the table asked.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import njit, uint8, uint64

from pboh.model.names import fold
from pboh.text.hashing import Array, _mix, bucket_index, find, hash_strings, look_up
from pboh.text.words import BREAK, UNSPACED, _code_points, _tables

SPACE, WORD, SINGLE, OTHER = 0, 1, 2, 3
SMALL = 4  # flag of a small letter
LONGEST = 16  # tokens of the longest name that is looked for
AS_WRITTEN, FOLDED = 0, 1
BEGINS, IS = 1, 2  # bits of the filter: names begin like this; this is (perhaps) a name

_DROPPED = -1
_MOST = 18  # code points one may fold to (U+FDFA)
_START = uint64(0xCBF29CE484222325)
_PRIME = uint64(0x100000001B3)


class Characters(NamedTuple):
    """What every code point does: its kind, and what folding makes of it."""

    kind: Array  # SPACE, WORD, SINGLE or OTHER, with the flag SMALL
    folded: Array  # one code point, −1 for nothing, −2−k for the k-th of several
    several: Array  # code points of the k-th, padded with −1


@cache
def characters() -> Characters:
    """The tables of all code points; folding is that of :func:`fold`, character by character."""
    kinds, _ = _tables()
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
                folded[code] = _DROPPED
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
        hashes = np.unique(hash_strings(names))
        return cls(hashes, bucket_index(hashes), make_filter(hashes, beginnings(names)))

    def places(self, names: list[str]) -> Array:
        """Place of every name, −1 where it is not in the lexicon."""
        return look_up(self.hashes, self.buckets, names)


@njit(cache=True, nogil=True, inline="always")
def _feed(h, code):  # type: ignore[no-untyped-def]
    """The hash after the UTF-8 bytes of one more code point."""
    if code < 0x80:
        return (h ^ uint64(code)) * _PRIME
    if code < 0x800:
        h = (h ^ uint64(0xC0 | (code >> 6))) * _PRIME
    else:
        if code < 0x10000:
            h = (h ^ uint64(0xE0 | (code >> 12))) * _PRIME
        else:
            h = (h ^ uint64(0xF0 | (code >> 18))) * _PRIME
            h = (h ^ uint64(0x80 | ((code >> 12) & 63))) * _PRIME
        h = (h ^ uint64(0x80 | ((code >> 6) & 63))) * _PRIME
    return (h ^ uint64(0x80 | (code & 63))) * _PRIME


@njit(cache=True, nogil=True)
def _feed_folded(f, blank, code, several):  # type: ignore[no-untyped-def]
    """The folded name's hash after one more (folded) code point; ``blank``: a space comes before the next."""
    if code >= 0:
        return (f, True) if code == 32 else (_feed(_feed(f, 32) if blank else f, code), False)
    if code < _DROPPED:
        for other in several[-2 - code]:
            if other == 32:
                blank = True
            elif other >= 0:
                f, blank = _feed(_feed(f, 32) if blank else f, other), False
    return f, blank


@njit(cache=True, nogil=True, inline="always")
def _flags(bits, shift, key):  # type: ignore[no-untyped-def]
    """The two bits of a key in the filter."""
    slot = key >> shift
    return (bits[slot >> uint64(2)] >> uint8(2 * (slot & uint64(3)))) & 3


@njit(cache=True, nogil=True)
def _shift(bits):  # type: ignore[no-untyped-def]
    """How far a key is shifted to give its slot."""
    power = 0
    while (1 << power) < 4 * bits.size:
        power += 1
    return uint64(64 - power)


@njit(cache=True, nogil=True)
def _set_flags(bits, keys, flag):  # type: ignore[no-untyped-def]
    shift = _shift(bits)
    for key in keys:
        slot = key >> shift
        bits[slot >> uint64(2)] |= uint8(flag << uint8(2 * (slot & uint64(3))))


def make_filter(names: Array, begins: Array) -> Array:
    """The filter of hashes of names and of their beginnings: either uses at most one slot in eight."""
    slots = 1 << max(3, int(8 * max(names.size, begins.size)).bit_length())
    bits = np.zeros(slots // 4, np.uint8)
    _set_flags(bits, names, IS)
    _set_flags(bits, begins, BEGINS)
    return bits


@njit(cache=True, nogil=True)
def _beginnings(codes, kind, longest, out):  # type: ignore[no-untyped-def]
    """Hash what stands before every token end inside each line of ``codes``; returns how many there are."""
    used, here = 0, 0
    while here < codes.size:
        h, tokens = _START, 0
        while here < codes.size and codes[here] != 10:
            last = kind[codes[here]] & 3
            h = _feed(h, codes[here])
            here += 1
            if here == codes.size or codes[here] == 10:
                break
            if last == SPACE or (last == WORD and kind[codes[here]] & 3 == WORD):
                continue
            tokens += 1
            if tokens < longest:
                out[used] = _mix(h)
                used += 1
        here += 1
    return used


def beginnings(names: list[str]) -> Array:
    """Hashes of all that names begin with, cut after each of their tokens but the last; ascending."""
    codes = _code_points("\n".join(names))
    out = np.empty(codes.size, np.uint64)
    return np.unique(out[: _beginnings(codes, characters().kind, LONGEST, out)])


@njit(cache=True, nogil=True)
def match(codes, start, kind, folded, several, hashes, buckets, bits, written, loosely, least, found, value):  # type: ignore[no-untyped-def]
    """Find names from code point ``start`` on until ``found`` is full.

    ``written[k]`` and ``loosely[k]`` are what name k is worth as written and folded; a name worth less than
    ``least`` is passed over (and an empty ``loosely`` leaves folding out). A row of ``found`` is (start, end,
    place in the table, tokens, form), ``value`` its worth. Returns the number of rows and where to go on.
    """
    shift = _shift(bits)
    n, used, here = codes.size, 0, start
    while here < n and used + 2 * LONGEST <= len(found):
        first = kind[codes[here]]
        sort = first & 3
        if sort in (SPACE, OTHER) or (sort == WORD and here > 0 and kind[codes[here - 1]] & 3 == WORD):
            here += 1
            continue
        h, f = _START, _START
        whole, loose = True, loosely.size > 0 and first & SMALL == 0
        blank = False  # a space waits to be written to the folded name
        at, tokens = here, 0
        while tokens < LONGEST and (whole or loose):
            sort = kind[codes[at]] & 3
            while True:  # one token
                code = codes[at]
                if whole:
                    h = _feed(h, code)
                if loose:
                    f, blank = _feed_folded(f, blank, folded[code], several)
                at += 1
                if sort != WORD or at == n or kind[codes[at]] & 3 != WORD:
                    break
            tokens += 1
            ends = at == n
            if whole:
                key = _mix(h)
                flags = _flags(bits, shift, key)
                if flags & IS:
                    place = find(hashes, buckets, key)
                    if place >= 0 and written[place] >= least:
                        found[used] = here, at, place, tokens, AS_WRITTEN
                        value[used] = written[place]
                        used += 1
                whole = flags & BEGINS != 0
            if loose:
                key = _mix(f)
                flags = _flags(bits, shift, key)
                if flags & IS and sort != OTHER:
                    place = find(hashes, buckets, key)
                    if place >= 0 and loosely[place] >= least:
                        found[used] = here, at, place, tokens, FOLDED
                        value[used] = loosely[place]
                        used += 1
                # what folds to nothing glues its neighbours together (U.S., O'Neill): not a word's end yet
                glued = not ends and folded[codes[at]] != 32
                glued &= folded[codes[at - 1]] == _DROPPED or (not ends and folded[codes[at]] == _DROPPED)
                if not glued:
                    loose = flags & BEGINS != 0
            if ends or not (whole or loose):
                break
            lines, gap = 0, at
            while at < n and kind[codes[at]] & 3 == SPACE:
                lines += codes[at] == 10
                at += 1
            if at == n or lines > 1:
                break
            if at > gap:
                blank = True
                if whole:
                    h = _feed(h, 32)
        here += 1
    return used, here


def matches(text: str, lexicon: Lexicon, written: Array, loosely: Array, least: float) -> tuple[Array, Array]:
    """All occurrences worth at least ``least``, in order of their start; :func:`match` names the columns."""
    codes = _code_points(text)
    rows, values = [np.empty((0, 5), np.int64)], [np.empty(0, np.float32)]
    found = np.empty((min(1 << 16, 2 * LONGEST * (codes.size + 1)), 5), np.int64)
    value = np.empty(len(found), np.float32)
    here = 0
    while here < codes.size:
        used, here = match(codes, here, *characters(), *lexicon, written, loosely, least, found, value)
        rows.append(found[:used].copy())
        values.append(value[:used].copy())
    return np.concatenate(rows), np.concatenate(values)


def occurrences(text: str, lexicon: Lexicon) -> Array:
    """How often each name of the lexicon stands in the text as written, inside longer names too."""
    any_name = np.ones(lexicon.hashes.size, np.float32)
    rows, _ = matches(text, lexicon, any_name, np.empty(0, np.float32), 0.5)
    return np.bincount(rows[:, 2], minlength=lexicon.hashes.size)


__all__: list[Any] = ["Lexicon", "beginnings", "characters", "make_filter", "matches", "occurrences"]
