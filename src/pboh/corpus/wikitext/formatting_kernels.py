"""Markup of lines and letters, for the compiled parser: headings, list marks, quotes, switches, addresses."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.corpus.utf8_kernels import Number, is_blank
from pboh.corpus.wikitext.parser_state import (
    ADDRESS_END,
    BLANK,
    BOLD,
    CLOSE,
    COLON,
    EQUALS,
    HERE,
    LF,
    NEWLINES,
    NUL,
    OPEN,
    OUT,
    QUOTE,
    SINGLES,
    SIZE,
    TAB,
    UNDERSCORE,
    Bytes,
    ParserState,
    put,
)


@njit(cache=True, nogil=True)
def line(page: ParserState) -> None:
    """A line break (at most two in a row are written), and the marks at the beginning of the line."""
    state, source = page.state, page.source
    if state[NEWLINES] < 2:
        page.draft[state[OUT]] = LF
        state[OUT] += 1
        state[NEWLINES] += 1
    state[BOLD] = 0
    here = state[HERE] + 1
    if source[here] == EQUALS:
        here = _heading(source, here, state[SIZE])
    if source[here] in (42, 35, 58, 59):  # * # : ;
        while source[here] in (42, 35, 58, 59):
            here += 1
        while source[here] in (BLANK, TAB):
            here += 1
    elif source[here] == 45 and source[here + 1] == 45 and source[here + 2] == 45 and source[here + 3] == 45:
        while source[here] == 45:
            here += 1
    state[HERE] = here


@njit(cache=True, nogil=True)
def _heading(source: Bytes, here: int, size: int) -> int:
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
def quotes(page: ParserState) -> None:
    """Two, three or five apostrophes are markup; what there are more of, in front of them, is text."""
    state, source = page.state, page.source
    here, run = state[HERE], 1
    while source[here + run] == QUOTE:
        run += 1
    kept = 1 if run in (1, 4) else max(0, run - 5)
    if run == 3 and not state[BOLD] and _elides(source, here):
        kept = 1
    elif run > 2:
        state[BOLD] = 1 - state[BOLD]
    for _ in range(kept):
        put(page, QUOTE)
    state[HERE] = here + run


@njit(cache=True, nogil=True)
def _elides(source: Bytes, here: int) -> Number:
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


@njit(cache=True, nogil=True)
def switch(page: ParserState) -> None:
    """``__NOTOC__`` and the like disappear."""
    state, source = page.state, page.source
    here = state[HERE]
    end = here + 2
    if source[here + 1] == UNDERSCORE:
        while 65 <= source[end] <= 90 and end < here + 27:
            end += 1
        if 3 <= end - here - 2 <= 24 and source[end] == UNDERSCORE and source[end + 1] == UNDERSCORE:
            state[HERE] = end + 2
            return
    put(page, UNDERSCORE)
    state[HERE] = here + 1


_PROTOCOLS = np.array(
    [
        int.from_bytes(name[-8:], "big")
        for name in b"http https ftp ftps irc ircs news git gopher telnet nntp worldwind svn mms".split()
    ],
    dtype=np.uint64,
)


@njit(cache=True, nogil=True)
def is_address(source: Bytes, here: int) -> bool:
    """Whether ``http://``, ``//`` or the like stands here."""
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


@njit(cache=True, nogil=True)
def address(page: ParserState) -> None:
    """``[http://a.org label]`` leaves its label; without its end it is text, but for an address and words."""
    state, source, size = page.state, page.source, page.state[SIZE]
    begun = state[HERE]
    end = begun + 1
    while end < size and not is_blank(source[end]) and source[end] not in (OPEN, CLOSE):
        end += 1
    label = end
    while source[label] in (BLANK, TAB):
        label += 1
    last = label
    while label > end and last < size and source[last] not in (OPEN, CLOSE, LF):
        last += 1
    if source[last] == CLOSE:
        state[ADDRESS_END] = last
        state[HERE] = label
        return
    put(page, OPEN)
    state[SINGLES] += 1
    state[HERE] = label if last > label else begun + 1
