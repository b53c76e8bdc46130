"""Wikitext to plain text with the exact place of every link: the hot loop of extraction.

Linear in the page whatever it contains: the preprocessor takes out templates, tags and tables, then one
compiled parser reads what is left. Pages are UTF-8 all the way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from html.entities import html5
from typing import Any, NamedTuple

import numpy as np

from pboh.corpus.string_table import StringTable, grown
from pboh.corpus.titles import CATEGORY, FILE, MAIN, PLAIN_TITLE, Site, spellings, split_target
from pboh.corpus.wikitext import output_kernels, preprocessor
from pboh.corpus.wikitext import parser_kernels as parser
from pboh.corpus.wikitext.markup_kernels import BAR
from pboh.text.utf8_kernels import Bytes, Int32

_SPARE = 32  # zero bytes behind a page
_PREFIX = 80  # bytes of the longest prefix that is looked for


class Plain(NamedTuple):
    """A page's text and its links: start, end (code points in ``text``), normalised title of the target."""

    text: str
    links: list[tuple[int, int, str]]


def plain_text(wikitext: str, site: Site) -> Plain:
    """The text a reader sees, without templates and references, and where its links to articles are.

    Any string is accepted; ``text[start:end]`` is the anchor, never empty, without white space at its ends.
    """
    reader = Reader(site)
    reader.read(wikitext.encode("utf-8", "surrogatepass"))
    starts, ends, _, _, numbers = reader.links[:5, : reader.count].tolist()
    titles = reader.titles.texts()
    text = reader.text[: reader.size].tobytes().decode("utf-8", "surrogatepass")
    return Plain(text, list(zip(starts, ends, (titles[number] for number in numbers), strict=True)))


def without_templates(wikitext: bytes, site: Site) -> bytes:
    """A page, a line break put before it, as the parser can read it."""
    text = b"\n" + wikitext
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    braces = b"{" in text  # quicker than looking for two
    if b"<" in text or (braces and b"{{" in text):
        text = preprocessor.cut(text)
    if braces and b"{|" in text:
        text = preprocessor.untable(text)
    if braces and site.conventions.variants and b"-{" in text:
        text = preprocessor.one_variant(text)
    return text


class Habits(NamedTuple):
    """What reading a site's pages depends on: rules for the parser, options of images."""

    rules: parser.Rules
    is_option: Callable[[str], Any]


@lru_cache(maxsize=8)
def habits(site: Site) -> Habits:
    """The habits of a site; compiled once."""
    plain = re.compile(PLAIN_TITLE)
    classes = np.zeros(256, dtype=np.uint8)
    for byte in range(128):
        inside, first = plain.fullmatch(f"A{chr(byte)}A"), plain.fullmatch(chr(byte)) or chr(byte).isdigit()
        classes[byte] |= (parser.PLAIN if inside else 0) | (parser.CAPITAL if first else 0)
    classes[0x80:0xC0] |= parser.PLAIN  # bytes inside a character: which one it is, its first byte says,
    classes[0xC3:0xC6] |= parser.PLAIN  # À to ſ, for example: letters that need no care
    classes[list(b"abcdefghijklmnopqrstuvwxyz")] |= parser.SMALL
    classes[list(b"\0\n[]'_")] |= parser.SPECIAL
    classes[list(b"\0\n[]|{}<>")] |= parser.ENDS_TARGET
    trail = np.zeros(0x10000, dtype=np.uint8)
    if site.conventions.trail:
        letters = re.findall(f"[{site.conventions.trail}]", "".join(map(chr, range(1, 0x10000))))
        trail[[ord(letter) for letter in letters]] = 1
    options = "|".join(map(re.escape, sorted(site.conventions.image_options)))
    is_option = re.compile(
        rf"\s*+(?:(?i:{options})(?:\s*+=.*+)?|\d*+(?:x\d++)?\s*+px|)\s*+", re.DOTALL
    ).fullmatch
    return Habits(parser.Rules(classes, trail, site.capitalises_as_ascii, *_prefixes(site)), is_option)


