"""Kernels of short codes for vectors: the nearest of a few typical pieces, and how these are learned."""

from __future__ import annotations

import numpy as np
from numba import njit

PIECE = 8
"""Numbers of a vector that one byte stands for."""


@njit(cache=True, nogil=True)
def nearest(rows, book, codes):  # type: ignore[no-untyped-def]
    """The number of the piece in ``book`` that is nearest to every piece of every row."""
    for p in range(book.shape[0]):
        half = np.zeros(book.shape[1], np.float32)
        for c in range(book.shape[1]):
            for d in range(PIECE):
                half[c] += book[p, c, d] * book[p, c, d] / 2
        for r in range(rows.shape[0]):
            best, least = 0, np.float32(np.inf)
            for c in range(book.shape[1]):
                distance = half[c]  # half of the square, without that of the row
                for d in range(PIECE):
                    distance -= rows[r, p * PIECE + d] * book[p, c, d]
                if distance < least:
                    best, least = c, distance
            codes[r, p] = best


@njit(cache=True, nogil=True)
def move(rows, codes, book):  # type: ignore[no-untyped-def]
    """Move every piece of the book to the mean of the pieces that chose it."""
    for p in range(book.shape[0]):
        total, size = np.zeros(book.shape[1:]), np.zeros(book.shape[1])
        for r in range(rows.shape[0]):
            size[codes[r, p]] += 1
            for d in range(PIECE):
                total[codes[r, p], d] += rows[r, p * PIECE + d]
        for c in range(book.shape[1]):
            if size[c] > 0:
                for d in range(PIECE):
                    book[p, c, d] = total[c, d] / size[c]
