"""The context of mentions: the content words of a text, and which of them surround each mention."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pboh.inference.spans import Span
from pboh.text.hashing import Array


@dataclass(slots=True)
class Windows:
    """Content words of a document and, per mention, the two runs of them that are its context.

    ``words`` are their numbers in the model's vocabulary, −1 for others; and if an overlay has candidates, in
    that of each overlay.
    """

    words: tuple[Array, ...]
    starts: Array
    ends: Array
    first: Array
    left: Array
    right: Array
    last: Array

    @classmethod
    def around(
        cls, spans: list[Span], window: int, words: tuple[Array, ...], starts: Array, ends: Array
    ) -> Windows:
        """Up to ``window`` words on each side of every span."""
        left = np.searchsorted(ends, [span.start for span in spans], side="right")
        right = np.searchsorted(starts, [span.end for span in spans], side="left")
        first, last = np.maximum(left - window, 0), np.minimum(right + window, starts.size)
        return cls(words, starts, ends, first, left, right, last)

    @property
    def lengths(self) -> Array:
        """Number of words around every mention."""
        return np.asarray((self.left - self.first) + (self.last - self.right))

    def places(self, i: int) -> Array:
        """Which words surround mention i."""
        return np.asarray(np.r_[self.first[i] : self.left[i], self.right[i] : self.last[i]])

    def alone(self, places: Array) -> Windows:
        """Every one of these words as a context of its own."""
        return replace(self, first=places, left=places + 1, right=places + 1, last=places + 1)

    def unmatched(self) -> Windows:
        """A context of one unknown word."""
        unknown = replace(self, words=tuple(np.asarray([-1]) for _ in self.words))
        return unknown.alone(np.zeros(1, np.int64))
