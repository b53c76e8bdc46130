"""Kernels that read wikitext in place: bytes that are markup, headings, quotes, web addresses."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.utf8_kernels import Bytes, Number, is_blank, stripped

NUL, TAB, LF, BLANK, QUOTE, COLON, EQUALS, OPEN, CLOSE, UNDERSCORE, BAR = b"\0\t\n ':=[]_|"


@njit(cache=True, nogil=True)
def is_dash(source: Bytes, here: int) -> bool:
    """Whether this is – or — or ’, which need no care in a title."""
    return source[here] == 0xE2 and source[here + 1] == 0x80 and source[here + 2] in (0x93, 0x94, 0x99)


@njit(cache=True, nogil=True)
def short(source: Bytes, first: int, end: int) -> tuple[int, int]:
    """``[[Bus (computing)|]]`` shows "Bus", ``[[Paris, Texas|]]`` "Paris", ``[[Help:Link|]]`` "Link"."""
    first, end = stripped(source, first, end)
    while first < end - 1 and source[first] == COLON:
        first += 1
    colon = first
    while colon < end and source[colon] != COLON:
        colon += 1
    if colon + 1 < end:
        first = colon + 1
    last = end
    if source[end - 1] == 41:  # )
        while last > first and source[last] != 40:
            last -= 1
    else:
        last = first
        while last < end and source[last] != 44:  # ,
            last += 1
    return first, last if last > first else end


@njit(cache=True, nogil=True)
def heading(source: Bytes, here: int, size: int) -> int:
    """Where the text of ``== a heading ==`` begins; the signs behind it are wiped out."""
    end = here
    while end < size and source[end] != LF:
        end += 1
    last = end
    while is_blank(source[last - 1]):
        last -= 1
    signs = here
    while signs < min(last, here + 6) and source[signs] == EQUALS:
        signs += 1
    back = last
    while back > signs and source[back - 1] == EQUALS:
        back -= 1
    level = min(signs - here, last - back)
    if level == 0:
        return here
    here, last = here + level, last - level
    while here < last and is_blank(source[here]):
        here += 1
    while last > here and is_blank(source[last - 1]):
        last -= 1
    for k in range(last, end):
        source[k] = NUL
    return here


@njit(cache=True, nogil=True)
def _is_letter(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == UNDERSCORE or byte >= 128


@njit(cache=True, nogil=True)
def elides(source: Bytes, here: int) -> Number:
    """``l'''Iliade''`` is an l, an apostrophe and italics: no bold begins that nothing bold ends."""
    before, behind = source[here - 1], source[here + 3]
    if not (_is_letter(before) or before == CLOSE) or not (_is_letter(behind) or behind == OPEN):
        return False
    at = here + 3
    while source[at] not in (LF, NUL):
        if source[at] == QUOTE and source[at + 1] == QUOTE:
            return source[at + 2] != QUOTE
        at += 1
    return True


_PROTOCOLS = np.array(
    [
        int.from_bytes(name[-8:], "big")
        for name in b"http https ftp ftps irc ircs news git gopher telnet nntp worldwind svn mms".split()
    ],
    dtype=np.uint64,
)


@njit(cache=True, nogil=True)
def is_address(source: Bytes, here: int) -> bool:
    """Whether ``http://``, ``//`` or the like is here."""
    packed = np.uint64(0)
    at = here
    while 97 <= source[at] <= 122 and at < here + 10:
        packed = packed << np.uint64(8) | np.uint64(source[at])
        at += 1
    if at > here:
        if source[at] != COLON:
            return False
        at += 1
    if source[at] != 47 or source[at + 1] != 47:
        return False
    if at == here:
        return True
    known = False
    for protocol in _PROTOCOLS:
        known |= protocol == packed
    return known
