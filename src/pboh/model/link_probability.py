"""Link probability: of the times a name occurs in running text, the share in which it is a link.

It is what mention detection starts from. The counts know it for every name as written; a name that is met in
another spelling (``PARIS``, ``Muller``) takes the share of all spellings that fold alike and do not begin
with a small letter, because only such texts are compared folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pboh.files.by_hash import ByHash
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, hash_strings

PRIOR_LINKED, PRIOR_TOTAL = 0.5, 1.0  # a name never met in running text is a coin toss, one miss halves it
FORMS = ("written", "folded")
UNKNOWN = 0  # the code of a key that is not a name in this form


def encode(probability: Array) -> Array:
    """Probabilities as bytes 1…255, finer where they are small: (code/255)²."""
    return np.asarray(np.clip(np.rint(255 * np.sqrt(probability)), 1, 255), np.uint8)


def decode(codes: Array) -> Array:
    """Probabilities of bytes; 0 for a key that is not a name in this form."""
    return np.square(codes.astype(np.float32) / 255)


class LinkCounts:
    """Adds up (name, linked, total) rows for the keys of a name table."""

    def __init__(self, scratch: Path, held: int) -> None:
        """What is more than ``held`` bytes waits in folders that begin with ``scratch``."""
        self._rows = {
            form: ByHash(scratch.with_name(f"{scratch.name}_{form}"), held // 2, linked="<i8", total="<i8")
            for form in FORMS
        }

    def add(self, names: list[str], linked: Array, total: Array) -> None:
        """Add rows of names as written."""
        written, folded = self._rows.values()
        written.add(hash_strings([squeeze(name) for name in names]), linked=linked, total=total)
        large = np.asarray([not name[:1].islower() for name in names], bool)
        keys = hash_strings([fold(name) for name, keep in zip(names, large.tolist(), strict=True) if keep])
        folded.add(keys, linked=linked[large], total=total[large])

    def probabilities(self, hashes: Array) -> Iterator[tuple[str, Array]]:
        """Encoded (linked + ½) / (total + 1) of every key, as written and then folded, part by part."""
        for form, gathered in self._rows.items():
            for low, high, rows in gathered.parts():
                first = np.searchsorted(hashes, np.uint64(low))
                last = np.searchsorted(hashes, np.uint64(high), side="right")
                yield form, _shares(np.asarray(hashes[first:last]), rows)


def _shares(keys: Array, rows: Array) -> Array:
    """Encoded shares of ascending keys, from rows of some of them and of others."""
    place = np.searchsorted(keys, rows["key"])
    known = place < keys.size
    known[known] = keys[place[known]] == rows["key"][known]
    linked, total = (
        np.bincount(place[known], rows[name][known].astype(np.float64), keys.size)
        for name in ("linked", "total")
    )
    share = (np.minimum(linked, total) + PRIOR_LINKED) / (total + PRIOR_TOTAL)
    met = np.bincount(place[known], minlength=keys.size) > 0
    return np.where(met, encode(share), np.uint8(UNKNOWN))
