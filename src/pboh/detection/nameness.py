"""Names and concepts apart, learned from how links are written: Paris is capitalised, free trade is not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pboh.detection.casing import CasingCounts
from pboh.detection.nameness_kernels import count_looks
from pboh.detection.pages import Page
from pboh.detection.token_kernels import NEW_LINE, S_NUMBER, S_ORDINAL
from pboh.detection.tokens import code_points, sorts, tokens
from pboh.text.hashing import Array

NAME = 128
"""Entities with at least this byte are names: half of their links are capitalised."""
PRIOR = 2.0  # links that the look of a title counts for
_CLEAR = 3  # links that say enough about an entity to learn from it what a title's look means
_LOOKS = 16


def learn_nameness(pages: Iterable[Page], titles: list[str], casing: CasingCounts) -> Array:
    """For every entity the share of its links that are written as a name, as bytes 0…255.

    Few links are helped out by the look of the title. Dates and numbers are not names.
    """
    counts = np.zeros((len(titles), 2), np.int32)
    sort, _ = sorts()
    for page in pages:
        count_looks(code_points(page.text), sort, page.start, page.end, page.entity, counts)
    large, clear = counts.astype(np.float64).T
    looks = np.asarray([_title_look(title) for title in titles], np.int64)
    often = clear >= _CLEAR
    sums = np.bincount(looks[often], large[often] / clear[often], _LOOKS)
    prior = (sums + 1) / (np.bincount(looks[often], minlength=_LOOKS) + 2)
    share = (large + PRIOR * prior[looks]) / (clear + PRIOR)
    return np.asarray(np.where(_dates(titles, casing), 0, np.rint(255 * share)), np.uint8)


def _title_look(title: str) -> int:
    """What a title looks like: one word or several, how the later ones begin, capitals inside, digits."""
    bare = title.split(" (", maxsplit=1)[0]
    words = bare.replace("-", " ").split()
    later = [word for word in words[1:] if len(word) > 3]
    large = sum(word[0].isupper() for word in later)
    inner = any(letter.isupper() for word in words[:1] for letter in word[1:])
    kind = 0 if not words[1:] else 1 if large == 0 else 2 if large < len(later) else 3
    return kind + 4 * inner + 8 * any(letter.isdigit() for letter in bare)


def _dates(titles: list[str], casing: CasingCounts) -> Array:
    """Which titles consist of numbers and words like January."""
    cut = tokens(code_points("\n".join(titles)))
    nothing = (cut.shape >= S_NUMBER) & (cut.shape <= S_ORDINAL)
    nothing |= np.isin(cut.word, casing.word[casing.plain()])
    line = np.cumsum(cut.gap == NEW_LINE) - 1
    return np.asarray(np.bincount(line[~nothing], minlength=len(titles))[: len(titles)] == 0)
