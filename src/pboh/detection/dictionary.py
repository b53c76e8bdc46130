"""The model's names in a text, as evidence for the name finder: how often they are links and capitalised."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pboh.model.link_probability import encode
from pboh.model.store import Model
from pboh.text.hashing import Array
from pboh.text.matcher import Lexicon, matches

LEAST_LINK = 0.002
"""Names that are links more rarely than this are not evidence: they are words."""
SHARES = np.asarray([32, 128, 230])  # between the levels of how often an entity's links are written as a name
_ADDED = -1  # the key of a name of an overlay


class Matches(NamedTuple):
    """Names of the dictionary in a text, in order of their end (places count code points)."""

    start: Array
    end: Array
    code: Array  # link probability, encoded
    link: Array  # its level 0…7
    share: Array  # level 0…3 of how often its best entity is written as a name
    key: Array  # place in the name table, −1 for a name that was added
    folded: Array  # whether only the folded form is in the table

    def without(self, some: Array) -> Matches:
        """The others."""
        return Matches(*(column[~some] for column in self))


class Dictionary:
    """The names of a model, with what is known of their entities."""

    def __init__(self, model: Model, nameness: Array) -> None:
        bits = model.arrays.get("name_filter", np.full(2, 255, np.uint8))
        self._lexicon = Lexicon(model["name_hash"], model["name_buckets"], bits)
        self._link = model["name_link_written"], model["name_link_folded"]
        self._entity, self._offsets, self._nameness = model["name_entity"], model["name_offsets"], nameness
        self._overlays = model.overlays

    def find(self, text: str) -> Matches:
        """All names in a text; of two forms of one span the one as written counts."""
        code = max(int(encode(np.asarray(LEAST_LINK))), 1)
        rows, link = matches(text, self._lexicon, *self._link, code)
        share = self._nameness[self._entity[self._offsets[rows[:, 2]]]]
        for overlay in self._overlays:
            added = overlay["name_link_written"], overlay["name_link_folded"]
            more, value = matches(text, overlay.lexicon, *added, code)
            more[:, 2] = _ADDED
            rows, link = np.concatenate([rows, more]), np.concatenate([link, value])
            share = np.concatenate([share, np.full(len(more), 255, np.uint8)])
        form = rows[:, 4] << 1 | (rows[:, 2] != _ADDED)
        key = rows[:, 1] << 33 | rows[:, 0] << 2 | form  # by end, then start, then form
        order = np.argsort(key, kind="stable")
        rows, link, share, key = rows[order], link[order], share[order], key[order] >> 2
        fresh = np.ones(len(rows), bool)
        fresh[1:] = key[1:] != key[:-1]
        levels = link, link.astype(np.int64) >> 5, np.searchsorted(SHARES, share, side="right")
        return Matches(rows[:, 0], rows[:, 1], *levels, rows[:, 2], rows[:, 4]).without(~fresh)
