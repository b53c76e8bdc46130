"""A page being parsed: what the compiled parser reads, writes, asks for and remembers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from pboh.corpus.string_table_kernels import Strings

Bytes = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]

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

NUL, TAB, LF, BLANK, QUOTE, COLON, EQUALS, OPEN, CLOSE, UNDERSCORE, BAR = b"\0\t\n ':=[]_|"


class ParserState(NamedTuple):
    """A page being parsed; the source ends with 32 zero bytes. Places of links are bytes of the draft."""

    source: Bytes
    draft: Bytes
    state: Int64
    waiting: Int64  # (DEPTH, 2): where in the draft a [[ stands, and how many links there were before it
    prefix: Bytes  # room for the prefix of a target, in lower case
    starts: Int32
    ends: Int32
    titles: Int32


class Rules(NamedTuple):
    """A wiki's rules: kinds of bytes, letters that continue a link, whether titles begin with a capital."""

    classes: Bytes
    trail: Bytes
    capitalise: bool
    prefixes: Strings  # of targets that are no articles: namespaces and languages
    prefix_kinds: Int32


class Targets(NamedTuple):
    """Targets met that are no title as they stand: what they are, and the number of the title."""

    names: Strings
    kinds: Int32
    titles: Int32


@njit(cache=True, nogil=True)
def begin(page: ParserState, size: int) -> None:
    """Start a page of so many bytes; line breaks at its beginning are not written."""
    for k in range(page.state.size):
        page.state[k] = 0
    page.state[SIZE], page.state[NEWLINES] = size, 2
    page.state[LABEL_END] = page.state[ADDRESS_END] = -1


@njit(cache=True, nogil=True)
def put(page: ParserState, byte: int) -> None:
    """Write a byte."""
    state = page.state
    page.draft[state[OUT]] = byte
    state[OUT] += 1
    state[NEWLINES] = 0
