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

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from pboh.files.memory import processors
from pboh.files.progress import Report, silent
from pboh.model.tables import offsets_of_sizes
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
ENTRIES = 1 << 21  # of the matrix, held by a thread at a time
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
    block: int = 1 << 14  # rows of the matrix at a time, if they are short


def vector_parts(
    arrays: Mapping[str, Array], options: VectorOptions | None = None, report: Report = silent,
    threads: int | None = None,
) -> Iterator[tuple[str, Array]]:  # fmt: skip
    """``vector_word`` with its scale, the numbers of these words, and ``vector_entity`` in parts."""
    options, threads = options or VectorOptions(), threads or processors()
    with ThreadPoolExecutor(threads) as pool:
        yield from _Making(arrays, options, report, pool, 2 * threads).parts()


class _Making:
    """The matrix of one model, and the steps of its decomposition.

    Held are two dense matrices of the core and the rows of a few blocks, whatever the corpus.
    """

    def __init__(
        self, arrays: Mapping[str, Array], options: VectorOptions, report: Report, pool: ThreadPoolExecutor,
        ahead: int,
    ) -> None:  # fmt: skip
        self.options, self.report, self.pool, self.ahead = options, report, pool, ahead
        lists = np.diff(arrays["posting_offsets"])
        core = _largest(lists, options.entities, options.least_documents)
        background = arrays["word_background"]
        self.words = _largest(background, options.words)
        sizes = _times(arrays["posting_document"])
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
        rows = lists + np.diff(arrays["context_offsets"])
        self.core, self.everyone = self._blocks(rows, core), self._blocks(rows, np.arange(lists.size))
        self._steps = 2 * (options.rounds + 1) * len(self.core) + len(self.everyone)
        self._done = 0

    def _blocks(self, rows: Array, entities: Array) -> list[Array]:
        """Entities in blocks that are small, and so are their rows of the matrix together."""
        sums, out, first = offsets_of_sizes(rows[entities]), [], 0
        while first < entities.size:
            full = int(np.searchsorted(sums, sums[first] + ENTRIES, side="right")) - 1
            last = min(max(full, first + 1), first + self.options.block)
            out.append(entities[first:last].astype(np.int32))
            first = last
        return out

    def parts(self) -> Iterator[tuple[str, Array]]:
        """Decompose the matrix of the core, and fold everybody in."""
        basis, values = self._decomposed()
        size, k = self.words.size, values.size
        root = np.sqrt(values)
        word, scale = np.zeros((size, k), np.int8), np.zeros(size, np.float32)
        quantise((_by_row(basis[:, :size])[:, :k] * root).astype(np.float32), word, scale)
        yield from (("vector_word", word), ("vector_word_scale", scale))
        yield "vector_word_number", self.words.astype(np.int32)
        basis = basis[: -(-k // SLICE)]
        inverse = np.zeros((len(basis), 1, SLICE))
        inverse.reshape(-1)[:k] = np.where(values > 0, 1 / np.maximum(root, 1e-30), 0.0)
        np.multiply(basis, inverse, out=basis, casting="same_kind")

        def fold(some: Array) -> Array:
            out = np.zeros((some.size, k), np.int8)
            dense = np.ascontiguousarray(_by_row(self._multiplied(some, basis))[:, :k])
            quantise(dense, out, np.empty(some.size, np.float32))
            return out

        yield from (("vector_entity", part) for part in self._in_blocks(self.everyone, fold))

    def _decomposed(self) -> tuple[Array, Array]:
        """V, in slices, and S: the right singular vectors of the core, largest first."""
        k, size = self.options.dimensions, self.slices * SLICE
        random = np.random.default_rng(self.options.seed)
        right = random.standard_normal((self.slices, self.columns, SLICE), np.float32)
        for number in range(self.options.rounds + 1):
            left = self._product(right)
            self._make_orthonormal(left)
            right = self._product_back(left, out=right)
            if number < self.options.rounds:
                self._make_orthonormal(right)
        squares, vectors = eigen(self._gram(right), SWEEPS)
        values = np.zeros(size)
        values[:k] = np.sqrt(np.maximum(squares[:k], 0.0))
        values[values < SMALLEST * values[0]] = 0.0
        self._mix(right, _divided(vectors, values))
        return right, values[:k]

    # -- products ---------------------------------------------------------------------------------

    def _rows(self, entities: Array) -> tuple[Array, Array, Array]:
        """Rows of the matrix: start, column, value."""
        start, column, value = associations(entities, self.a)
        return start, column, value

    def _multiplied(self, entities: Array, right: Array) -> Array:
        """Rows of A·right."""
        rows = self._rows(entities)
        out = np.empty((len(right), entities.size, SLICE), np.float32)
        for part, product in zip(right, out, strict=True):
            multiply(*rows, part, product)
        return out

    def _in_blocks(self, blocks: Iterable[Array], work: Callable[[Array], Array]) -> Iterator[Array]:
        """What comes of every block of rows, in order; several are made at a time."""
        tasks: deque[Future[Array]] = deque()
        for some in blocks:
            tasks.append(self.pool.submit(work, some))
            if len(tasks) >= self.ahead:
                yield tasks.popleft().result()
                self._advance()
        for task in tasks:
            yield task.result()
            self._advance()

    def _advance(self) -> None:
        self._done += 1
        self.report(self._done, self._steps, "vectors")

    def _product(self, right: Array) -> Array:
        """A·right of the core."""
        out, first = np.empty((self.slices, sum(map(len, self.core)), SLICE), np.float32), 0
        for part in self._in_blocks(self.core, lambda some: self._multiplied(some, right)):
            last = first + part.shape[1]
            out[:, first:last] = part
            first = last
        return out

    def _product_back(self, left: Array, out: Array) -> Array:
        """Aᵀ·left of the core: the blocks one after the other, slices side by side."""
        out[:], first = 0, 0
        ahead = self.pool.submit(self._rows, self.core[0]) if self.core else None
        for number, some in enumerate(self.core):
            assert ahead
            block, mine = ahead.result(), left[:, first : first + some.size]
            tasks = [self.pool.submit(multiply_back, *block, mine[k], out[k]) for k in range(self.slices)]
            if number + 1 < len(self.core):
                ahead = self.pool.submit(self._rows, self.core[number + 1])
            for task in tasks:
                task.result()
            first += some.size
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

    def _make_orthonormal(self, matrix: Array) -> None:
        """Columns that span the same space, of length one and at right angles (or zero, if they do not)."""
        squares, vectors = eigen(self._gram(matrix), SWEEPS)
        values = np.sqrt(np.maximum(squares, 0.0))
        values[values < SMALLEST * values[0]] = 0.0
        self._mix(matrix, _divided(vectors, values))

    def _mix(self, matrix: Array, factors: Array) -> None:
        """M·factors in the place of M."""
        factors = np.ascontiguousarray(factors, np.float32)

        def work(first: int) -> None:
            last = min(first + self.options.block, matrix.shape[1])
            out = np.empty((last - first, len(factors)), np.float32)
            mix(matrix, factors, first, last, out)
            matrix[:, first:last] = out.reshape(-1, self.slices, SLICE).transpose(1, 0, 2)

        list(self.pool.map(work, range(0, matrix.shape[1], self.options.block)))


def _by_row(slices: Array) -> Array:
    """A matrix in slices as rows."""
    return slices.transpose(1, 0, 2).reshape(slices.shape[1], len(slices) * SLICE)


def _times(numbers: Array) -> Array:
    """How often each number occurs, without a copy of them all."""
    out = np.zeros(int(numbers.max()) + 1 if numbers.size else 0, np.int64)
    for first in range(0, numbers.size, ENTRIES):
        out += np.bincount(numbers[first : first + ENTRIES], minlength=out.size)
    return out


def _largest(values: Array, most: int, least: float = 0.0) -> Array:
    """Places of the largest values, ascending; the first ones of equals."""
    places = np.flatnonzero(values >= least)
    if places.size > most:
        some = values[places]
        bound = np.partition(some, -most)[-most]
        taken = some > bound
        taken[np.flatnonzero(some == bound)[: most - np.count_nonzero(taken)]] = True
        places = places[taken]
    return places


def _places(some: Array, size: int, first: int) -> Array:
    """Place of everything in ``some``, counted from ``first`` on; −1 for what is not there."""
    out = np.full(size, -1, np.int32)
    out[some] = first + np.arange(some.size, dtype=np.int32)
    return out


def _log(values: Array) -> Array:
    return np.asarray(np.log(values), np.float32)


def _divided(vectors: Array, values: Array) -> Array:
    return np.asarray(np.where(values > 0, vectors / np.where(values > 0, values, 1.0), 0.0))
