"""The compiled parser of a page without templates and tags: line markup out, links in place.

A page is read once, byte by byte, into a draft: headings, list marks, quotes and addresses disappear, a link
leaves its anchor. ``[[`` that is not a link by itself (a caption with links in it, above all) is written as
it is, and waits for its ``]]``; whatever never finds one is text already. What takes a wiki's habits to
decide, the parser asks for: it returns, is given the answer, and goes on where it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.corpus.string_table_kernels import Strings, has_room, number_string
from pboh.corpus.wikitext.markup_kernels import (
    BAR,
    BLANK,
    CLOSE,
    COLON,
    EQUALS,
    LF,
    NUL,
    OPEN,
    QUOTE,
    TAB,
    UNDERSCORE,
    elides,
    heading,
    is_address,
    is_dash,
    short,
)
from pboh.text.utf8_kernels import Bytes, Int32, Int64, Number, decoded, is_blank, stripped

_LONGEST_TITLE, _LONGEST_TARGET = 81, 1000
# Open brackets remembered while their partner is looked for. Links in captions go two deep in real pages; the
# limit bounds how often a piece of text is looked at.
DEPTH = 8

DONE, TARGET, CAPTION, ROOM = range(4)
"""Why the parser returns: it is done, or asks what a target is, what to keep of an image, for more room."""

UNKNOWN, LINK, TEXT, NOTHING, IMAGE = range(5)
"""What ``[[target]]`` may be: a link to an article, text, something not shown, an image with a caption."""

SPECIAL, PLAIN, CAPITAL, SMALL, ENDS_TARGET = 1, 2, 4, 8, 16
"""What a byte may be: one the parser stops at; one of a title that needs no care; its first letter; …"""

SIZE, HERE, OUT, LINKS, NEWLINES, BOLD, SINGLES, WAITING, LABEL_END, OPENED, TITLE, ADDRESS_END, ASKED = (
    range(13)
)
"""State of the parser: end of the source, place in it, place in the draft, links found; line breaks in
a row, whether bold is on, single brackets open; how many ``[[`` wait; where the label of the link being read
ends and began, and its title; the bracket that ends an external link; what is asked for."""


class ParserState(NamedTuple):
    """A page being parsed; the source ends with 32 zero bytes. Places of links are bytes of the draft."""

    source: Bytes
    draft: Bytes
    state: Int64
    waiting: Int64  # (DEPTH, 2): where in the draft a [[ is, and how many links there were before it
    prefix: Bytes  # room for the prefix of a target, in lower case
    starts: Int32
    ends: Int32
    titles: Int32


class Rules(NamedTuple):
    """A wiki's rules: kinds of bytes, letters that continue a link, whether titles begin with a capital."""

    classes: Bytes
    trail: Bytes
    capitalise: bool
    prefixes: Strings  # of targets that are not articles: namespaces and languages
    prefix_kinds: Int32


class Targets(NamedTuple):
    """Targets met that are not titles as written: what they are, and the number of the title."""

    names: Strings
    kinds: Int32
    titles: Int32


@njit(cache=True, nogil=True)
def begin(page: ParserState, size: int) -> None:
    """Start a page of this many bytes; line breaks at its beginning are not written."""
    page.state[:] = 0
    page.state[SIZE], page.state[NEWLINES] = size, 2
    page.state[LABEL_END] = page.state[ADDRESS_END] = -1


@njit(cache=True, nogil=True)
def put(page: ParserState, byte: int) -> None:
    """Write a byte."""
    state = page.state
    page.draft[state[OUT]] = byte
    state[OUT] += 1
    state[NEWLINES] = 0


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
        plain &= (classes[byte] & PLAIN != 0 or is_dash(source, end)) and not (
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
    """A link that is complete: its target goes from ``first`` to ``end``, its label up to ``last``."""
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
        first, end = short(source, first, end)
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
    """The anchor of a link is written: add the letters that continue it, and note where it is."""
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
        here = heading(source, here, state[SIZE])
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
def quotes(page: ParserState) -> None:
    """Two, three or five apostrophes are markup; what there are more of, in front of them, is text."""
    state, source = page.state, page.source
    here, run = state[HERE], 1
    while source[here + run] == QUOTE:
        run += 1
    kept = 1 if run in (1, 4) else max(0, run - 5)
    if run == 3 and not state[BOLD] and elides(source, here):
        kept = 1
    elif run > 2:
        state[BOLD] = 1 - state[BOLD]
    for _ in range(kept):
        put(page, QUOTE)
    state[HERE] = here + run


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
