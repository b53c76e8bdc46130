"""Link probability: of the times a name occurs in running text, the share in which it is a link.

It is what mention detection starts from. The counts know it for every name as written; a name that is met in
another spelling (``PARIS``, ``Muller``) takes the share of all spellings that fold alike and do not begin
with a small letter, because only such texts are compared folded.
"""

from __future__ import annotations

import numpy as np

from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, look_up

PRIOR_LINKED, PRIOR_TOTAL = 0.5, 1.0  # a name never met in running text is a coin toss, one miss halves it
UNKNOWN = 0  # the code of a key that is not a name in this form


def encode(probability: Array) -> Array:
    """Probabilities as bytes 1…255, finer where they are small: (code/255)²."""
    return np.asarray(np.clip(np.rint(255 * np.sqrt(probability)), 1, 255), np.uint8)


def decode(codes: Array) -> Array:
    """Probabilities of bytes; 0 for a key that is not a name in this form."""
    return np.square(codes.astype(np.float32) / 255)


class LinkCounts:
    """Adds up (name, linked, total) rows for the keys of a name table."""

    def __init__(self, hashes: Array, buckets: Array) -> None:
        self._table = hashes, buckets
        self._sums = {form: np.zeros((2, hashes.size), np.float64) for form in ("written", "folded")}
        self._known = {form: np.zeros(hashes.size, bool) for form in self._sums}

    def add(self, names: list[str], linked: Array, total: Array) -> None:
        """Add rows of names as written."""
        self._add("written", [squeeze(name) for name in names], linked, total)
        large = np.asarray([not name[:1].islower() for name in names], bool)
        folded = [fold(name) for name, keep in zip(names, large.tolist(), strict=True) if keep]
        self._add("folded", folded, linked[large], total[large])

    def _add(self, form: str, names: list[str], linked: Array, total: Array) -> None:
        places = look_up(*self._table, names)
        found = places >= 0
        self._known[form][places[found]] = True
        for column, values in enumerate((linked, total)):
            np.add.at(self._sums[form][column], places[found], values[found])

    def probabilities(self) -> dict[str, Array]:
        """Encoded (linked + ½) / (total + 1) of every key, as written and folded."""
        out = {}
        for form, (linked, total) in self._sums.items():
            share = (np.minimum(linked, total) + PRIOR_LINKED) / (total + PRIOR_TOTAL)
            out[f"name_link_{form}"] = np.where(self._known[form], encode(share), np.uint8(UNKNOWN))
        return out
