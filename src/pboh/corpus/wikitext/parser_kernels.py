"""The compiled parser of a page without templates and tags: line markup out, links in place.

A page is read once, byte by byte, into a draft: headings, list marks, quotes and addresses disappear, a link
leaves its anchor. ``[[`` that is not a link by itself (a caption with links in it, above all) is written as
it stands and waits for its ``]]``; whatever never finds one is text already. What takes a wiki's habits to
decide, the parser asks for: it returns, is given the answer, and goes on where it was.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.corpus.string_table_kernels import Strings, has_room, number_string
from pboh.corpus.utf8_kernels import Number, decoded, is_blank, stripped
from pboh.corpus.wikitext.formatting_kernels import address, is_address, line, quotes, switch
from pboh.corpus.wikitext.parser_state import (
    ADDRESS_END,
    ASKED,
    BAR,
    BLANK,
    CAPITAL,
    CAPTION,
    CLOSE,
    COLON,
    DEPTH,
    DONE,
    ENDS_TARGET,
    HERE,
    IMAGE,
    LABEL_END,
    LF,
    LINK,
    LINKS,
    NEWLINES,
    NOTHING,
    NUL,
    OPEN,
    OPENED,
    OUT,
    PLAIN,
    QUOTE,
    ROOM,
    SINGLES,
    SIZE,
    SMALL,
    SPECIAL,
    TARGET,
    TITLE,
    UNDERSCORE,
    UNKNOWN,
    WAITING,
    Bytes,
    ParserState,
    Rules,
    Targets,
    put,
)

_LONGEST_TITLE, _LONGEST_TARGET = 81, 1000


@njit(cache=True, nogil=True)
def parse(page: ParserState, rules: Rules, titles: Strings, targets: Targets) -> int:
    """Go on with the page; returns what is asked for, or DONE."""
    state, source, draft, classes = page.state, page.source, page.draft, rules.classes
    here, out, size = np.uint64(state[HERE]), np.uint64(state[OUT]), np.uint64(state[SIZE])
    one = np.uint64(1)
    while here < size:
        byte = source[here]
        if not classes[byte] & SPECIAL:
            state[NEWLINES] = 0
            while not classes[byte] & SPECIAL:
                draft[out] = byte
                out += one
                here += one
                byte = source[here]
            continue
        state[HERE], state[OUT] = here, out
        asked = DONE
        if byte == LF:
            line(page)
        elif byte == OPEN:
            asked = _open(page, rules, titles, targets)
        elif byte == CLOSE:
            asked = _close(page, rules, titles, targets)
        elif byte == QUOTE:
            quotes(page)
        elif byte == UNDERSCORE:
            switch(page)
        else:
            state[HERE] += 1
        if asked != DONE:
            return asked
        here, out = np.uint64(state[HERE]), np.uint64(state[OUT])
    state[HERE], state[OUT] = here, out
    return DONE


@njit(cache=True, nogil=True)
def _is_dash(source: Bytes, here: int) -> bool:
    """Whether – or — or ’ stands here: no care is needed for them in a title."""
    return source[here] == 0xE2 and source[here + 1] == 0x80 and source[here + 2] in (0x93, 0x94, 0x99)


@njit(cache=True, nogil=True)
def _open(page: ParserState, rules: Rules, titles: Strings, targets: Targets) -> int:
    """A bracket: of an external link, of text, or the first of two that begin a link."""
    state, source, classes = page.state, page.source, rules.classes
    here = state[HERE]
    if is_address(source, here + 1):
        address(page)
        return DONE
    if source[here + 1] != OPEN or source[here + 2] == OPEN or is_address(source, here + 2):
        put(page, OPEN)
        state[SINGLES] += 1
        state[HERE] += 1
        return DONE
    first = here + 2
    end, plain, careful, before = first, True, False, NUL
    while not classes[source[end]] & ENDS_TARGET:
        byte = source[end]
        plain &= (classes[byte] & PLAIN != 0 or _is_dash(source, end)) and not (
            byte == BLANK and before == BLANK
        )
        careful |= byte == before and byte in (QUOTE, UNDERSCORE)  # markup in the target
        before = byte
        end += 1
    label, last = 0, end
    if source[end] == BAR:
        label = last = end + 1
        while last < state[SIZE] and source[last] not in (OPEN, CLOSE, LF):
            last += 1
    if end == first or careful or source[last] != CLOSE or source[last + 1] != CLOSE:
        return _wait(page)
    plain &= end - first <= _LONGEST_TITLE and before != BLANK
    return _whole(page, rules, titles, targets, first, end, plain, label, last)


@njit(cache=True, nogil=True)
def _wait(page: ParserState) -> int:
    """Write brackets that wait for their partner; of too many the first is forgotten."""
    state, waiting = page.state, page.waiting
    if state[WAITING] == DEPTH:
        for k in range(1, DEPTH):
            waiting[k - 1, 0], waiting[k - 1, 1] = waiting[k, 0], waiting[k, 1]
        state[WAITING] -= 1
    waiting[state[WAITING], 0], waiting[state[WAITING], 1] = state[OUT], state[LINKS]
    state[WAITING] += 1
    state[SINGLES] = 0
    put(page, OPEN)
    put(page, OPEN)
    state[HERE] += 2
    return DONE


@njit(cache=True, nogil=True)
def _whole(
    page: ParserState,
    rules: Rules,
    titles: Strings,
    targets: Targets,
    first: int,
    end: int,
    plain: bool,
    label: int,
    last: int,
) -> int:
    """A link that is complete: its target stands from ``first`` to ``end``, its label up to ``last``."""
    state, source = page.state, page.source
    if state[LINKS] >= page.starts.size or not has_room(titles) or not has_room(targets.names):
        return ROOM
    kind: Number = LINK
    title: Number = np.int64(0)
    byte = rules.classes[source[first]]
    if plain and (byte & CAPITAL or (byte & SMALL and rules.capitalise)):
        title = _title(titles, source, first, end)
    else:
        kind, title = _look(page.prefix, rules, targets, source, first, end)
        if kind == UNKNOWN:
            state[ASKED] = title
            return TARGET
    if kind == IMAGE:
        return _wait(page)
    state[NEWLINES] = 0
    if kind == NOTHING:
        state[HERE] = last + 2
        return DONE
    state[OPENED], state[TITLE] = state[OUT], title if kind == LINK else -1
    if label and label < last:
        state[HERE], state[LABEL_END] = label, last
        return DONE
    if label:
        first, end = _short(source, first, end)
    _show(page, source, first, end)
    state[HERE] = last + 2
    _anchor(page, rules)
    return DONE


@njit(cache=True, nogil=True)
def _title(titles: Strings, source: Bytes, first: int, end: int) -> Number:
    """The number of a title whose first letter may have to become a capital."""
    small = source[first]
    if small >= 97:
        source[first] = small - 32
    number = number_string(titles, source, first, end, True)
    source[first] = small
    return number


@njit(cache=True, nogil=True)
def _look(
    prefix: Bytes, rules: Rules, targets: Targets, data: Bytes, first: int, end: int
) -> tuple[Number, Number]:
    """What a target is, and its title; if that is not known yet, the number of the target.

    All targets that are too long are the same one, the empty one, which is text.
    """
    kind = _prefixed(prefix, rules, data, first, end)
    if kind != UNKNOWN:
        return kind, np.int64(0)
    known = number_string(targets.names, data, first, end if end - first <= _LONGEST_TARGET else first, True)
    kind = np.int64(targets.kinds[known])
    return kind, np.int64(targets.titles[known]) if kind else known


@njit(cache=True, nogil=True)
def _prefixed(prefix: Bytes, rules: Rules, data: Bytes, first: int, end: int) -> Number:
    """What ``File:``, ``fr:`` or the like makes of a target; UNKNOWN without such a prefix."""
    length: Number = 0
    for k in range(first, min(end, first + prefix.size)):
        byte = data[k]
        if byte == COLON:
            while length and prefix[length - 1] in (BLANK, UNDERSCORE):
                length -= 1
            number = number_string(rules.prefixes, prefix, 0, length, False)
            return np.int64(rules.prefix_kinds[number])
        if length or byte not in (BLANK, UNDERSCORE):
            prefix[length] = byte + 32 if 65 <= byte <= 90 else byte
            length += 1
    return np.int64(UNKNOWN)


@njit(cache=True, nogil=True)
def _short(source: Bytes, first: int, end: int) -> tuple[int, int]:
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
def _show(page: ParserState, data: Bytes, first: int, end: int) -> None:
    """Write a target as the link's anchor, without a colon before it and blanks around it."""
    while first < end and is_blank(data[first]):
        first += 1
    if first < end and data[first] == COLON:
        first += 1
    while end > first and is_blank(data[end - 1]):
        end -= 1
    for k in range(first, end):
        put(page, data[k])


