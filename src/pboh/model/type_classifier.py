"""How likely an entity is of each type by what a model counts: learned from those whose page says its type.

Multinomial logistic regression over the words around links to an entity, its title and the type its noun
says, how its name is written, and the types of what the same pages link to. Entities without a page have few
links, so those to learn from are thinned to as few. Each half of the entities is learned apart: who has been
learned is told by the other half, which also calibrates the probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pboh.files.progress import Report, silent
from pboh.model import type_kernels as kernels
from pboh.model.names import Layer
from pboh.text.hashing import Array

LEAST = 300
"""Entities of known type; fewer teach nothing."""
MOST = 200_000  # to learn from: more make it no better
PASSES, RATE, RIDGE = 2, 0.2, 1e-4
MOST_LINKS = 50  # the words and documents of more are thinned to as many
BOTH = 2  # halves together: the mean of their weights
_AT_A_TIME = 1 << 14  # entities whose features are held
Mapped = Callable[[str], Array]


@dataclass(frozen=True, slots=True)
class _Features:
    offsets: Array
    slots: Array
    values: Array


class TypeClassifier:
    """Learns from the entities of a model whose type is known, and tells the types of others."""

    def __init__(self, mapped: Mapped, codes: Array, hints: Array) -> None:
        names = ("title_blob", "title_offsets", "context_offsets", "context_word", "context_count")
        self._arrays = {name: mapped(name) for name in (*names, "posting_offsets", "posting_document")}
        self._codes, self._hints = codes, hints
        self._lower = _written_small(mapped, codes.size)
        offsets, documents = self._arrays["posting_offsets"], self._arrays["posting_document"]
        size = int(documents.max(initial=0)) + 1
        self._histograms = np.zeros((size, kernels.CLASSES), np.uint16)
        kernels.document_types(codes, offsets, documents, 0, self._histograms)
        half = np.random.default_rng(2).integers(0, 2, codes.size, np.uint8)
        self._teller = np.where(codes > 0, half, BOTH).astype(np.uint8)
        self._weights = np.zeros((3, kernels.SLOTS, kernels.CLASSES), np.float32)
        self._sharpness = np.ones(MOST_LINKS.bit_length() + 1)

    def features(self, entities: Array, *, taught: bool, links: Array, seed: int = 1) -> _Features:
        """Features of entities; those to learn from are left out of their own neighbourhood."""
        arrays = self._arrays
        words = arrays["context_offsets"][entities + 1] - arrays["context_offsets"][entities]
        room = int(words.sum()) + entities.size * (kernels.MOST_TITLE + 16)
        offsets = np.zeros(entities.size + 1, np.int64)
        found = _Features(offsets, np.empty(room, np.int32), np.empty(room, np.float32))
        known = self._codes[entities] if taught else np.zeros(entities.size, np.uint8)
        kernels.features_of(
            entities, known, links, seed,
            arrays["title_blob"], arrays["title_offsets"], self._lower, self._hints,
            arrays["context_offsets"], arrays["context_word"], arrays["context_count"],
            arrays["posting_offsets"], arrays["posting_document"], self._histograms,
            found.offsets, found.slots, found.values,
        )  # fmt: skip
        return found

    def learn(self, report: Report = silent) -> None:
        """Fit the weights, and how sharp the probabilities may be, to the entities of known type.

        Half of them are thinned to as few links as those of unknown type have.
        """
        chance = np.random.default_rng(1)
        pages = np.diff(self._arrays["posting_offsets"])
        some = np.flatnonzero((self._codes > 0) & (pages > 0))
        if some.size > MOST:
            some = np.sort(chance.choice(some, MOST, replace=False))
        few = pages[(self._codes == 0) & (pages > 0)]
        links = _most(pages[some])
        thinned = chance.random(some.size) < 0.5
        links[thinned] = np.minimum(links, chance.choice(few if few.size else links, some.size))[thinned]
        parts = [
            (part, self.features(some[part], taught=True, links=links[part], seed=int(part[0]) + 1))
            for part in np.array_split(np.arange(some.size), max(1, some.size // _AT_A_TIME))
        ]
        for half, weights in enumerate(self._weights[:BOTH]):
            squares = np.full(kernels.SLOTS, 1e-2, np.float32)
            for number in range(PASSES):
                for done, (part, found) in enumerate(parts):
                    report(half * PASSES + number + done / len(parts), 2 * PASSES, "learning types")
                    order = chance.permutation(np.flatnonzero(self._teller[some[part]] != half))
                    kernels.learn(order, found.offsets, found.slots, found.values, self._codes[some[part]],
                                  RATE, RIDGE, weights, squares)  # fmt: skip
        np.mean(self._weights[:BOTH], axis=0, out=self._weights[BOTH])
        told = np.concatenate([self._told(some[part], found, links[part]) for part, found in parts])
        much = _bits(links)
        for bits in np.unique(much):
            enough = much == bits if (much == bits).sum() >= LEAST else slice(None)
            self._sharpness[bits] = _sharpness(told[enough], self._codes[some][enough])

    def _told(self, entities: Array, found: _Features, links: Array) -> Array:
        """The probability of each type: by the half that has not learned an entity, or by both."""
        out = np.empty((entities.size, kernels.CLASSES), np.float32)
        teller, sharpness = self._teller[entities], self._sharpness[_bits(links)]
        kernels.probabilities(found.offsets, found.slots, found.values, self._weights, teller, sharpness, out)
        return out

    def tell(self, entities: Array, report: Report = silent) -> Iterator[tuple[Array, Array]]:
        """Entities and the probability of each type, thousands at a time."""
        for at in range(0, entities.size, _AT_A_TIME):
            report(at, entities.size, "telling types")
            part = entities[at : at + _AT_A_TIME]
            offsets = self._arrays["posting_offsets"]
            links = _most(offsets[part + 1] - offsets[part])
            yield part, self._told(part, self.features(part, taught=True, links=links), links)


def _most(links: Array) -> Array:
    """The links of entities that are looked at."""
    return np.minimum(links, MOST_LINKS).astype(np.int64)


def _bits(links: Array) -> Array:
    """The binary logarithm of numbers of links, rounded up; 0 for none."""
    return np.frexp(links)[1]


def _sharpness(told: Array, right: Array) -> float:
    """The power of the probabilities under which the right types are likeliest, by Newton's method."""
    logs = np.log(np.maximum(told[:, 1:], 1e-9))
    said, power = float(logs[np.arange(right.size), right.astype(np.int64) - 1].mean()), 1.0
    for _ in range(10):
        chances = np.exp(power * (logs - logs.max(1, keepdims=True)))
        chances /= chances.sum(1, keepdims=True)
        mean = (chances * logs).sum(1)
        bend = float(((chances * logs * logs).sum(1) - mean * mean).mean())
        power = min(max(power - (float(mean.mean()) - said) / max(bend, 1e-9), 0.1), 3.0)
    return power


def _written_small(mapped: Mapped, entities: int) -> Array:
    """How much of what links call an entity is in small letters: 0 nothing is known, 1 … 5 none to all."""
    small, every = np.zeros((2, entities))
    kernels.small_letters(
        mapped("name_offsets"), mapped("name_entity"), mapped("name_layer"), mapped("name_count"),
        int(Layer.CASED), int(Layer.LOWER), small, every,
    )  # fmt: skip
    steps = 1 + np.searchsorted([0.02, 0.3, 0.7, 0.98], small / np.maximum(every, 1e-9))
    return np.where(every > 0, steps, 0).astype(np.uint8)
