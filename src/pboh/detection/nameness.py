"""Names and concepts apart, learned from how links are written: Paris is capitalised, free trade is not."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pboh.detection.casing import CasingCounts
from pboh.detection.nameness_kernels import count_looks
from pboh.detection.pages import Page
from pboh.detection.token_kernels import S_NUMBER, S_ORDINAL
from pboh.detection.tokens import code_points, sorts, tokens
from pboh.text.hashing import Array

NAME = 128
"""Entities with at least this byte are names: half of their links are capitalised."""
PRIOR = 2.0  # links that the look of a title counts for
_CLEAR = 3  # links that say enough about an entity to learn from it what a title's look means
_LOOKS = 16
_BLOCK = 1 << 20  # entities computed at a time


def learn_nameness(pages: Iterable[Page], titles: Iterable[list[str]], casing: CasingCounts) -> Array:
    """For every entity the share of its links that are written as a name, as bytes 0…255.

    Few links are helped out by the look of the title. Dates and numbers are not names. Titles come in batches
    by the number of the entity; a few bytes of each are kept.
    """
    plain, looks, dates = casing.word[casing.plain()], [np.empty(0, np.uint8)], [np.empty(0, bool)]
    for batch in titles:
        looks.append(np.asarray([_title_look(title) for title in batch], np.uint8))
        dates.append(_dates(batch, plain))
    return _shares(_looks(pages, sum(map(len, looks))), np.concatenate(looks), np.concatenate(dates))


def _looks(pages: Iterable[Page], entities: int) -> Array:
    """How many links of every entity are capitalised, and how many are clear."""
    counts = np.zeros((entities, 2), np.int32)
    sort, _ = sorts()
    for page in pages:
        count_looks(code_points(page.text), sort, page.start, page.end, page.entity, counts)
    return counts


def _shares(counts: Array, looks: Array, dates: Array) -> Array:
    """The share as a byte, from links, the look of the title, and whether that is a date."""
    sums, sizes = np.zeros(_LOOKS), np.zeros(_LOOKS)
    blocks = [slice(first, first + _BLOCK) for first in range(0, looks.size, _BLOCK)]
    for block in blocks:
        large, clear = counts[block].T
        often = clear >= _CLEAR
        sums += np.bincount(looks[block][often], large[often] / clear[often], _LOOKS)
        sizes += np.bincount(looks[block][often], minlength=_LOOKS)
    prior, out = (sums + 1) / (sizes + 2), np.empty(looks.size, np.uint8)
    for block in blocks:
        large, clear = counts[block].T
        share = (large + PRIOR * prior[looks[block]]) / (clear + PRIOR)
        out[block] = np.where(dates[block], 0, np.rint(255 * share))
    return out


def _title_look(title: str) -> int:
    """What a title looks like: one word or several, how the later ones begin, capitals inside, digits."""
    bare = title.split(" (", maxsplit=1)[0]
    words = bare.replace("-", " ").split()
    later = [word for word in words[1:] if len(word) > 3]
    large = sum(word[0].isupper() for word in later)
    inner = any(letter.isupper() for word in words[:1] for letter in word[1:])
    kind = 0 if not words[1:] else 1 if large == 0 else 2 if large < len(later) else 3
    return kind + 4 * inner + 8 * any(letter.isdigit() for letter in bare)


def _dates(titles: list[str], plain: Array) -> Array:
    """Which titles consist of numbers and words like January."""
    cut = tokens(code_points("\n".join(titles)))
    nothing = (cut.shape >= S_NUMBER) & (cut.shape <= S_ORDINAL)
    nothing |= np.isin(cut.word, plain)
    begins = np.cumsum([0, *(len(title) + 1 for title in titles)])
    line = np.searchsorted(begins, cut.start, side="right") - 1
    return np.asarray(np.bincount(line[~nothing], minlength=len(titles))[: len(titles)] == 0)