@njit(cache=True, nogil=True)
def _anchor(page: ParserState, rules: Rules) -> None:
    """The anchor of a link is written: add the letters that continue it, and note where it stands."""
    state, source, draft = page.state, page.source, page.draft
    first = state[OPENED]
    state[SINGLES] = state[NEWLINES] = 0
    if state[TITLE] < 0 or state[OUT] == first:
        return
    here = state[HERE]
    code, after = decoded(source, here)
    while code < rules.trail.size and rules.trail[code]:
        for k in range(here, after):
            put(page, source[k])
        here = after
        code, after = decoded(source, here)
    state[HERE] = here
    first, end = stripped(draft, first, state[OUT])
    if first < end:
        link = state[LINKS]
        page.starts[link], page.ends[link], page.titles[link] = first, end, state[TITLE]
        state[LINKS] += 1


@njit(cache=True, nogil=True)
def _close(page: ParserState, rules: Rules, titles: Strings, targets: Targets) -> int:
    """A closing bracket: of a link or an address being read, of brackets that wait, or of text."""
    state, source = page.state, page.source
    here = state[HERE]
    if here == state[LABEL_END]:
        state[HERE] += 2
        _anchor(page, rules)
    elif here == state[ADDRESS_END]:
        state[HERE] += 1
    elif (
        source[here + 1] != CLOSE
        or not state[WAITING]
        or (source[here + 2] == CLOSE and state[SINGLES] > 0)  # [[Bus|[b]]]
    ):
        put(page, CLOSE)
        state[SINGLES] -= 1
        state[HERE] += 1
    else:
        return _close_waiting(page, rules, titles, targets)
    return DONE


