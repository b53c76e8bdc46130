"""Names and concepts apart, learned from how links are written: Paris is capitalised, free trade is not.

An office is capitalised too, but it is not a name: *Prime Minister* comes right before a person often enough.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pboh.detection.casing import LEVEL, CasingCounts
from pboh.detection.nameness_kernels import count_looks
from pboh.detection.pages import Page
from pboh.detection.token_kernels import S_NUMBER, S_ORDINAL
from pboh.detection.tokens import code_points, sorts, tokens
from pboh.formats.types import TYPES
from pboh.text.hashing import Array

NAME = 128
"""Entities with at least this byte are names: half of their links are capitalised."""
OFFICE = 1
"""The byte of an office or a rank."""
PRIOR = 2.0  # links that the look of a title counts for
_CLEAR = 3  # links that say enough about an entity to learn from it what a title's look means
_LOOKS = 16
_BLOCK = 1 << 20  # entities computed at a time
_LEADING = 0.1  # share of an office's links that come right before a person
_LIKE_OTHERS = 20.0  # links that other entities with the same head word count for
_SMALL_TOO = 6  # level up to which a word is sometimes written in small letters, as no nationality is
_PERSON, _UNKNOWN, _OTHER = (TYPES.index(name) for name in ("person", "unknown", "other"))


def learn_nameness(
    pages: Iterable[Page], titles: Iterable[list[str]], casing: CasingCounts, types: Array
) -> Array:
    """For every entity the share of its links that are written as a name, as bytes 0…255.

    Few links are helped out by the look of the title. Dates and numbers are not names, nor are offices, which
    need the ``types`` of entities (0 where not known). Titles come in batches by the number of the entity; a
    few bytes of each are kept.
    """
    plain, looks, dates = casing.word[casing.plain()], [np.empty(0, np.uint8)], [np.empty(0, bool)]
    heads = [np.empty(0, np.uint32)]
    for batch in titles:
        looks.append(np.asarray([_title_look(title) for title in batch], np.uint8))
        dates.append(_dates(batch, plain))
        heads.append(_heads(batch))
    counts = _looks(pages, types == _PERSON)
    share = _shares(counts, np.concatenate(looks), np.concatenate(dates))
    share[_offices(counts, np.concatenate(heads), casing, types)] = OFFICE
    return share


def _looks(pages: Iterable[Page], person: Array) -> Array:
    """What is counted of the links of every entity."""
    counts = np.zeros((person.size, 4), np.int32)
    sort, _ = sorts()
    for page in pages:
        count_looks(code_points(page.text), sort, page.start, page.end, page.entity, person, counts)
    return counts


def _offices(counts: Array, heads: Array, casing: CasingCounts, types: Array) -> Array:
    """Entities whose links, and those of others with the same head word, come before persons."""
    words, group = np.unique(heads, return_inverse=True)
    leads, links = (np.bincount(group, counts[:, k], words.size) for k in (2, 3))
    alike = leads / np.maximum(links, 1)
    share = (counts[:, 2] + _LIKE_OTHERS * alike[group]) / (counts[:, 3] + _LIKE_OTHERS)
    level = casing.look_up()(words) & LEVEL
    sort = (types == _OTHER) | (np.isin(types, (_UNKNOWN, _PERSON)) & (counts[:, 2] > 0))
    return np.asarray(sort & (share >= _LEADING) & ((level > 0) & (level <= _SMALL_TOO))[group])


def _heads(titles: list[str]) -> Array:
    """The word that a title is about, hashed: Minister of Prime Minister of India."""
    bare = [title.split(" (", 1)[0].split(" of ", 1)[0].split(",", 1)[0] for title in titles]
    cut = tokens(code_points("\n".join(bare)))
    begins = np.cumsum([0, *(len(title) + 1 for title in bare)])
    last = np.searchsorted(cut.start, begins[1:]) - 1
    whole = (last >= 0) & (np.append(cut.start, 0)[last] >= begins[:-1])
    return np.where(whole, np.append(cut.word, np.uint32(0))[last], 0).astype(np.uint32)


def _shares(counts: Array, looks: Array, dates: Array) -> Array:
    """The share as a byte, from links, the look of the title, and whether that is a date."""
    sums, sizes = np.zeros(_LOOKS), np.zeros(_LOOKS)
    blocks = [slice(first, first + _BLOCK) for first in range(0, looks.size, _BLOCK)]
    for block in blocks:
        large, clear = counts[block, :2].T
        often = clear >= _CLEAR
        sums += np.bincount(looks[block][often], large[often] / clear[often], _LOOKS)
        sizes += np.bincount(looks[block][often], minlength=_LOOKS)
    prior, out = (sums + 1) / (sizes + 2), np.empty(looks.size, np.uint8)
    for block in blocks:
        large, clear = counts[block, :2].T
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
