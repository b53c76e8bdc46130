"""Kernel that finds the names of a text again where the same words are written."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from pboh.text.hash_kernels import EMPTY, Array, helper, slot_of

_BASE = uint64(0x9E3779B97F4A7C15)
LONGEST = 8  # tokens of a name that is looked for again


@helper
def _words(sums, powers, first, last):  # type: ignore[no-untyped-def]
    """Hash of the tokens first:last; never the mark of a free slot."""
    words = sums[last] - sums[first] * powers[last - first]
    return words if words < EMPTY else EMPTY - uint64(1)


def find_again(
    written: Array, first: Array, last: Array, probability: Array, sure: float, low: float,
    spans: Array, chance: Array, again: Array,
) -> int:  # fmt: skip
    """Write every span, then the places without a span where a ``sure`` name is written once more.

    ``again[k]`` is the highest probability of the words of span k elsewhere in the text, 0 if they occur only
    once; ``chance`` of an added place is ``low``. Returns how many were written, at most as many as fit.
    """
    sums, powers = np.zeros(written.size + 1, np.uint64), np.ones(written.size + 1, np.uint64)
    size = 16 << (first.size // 4).bit_length()  # at least four times as many
    keys, places = np.full((2, size), EMPTY, np.uint64)
    best, second, lengths = np.zeros(size), np.zeros(size), np.zeros(LONGEST + 1, np.bool_)
    given = written, first, last, probability, sure, low
    scratch = sums, powers, keys, places, best, second, lengths
    return int(_find_again(*given, *scratch, spans, chance, again))


@njit(cache=True, nogil=True)
def _find_again(  # type: ignore[no-untyped-def]
    written, first, last, probability, sure, low,
    sums, powers, keys, places, best, second, lengths, spans, chance, again,
):  # fmt: skip
    n, used = written.size, first.size
    for i in range(n):
        sums[i + 1] = sums[i] * _BASE + uint64(written[i])
        powers[i + 1] = powers[i] * _BASE
    for k in range(used):
        slot = slot_of(keys, _words(sums, powers, first[k], last[k]))
        keys[slot] = _words(sums, powers, first[k], last[k])
        p = probability[k]
        if p > best[slot]:
            best[slot], second[slot] = p, best[slot]
        elif p > second[slot]:
            second[slot] = p
        place = uint64(first[k] * n + last[k] + 1)
        places[slot_of(places, place)] = place
        if p >= sure and last[k] - first[k] <= LONGEST:
            lengths[last[k] - first[k]] = True
        spans[k, 0], spans[k, 1], chance[k] = first[k], last[k], p
    for k in range(used):
        slot = slot_of(keys, _words(sums, powers, first[k], last[k]))
        again[k] = second[slot] if probability[k] == best[slot] else best[slot]
    for length in range(1, LONGEST + 1):
        for i in range(n - length + 1 if lengths[length] else 0):
            slot = slot_of(keys, _words(sums, powers, i, i + length))
            if keys[slot] == EMPTY or best[slot] < sure or used == len(spans):
                continue
            place = uint64(i * n + i + length + 1)
            if places[slot_of(places, place)] == EMPTY:
                spans[used, 0], spans[used, 1] = i, i + length
                chance[used], again[used] = low, best[slot]
                used += 1
    return used
