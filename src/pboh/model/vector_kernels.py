"""Kernels of the vectors: association matrix row by row, its products, and what comes of them.

Every number is summed up by one thread in one order, so the result does not depend on how many there are.
Dense matrices are cut into slices of ``SLICE`` columns, (slice, row, column): the part of a slice that a
product jumps around in stays in the processor's cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, first_at_least, helper

SLICE = 16


class Associations(NamedTuple):
    """What the rows of the association matrix are computed from; its columns are words, then documents."""

    word_offsets: Array  # N(w,e) by entity
    word: Array
    times: Array
    document_offsets: Array  # documents by entity
    document: Array
    log_times: Array  # log(N − ξ) by N
    log_total: Array  # log Z_e
    log_word: Array  # log p(w)
    word_column: Array  # column of every word, −1 for none
    log_lists: Array  # log of the number of documents of e
    log_document: Array  # log p(d)
    document_column: Array
    least: np.float32  # associations with a word count from here on
    weight: np.float32  # of documents


@njit(cache=True, nogil=True)
def associations(entities, a):  # type: ignore[no-untyped-def]
    """Rows of the matrix as (start, column, value): positive pointwise mutual information.

    log N(w,e)/(Z_e·p(w)) for words, weight · log 1/(n_e·p(d)) for documents.
    """
    most = 0
    for e in entities:
        most += a.word_offsets[e + 1] - a.word_offsets[e] + a.document_offsets[e + 1] - a.document_offsets[e]
    start = np.zeros(entities.size + 1, np.int64)
    column, value = np.empty(most, np.int32), np.empty(most, np.float32)
    used = 0
    for r in range(entities.size):
        e = entities[r]
        for k in range(a.word_offsets[e], a.word_offsets[e + 1]):
            w = a.word[k]
            v = a.log_times[a.times[k]] - a.log_total[e] - a.log_word[w]
            if a.word_column[w] >= 0 and v > a.least:
                column[used], value[used] = a.word_column[w], v
                used += 1
        for k in range(a.document_offsets[e], a.document_offsets[e + 1]):
            d = a.document[k]
            v = -a.log_lists[e] - a.log_document[d]
            if a.document_column[d] >= 0 and v > 0.0:
                column[used], value[used] = a.document_column[d], a.weight * v
                used += 1
        start[r + 1] = used
    return start, column[:used], value[:used]


@njit(cache=True, nogil=True)
def multiply(start, column, value, right, out):  # type: ignore[no-untyped-def]
    """One slice of A·right."""
    total = np.empty(SLICE, np.float32)
    for r in range(start.size - 1):
        total[:] = 0.0
        for k in range(start[r], start[r + 1]):
            for d in range(SLICE):
                total[d] += value[k] * right[column[k], d]
        out[r] = total


@njit(cache=True, nogil=True)
def multiply_back(start, column, value, left, out):  # type: ignore[no-untyped-def]
    """Add one slice of Aᵀ·left to ``out``."""
    for r in range(start.size - 1):
        for k in range(start[r], start[r + 1]):
            for d in range(SLICE):
                out[column[k], d] += value[k] * left[r, d]


@njit(cache=True, nogil=True)
def gram(matrix, i, j):  # type: ignore[no-untyped-def]
    """Slices i and j of Mᵀ·M."""
    out = np.zeros((SLICE, SLICE), np.float64)
    for r in range(matrix.shape[1]):
        for a in range(SLICE):
            x = np.float64(matrix[i, r, a])
            for b in range(SLICE):
                out[a, b] += x * matrix[j, r, b]
    return out


@njit(cache=True, nogil=True)
def mix(matrix, factors, first, last, out):  # type: ignore[no-untyped-def]
    """Rows ``first:last`` of M·factors, as rows of ``out``."""
    for r in range(first, last):
        out[r - first] = 0.0
        for i in range(matrix.shape[0]):
            for a in range(SLICE):
                x = matrix[i, r, a]
                for b in range(factors.shape[1]):
                    out[r - first, b] += x * factors[i * SLICE + a, b]


@njit(cache=True)
def eigen(matrix, sweeps):  # type: ignore[no-untyped-def]
    """Eigenvalues, largest first, and eigenvectors of a symmetric matrix by Jacobi's rotations."""
    a, n = matrix.copy(), len(matrix)
    vectors = np.eye(n)
    for _ in range(sweeps):
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(a[p, q]) <= 1e-16 * np.sqrt(abs(a[p, p] * a[q, q])):
                    continue
                slope = (a[q, q] - a[p, p]) / (2.0 * a[p, q])
                tangent = (1.0 if slope >= 0 else -1.0) / (abs(slope) + np.sqrt(slope * slope + 1.0))
                c = 1.0 / np.sqrt(tangent * tangent + 1.0)
                s = tangent * c
                for k in range(n):
                    a[k, p], a[k, q] = c * a[k, p] - s * a[k, q], s * a[k, p] + c * a[k, q]
                for k in range(n):
                    a[p, k], a[q, k] = c * a[p, k] - s * a[q, k], s * a[p, k] + c * a[q, k]
                    vectors[k, p], vectors[k, q] = (
                        c * vectors[k, p] - s * vectors[k, q],
                        s * vectors[k, p] + c * vectors[k, q],
                    )
    values = np.empty(n)
    for k in range(n):
        values[k] = a[k, k]
    order = np.argsort(-values)
    return values[order], vectors[:, order]


