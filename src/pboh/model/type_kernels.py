"""What speaks for the type of an entity, as hashed features, and logistic regression over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

BITS = 20
SLOTS = 1 << BITS
"""Features: words of the title and of the context, by hash; the last ones are kept for the others."""
DENSE = 80  # slots for what is not hashed
CLASSES = 9
MOST_TITLE = 64  # features of a title, at most
_LOGS = np.log(1.0 + np.arange(256))  # most words are counted that few times
_WORD, _FIRST, _LAST, _BRACKET, _COMMA, _ENDING, _CONTEXT, _PAIR = range(1, 9)
# dense slots
_WORDS, _LOOK, _LOWER, _NEIGHBOURS, _BIAS, _NO_NEIGHBOUR, _HINT = 0, 8, 24, 32, 48, 49, 50


@njit(cache=True, inline="always")
def _slot(kind: int, value: Any) -> Any:
    """A slot for a value of a kind (a multiplicative hash)."""
    mixed = np.uint64(value) + np.uint64(kind) * np.uint64(0x9E3779B97F4A7C15)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    return np.int64(mixed >> np.uint64(64 - BITS)) % (SLOTS - DENSE)


@njit(cache=True, inline="always")
def _small(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


@njit(cache=True)
def title_features(title: Array, out: Array) -> int:
    """Slots of a title's features into ``out``; returns how many.

    Its words, the first and the last one, those in brackets and behind a comma, the ending of the last word,
    how many words there are and how they are written.
    """
    n, words, large, digits, inside, comma = 0, 0, 0, 0, False, False
    last, ending, before, here, size = np.uint64(0), np.uint64(0), np.uint64(0), 0, title.size
    capitals = 0
    while here < size and n < MOST_TITLE - 16:
        byte = title[here]
        if byte == 40:
            inside = True
        elif byte == 44 and not inside:
            comma = True
        if byte < 128 and not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122):
            here += 1
            continue
        start, code, tail = here, np.uint64(14695981039346656037), np.uint64(0)
        number = True
        while here < size:
            byte = title[here]
            if byte < 128 and not (48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122 or byte == 39):
                break
            number = number and 48 <= byte <= 57
            capitals += 65 <= byte <= 90
            low = np.uint64(35) if 48 <= byte <= 57 else np.uint64(_small(byte))
            code = (code ^ low) * np.uint64(1099511628211)
            tail = ((tail << np.uint64(8)) | low) & np.uint64(0xFFFFFF)
            here += 1
        out[n] = _slot(_BRACKET if inside else _COMMA if comma else _WORD, code)
        n += 1
        if inside or comma:
            continue
        first = title[start]
        words += 1
        large += 65 <= first <= 90 or first >= 0xC3
        digits += number
        if words == 1:
            out[n] = _slot(_FIRST, code)
            n += 1
        else:
            out[n] = _slot(_PAIR, before ^ (code << np.uint64(1)))
            n += 1
        before, last, ending = code, code, tail
    out[n] = _slot(_LAST, last)
    out[n + 1] = _slot(_ENDING, ending)
    out[n + 2] = SLOTS - DENSE + _WORDS + min(words, 7)
    look = (0 if large == words else 1 if large > 1 else 2) + 3 * min(digits, 1)
    out[n + 3] = SLOTS - DENSE + _LOOK + look + 6 * (inside or comma)
    out[n + 4] = SLOTS - DENSE + _LOOK + 12 + min(capitals // 2, 3)
    return n + 5


@njit(cache=True)
def document_types(codes: Array, offsets: Array, documents: Array, first: int, out: Array) -> None:
    """How many entities of each type the documents link; ``codes`` are those of entities from ``first``."""
    for k in range(codes.size):
        if codes[k]:
            for at in range(offsets[first + k], offsets[first + k + 1]):
                document = documents[at]
                if out[document, codes[k]] < 65535:
                    out[document, codes[k]] += 1


@njit(cache=True)
def features_of(
    entities: Array, known: Array, links: Array, seed: int,
    title_blob: Array, title_offsets: Array, lower: Array, hints: Array,
    context_offsets: Array, context_word: Array, context_count: Array,
    posting_offsets: Array, posting_document: Array, histograms: Array,
    offsets: Array, slots: Array, values: Array,
) -> None:  # fmt: skip
    """Features of entities, row by row.

    ``known`` is the type of an entity that is taken out of its own neighbourhood, 0 for none; ``links`` how
    many links to pretend there are (0: all): the words and documents are thinned to as many.
    """
    n, state = 0, np.uint64(seed)
    shares = np.empty(CLASSES)
    for row in range(entities.size):
        e = entities[row]
        begin = n
        n += title_features(title_blob[title_offsets[e] : title_offsets[e + 1]], slots[n:])
        slots[n] = SLOTS - DENSE + _LOWER + lower[e]
        common = (slots[n - 2] - (SLOTS - DENSE + _LOOK)) % 3 > 0  # a small noun: … massacre, Battle of …
        slots[n + 1] = SLOTS - DENSE + _HINT + hints[e] + CLASSES * common
        slots[n + 2] = SLOTS - DENSE + _BIAS
        n += 3
        values[begin:n] = 1.0
        # documents
        pages = posting_offsets[e + 1] - posting_offsets[e]
        used = min(pages, 50 if links[row] == 0 else min(50, links[row]))
        shares[:] = 0.0
        counted = 0
        for k in range(used):
            document = posting_document[posting_offsets[e] + (k * pages) // max(used, 1)]
            total = 0.0
            for c in range(1, CLASSES):
                total += histograms[document, c]
            total -= known[row] > 0
            if total >= 3:
                counted += 1
                for c in range(1, CLASSES):
                    shares[c] += (histograms[document, c] - (c == known[row])) / total
        if counted:
            for c in range(1, CLASSES):
                slots[n] = SLOTS - DENSE + _NEIGHBOURS + c
                values[n] = 3.0 * shares[c] / counted
                n += 1
        else:
            slots[n], values[n] = SLOTS - DENSE + _NO_NEIGHBOUR, 1.0
            n += 1
        # words
        keep = 1.0
        if links[row] and pages > links[row]:
            keep = links[row] / pages
        start, norm = n, 0.0
        for at in range(context_offsets[e], context_offsets[e + 1]):
            count = context_count[at]
            if keep < 1.0:
                expected = count * keep
                whole = np.floor(expected)
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                draw = (state >> np.uint64(33)) / 2147483648.0
                count = int(whole) + (draw < expected - whole)
            if count:
                slots[n] = _slot(_CONTEXT, context_word[at])
                values[n] = _LOGS[count] if count < _LOGS.size else np.log(1.0 + count)
                norm += values[n] * values[n]
                n += 1
        if n > start:
            scale = 4.0 / np.sqrt(norm)
            for k in range(start, n):
                values[k] *= scale
        offsets[row + 1] = n


@njit(cache=True, inline="always")
def _weigh(first: int, last: int, slots: Array, values: Array, weights: Array, scores: Array) -> None:
    """The weighted sums of a row's features: the score of each type."""
    scores[:] = 0.0
    for k in range(first, last):
        slot, value = slots[k], values[k]
        for c in range(1, CLASSES):
            scores[c] += weights[slot, c] * value


