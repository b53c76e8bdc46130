"""Silver sentences: sentences of the corpus in which every capitalised word is explained.

A word is explained by a link, by another occurrence of a linked name of the page (a person's last name
too), by the page's own title, as a title before a name (Sir, Dr.), as an abbreviation the text defines, or
because its capital letter means nothing (Monday, I, the beginning of a sentence). Such sentences are as good
as annotated: J. Nothman et al., "Learning multilingual named entity recognition from Wikipedia", Artificial
Intelligence 194 (2013).

Where case tells nothing (a script without case, German), names of the dictionary take the place of
capitalised words: those that are mostly links must be explained.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pboh.detection.casing import ABBREVIATION, LEVEL, MOSTLY_CAPITAL, MOSTLY_SMALL, PLAIN, TITLE, covered
from pboh.detection.chain_kernels import BEGIN, INSIDE, LAST, OUTSIDE, UNIT
from pboh.detection.dictionary import SHARES, Dictionary
from pboh.detection.nameness import NAME, OFFICE
from pboh.detection.pages import Page
from pboh.detection.token_kernels import (
    GLUED,
    S_CAPITALS,
    S_INITIAL,
    S_INNER,
    S_LETTERS,
    S_NUMBER,
    S_ORDINAL,
    S_OTHER,
    S_SMALL,
    S_STOP,
    S_TITLE,
    SPACED,
    cut_sentences,
)
from pboh.detection.tokens import CAPITALISED, Tokens, code_points, tokens
from pboh.text.hashing import Array

MOSTLY_LINKED = 4
"""Level of link probability from which a name must be explained where case tells nothing: a quarter."""
SHORTEST, LONGEST = 5, 90  # tokens of a silver sentence
_QUALIFIER = re.compile(r"(?<!\s)\s*+\([^()]*+\)$")
_OF_NAMES = ".!)"  # punctuation a name may end with
OWN, PART = -1, -2  # the page itself, or a part of an office's link, as the source of a name
Sourced = list[
    tuple[int, int, int]
]  # first token, last token + 1, and the link (or OWN) that says what it means


class Silver(NamedTuple):
    """The label and the sentence of each token of a page, which sentences are silver, and the names."""

    label: Array
    sentence: Array
    chosen: Array
    names: Sourced


class Explainer:
    """Finds the silver sentences of pages with what the corpus says about words and entities."""

    def __init__(
        self, known: Callable[[Array], Array] | None, nameness: Array | None, told: bool = True,
        dictionary: Dictionary | None = None,
    ) -> None:  # fmt: skip
        """``known`` says what is known of words; without ``nameness`` every entity is a name.

        ``told`` says whether case tells names from other words. Names of the ``dictionary`` inside links of
        offices are names: Israeli Prime Minister, Governor of California.
        """
        self._known, self._nameness, self._told, self._dictionary = known, nameness, told, dictionary

    def known(self, cut: Tokens) -> Array:
        """What is known of every token."""
        return np.zeros(cut.word.size, np.uint8) if self._known is None else self._known(cut.word)

    def links(self, cut: Tokens, page: Page, known: Array) -> tuple[Array, Array, Array]:
        """First token and last token + 1 of every link, and whether it is a name (no date, no concept)."""
        first = np.searchsorted(cut.start, page.start)
        last = np.searchsorted(cut.start, page.end)
        whole = last > first
        first, last, entity = first[whole], last[whole], page.entity[whole]
        nothing = (cut.shape >= S_NUMBER) & (cut.shape <= S_ORDINAL) | (cut.shape >= S_OTHER)
        if self._told:
            nothing |= (known & PLAIN > 0) | ~(CAPITALISED[cut.shape] | (cut.shape == S_INNER))
        sums = np.concatenate([[0], np.cumsum(~nothing)])
        name = sums[last] > sums[first]
        if self._nameness is not None and self._told:
            name &= self._nameness[entity] >= NAME
        return first, last, name

    def silver(self, codes: Array, cut: Tokens, page: Page, likely: Array | None = None) -> Silver:
        """Label a page. ``likely`` marks tokens of names that are mostly links, where case tells nothing."""
        n, known = cut.start.size, self.known(cut)
        sentence = np.zeros(n, np.int32)
        short = known & ABBREVIATION > 0
        sentences = cut_sentences(codes, cut.start, cut.shape, cut.gap, short, sentence)
        first, last, name = self.links(cut, page, known)
        number = np.flatnonzero(np.searchsorted(cut.start, page.end) > np.searchsorted(cut.start, page.start))
        links = zip(first[name].tolist(), last[name].tolist(), number[name].tolist(), strict=True)
        spans = [(*span, k) for a, b, k in links if (span := self._trim(cut, page.text, a, b))]
        linked = covered(n, first, last)
        office = covered(n, *self._offices(cut, page))
        spans += self._parts_of_offices(cut, page, office, known)
        names = spans + self._again(cut, page, spans, linked, known)
        label = _labels(n, names)
        explained = label != OUTSIDE
        if self._told:
            concept = covered(n, first[~name], last[~name])
            strange = office & (known & LEVEL > MOSTLY_CAPITAL)  # part of a name that was not found
            fault = _unexplained(cut, sentence, known, explained, concept) & (~office | strange)
        else:
            fault = (np.zeros(n, bool) if likely is None else likely) & ~explained & ~linked
        torn = (sentence[1:] != sentence[:-1]) & ((label[1:] == INSIDE) | (label[1:] == LAST))
        fault[1:] |= torn
        fault[:-1] |= torn
        size = np.bincount(sentence, minlength=sentences)
        chosen = np.bincount(sentence[fault], minlength=sentences) == 0
        chosen &= (size >= SHORTEST) & (size <= LONGEST) & _whole(cut, sentence, sentences)
        return Silver(label, sentence, np.flatnonzero(chosen), names)

    def _offices(self, cut: Tokens, page: Page) -> tuple[Array, Array]:
        """First tokens and last tokens + 1 of the links of offices."""
        if self._nameness is None or self._dictionary is None or not self._told:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        office = self._nameness[page.entity] == OFFICE
        return np.searchsorted(cut.start, page.start[office]), np.searchsorted(cut.start, page.end[office])

    def _parts_of_offices(self, cut: Tokens, page: Page, office: Array, known: Array) -> Sourced:
        """Names inside the links of offices: at their beginning, or after a small word."""
        if not office.any() or self._dictionary is None:
            return []
        found = self._dictionary.find(page.text)
        first, last = np.searchsorted(cut.start, found.start), np.searchsorted(cut.end, found.end) + 1
        sums = np.cumsum(np.append(0, office))
        clear = np.cumsum(np.append(0, (known & LEVEL > MOSTLY_CAPITAL) | (cut.shape == S_INITIAL)))
        fresh = np.append(True, ~office[:-1] | (cut.shape[:-1] == S_SMALL))[: office.size]
        inside = (sums[last] - sums[first] == last - first) & (clear[last] > clear[first]) & fresh[first]
        inside &= found.share >= np.searchsorted(SHARES, NAME, side="right")
        spans: Sourced = []
        for k in np.flatnonzero(inside)[np.lexsort((-last[inside], first[inside]))].tolist():
            if not spans or first[k] >= spans[-1][1]:
                spans.append((int(first[k]), int(last[k]), PART))
        return spans

    def _trim(self, cut: Tokens, text: str, first: int, last: int) -> tuple[int, int] | None:
        """A link without a small word before the name (the Beatles), quotation marks and a possessive."""
        shape, start = cut.shape, cut.start
        while last > first and shape[last - 1] >= S_OTHER and text[start[last - 1]] not in _OF_NAMES:
            last -= 1
        while first < last and (shape[first] >= S_OTHER or (self._told and shape[first] == S_SMALL)):
            first += 1
        if (
            last - first > 2
            and text[start[last - 2]] in "'’"
            and text[start[last - 1] : cut.end[last - 1]] == "s"
        ):
            last -= 2
        return (first, last) if last > first else None

    def _again(self, cut: Tokens, page: Page, spans: Sourced, linked: Array, known: Array) -> Sourced:
        """Occurrences outside links of linked names, their last names and abbreviations, and of the title."""
        written, names = cut.written.tolist(), dict.fromkeys(self._own_names(page), OWN)
        for a, b, k in spans:
            names.setdefault(tuple(written[a:b]), k)
        for _, b, k in spans:
            if name := _abbreviation(cut, page.text, b):
                names.setdefault(name, k)
        if self._told:
            capital = known & LEVEL >= MOSTLY_CAPITAL
            for a, b, k in spans:
                if 2 <= b - a <= 4 and capital[b - 1] and (cut.shape[a:b] == S_TITLE).sum() >= 2:
                    names.setdefault((written[b - 1],), k)
        starting: dict[int, list[tuple[int, ...]]] = {}
        for name in sorted(names, key=len, reverse=True):
            starting.setdefault(name[0], []).append(name)
        found, end = [], 0
        begins = np.isin(cut.written, np.fromiter(starting, np.uint32, len(starting)))
        for at in np.flatnonzero(begins & ~linked).tolist():
            if at < end:
                continue
            for name in starting[written[at]]:
                stop = at + len(name)
                if tuple(written[at:stop]) == name and not linked[at:stop].any():
                    found.append((at, stop, names[name]))
                    end = stop
                    break
        return found

    def _own_names(self, page: Page) -> set[tuple[int, ...]]:
        """The page's title, if it is a name, and a person's last name."""
        cut = tokens(code_points(_QUALIFIER.sub("", page.title or "").split(", ")[0]))
        written, large = tuple(cut.written.tolist()), CAPITALISED[cut.shape]
        if not written or not self._told:
            return {written} - {()}
        known = self.known(cut)
        level = known & LEVEL
        if len(written) == 1 and (0 < level[0] < MOSTLY_CAPITAL or known[0] & PLAIN or not large[0]):
            return set()
        if len(written) > 1 and not large[1:].any():
            return set()
        person = 2 <= len(written) <= 4 and large.all() and level[-1] >= MOSTLY_CAPITAL
        return {written, written[-1:]} if person else {written}


def mostly_linked(dictionary: Dictionary, text: str, cut: Tokens, passed_over: Array) -> Array:
    """Tokens inside names that are mostly links, but for some names (numbers in the name table)."""
    found = dictionary.find(text)
    found = found.without((found.link < MOSTLY_LINKED) | np.isin(found.key, passed_over))
    first = np.searchsorted(cut.start, found.start)
    return covered(cut.start.size, first, np.searchsorted(cut.end, found.end) + 1)


def _abbreviation(cut: Tokens, text: str, after: int) -> tuple[int, ...]:
    """What parentheses define right after a name: United Nations (UN)."""
    if after + 2 >= cut.start.size or text[cut.start[after]] != "(" or text[cut.start[after + 2]] != ")":
        return ()
    if cut.shape[after + 1] != S_CAPITALS or cut.gap[after] != SPACED:
        return ()
    return (int(cut.written[after + 1]),)


def _unexplained(cut: Tokens, sentence: Array, known: Array, explained: Array, concept: Array) -> Array:
    """Capitalised tokens that nothing explains; a capitalised ``concept`` inside a sentence is one."""
    n, level = cut.start.size, known & LEVEL
    small = (level > 0) & (level <= MOSTLY_SMALL)
    begins = np.ones(n, bool)
    begins[1:] = sentence[1:] != sentence[:-1]
    begins[1:] |= begins[:-1] & (cut.shape[:-1] > S_LETTERS)  # after a quotation mark
    before = np.zeros(n, bool)  # right before a name, perhaps with a full stop between
    before[:-1] = explained[1:]
    before[:-2] |= explained[2:] & (cut.shape[1:-1] == S_STOP) & (cut.gap[1:-1] == GLUED)
    title = before & ((known & (TITLE | ABBREVIATION) > 0) | small) & (cut.shape != S_CAPITALS)
    title[:-1] |= title[1:] & small[:-1]  # Prime Minister Thatcher
    fine = explained | (known & PLAIN > 0) | title | (begins & (small | concept))
    return np.asarray(CAPITALISED[cut.shape] & ~fine)


def _labels(size: int, spans: Sourced) -> Array:
    """The label of every token."""
    label = np.full(size, OUTSIDE, np.int8)
    for first, last, _ in spans:
        label[first:last] = INSIDE
        label[first], label[last - 1] = BEGIN, LAST
        if last - first == 1:
            label[first] = UNIT
    return label


def _whole(cut: Tokens, sentence: Array, sentences: int) -> Array:
    """Which sentences end as sentences do."""
    out = np.zeros(sentences, bool)
    ends = np.flatnonzero(np.append(sentence[1:] != sentence[:-1], True)[: sentence.size])
    stop = cut.shape[ends] == S_STOP
    stop |= (cut.shape[ends] > S_STOP) & (cut.shape[np.maximum(ends - 1, 0)] == S_STOP)
    out[sentence[ends[stop]]] = True
    return out