@njit(cache=True, nogil=True)
def quantise(rows, out, scale):  # type: ignore[no-untyped-def]
    """rows[r] ≈ scale[r] · out[r], in whole numbers of at most 127; nothing stays nothing."""
    for r in range(rows.shape[0]):
        top = np.float32(0.0)
        for d in range(rows.shape[1]):
            top = abs(rows[r, d]) if abs(rows[r, d]) > top else top
        scale[r] = top / np.float32(127.0)
        for d in range(rows.shape[1]):
            out[r, d] = np.int8(np.rint(rows[r, d] / scale[r])) if top > 0 else np.int8(0)


def topic_scores(
    entity: Array, size: Array, words: Array, runs: tuple[Array, ...], vectors: Array,
    word_vectors: tuple[Array, ...], out: Array,
) -> None:  # fmt: skip
    """Cosine between the vector of every candidate and the sum of those of the words around its mention.

    ``words`` and ``runs`` are those of :func:`pboh.model.word_kernels.context_scores`; ``word_vectors`` are
    the ascending numbers of the words that have vectors, the vectors, and the scale of each. A candidate
    without a vector gets the mean of the others of its mention, and so neither gains nor loses by it.
    """
    k = vectors.shape[1]
    before = np.zeros((words.size + 1, k))  # sums of the vectors of all words before a place
    (first, left, right, last), (known, numbers, scale) = runs, word_vectors
    given = entity, size, words, first, left, right, last, vectors, known, numbers, scale
    _topic_scores(*given, before, np.empty(k), out)


@njit(cache=True, nogil=True, error_model="numpy")
def _topic_scores(  # type: ignore[no-untyped-def]
    entity, size, words, first, left, right, last, vectors, known, numbers, scale, before, around, out
):
    k = vectors.shape[1]
    for i in range(words.size):
        for d in range(k):  # a row copied whole takes a second to compile
            before[i + 1, d] = before[i, d]
        at = first_at_least(known, 0, known.size, words[i]) if words[i] >= 0 else known.size
        if at < known.size and known[at] == words[i]:
            for d in range(k):
                before[i + 1, d] += scale[at] * numbers[at, d]
    for i in range(len(entity)):
        length = 0.0
        for d in range(k):
            around[d] = before[left[i], d] - before[first[i], d] + before[last[i], d] - before[right[i], d]
            length += around[d] * around[d]
        total, some = 0.0, 0
        for c in range(size[i]):
            out[i, c] = np.nan
            e = entity[i, c]
            if e >= vectors.shape[0] or length <= 1e-12:
                continue
            product, square = 0.0, np.int64(0)
            for d in range(k):
                x = np.int64(vectors[e, d])
                product += x * around[d]
                square += x * x
            if square > 0:
                out[i, c] = product / np.sqrt(square * length)
                total += out[i, c]
                some += 1
        for c in range(size[i]):
            if out[i, c] != out[i, c]:  # not a number
                out[i, c] = total / some if some > 0 else 0.0


@njit(cache=True, nogil=True)
def kinships(entities, vectors, least):  # type: ignore[no-untyped-def]
    """Pairs of entities whose vectors have a cosine above ``least``, as rows (start, other, cosine).

    Entities are their own kin; those without a vector have none.
    """
    u, k = entities.size, vectors.shape[1]
    rows, square = np.empty((k, u), np.float32), np.zeros(u, np.float32)
    for i in range(u):
        for d in range(k):
            rows[d, i] = vectors[entities[i], d]
            square[i] += rows[d, i] * rows[d, i]
    product, limit = np.empty(u, np.float32), np.float32(least * least)
    later, cosine = np.empty(1024 + 16 * u, np.int32), np.empty(1024 + 16 * u, np.float32)
    sooner = np.empty(later.size, np.int32)
    low, high = np.zeros(u, np.int64), np.zeros(u, np.int64)  # kin before and after an entity
    used = 0
    for i in range(u):
        product[: i + 1] = 0.0  # sums of whole numbers below 2²⁴: exact, in any order
        for d in range(k):
            x = rows[d, i]
            for j in range(i + 1):
                product[j] += x * rows[d, j]
        if used + u > later.size:
            later, sooner, cosine = _grown(later, u), _grown(sooner, u), _grown(cosine, u)
        least_of_row = limit * square[i]
        for j in range(i + 1):
            if product[j] > 0 and product[j] * product[j] > least_of_row * square[j]:
                later[used], sooner[used] = i, j
                cosine[used] = product[j] / np.sqrt(square[i] * square[j])
                used += 1
                low[i] += 1
                high[j] += i != j
    start = np.zeros(u + 1, np.int64)
    for i in range(u):
        start[i + 1] = start[i] + low[i] + high[i]
        low[i], high[i] = start[i], start[i] + low[i]  # from here on: where the next one goes
    other, value = np.empty(start[u], np.int32), np.empty(start[u], np.float32)
    for m in range(used):
        i, j = later[m], sooner[m]
        other[low[i]], value[low[i]] = j, cosine[m]
        low[i] += 1
        if i != j:
            other[high[j]], value[high[j]] = i, cosine[m]
            high[j] += 1
    return start, other, value


@helper
def _grown(array, more):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * array.size + more, array.dtype)
    larger[: array.size] = array
    return larger


@njit(cache=True, nogil=True)
def cosines(vectors, to, first, last, out):  # type: ignore[no-untyped-def]
    """Cosine of the vectors ``first:last`` with that of the entity ``to``, 0 without a vector."""
    k = vectors.shape[1]
    for e in range(first, last):
        product, mine, yours = np.int64(0), np.int64(0), np.int64(0)
        for d in range(k):
            x, y = np.int64(vectors[e, d]), np.int64(vectors[to, d])
            product += x * y
            mine += x * x
            yours += y * y
        out[e] = product / np.sqrt(np.float64(mine) * yours) if mine > 0 and yours > 0 else 0.0
