"""Vectors of entities and words: what the counts say of pairs that were never counted together.

The matrix of positive pointwise mutual information between entities and the words around their links, and
between entities and the documents that link them, A ≈ U·S·Vᵀ, is cut to its largest singular values by a
randomised method (Halko, Martinsson and Tropp, "Finding structure with randomness", 2011). Entities have
the vectors A·V·S^−½, words V·S^½, so that a product of two of them is about their association.

V comes from a core of entities, words and documents whose size is bounded whatever the corpus. All other
entities are *folded in*: A·V needs nothing but their own row, so one that is linked once has a vector too.
The matrix is never written down; its rows are computed from the counts, a block at a time, when needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from pboh.files.progress import Report, silent
from pboh.model.tables import Arrays
from pboh.model.vector_kernels import (
    SLICE,
    Associations,
    associations,
    eigen,
    gram,
    mix,
    multiply,
    multiply_back,
    quantise,
)
from pboh.text.hashing import Array

COUNTED = (
    "posting_offsets", "posting_document",
    "context_offsets", "context_word", "context_count", "context_total", "word_background",
)  # fmt: skip
"""The arrays they are made from."""
DIMENSIONS = 96  # as many bytes for every entity
DISCOUNT = 0.5  # ξ of N(w,e)
SWEEPS = 12  # of Jacobi's method; it converges in less
SMALLEST = 1e-6  # singular values below this share of the largest are noise of rounding


@dataclass(frozen=True, slots=True)
class VectorOptions:
    """How vectors are made; the sizes of the core bound the memory that it takes."""

    dimensions: int = DIMENSIONS
    extra: int = 16  # dimensions that the method looks at beyond those it keeps
    rounds: int = 1  # of power iteration
    words: int = 50_000  # the most frequent ones, which have vectors
    entities: int = 1 << 19  # of the core, most linked first
    documents: int = 1 << 19  # of the core
    least_documents: int = 3  # that link an entity of the core
    least: float = 1.0  # mutual information that a word must have with an entity
    document_weight: float = 2.0
    seed: int = 20
    block: int = 1 << 14  # rows of the matrix at a time


def make_vectors(
    arrays: Mapping[str, Array], options: VectorOptions | None = None, report: Report = silent,
    threads: int | None = None,
) -> Arrays:  # fmt: skip
    """``vector_entity``, ``vector_word`` with its scale, and the numbers of these words, from the counts."""
    options = options or VectorOptions()
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return _Making(arrays, options, report, pool).arrays()


class _Making:
    """The matrix of one model, and the steps of its decomposition."""

    def __init__(
        self, arrays: Mapping[str, Array], options: VectorOptions, report: Report, pool: ThreadPoolExecutor
    ) -> None:
        self.options, self.report, self.pool = options, report, pool
        lists = np.diff(arrays["posting_offsets"])
        self.everyone = np.arange(lists.size)
        self.core = _largest(lists, options.entities, options.least_documents)
        background = arrays["word_background"]
        self.words = _largest(background, options.words)
        sizes = np.bincount(arrays["posting_document"])
        documents = _largest(sizes, options.documents, 1)
        self.columns = self.words.size + documents.size
        self.a = Associations(
            arrays["context_offsets"], arrays["context_word"], arrays["context_count"],
            arrays["posting_offsets"], arrays["posting_document"],
            _log(np.maximum(np.arange(1 << 16) - DISCOUNT, DISCOUNT)),
            _log(np.maximum(arrays["context_total"], 1)),
            _log(background), _places(self.words, background.size, 0), _log(np.maximum(lists, 1)),
            _log(np.maximum(sizes, 1) / max(sizes.sum(), 1)),
            _places(documents, sizes.size, self.words.size),
            np.float32(options.least), np.float32(options.document_weight),
        )  # fmt: skip
        self.slices = -(-(options.dimensions + options.extra) // SLICE)
        self._steps = 2 * (options.rounds + 1) * self._blocks(self.core) + self._blocks(self.everyone)
        self._done = 0

    def arrays(self) -> Arrays:
        """Decompose the matrix of the core, and fold everybody in."""
        basis, values = self._decomposed()
        root = np.sqrt(values)
        word = np.zeros((self.words.size, self.options.dimensions), np.int8)
        scale = np.zeros(self.words.size, np.float32)
        quantise((basis[: self.words.size] * root).astype(np.float32), word, scale)
        inverse = np.where(values > 0, 1 / np.maximum(root, 1e-30), 0.0)
        return {
            "vector_entity": self._folded_in((basis * inverse).astype(np.float32)),
            "vector_word": word,
            "vector_word_scale": scale,
            "vector_word_number": self.words.astype(np.int32),
        }

    def _decomposed(self) -> tuple[Array, Array]:
        """V and S: the right singular vectors of the core, largest first."""
        k, size = self.options.dimensions, self.slices * SLICE
        random = np.random.default_rng(self.options.seed)
        right = random.standard_normal((self.slices, self.columns, SLICE), np.float32)
        values, vectors = np.zeros(size), np.eye(size)
        for number in range(self.options.rounds + 1):
            left = self._orthonormal(self._product(right))
            right = self._product_back(left)
            if number < self.options.rounds:
                right = self._orthonormal(right)
        squares, vectors = eigen(self._gram(right), SWEEPS)
        values = np.sqrt(np.maximum(squares[:k], 0.0))
        values[values < SMALLEST * values[0]] = 0.0
        return self._mixed(right, _divided(vectors[:, :k], values)), values

    def _folded_in(self, basis: Array) -> Array:
        """A·basis of all entities in whole numbers; their lengths do not matter."""
        k = self.options.dimensions
        padded = np.zeros((basis.shape[0], -(-k // SLICE) * SLICE), np.float32)
        padded[:, :k] = basis
        cut = padded.reshape(len(basis), padded.shape[1] // SLICE, SLICE)
        slices = np.ascontiguousarray(cut.transpose(1, 0, 2))
        out = np.zeros((self.everyone.size, k), np.int8)

        def fold(first: int, some: Array) -> None:
            rows, product = self._rows(some), np.empty((some.size, SLICE), np.float32)
            dense = np.empty((some.size, padded.shape[1]), np.float32)
            for number, part in enumerate(slices):
                multiply(*rows, part, product)
                dense[:, number * SLICE : (number + 1) * SLICE] = product
            kept = np.ascontiguousarray(dense[:, :k])
            quantise(kept, out[first : first + some.size], np.empty(some.size, np.float32))

        self._in_blocks(self.everyone, fold)
        return out

    # -- products ---------------------------------------------------------------------------------

    def _rows(self, entities: Array) -> tuple[Array, Array, Array]:
        """Rows of the matrix: start, column, value."""
        start, column, value = associations(entities, self.a)
        return start, column, value

    def _blocks(self, entities: Array) -> int:
        return -(-entities.size // self.options.block)

    def _in_blocks(self, entities: Array, work: Callable[[int, Array], None]) -> None:
        """Do something with every block of rows, several at a time."""
        tasks = [self.pool.submit(work, first, some) for first, some in self._parts(entities)]
        for task in tasks:
            task.result()
            self._advance()

    def _parts(self, entities: Array) -> Iterator[tuple[int, Array]]:
        for first in range(0, entities.size, self.options.block):
            yield first, entities[first : first + self.options.block]

    def _advance(self) -> None:
        self._done += 1
        self.report(self._done, self._steps, "vectors")

    def _product(self, right: Array) -> Array:
        """A·right of the core."""
        out = np.empty((self.slices, self.core.size, SLICE), np.float32)

        def work(first: int, some: Array) -> None:
            rows = self._rows(some)
            for number in range(self.slices):
                multiply(*rows, right[number], out[number, first : first + some.size])

        self._in_blocks(self.core, work)
        return out

    def _product_back(self, left: Array) -> Array:
        """Aᵀ·left of the core: the blocks one after the other, slices side by side."""
        out = np.zeros((self.slices, self.columns, SLICE), np.float32)
        parts = list(self._parts(self.core))
        rows = [self.pool.submit(self._rows, some) for _, some in parts[:1]]
        for number, (first, some) in enumerate(parts):
            block = rows.pop().result()
            mine = left[:, first : first + some.size]
            tasks = [self.pool.submit(multiply_back, *block, mine[k], out[k]) for k in range(self.slices)]
            rows = [self.pool.submit(self._rows, others) for _, others in parts[number + 1 :][:1]]
            for task in tasks:
                task.result()
            self._advance()
        return out

    def _gram(self, matrix: Array) -> Array:
        """MᵀM."""
        out = np.zeros((self.slices * SLICE,) * 2)
        pairs = [(i, j) for i in range(self.slices) for j in range(i + 1)]
        for (i, j), part in zip(pairs, self.pool.map(lambda ij: gram(matrix, *ij), pairs), strict=True):
            out[i * SLICE : (i + 1) * SLICE, j * SLICE : (j + 1) * SLICE] = part
            out[j * SLICE : (j + 1) * SLICE, i * SLICE : (i + 1) * SLICE] = part.T
        return out

    def _orthonormal(self, matrix: Array) -> Array:
        """Columns that span the same space, of length one and at right angles (or zero, if they do not)."""
        squares, vectors = eigen(self._gram(matrix), SWEEPS)
        values = np.sqrt(np.maximum(squares, 0.0))
        values[values < SMALLEST * values[0]] = 0.0
        mixed = self._mixed(matrix, _divided(vectors, values))
        return np.ascontiguousarray(mixed.reshape(len(mixed), self.slices, SLICE).transpose(1, 0, 2))

    def _mixed(self, matrix: Array, factors: Array) -> Array:
        """M·factors, by rows."""
        factors = np.ascontiguousarray(factors, np.float32)
        out = np.empty((matrix.shape[1], factors.shape[1]), np.float32)

        def work(first: int) -> None:
            last = min(first + self.options.block, len(out))
            mix(matrix, factors, first, last, out[first:last])

        list(self.pool.map(work, range(0, len(out), self.options.block)))
        return out


def _largest(values: Array, most: int, least: float = 0.0) -> Array:
    """Places of the largest values, ascending; the first ones of equals."""
    order = np.argsort(-values.astype(np.float64), kind="stable")[:most]
    return np.sort(order[values[order] >= least])


def _places(some: Array, size: int, first: int) -> Array:
    """Place of everything in ``some``, counted from ``first`` on; −1 for what is not there."""
    out = np.full(size, -1, np.int32)
    out[some] = first + np.arange(some.size, dtype=np.int32)
    return out


def _log(values: Array) -> Array:
    return np.asarray(np.log(values), np.float32)


def _divided(vectors: Array, values: Array) -> Array:
    return np.asarray(np.where(values > 0, vectors / np.where(values > 0, values, 1.0), 0.0))