def _prefixes(site: Site) -> tuple[StringTable, Int32]:
    """Prefixes of targets that are not articles, in every spelling but for capitals of ASCII; their kinds."""
    shown_elsewhere = {CATEGORY: parser.NOTHING, FILE: parser.IMAGE}
    kinds = dict.fromkeys(site.languages, parser.NOTHING) | {
        name: shown_elsewhere.get(key, parser.TEXT) for name, key in site.namespaces.items()
    }
    small = str.maketrans({chr(code): chr(code + 32) for code in range(65, 91)})
    spelt = {form.translate(small): kind for name, kind in kinds.items() for form in spellings(name)}
    return StringTable.of(spelt), np.array([*spelt.values(), parser.UNKNOWN], dtype=np.int32)


@cache
def _entities() -> output_kernels.Entities:
    """All that MediaWiki knows: those of HTML 5 that end with a semicolon."""
    known = {name[:-1]: value for name, value in html5.items() if name.endswith(";")}
    values = [[ord(character) for character in value.ljust(2, "\0")] for value in known.values()]
    return output_kernels.Entities(StringTable.of(known), np.array(values, dtype=np.int32))


class Reader:
    """Reads pages of one site; their texts and links pile up in it.

    ``text[:size]`` are the texts one behind the other, ``links[:, :count]`` the links, column by column as
    :mod:`output_kernels` has them, ``titles`` the articles they lead to.
    """

    def __init__(self, site: Site) -> None:
        self.titles = StringTable.empty()
        self.text: Bytes = np.empty(1 << 12, dtype=np.uint8)
        self.links: Int32 = np.empty((output_kernels.ROWS, 1 << 8), dtype=np.int32)
        self.size = self.count = 0
        self._site, self._habits = site, habits(site)
        self._targets = _targets(StringTable.empty(1 << 8))
        self._page = _page(1 << 12, 1 << 8)

    def read(self, wikitext: bytes) -> int:
        """Take in a page; returns how many characters its text has."""
        text = without_templates(wikitext, self._site)
        data = np.frombuffer(text, dtype=np.uint8)
        page = self._page
        if page.source.size < data.size + _SPARE:
            self._page = page = _page(data.size + data.size // 4 + _SPARE, page.starts.size)
        page.source[: data.size] = data
        page.source[data.size : data.size + _SPARE] = 0
        parser.begin(page, data.size)
        while asked := parser.parse(self._page, self._habits.rules, self.titles, self._targets):
            self._answer(asked)
        page = self._page
        self._make_room(
            6 * int(page.state[parser.OUT]) // 5, int(page.state[parser.LINKS])
        )  # &nGt; is the worst
        where = (self.text, self.size, self.links, self.count)
        known = _entities()
        self.size, self.count, characters = output_kernels.write_out(page, b"&" in text, known, *where)
        return int(characters)

    def take(self, data: bytes, links: Sequence[tuple[int, int, str]]) -> int:
        """Take in a text whose links are known; those whose anchor is blank are left out."""
        text = data.decode()
        codes = np.frombuffer(data, dtype=np.uint8)
        self._make_room(codes.size, len(links))
        self.text[self.size : self.size + codes.size] = codes
        places = np.append(np.flatnonzero(codes & 0xC0 != 0x80), codes.size) + self.size
        for start, end, title in links:
            anchor = text[start:end]
            if inner := anchor.strip():
                first = start + anchor.index(inner)
                self.titles, number = self.titles.add(title)
                self.links[:5, self.count] = start, end, places[first], places[first + len(inner)], number
                self.count += 1
        self.size += codes.size
        return len(text)

    def anchors(self) -> tuple[Int32, Bytes]:
        """The anchors of all links, white space made single: where each begins, and the bytes."""
        firsts, lasts = self.links[[output_kernels.FIRST, output_kernels.LAST], : self.count]
        bounds = np.zeros(self.count + 1, dtype=np.int32)
        letters = np.empty(int(np.sum(lasts - firsts, dtype=np.int64)), dtype=np.uint8)
        output_kernels.gather(self.text, firsts, lasts, letters, bounds)
        return bounds, letters[: bounds[-1]]

    def _make_room(self, size: int, links: int) -> None:
        """For this many more bytes of text and this many more links."""
        if self.text.size < self.size + size + _SPARE:
            self.text = grown(self.text, 2 * (self.size + size + _SPARE))
        if self.links.shape[1] < self.count + links:
            larger = np.empty((output_kernels.ROWS, 2 * (self.count + links)), dtype=np.int32)
            larger[:, : self.count] = self.links[:, : self.count]
            self.links = larger

    def _answer(self, asked: int) -> None:
        """Give the parser what it asks for."""
        if asked == parser.TARGET:
            self._answer_target(int(self._page.state[parser.ASKED]))
        elif asked == parser.CAPTION:
            parser.keep(self._page, *self._caption())
        else:
            assert asked == parser.ROOM
            self.titles = self.titles.with_room()
            self._targets = _targets(StringTable(*self._targets.names).with_room(), self._targets)
            if self._page.state[parser.LINKS] == self._page.starts.size:
                columns = (grown(column, 2 * column.size) for column in self._page[-3:])
                self._page = parser.ParserState(*self._page[:-3], *columns)

    def _answer_target(self, number: int) -> None:
        """Say what ``[[target]]`` is: a link to an article, or text."""
        targets = self._targets
        start, end = targets.names.bounds[number : number + 2]
        target = targets.names.letters[start:end].tobytes().decode("utf-8", "surrogatepass")
        namespace, title = split_target(target, self._site) or (MAIN, "")
        if namespace == MAIN and title:
            targets.kinds[number] = parser.LINK
            self.titles, targets.titles[number] = self.titles.add(title)
        else:
            targets.kinds[number] = parser.TEXT

    def _caption(self) -> tuple[int, int]:
        """What stays of an image: the last part between bars that holds a link or is not an option."""
        page = self._page
        name_end, end = int(page.state[parser.ASKED]), int(page.state[parser.OUT])
        before = page.waiting[page.state[parser.WAITING] - 1, 1]
        starts = page.starts[before : page.state[parser.LINKS]].tolist()
        ends = page.ends[before : page.state[parser.LINKS]].tolist()
        parts = page.draft[name_end:end].tobytes()
        is_option = self._habits.is_option
        last = end
        while last > name_end:
            bar = last
            while True:  # a bar inside an anchor divides nothing
                bar = parts.rfind(BAR, 0, bar - name_end) + name_end
                link = bisect_right(starts, bar) - 1
                if link < 0 or ends[link] <= bar:
                    break
                bar = starts[link]
            part = parts[bar + 1 - name_end : last - name_end].replace(preprocessor.NOTHING, b"")
            has_link = bisect_right(starts, last) > link + 1
            if has_link or not is_option(part.decode("utf-8", "surrogatepass")):
                return bar + 1, last
            last = bar
        return end, end


def _page(size: int, links: int) -> parser.ParserState:
    """Room for a page of that size."""
    source, draft = np.empty((2, size), dtype=np.uint8)
    starts, ends, titles = np.empty((3, links), dtype=np.int32)
    state, waiting = np.zeros(13, dtype=np.int64), np.zeros((parser.DEPTH, 2), dtype=np.int64)
    return parser.ParserState(
        source, draft, state, waiting, np.empty(_PREFIX, dtype=np.uint8), starts, ends, titles
    )


def _targets(names: StringTable, known: parser.Targets | None = None) -> parser.Targets:
    """Targets of links with room for as many as there are names."""
    if known is None:
        return parser.Targets(names, *(np.zeros(names.bounds.size, dtype=np.int32) for _ in range(2)))
    if known.kinds.size == names.bounds.size:
        return known._replace(names=names)
    larger = _targets(names)
    larger.kinds[: known.kinds.size], larger.titles[: known.titles.size] = known.kinds, known.titles
    return larger
