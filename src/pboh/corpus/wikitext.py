"""Wikitext to plain text with the exact place of every link: the hot loop of extraction.

Two sweeps, both linear in the page whatever stands in it: `markup` takes out everything that is not text or
link, then the links are read from what is left. Nothing is ever tried twice, so nothing can explode.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pboh.corpus import markup
from pboh.corpus.titles import (
    CATEGORY,
    FILE,
    MAIN,
    PLAIN_REST,
    PLAIN_TITLE,
    Site,
    split_target,
    unescape,
)

# Open brackets remembered while their partner is looked for. Links in captions go two deep in real pages; the
# limit bounds how often a piece of text is looked at.
_DEPTH = 8
_REMEMBERED_TARGETS = 1 << 17
# Links are read from that many characters at once, so that an enormous page needs no enormous lists.
_SEGMENT = 1 << 20
_LINK, _IMAGE, _TEXT, _NOTHING = "link", "image", "text", "nothing"


class Plain(NamedTuple):
    """A page's text and its links: start, end (code points in ``text``), normalised title of the target."""

    text: str
    links: list[tuple[int, int, str]]


class Segment(NamedTuple):
    """A part of a page's text and the links in it, column by column; places count from its beginning."""

    text: str
    starts: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    titles: list[str]
    anchors: list[str]


def plain_text(wikitext: str, site: Site) -> Plain:
    """The text a reader sees, without templates and references, and where its links to articles are.

    Any string is accepted; ``text[start:end]`` is the anchor, never empty, without white space at its ends.
    """
    texts: list[str] = []
    links: list[tuple[int, int, str]] = []
    at = 0
    for part in segments(wikitext, site):
        links += zip((part.starts + at).tolist(), (part.ends + at).tolist(), part.titles, strict=True)
        texts.append(part.text)
        at += len(part.text)
    return Plain("".join(texts).rstrip(), links)


def segments(wikitext: str, site: Site) -> Iterator[Segment]:
    """:func:`plain_text` in parts, nearly always one; white space at the end of the page is still there."""
    text = "\n" + wikitext
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "|]]" in text:
        text = _PIPE_TRICK.sub(_piped, text)
    if "<" in text or "{{" in text:
        text = markup.cut(text)
    if "{|" in text:
        text = markup.untable(text)
    if site.conventions.variants and "-{" in text:
        text = markup.one_variant(text)
    return _reader(site).segments(markup.unformat(text).strip("\n"))


_BRACKETS = re.compile(r"(?<!\[)\[\[(?!\[)")
_PIPE_TRICK = re.compile(r"\[\[([^\[\]|\n{}<>]++)\|\]\]")


def _piped(match: re.Match[str]) -> str:
    """``[[Bus (computing)|]]`` shows "Bus", ``[[Paris, Texas|]]`` "Paris", ``[[Help:Link|]]`` "Link"."""
    target = match[1]
    short = target.lstrip(":")
    short = short.partition(":")[2] or short
    if short.rstrip().endswith(")"):
        short = short.rpartition("(")[0] or short
    else:
        short = short.partition(",")[0] or short
    return f"[[{target}|{short.strip() or target}]]"


@lru_cache(maxsize=8)
def _reader(site: Site) -> _Reader:
    return _Reader(site)