@njit(cache=True, nogil=True)
def _close_waiting(page: ParserState, rules: Rules, titles: Strings, targets: Targets) -> int:
    """``]]`` for the brackets that waited last: a link whose label took care, an image, or text."""
    state, draft = page.state, page.draft
    if state[LINKS] >= page.starts.size or not has_room(titles) or not has_room(targets.names):
        return ROOM
    top = state[WAITING] - 1
    opened, before = page.waiting[top, 0], page.waiting[top, 1]
    first, end = opened + 2, state[OUT]
    bar, shown = first, False
    while bar < end and draft[bar] not in (BAR, LF):
        shown |= not is_blank(draft[bar])
        bar += 1
    inside = state[LINKS] > before
    if (bar < end and draft[bar] == LF) or (inside and page.starts[before] < bar):
        return _stay(page)
    kind: Number = NOTHING
    title: Number = np.int64(0)
    if shown:
        kind, title = _look(page.prefix, rules, targets, draft, first, bar)
        if kind == UNKNOWN:
            state[ASKED] = title
            return TARGET
    if kind == IMAGE:
        state[ASKED] = bar
        return CAPTION
    if inside:
        return _stay(page)
    state[WAITING] -= 1
    state[OUT] = state[OPENED] = opened
    state[TITLE] = title if kind == LINK else -1
    state[HERE] += 2
    if kind != NOTHING and bar < end:
        for k in range(bar + 1, end):
            put(page, draft[k])
    elif kind != NOTHING:
        _show(page, draft, first, end)
    _anchor(page, rules)
    return DONE


@njit(cache=True, nogil=True)
def _stay(page: ParserState) -> int:
    """The brackets that waited last are text."""
    put(page, CLOSE)
    put(page, CLOSE)
    page.state[WAITING] -= 1
    page.state[SINGLES] = 0
    page.state[HERE] += 2
    return DONE


@njit(cache=True, nogil=True)
def keep(page: ParserState, first: int, end: int) -> None:
    """The answer to CAPTION: of the brackets that waited last, only ``draft[first:end]`` stays."""
    state, draft = page.state, page.draft
    state[WAITING] -= 1
    out, before = page.waiting[state[WAITING], 0], page.waiting[state[WAITING], 1]
    moved = first - out
    for k in range(first, end):
        draft[out] = draft[k]
        out += 1
    kept = before
    for link in range(before, state[LINKS]):
        if first <= page.starts[link] and page.ends[link] <= end:
            page.starts[kept], page.ends[kept] = page.starts[link] - moved, page.ends[link] - moved
            page.titles[kept] = page.titles[link]
            kept += 1
    state[LINKS], state[OUT] = kept, out
    state[SINGLES] = state[NEWLINES] = 0
    state[HERE] += 2
