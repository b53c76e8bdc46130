"""Where names occur in a text and how likely each is a link; overlaps are resolved by dynamic programming."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pboh.detection.cover_kernels import best_cover
from pboh.inference.spans import Span
from pboh.model.link_probability import UNKNOWN, decode, encode
from pboh.model.names import Layer
from pboh.model.store import Model
from pboh.text.hashing import Array
from pboh.text.matcher import Lexicon, characters, matches
from pboh.text.matcher_kernels import SMALL
from pboh.text.words import code_points

LEAST_LINK = 0.01
"""Words with a small letter that are links more rarely than this are not looked at: "the", "was"."""
LEAST_LINK_OF_CAPITAL = 0.003
"""The same for other names. It is low, because a surname occurs mostly inside a whole name, unlinked."""
ASSUMED = 0.5  # link probability of all names in a model that was built without names in text
ASSUMED_SMALL = 0.02  # the same for a name that begins with a small letter
WEIGHT_OF_LENGTH = 1.0


class Spots(NamedTuple):
    """Spans of a text (code points, ascending) that may be mentions, and their link probability."""

    start: Array
    end: Array
    link: Array

    def __len__(self) -> int:
        return int(self.start.size)


class Detector:
    """Finds mentions with the names of a model. Cheap to make: everything is in the model's arrays."""

    def __init__(self, model: Model) -> None:
        names, buckets = model["name_hash"], model["name_buckets"]
        # without a filter every name is followed to its longest extent: the same answer, only slower
        filter_bits = model.arrays.get("name_filter", np.full(2, 255, np.uint8))
        self._lexicon = Lexicon(names, buckets, filter_bits)
        self.counted = "name_link_written" in model
        if self.counted:
            self._written, self._folded = model["name_link_written"], model["name_link_folded"]
        else:
            self._written, self._folded = _assumed(model)
        self._overlays = model.overlays

    def all(
        self, text: str, least: float = LEAST_LINK, least_of_capital: float = LEAST_LINK_OF_CAPITAL
    ) -> tuple[Spots, Array]:
        """Every occurrence of a name that is a link often enough, overlapping ones too; and their tokens."""
        code = max(int(encode(np.asarray(min(least, least_of_capital)))), 1)
        rows, value = matches(text, self._lexicon, self._written, self._folded, code)
        rows, link = _once(rows, decode(value), rows[:, 4])  # as written comes before folded, and tells more
        small = characters().kind[code_points(text)[rows[:, 0]]] & SMALL > 0
        if not self.counted:
            link = np.where(small, ASSUMED_SMALL, link).astype(np.float32)
        keep = link >= np.where(small, least, least_of_capital)
        rows, link = rows[keep], link[keep]
        for overlay in self._overlays:
            worth = overlay["name_link_written"], overlay["name_link_folded"]
            more, value = matches(text, overlay.lexicon, *worth, code)
            if len(more):
                rows, link = np.concatenate([rows, more]), np.concatenate([link, decode(value)])
                rows, link = _once(rows, link, -link)
        return Spots(rows[:, 0], rows[:, 1], link), rows[:, 3]

    def detect(
        self,
        text: str,
        given: Sequence[Span] = (),
        keep: Callable[[Spots], Array] | None = None,
        **least: float,
    ) -> Spots:
        """Names that do not overlap each other, nor a ``given`` span, chosen by link probability × tokens.

        ``keep`` says which names come into question at all.
        """
        spots, tokens = self.all(text, **least)
        if keep is not None:
            kept = keep(spots)
            spots, tokens = Spots(*(column[kept] for column in spots)), tokens[kept]
        if given:
            free = ~_overlaps(spots, sorted(given))
            spots, tokens = Spots(*(column[free] for column in spots)), tokens[free]
        order = np.lexsort((spots.start, spots.end))
        start, end, link = (column[order] for column in spots)
        weight = link.astype(np.float64) * tokens[order] ** WEIGHT_OF_LENGTH
        taken = best_cover(start, end, weight)
        return Spots(start[taken], end[taken], link[taken])


def _once(rows: Array, link: Array, rank: Array) -> tuple[Array, Array]:
    """Occurrences by place, of those with the same span the one of the lowest rank."""
    order = np.lexsort((rank, rows[:, 1], rows[:, 0]))
    rows, link = rows[order], link[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:, 0] != rows[:-1, 0]) | (rows[1:, 1] != rows[:-1, 1])
    return rows[first], link[first]


def _overlaps(spots: Spots, given: Sequence[Span]) -> Array:
    """Which spots share a character with a given span (in order, not overlapping each other)."""
    starts, ends = (np.asarray(column) for column in zip(*((s.start, s.end) for s in given), strict=True))
    after = np.searchsorted(ends, spots.start, side="right")
    return (after < starts.size) & (starts[np.minimum(after, starts.size - 1)] < spots.end)


def _assumed(model: Model) -> tuple[Array, Array]:
    """What a model built without link probabilities has: all names alike, made-up names not at all."""
    offsets, layers = model["name_offsets"], model["name_layer"]
    code = encode(np.asarray(ASSUMED))
    if not layers.size:
        return np.empty(0, np.uint8), np.empty(0, np.uint8)
    starts = offsets[:-1].astype(np.int64)
    written = np.minimum.reduceat(layers, starts) == Layer.CASED
    real = (layers >= Layer.FOLDED) & (layers <= Layer.DISAMBIGUATION)
    folded = np.logical_or.reduceat(real, starts)
    return tuple(np.where(known, code, UNKNOWN).astype(np.uint8) for known in (written, folded))  # type: ignore[return-value]