class _Page:
    """A text taken apart at its links: plain, anchor, plain, anchor, … plain. No link has the title ""."""

    __slots__ = ("anchors", "plains", "titles")

    def __init__(self, plains: list[str], anchors: list[str], titles: list[str | None]) -> None:
        self.plains = plains
        self.anchors = anchors
        self.titles = titles

    def put(self, at: int, shown: str, title: str) -> None:
        """Make ``shown`` the anchor at ``at``, the white space at its ends moved to the text around it."""
        anchor = shown.strip()
        if len(anchor) < len(shown):
            before = len(shown) - len(shown.lstrip())
            self.plains[at] += shown[:before]
            self.plains[at + 1] = shown[before + len(anchor) :] + self.plains[at + 1]
        self.anchors[at] = anchor
        self.titles[at] = title if anchor else ""

    def blank(self, begin: int, end: int) -> None:
        """Take out the anchors from ``begin`` up to ``end`` and the text between them."""
        nothing = [""] * (end - begin)
        self.anchors[begin:end] = nothing
        self.titles[begin:end] = nothing
        self.plains[begin + 1 : end] = nothing[1:]

    def joined(self, begin: int, end: int) -> str:
        """The text between two anchors, with the anchors between them."""
        pieces = zip(self.plains[begin + 1 : end], self.anchors[begin + 1 : end], strict=True)
        return "".join(chain.from_iterable(pieces))

    def decode(self) -> None:
        """HTML entities become their characters; an anchor that was only blanks then is none."""
        self.plains[:] = [unescape(plain) if "&" in plain else plain for plain in self.plains]
        for at, anchor in enumerate(self.anchors):
            if "&" in anchor:
                self.put(at, unescape(anchor), self.titles[at] or "")

    def segment(self) -> Segment:
        """The whole text, and its links with their places in it."""
        pieces = [""] * (2 * len(self.anchors) + 1)
        pieces[0::2] = self.plains
        pieces[1::2] = self.anchors
        places = np.cumsum(np.fromiter(map(len, pieces), np.int32, len(pieces)), dtype=np.int32)
        starts, ends, titles, anchors = places[0:-1:2], places[1::2], self.titles, self.anchors
        if "" in titles:
            kept = np.fromiter(map(bool, titles), np.bool_, len(titles))
            starts, ends = starts[kept], ends[kept]
            anchors = [anchor for anchor, title in zip(anchors, titles, strict=True) if title]
            titles = [title for title in titles if title]
        return Segment("".join(pieces), starts, ends, titles, anchors)  # type: ignore[arg-type]  # no None is left


