"""Wikitext to plain text with the exact place of every link: the hot loop of extraction.

Two sweeps, both linear in the page whatever stands in it: `markup` takes out everything that is not text or
link, then the links are read from what is left. Nothing is ever tried twice, so nothing can explode.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from pboh.corpus import markup
from pboh.corpus.titles import CATEGORY, FILE, MAIN, Site, is_language_link, split_target, unescape

# Open brackets remembered while their partner is looked for. Links in captions go two deep in real pages; the
# limit bounds how often a piece of text is looked at.
_DEPTH = 8
_REMEMBERED_TARGETS = 1 << 16
_IMAGE, _NOTHING, _TEXT = "image", "nothing", "text"


class Plain(NamedTuple):
    """A page's text and its links: start, end (code points in ``text``), normalised title of the target."""

    text: str
    links: list[tuple[int, int, str]]


def plain_text(wikitext: str, site: Site) -> Plain:
    """The text a reader sees, without templates and references, and where its links to articles are.

    Any string is accepted; ``text[start:end]`` is the anchor, never empty, without white space at its ends.
    """
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
    return _reader(site).read(markup.unformat(text).strip("\n"))


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


class _Reader:
    """Reads links of one site's pages; keeps the compiled trail and the titles of targets seen lately."""

    def __init__(self, site: Site) -> None:
        trail = f"[{site.conventions.trail}]*+" if site.conventions.trail else ""
        self.site = site
        self.titles: dict[str, str] = {}
        self.trail = re.compile(trail)
        # A whole link in one match; a [[ without it is looked at again when its ]] comes.
        self.split = re.compile(
            rf"\[\[(?!\[)(?:([^\[\]|\n{{}}<>]++)(?:\|([^\[\]\n]*+))?+\]\]({trail}))?+"
        ).split
        options = "|".join(map(re.escape, sorted(site.conventions.image_options)))
        self.is_option = re.compile(
            rf"\s*+(?:(?i:{options})(?:\s*+=.*+)?|\d*+(?:x\d++)?\s*+px|)\s*+", re.DOTALL
        ).fullmatch

    def read(self, text: str) -> Plain:
        """Links of a text that holds no other markup than links."""
        parts = self.split(text)
        pieces: list[str] = []
        links: list[tuple[int, str]] = []  # the piece that is the anchor, the title
        titles = self.titles
        brackets: deque[int] = deque(maxlen=_DEPTH)
        for plain, target, label, trail in zip(
            parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False
        ):
            if brackets and "]]" in plain:
                self._close(plain, brackets, pieces, links)
            else:
                pieces.append(plain)
            if target is None:
                brackets.append(len(pieces))
                pieces.append("[[")
                continue
            title = titles.get(target)
            if title is None:
                self._link(target, label, trail, pieces, links)
                continue
            anchor = (label if label is not None else target) + trail
            if anchor.strip() is not anchor or not anchor:
                _anchor(anchor, title, pieces, links)
                continue
            links.append((len(pieces), title))
            pieces.append(anchor)
        if brackets and "]]" in parts[-1]:
            self._close(parts[-1], brackets, pieces, links)
        else:
            pieces.append(parts[-1])
        if "&" in text:
            pieces = [unescape(piece) if "&" in piece else piece for piece in pieces]
        ends = list(accumulate(map(len, pieces), initial=0))
        return Plain(
            "".join(pieces).rstrip(), [(ends[piece], ends[piece + 1], title) for piece, title in links]
        )

    def resolve(self, target: str) -> tuple[str, str]:
        """What ``[[target]]`` is, and its title when it is a link to an article (kind ``""``)."""
        found = split_target(target, self.site)
        if found is None:
            return (_NOTHING if is_language_link(target, self.site) else _TEXT), ""
        namespace, title = found
        if namespace == MAIN:
            return ("" if title else _TEXT), title
        if target.lstrip().startswith(":"):
            return _TEXT, ""
        return {FILE: _IMAGE, CATEGORY: _NOTHING}.get(namespace, _TEXT), ""

    def _link(
        self, target: str, label: str | None, trail: str, pieces: list[str], links: list[tuple[int, str]]
    ) -> None:
        """A whole link whose target is not among those remembered."""
        kind, title = self.resolve(target)
        shown = label if label is not None else target.strip().removeprefix(":")
        if kind == _IMAGE:
            captions = (part for part in reversed((label or "").split("|")) if not self.is_option(part))
            pieces += [next(captions, ""), trail]
        elif kind == _NOTHING:
            pieces.append(trail)
        elif kind == _TEXT:
            pieces.append(shown + trail)
        else:
            if len(self.titles) >= _REMEMBERED_TARGETS:
                self.titles.clear()
            if shown == target or label is not None:
                self.titles[target] = title
            _anchor(shown + trail, title, pieces, links)

    def _close(
        self, plain: str, brackets: deque[int], pieces: list[str], links: list[tuple[int, str]]
    ) -> None:
        """Text with ``]]`` in it while brackets are open: each closes the innermost."""
        first, *others = plain.split("]]")
        pieces.append(first)
        for other in others:
            if not brackets:
                pieces.append("]]" + other)
                continue
            if other.startswith("]") and pieces[-1].count("[") > pieces[-1].count("]"):
                pieces[-1] += "]"
                other = other[1:]  # noqa: PLW2901
            begin = brackets.pop()
            trail = self.trail.match(other)
            end = trail.end() if trail else 0
            if links and links[-1][0] > begin:
                self._image(begin, pieces, links)
                pieces.append(other)
                continue
            target, bar, label = "".join(pieces[begin + 1 :]).partition("|")
            if "\n" in target or not target.strip():
                pieces[begin:] = [f"[[{target}{bar}{label}]]" if target.strip() else "", other]
                continue
            del pieces[begin:]
            self._link(target, label if bar else None, other[:end], pieces, links)
            pieces.append(other[end:])

    def _image(self, begin: int, pieces: list[str], links: list[tuple[int, str]]) -> None:
        """Brackets around other links: an image keeps its caption, anything else is text with brackets."""
        if self.resolve(pieces[begin + 1].partition("|")[0])[0] != _IMAGE:
            pieces.append("]]")
            return
        inside: list[tuple[int, str]] = []
        while links and links[-1][0] > begin:
            inside.append(links.pop())
        anchors = {piece for piece, _ in inside}
        while "|" in pieces[-1] and self.is_option(pieces[-1].rpartition("|")[2]):
            pieces[-1] = pieces[-1].rpartition("|")[0]
        last = len(pieces) - 1
        while last > begin + 1 and (last in anchors or "|" not in pieces[last]):
            last -= 1
        pieces[begin:last] = [""] * (last - begin)
        pieces[last] = pieces[last].rpartition("|")[2]
        links += [link for link in reversed(inside) if link[0] > last]


def _anchor(shown: str, title: str, pieces: list[str], links: list[tuple[int, str]]) -> None:
    """A link's text, the white space at its ends left outside; nothing shown is no link."""
    anchor = shown.strip()
    if not anchor:
        pieces.append(shown)
        return
    before = shown[: shown.index(anchor)]
    pieces.append(before)
    links.append((len(pieces), title))
    pieces += [anchor, shown[len(before) + len(anchor) :]]
