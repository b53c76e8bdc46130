"""Kernels of the context score: words of a text as numbers, and what they say of each candidate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, find, first_at_least, hash_units, helper


@helper
def word_score(n: float, z: float, p: float, backoff: float, xi: float, clip: float, floor: float) -> float:
    """log p̃(w|e)/p(w) above the back-off: log(max(N−ξ,0)/(Z_e·p(w)) + (1−μ_e)) − log(1−μ_e).

    Ratios below ``floor`` count as unmatched (0); the log ratio is clipped at ``clip``.
    """
    ratio = max(n - xi, 0.0) / (z * p) + backoff
    if ratio < floor:
        return 0.0
    return float(min(np.log(ratio), clip) - np.log(backoff))


@njit(cache=True, nogil=True, inline="always")
def backoff_weight(mass: float, types: float, z: float, xi: float) -> float:
    """1−μ_e, which makes Σ_w p̃(w|e) = 1: all mass that is not (N−ξ)/Z_e of a kept word."""
    return max(1.0 - (mass - xi * types) / z, 1e-9)


@njit(cache=True, nogil=True)
def row_scores(owner, word, count, totals, mass, types, background, xi, clip, floor):  # type: ignore[no-untyped-def]
    """The score of N(w,e) = ``count`` for every pair of an entity and one of its words."""
    out = np.empty(owner.size, np.float64)
    for k in range(owner.size):
        e = owner[k]
        backoff = backoff_weight(mass[e], types[e], totals[e], xi)
        out[k] = word_score(count[k], totals[e], background[word[k]], backoff, xi, clip, floor)
    return out


class Contexts(NamedTuple):
    """N(w,e) by entity, words ascending, with what smoothing needs."""

    offsets: Array
    word: Array
    times: Array
    total: Array  # Z_e
    mass: Array  # Σ_w N(w,e) of the kept words
    types: Array  # how many there are
    background: Array  # p(w)


def context_scores(
    candidates: Array, size: Array, words: Array, runs: tuple[Array, ...], contexts: Contexts, seen: Array,
    options: Array, out: Array,
) -> None:  # fmt: skip
    """Σ_{w∈c_i} log p(w|e)/p(w) for every candidate of every mention (the context sum of Eq. local-all).

    With ``runs`` = (first, left, right, last), the words of mention i are ``words[first[i]:left[i]]`` and
    ``words[right[i]:last[i]]`` (−1 = not in the vocabulary). ``seen`` is one zero per word of the vocabulary,
    left as found. ``options`` = ξ, unmatched weight, clip, floor, smallest count. An entity without
    statistics scores exactly 0.
    """
    first, left, right, last = runs
    given = candidates, size, words, first, left, right, last, contexts, seen, options
    _context_scores(*given, np.empty(words.size, np.int64), out)


@njit(cache=True, nogil=True)
def _context_scores(  # type: ignore[no-untyped-def]
    candidates, size, words, first, left, right, last, contexts, seen, options, distinct, out
):
    offsets, row_word, row_count, totals, mass, types, background = contexts
    xi, unmatched, clip, floor, smallest = options[0], options[1], options[2], options[3], options[4]
    for i in range(candidates.shape[0]):
        found, length = 0, 0
        for side in range(2):
            begin, stop = (first[i], left[i]) if side == 0 else (right[i], last[i])
            for k in range(begin, stop):
                length += 1
                w = words[k]
                if w >= 0:
                    if seen[w] == 0:
                        distinct[found] = w
                        found += 1
                    seen[w] += 1
        for c in range(size[i]):
            e = candidates[i, c]
            z = totals[e]
            if z <= 0:
                out[i, c] = 0.0
                continue
            backoff = backoff_weight(mass[e], types[e], z, xi)
            begin, stop = offsets[e], offsets[e + 1]
            total = 0.0
            if stop - begin <= 8 * found:
                for k in range(begin, stop):
                    times = seen[row_word[k]]
                    if times > 0 and row_count[k] >= smallest:
                        p = background[row_word[k]]
                        total += times * word_score(row_count[k], z, p, backoff, xi, clip, floor)
            else:
                for d in range(found):
                    w = distinct[d]
                    k = first_at_least(row_word, begin, stop, w)
                    if k < stop and row_word[k] == w and row_count[k] >= smallest:
                        total += seen[w] * word_score(
                            row_count[k], z, background[w], backoff, xi, clip, floor
                        )
            out[i, c] = total + unmatched * length * np.log(backoff)
        for d in range(found):
            seen[distinct[d]] = 0


def number_words(
    codes: Array, starts: Array, ends: Array, stop: Array, hashes: Array, buckets: Array, numbers: Array
) -> tuple[Array, Array, Array]:
    """Start, end and vocabulary number (−1 = unknown) of the words that are not stop words.

    ``codes`` are lower-cased code points, ``stop`` the ascending hashes of the stop words.
    """
    begin, finish, number = np.empty((3, starts.size), np.int64)
    kept = _number_words(codes, starts, ends, stop, hashes, buckets, numbers, begin, finish, number)
    return begin[:kept], finish[:kept], number[:kept]


@njit(cache=True, nogil=True)
def _number_words(codes, starts, ends, stop, hashes, buckets, numbers, begin, finish, number):  # type: ignore[no-untyped-def]
    kept = 0
    for k in range(starts.size):
        key = hash_units(codes, starts[k], ends[k])
        at = first_at_least(stop, 0, stop.size, key)
        if at < stop.size and stop[at] == key:
            continue
        at = find(hashes, buckets, key)
        begin[kept], finish[kept], number[kept] = starts[k], ends[k], -1
        if at >= 0:
            number[kept] = numbers[at]
        kept += 1
    return kept