@njit(cache=True)
def probabilities(
    offsets: Array, slots: Array, values: Array, weights: Array, teller: Array, sharpness: Array, out: Array
) -> None:
    """Softmax of the weighted sums of each row's features, by the weights of its teller, as sharp as told."""
    scores = np.empty(CLASSES, np.float32)
    for row in range(offsets.size - 1):
        _weigh(offsets[row], offsets[row + 1], slots, values, weights[teller[row]], scores)
        top = scores[1:].max()
        total = 0.0
        for c in range(1, CLASSES):
            out[row, c] = np.exp(sharpness[row] * (scores[c] - top))
            total += out[row, c]
        for c in range(1, CLASSES):
            out[row, c] /= total
        out[row, 0] = 0.0


@njit(cache=True, error_model="numpy")
def learn(
    order: Array, offsets: Array, slots: Array, values: Array, types: Array, rate: float, ridge: float,
    weights: Array, squares: Array,
) -> None:  # fmt: skip
    """One pass of AdaGrad over the rows in that order: gradient of log p(type), weights shrunk where used.

    All weights of a feature share their rate, which takes one root and no more memory than one of them.
    """
    scores = np.empty(CLASSES, np.float32)
    for row in order:
        first, last = offsets[row], offsets[row + 1]
        _weigh(first, last, slots, values, weights, scores)
        top = scores[1:].max()
        total = 0.0
        for c in range(1, CLASSES):
            scores[c] = np.exp(scores[c] - top)
            total += scores[c]
        size = 0.0
        for c in range(1, CLASSES):
            scores[c] = scores[c] / total - (c == types[row])
            size += scores[c] * scores[c]
        for k in range(first, last):
            slot, value = slots[k], values[k]
            squares[slot] += size * value * value
            step = rate / np.sqrt(squares[slot])
            keep, move = np.float32(1.0 - ridge * step), np.float32(step * value)
            for c in range(1, CLASSES):
                weights[slot, c] = keep * weights[slot, c] - move * scores[c]


@njit(cache=True)
def small_letters(
    offsets: Array, entity: Array, layer: Array, count: Array, cased: int, lower: int,
    small: Array, every: Array,
) -> None:  # fmt: skip
    """How often links call every entity by a name, and by one in small letters.

    A name of the layer ``cased`` has no capitals if it is in the layer ``lower``, too.
    """
    for name in range(offsets.size - 1):
        rows = range(offsets[name], offsets[name + 1])
        for at in rows:
            if layer[at] == cased:
                every[entity[at]] += count[at]
                for other in rows:
                    if layer[other] == lower and entity[other] == entity[at]:
                        small[entity[at]] += count[at]
                        break
