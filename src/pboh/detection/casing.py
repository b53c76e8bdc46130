"""How the corpus writes words: capitalised or not inside sentences, before a full stop, as part of a link."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from pboh.detection.casing_kernels import fill_words, look_up_words
from pboh.detection.token_kernels import GLUED, S_OTHER, S_SMALL, S_STOP, SPACED
from pboh.detection.tokens import CAPITALISED, Tokens
from pboh.text.hashing import Array

LEAST = 5
"""Words seen less often are not kept: they say little about case."""
LEVELS = np.asarray([0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99])
"""Shares of capitalised occurrences that separate the levels 1…8; 0 is a word not seen."""
LEVEL, ABBREVIATION, TITLE, PLAIN = 15, 16, 32, 64  # bits of what is known of a word
MOSTLY_SMALL, MOSTLY_CAPITAL = 4, 6  # levels up to and from which a word's case is clear
_MARKS = 9
_SMALL, _LARGE, _LINKED, _STOPPED, _BEFORE, _BESIDE, _PAGE, _NAMED, _ALONE = range(_MARKS)


class CasingCounts(NamedTuple):
    """Counts of words, ascending by hash; case is counted inside sentences, where capitals mean something."""

    word: Array
    small: Array  # in small letters
    large: Array  # capitalised
    linked: Array  # capitalised and inside a link
    stopped: Array  # before a full stop
    before: Array  # capitalised, before a capitalised link
    beside: Array  # capitalised, before another capitalised word
    pages: Array  # pages with a capitalised one
    named: Array  # of those, pages that link a name with this word in it
    alone: Array  # of those, pages that link this word alone
    total: Array

    @classmethod
    def of(cls, pages: Iterable[tuple[Tokens, Array, Array]], batch: int = 1 << 22) -> CasingCounts:
        """Count the tokens of pages, each with the first and the last token + 1 of its links to names."""
        parts, words, marks, size = [], [], [], 0
        for tokens, first, last in pages:
            words.append(tokens.word)
            marks.append(_marks(tokens, first, last))
            size += words[-1].size
            if size >= batch:
                parts.append(_count(words, marks))
                words, marks, size = [], [], 0
        parts.append(_count(words, marks))
        word, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
        columns = np.concatenate([part[1] for part in parts], axis=1)
        return cls(word, *(np.bincount(place, column, word.size).astype(np.int64) for column in columns))

    def told(self) -> bool:
        """Whether capital letters tell names from other words here.

        They do not in scripts without case, nor where all nouns are capitalised (German).
        """
        cased = float((self.small + self.large).sum())
        capitals = float((self.large - self.linked).sum())
        unlinked = float((self.large - self.linked + self.small).sum())
        return cased > 0.15 * float(self.total.sum()) and capitals < 0.2 * unlinked

    def plain(self) -> Array:
        """Words that are capitalised and yet no names: January, Monday, I. Hardly a page links them.

        Most pages with a surname link it as part of a whole name, a first name mostly comes before a surname,
        and a nationality is linked alone.
        """
        pages = np.maximum(self.pages, 1)
        never = (self.named < 0.12 * pages) & (self.alone < 0.03 * pages)
        hardly = (self.named < 0.4 * pages) & (self.alone < 0.045 * pages) & (self.beside < 0.4 * self.large)
        return ((self.pages >= 20) & never) | ((self.pages >= 40) & hardly)

    def known(self) -> Array:
        """The byte kept of every word: its level, and whether it is an abbreviation, a title or plain."""
        share = (self.large + 0.5) / (self.large + self.small + 1)
        level = np.where(self.large + self.small > 0, 1 + np.searchsorted(LEVELS, share), 0)
        short = self.stopped >= 0.6 * self.total
        unlinked = np.maximum(self.large - self.linked, 1)
        title = (self.before >= 0.25 * unlinked) & (self.before >= LEAST) & (self.linked < 0.2 * self.large)
        known = level + ABBREVIATION * short + TITLE * title + PLAIN * self.plain()
        return np.asarray(known, np.uint8)

    def look_up(self) -> Callable[[Array], Array]:
        """A function from words to what is known of them."""
        words, known = self.word, self.known()

        def look(asked: Array) -> Array:
            at = np.minimum(np.searchsorted(words, asked), max(words.size - 1, 0))
            return np.where(words[at] == asked, known[at], 0).astype(np.uint8) if words.size else at

        return look

    def table(self) -> Array:
        """The words seen often enough, as the hash table the finder reads."""
        known = self.known()
        keep = (self.total >= LEAST) & (known > 0)
        table = np.zeros(1 << max(4, int(1.5 * keep.sum()).bit_length()), np.uint32)
        fill_words(self.word[keep], known[keep], table)
        return table


def known_words(table: Array, words: Array) -> Array:
    """What a table says of words."""
    known = np.zeros(words.size, np.uint8)
    look_up_words(words, table, known)
    return known


def covered(size: int, first: Array, last: Array) -> Array:
    """Which of ``size`` tokens are inside one of the spans."""
    change = np.zeros(size + 1, np.int32)
    np.add.at(change, first, 1)
    np.add.at(change, last, -1)
    return np.cumsum(change)[:size] > 0


def _marks(tokens: Tokens, first: Array, last: Array) -> Array:
    """For each token the columns it counts for, as bits."""
    shape, gap, n = tokens.shape, tokens.gap, tokens.shape.size
    marks = np.zeros(n, np.uint16)
    if n < 3:
        return marks
    linked, capital = covered(n, first, last), CAPITALISED[shape]
    inside = np.zeros(n, bool)  # after a small word or a comma
    comma = (shape == S_OTHER) & (gap == GLUED)
    inside[1:] = (gap[1:] == SPACED) & ((shape[:-1] == S_SMALL) | comma[:-1])
    stopped = np.zeros(n, bool)
    stopped[:-1] = (shape[1:] == S_STOP) & (gap[1:] == GLUED)
    before, beside = np.zeros(n, bool), np.zeros(n, bool)
    before[:-1] = capital[:-1] & ~linked[:-1] & linked[1:] & capital[1:]
    before[:-2] |= stopped[:-2] & capital[:-2] & linked[2:] & capital[2:]  # Dr. Smith
    beside[:-1] = inside[:-1] & capital[:-1] & capital[1:] & (gap[1:] == SPACED)
    large = np.flatnonzero(inside & capital)
    words, once = np.unique(tokens.word[large], return_index=True)
    once = large[once]
    named = once[np.isin(words, tokens.word[linked & capital])]
    alone = once[np.isin(words, tokens.word[first[last - first == 1]])]
    where = {
        _SMALL: inside & (shape == S_SMALL),
        _LARGE: large,
        _LINKED: inside & capital & linked,
        _STOPPED: stopped,
        _BEFORE: before,
        _BESIDE: beside,
        _PAGE: once,
        _NAMED: named,
        _ALONE: alone,
    }
    for bit, places in where.items():
        marks[places] |= 1 << bit
    return marks


def _count(words: list[Array], marks: list[Array]) -> tuple[Array, Array]:
    """Words, ascending, and the sums of their marks and occurrences."""
    if not words:
        return np.empty(0, np.uint32), np.empty((_MARKS + 1, 0), np.int64)
    keys = np.sort(np.concatenate(words).astype(np.uint64) << np.uint64(16) | np.concatenate(marks))
    word, marked = (keys >> np.uint64(16)).astype(np.uint32), keys.astype(np.uint16)
    starts = np.flatnonzero(np.concatenate([np.ones(min(word.size, 1), bool), word[1:] != word[:-1]]))
    if not starts.size:
        return np.empty(0, np.uint32), np.empty((_MARKS + 1, 0), np.int64)
    columns = [np.add.reduceat((marked >> k & 1).astype(np.int64), starts) for k in range(_MARKS)]
    return word[starts], np.stack([*columns, np.diff(np.append(starts, word.size))])
