"""Co-occurrence N(e,e′) of a document's candidates, straight from the pages that link them.

There is no pair table: the model keeps, for every entity, the ascending list of documents that link it
(3.7 million incidences where a table would hold 264 million pairs). For one document the lists of its
candidates are scattered over the documents they share, a small sparse A·Aᵀ, exact.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.model.hashing import Array


@njit(cache=True, nogil=True)
def by_document(entities: Array, offsets: Array, documents: Array, slot: Array):  # type: ignore[no-untyped-def]
    """Turn the candidates' document lists around: which candidates stand in each shared document.

    ``slot`` (one zero per document of the corpus) is scratch memory, left as found. Returns ``start`` and
    ``members`` (CSR over the documents touched) and ``row``, the touched document of every incidence.
    """
    total = 0
    for i in range(entities.size):
        total += offsets[entities[i] + 1] - offsets[entities[i]]
    row = np.empty(total, np.int32)
    touched = 0
    at = 0
    for i in range(entities.size):
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            d = documents[k]
            if slot[d] == 0:
                touched += 1
                slot[d] = touched
            row[at] = slot[d] - 1
            at += 1
    for i in range(entities.size):
        for k in range(offsets[entities[i]], offsets[entities[i] + 1]):
            slot[documents[k]] = 0
    start = np.zeros(touched + 1, np.int32)
    for k in range(total):
        start[row[k] + 1] += 1
    for d in range(touched):
        start[d + 1] += start[d]
    fill = start[:-1].copy()
    members = np.empty(total, np.int32)
    at = 0
    for i in range(entities.size):
        for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
            members[fill[row[at]]] = i
            fill[row[at]] += 1
            at += 1
    return start, members, row


@njit(cache=True, nogil=True)
def cooccurrences(entities: Array, offsets: Array, documents: Array, slot: Array):  # type: ignore[no-untyped-def]
    """N(e,e′) > 0 of all pairs of ``entities`` as a symmetric sparse matrix (start, other, count).

    Memory follows the incidences and the pairs that were seen, never (number of candidates)².
    The diagonal is left out: e = e′ has a rule of its own.
    """
    begin, members, row = by_document(entities, offsets, documents, slot)
    u = entities.size
    start = np.zeros(u + 1, np.int64)
    tally = np.zeros(u, np.int32)
    seen = np.empty(u, np.int32)
    room = max(1024, 16 * u)
    other = np.empty(room, np.int32)
    count = np.empty(room, np.int32)
    used, at = 0, 0
    for i in range(u):
        found = 0
        for _ in range(offsets[entities[i]], offsets[entities[i] + 1]):
            for k in range(begin[row[at]], begin[row[at] + 1]):
                j = members[k]
                if tally[j] == 0:
                    seen[found] = j
                    found += 1
                tally[j] += 1
            at += 1
        if used + found > room:
            room = 2 * room + found
            grown_other, grown_count = np.empty(room, np.int32), np.empty(room, np.int32)
            grown_other[:used], grown_count[:used] = other[:used], count[:used]
            other, count = grown_other, grown_count
        for j in np.sort(seen[:found]):
            if j != i:
                other[used], count[used] = j, tally[j]
                used += 1
            tally[j] = 0
        start[i + 1] = used
    return start, other[:used], count[:used]
