"""Kernels that gather the candidates of names from the model's name table."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from pboh.text.hash_kernels import EMPTY, Array, slot_of

SLOTS = 2048  # more than all layers of one name can hold together


def gather(
    positions: Array, offsets: Array, entity: Array, layer: Array, count: Array, popularity: Array,
    weights: Array, exponent: float, followed: Array, use: float, top: int,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Candidates of every mention: p(e|m) ∝ Σ_layer weight · c_layer(m, e), the ``top`` best, normalised.

    Returns entities, p(e|m), their number, and the sum of weighted counts they were normalised by.

    ``positions[i]`` are the places of mention i's cased, lower and folded form in the name table (−1 =
    absent). Layers made from titles carry no counts of use; theirs is popularity(e)^exponent. Rows of the
    lower form behind all layers have factors, (p(followed|m,e) / p(followed|m))^use, for ``followed`` names.
    """
    n = len(positions)
    found, prior = np.zeros((n, top), np.int32), np.zeros((n, top))
    size, total = np.zeros(n, np.int32), np.zeros(n)
    slots = np.full(SLOTS, EMPTY, np.uint64), np.zeros(SLOTS), np.empty(SLOTS, np.int64)
    rows = positions, offsets, entity, layer, count, popularity
    _gather(*rows, weights, exponent, followed, use, *slots, found, prior, size, total)
    return found, prior, size, total


@njit(cache=True, nogil=True)
def _gather(  # type: ignore[no-untyped-def]
    positions, offsets, entity, layer, count, popularity, weights, exponent, followed, use,
    slot_entity, slot_value, used, found, prior, size, total,
):  # fmt: skip
    for i in range(len(positions)):
        filled = 0
        for form in range(3):
            at = positions[i, form]
            if at < 0:
                continue
            for k in range(offsets[at], offsets[at + 1]):
                weight = weights[layer[k]] if layer[k] < weights.size else 0.0
                if weight == 0.0 or (layer[k] if layer[k] < 2 else 2) != form:
                    continue
                value = weight * count[k]
                if layer[k] >= 3 and exponent != 0.0:
                    value *= (popularity[entity[k]] + 1.0) ** exponent
                slot = slot_of(slot_entity, uint64(entity[k]))
                if slot_entity[slot] == EMPTY:
                    slot_entity[slot] = entity[k]
                    used[filled] = slot
                    filled += 1
                slot_value[slot] += value
        at = positions[i, 1]
        if followed[i] and use != 0.0 and at >= 0:
            row = np.int64(offsets[at + 1]) - 1
            while row >= offsets[at] and layer[row] == weights.size:
                slot_value[slot_of(slot_entity, uint64(entity[row]))] *= count[row] ** use
                row -= 1
        size[i], total[i] = _best(i, slot_entity, slot_value, used, filled, found, prior)


def add_inherited(
    parts: Array, givers: Array, ends: Array, weight: float,
    entity: Array, prior: Array, size: Array, total: Array,
) -> None:  # fmt: skip
    """Add to the links of name ``parts[k]`` those of the names ``givers[ends[k]:ends[k + 1]]`` that have any.

    Together these count as ``weight`` more links. All are read before any is changed.
    """
    most = int(np.add.reduceat(size[givers], ends[:-1]).max() + size.max())
    slots = 1 << (2 * most + 1).bit_length()
    scratch = np.full(slots, EMPTY, np.uint64), np.zeros(slots), np.empty(most, np.int64)
    before = entity.copy(), prior.copy(), size.copy()
    _add_inherited(parts, givers, ends, weight, *before, *scratch, entity, prior, size, total)


@njit(cache=True, nogil=True)
def _add_inherited(  # type: ignore[no-untyped-def]
    parts, givers, ends, weight, entity, prior, size, slot_entity, slot_value, used,
    found, shares, sizes, total,
):  # fmt: skip
    for k in range(parts.size):
        i, filled, giving = parts[k], 0, 0
        for j in givers[ends[k] : ends[k + 1]]:
            giving += size[j] > 0
        if giving == 0:
            continue
        for g in range(ends[k] - 1, ends[k + 1]):  # first its own
            j = givers[g] if g >= ends[k] else i
            for c in range(size[j]):
                slot = slot_of(slot_entity, uint64(entity[j, c]))
                if slot_entity[slot] == EMPTY:
                    slot_entity[slot] = entity[j, c]
                    used[filled] = slot
                    filled += 1
                slot_value[slot] += weight * prior[j, c] / giving if g >= ends[k] else prior[j, c] * total[i]
        sizes[i], total[i] = _best(i, slot_entity, slot_value, used, filled, found, shares)


@njit(cache=True, nogil=True, inline="always")
def _best(i, slot_entity, slot_value, used, filled, found, prior):  # type: ignore[no-untyped-def]
    """Put the best entries into ``found[i]``, best first (ties: lower entity), normalised into ``prior[i]``.

    By insertion: a name has few candidates, and a sort would take longer to compile than to run. The slots
    that were used are free again afterwards.
    """
    size, top, total = 0, found.shape[1], 0.0
    for f in range(filled):
        entity, value = np.int32(slot_entity[used[f]]), slot_value[used[f]]
        slot_entity[used[f]], slot_value[used[f]] = EMPTY, 0.0
        k = size
        while k > 0 and (prior[i, k - 1] < value or (prior[i, k - 1] == value and found[i, k - 1] > entity)):
            if k < top:
                found[i, k], prior[i, k] = found[i, k - 1], prior[i, k - 1]
            k -= 1
        if k < top:
            found[i, k], prior[i, k] = entity, value
            size += size < top
    for k in range(size):
        total += prior[i, k]
    for k in range(size):
        prior[i, k] /= total
    return size, total
