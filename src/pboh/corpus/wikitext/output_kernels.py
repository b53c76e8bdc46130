"""A parsed page written out: HTML entities decoded, and the places of links counted in characters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.corpus.string_table_kernels import Strings, number_string
from pboh.corpus.wikitext.parser_kernels import LINKS, OUT, ParserState
from pboh.text.utf8_kernels import Bytes, Int32, Number, blank_at, put, stripped, stripped_end

START, END, FIRST, LAST, TITLE, PAGE, BEFORE, AFTER, FOLLOWED = range(9)
ROWS = 9
"""Of a link: its characters in the page, its bytes among the texts of all pages, the number of its title; its
page, the words around it and whether one follows at once are filled in by others."""

_AND, _HASH, _SEMICOLON = 38, 35, 59
_LONGEST_NAME = 32


class Entities(NamedTuple):
    """Names of HTML's characters, and what each stands for: two code points at most (0: none)."""

    names: Strings
    values: Int32


@njit(cache=True, nogil=True)
def _digits(data: Bytes, here: int, end: int, base: int) -> tuple[Number, int]:
    """The number written here, with at most this many digits, and where it ends."""
    value: Number = np.int64(0)
    while here < end:
        digit: Number = np.int64(data[here]) - 48
        if base == 16 and digit > 9:
            digit = (digit & 0xDF) - 7  # a and A follow 9
            digit = digit if digit > 9 else 16
        if not 0 <= digit < base:
            break
        value = value * base + digit
        here += 1
    return value, here


@njit(cache=True, nogil=True)
def _entity(data: Bytes, here: int, end: int, known: Entities) -> tuple[int, Number, Number]:
    """Where the entity that begins here ends, and the code points it stands for; 0 if there is none.

    -1 means no character: `preprocessor.NOTHING` keeps a link apart from the letters behind it.
    """
    if here + 2 < end and data[here + 1] == _HASH:
        is_hex = data[here + 2] in (88, 120)
        first = here + 3 if is_hex else here + 2
        code, last = _digits(data, first, min(end, first + (6 if is_hex else 7)), 16 if is_hex else 10)
        if last == first or last >= end or data[last] != _SEMICOLON:
            return 0, np.int64(0), np.int64(0)
        if code == 0:
            return last + 1, np.int64(-1), np.int64(-1)
        valid = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF
        return last + 1 if valid else 0, code, np.int64(-1)
    last = here + 1
    while last < end and last - here <= _LONGEST_NAME + 1 and data[last] != _SEMICOLON:
        last += 1
    if last >= end or data[last] != _SEMICOLON or last - here < 3:
        return 0, np.int64(0), np.int64(0)
    number = number_string(known.names, data, here + 1, last, False)
    if number == known.names.size[0]:
        return 0, np.int64(0), np.int64(0)
    second = np.int64(known.values[number, 1])
    return last + 1, np.int64(known.values[number, 0]), second if second else np.int64(-1)


@njit(cache=True, nogil=True)
def _run(data: Bytes, here: int, end: int, out: Bytes, at: int) -> int:
    """Copy bytes as they are; returns how many characters that is."""
    source, copied = data[here:end], out[at : at + end - here]
    points = 0
    for k in range(np.uint64(source.size)):  # no sign: the loop becomes one over vectors
        byte = source[k]
        copied[k] = byte
        points += byte & 0xC0 != 0x80
    return points


@njit(cache=True, nogil=True)
def _copied(
    data: Bytes, here: int, end: int, has_entities: bool, known: Entities, out: Bytes, at: int, points: int
) -> tuple[int, int]:
    """Copy bytes, entities decoded; returns where the next one goes, and how many characters there are."""
    while here < end:
        sign = here if has_entities else end
        while sign < end and data[sign] != _AND:
            sign += 1
        after, code, second = _entity(data, sign, end, known) if sign < end else (0, np.int64(0), np.int64(0))
        if not after:
            sign = min(sign + 1, end)
        points += _run(data, here, sign, out, at)
        at += sign - here
        here = sign
        if after:
            for each in (code, second):
                if each >= 0:
                    at = put(each, out, at)
                    points += 1
            here = after
    return at, points


@njit(cache=True, nogil=True)
def characters(data: Bytes, here: int, end: int) -> int:
    """How many characters there are."""
    points = 0
    for k in range(here, end):
        points += data[k] & 0xC0 != 0x80
    return points


@njit(cache=True, nogil=True)
def write_out(
    page: ParserState, entities: bool, known: Entities, out: Bytes, begin: int, links: Int32, count: int
) -> tuple[int, int, int]:
    """Copy a draft to ``out[begin:]`` and its links behind the first ``count``.

    Returns the end of the text without white space at its end, how many links there are now, and how many
    characters the text has.
    """
    at: Number = np.int64(begin)  # one width for all: else each would be compiled
    points: Number = np.int64(0)
    here: Number = np.int64(0)
    draft = page.draft
    for link in range(page.state[LINKS]):
        start: Number = np.int64(page.starts[link])
        at, points = _copied(draft, here, start, entities, known, out, at, points)
        here = np.int64(page.ends[link])
        end, end_point = _copied(draft, start, here, entities, known, out, at, points)
        # entities may have become white space
        first, last = stripped(out, at, end) if entities else (at, end)
        if first < last:
            links[START, count] = points + characters(out, at, first)
            links[END, count] = end_point - characters(out, last, end)
            links[FIRST, count], links[LAST, count] = first, last
            links[TITLE, count] = page.titles[link]
            count += 1
        at, points = end, end_point
    at, points = _copied(draft, here, page.state[OUT], entities, known, out, at, points)
    last = stripped_end(out, begin, at)
    return last, count, points - characters(out, last, at)


@njit(cache=True, nogil=True)
def gather(text: Bytes, firsts: Int32, lasts: Int32, out: Bytes, bounds: Int32) -> None:
    """Write pieces of a text one behind the other, white space in them made single."""
    at = 0
    for piece in range(firsts.size):
        here, last = firsts[piece], lasts[piece]
        while here < last:
            blank = blank_at(text, here)
            if not blank:
                out[at] = text[here]
                here, at = here + 1, at + 1
                continue
            out[at] = 32
            at += 1
            while here < last and blank_at(text, here):
                here += blank_at(text, here)
        bounds[piece + 1] = at