class _Reader:
    """Reads links of one site's pages; keeps the compiled trail and the titles of targets seen lately."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.titles: dict[str, str] = {}
        shown_elsewhere = {CATEGORY: _NOTHING, FILE: _IMAGE}
        self.kinds = dict.fromkeys(site.languages, _NOTHING) | {
            name: shown_elsewhere.get(key, _TEXT) for name, key in site.namespaces.items()
        }
        trail = f"[{site.conventions.trail}]*+" if site.conventions.trail else ""
        self.trail = re.compile(f"({trail})")
        # A whole link whose anchor needs no care, in one match; any other [[ waits for its ]].
        # Groups: a target that is a title as it stands; one that is but for its first letter; any other;
        # the label; the trail.
        small = f"[a-z]{PLAIN_REST}" if site.capitalises_as_ascii else "(?!)"
        self.split = re.compile(
            rf"\[\[(?!\[)(?:(?:({PLAIN_TITLE})(?=[|\]])|({small})(?=[|\]])|([^\[\]|\n{{}}<>]++))"
            rf"(?:\|(?!\s)([^\[\]\n]++)(?<!\s))?+\]\]({trail}))?+"
        ).split
        options = "|".join(map(re.escape, sorted(site.conventions.image_options)))
        self.is_option = re.compile(
            rf"\s*+(?:(?i:{options})(?:\s*+=.*+)?|\d*+(?:x\d++)?\s*+px|)\s*+", re.DOTALL
        ).fullmatch

    def segments(self, text: str) -> Iterator[Segment]:
        """Text and links of what holds no other markup than links.

        A long text is cut in front of brackets. When others before the cut still wait for their partner,
        the part is read again, twice as long.
        """
        begin, size = 0, _SEGMENT
        while len(text) - begin > size and (cut := _BRACKETS.search(text, begin + size)):
            if (part := self._read(text[begin : cut.start()], last=False)) is None:
                size *= 2
                continue
            yield part
            begin, size = cut.start(), _SEGMENT
        part = self._read(text[begin:] if begin else text, last=True)
        assert part is not None
        yield part

    def _read(self, text: str, last: bool) -> Segment | None:
        """One part, or None if it may look different once the following is known.

        Lists rather than a loop: what all links of a page have in common is one call for all of them.
        """
        parts = self.split(text)
        titles, small, targets, labels, trails = (parts[group::6] for group in range(1, 6))
        shown = zip(labels, titles, small, targets, trails, strict=True)
        anchors = [
            (label or title or other or target or "[[") + (trail or "")
            for label, title, other, target, trail in shown
        ]
        if any(small):
            titles = [
                title or (other and other[0].upper() + other[1:])
                for title, other in zip(titles, small, strict=True)
            ]
        page = _Page(parts[0::6], anchors, titles)
        if "  " in "|".join(filter(None, titles)):
            for at, title in enumerate(titles):
                if title and "  " in title:
                    titles[at], targets[at] = None, small[at] or title
        if None in titles and self._other_links(page, targets, labels, trails) and not last:
            return None
        if "&" in text:
            page.decode()
        return page.segment()

    def _other_links(
        self, page: _Page, targets: list[str | None], labels: list[str | None], trails: list[str]
    ) -> bool:
        """Put links whose targets have to be looked at, and pair lone brackets; whether some still wait."""
        titles = page.titles
        brackets = []
        for at in [at for at, title in enumerate(titles) if title is None]:
            target = targets[at]
            if target is None:
                titles[at] = ""
                brackets.append(at)
            elif target in self.titles:
                titles[at] = self.titles[target]
            else:
                self._link(page, at, target, labels[at], trails[at])
        return self._pair(page, brackets) if brackets else False

    def resolve(self, target: str) -> tuple[str, str]:
        """What ``[[target]]`` is, and its title when it is a link to an article."""
        prefix, colon, _ = target.partition(":")
        if colon and (kind := self.kinds.get(prefix.strip(" _").lower())):
            return kind, ""
        found = split_target(target, self.site)
        return (_LINK, found[1]) if found and found[0] == MAIN and found[1] else (_TEXT, "")

    def _link(self, page: _Page, at: int, target: str, label: str | None, trail: str) -> None:
        """Put a link whose target is not among those remembered, or whose label needs care."""
        kind, title = self.resolve(target)
        shown = label if label is not None else target.strip().removeprefix(":")
        if kind == _LINK and target.strip() is target and target[0] != ":":
            if len(self.titles) >= _REMEMBERED_TARGETS:
                self.titles.clear()
            self.titles[target] = title
        elif kind == _IMAGE:
            captions = (part for part in reversed((label or "").split("|")) if not self.is_option(part))
            shown = next(captions, "")
        elif kind == _NOTHING:
            shown = ""
        page.put(at, shown + trail if shown else trail, title if shown else "")

    def _pair(self, page: _Page, brackets: list[int]) -> bool:
        """Find the ``]]`` of every ``[[`` that was not a whole link by itself; those without one are text.

        Returns whether there are any of those.
        """
        opens = frozenset(brackets)
        waiting: deque[int] = deque(maxlen=_DEPTH)
        for at in range(brackets[0], len(page.plains)):
            if waiting and "]]" in page.plains[at]:
                self._close(page, at, waiting)
            if at in opens:
                waiting.append(at)
        return bool(waiting)

    def _close(self, page: _Page, at: int, waiting: deque[int]) -> None:
        """The text at ``at`` holds ``]]``: each closes the innermost bracket that waits."""
        done, rest = "", page.plains[at]
        while waiting and "]]" in rest:
            inside, _, rest = rest.partition("]]")
            if rest.startswith("]") and inside.count("[") > inside.count("]"):
                inside, rest = inside + "]", rest[1:]
            begin, inside = waiting.pop(), done + inside
            if any(page.titles[begin + 1 : at]):
                done = self._caption(page, begin, at, inside)
                continue
            target, bar, label = (page.joined(begin, at) + inside).partition("|")
            if "\n" in target:
                done = inside + "]]"
                continue
            page.blank(begin, at)
            page.plains[at] = ""
            if target.strip():
                trail = self.trail.match(rest)[1]  # type: ignore[index]  # it matches no letter too
                self._link(page, begin, target, label if bar else None, trail)
                rest = rest[len(trail) :]
            done = page.plains[at]
        page.plains[at] = done + rest

    def _caption(self, page: _Page, begin: int, at: int, inside: str) -> str:
        """Brackets around other links: of an image the caption stays, else all is text, brackets included.

        ``inside`` is the text in front of the ``]]``; returned is what becomes of it.
        """
        name = page.plains[begin + 1] if begin + 1 < at else inside
        if self.resolve(name.partition("|")[0])[0] != _IMAGE:
            return inside + "]]"
        options = inside.split("|")
        while len(options) > 1 and self.is_option(options[-1]):
            options.pop()
        if len(options) > 1:
            page.blank(begin, at)
            return options[-1]
        last = at - 1
        while last > begin + 1 and "|" not in page.plains[last]:
            last -= 1
        page.blank(begin, last)
        page.plains[last] = page.plains[last].rpartition("|")[2]
        return options[0]
