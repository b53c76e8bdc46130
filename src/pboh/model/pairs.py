"""Co-occurrence N(e,e′) of a document's candidates, straight from the pages that link them.

There is no pair table: the model keeps, for every entity, the ascending list of documents that link it
(3.7 million incidences where a table would hold 264 million pairs). For one document the lists of its
candidates are scattered over the documents they share, a small sparse A·Aᵀ, exact.

Entities with very long lists (*heads*, such as countries in a full Wikipedia) are not scattered: their
lists are only read, in ascending order, against the documents of the others, and the counts among the
heads themselves are computed once, when the model is built.
"""

from __future__ import annotations

import numpy as np

from pboh.model.pair_kernels import _head_pairs
from pboh.text.hashing import Array

LONG = 8192  # documents that make an entity a head
MOST_HEADS = 2048  # their table has this many rows at most: 16 MB


def head_table(
    offsets: Array, documents: Array, long: int = LONG, most: int = MOST_HEADS
) -> tuple[Array, Array]:
    """The entities with more than ``long`` documents (the longest ``most`` lists), and N among them."""
    lengths = np.diff(offsets)
    longest = np.argsort(-lengths, kind="stable")[:most]
    heads = np.sort(longest[lengths[longest] > long])
    size = int(documents.max(initial=0)) + 1
    return heads.astype(np.int32), _head_pairs(heads, offsets, documents, np.zeros(size, np.bool_))
