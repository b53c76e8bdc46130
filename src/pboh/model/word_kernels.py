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
    distinct, times, place = np.empty((3, words.size), np.int64)
    near = np.zeros(_NEAR + 1, np.bool_)
    shares = np.empty(words.size, contexts.background.dtype)
    _context_scores(*given, distinct, times, place, shares, near, out)


_NEAR = (1 << 16) - 1  # few enough bits that the table stays in the processor's cache
_SHORT, _LONG = 8, 128  # words of an entity for each of the context


@njit(cache=True, nogil=True)
def _context_scores(  # type: ignore[no-untyped-def]
    candidates, size, words, first, left, right, last, contexts, seen, options, distinct, times, place,
    shares, near, out,
):  # fmt: skip
    """``seen`` numbers the distinct words of a context from 1 on; ``times`` says how often each is there.

    An entity's words are compared with them one by one, after a look at ``near``, which says of most that
    they are none of them. In the longest lists, the words of the context are looked up instead. Terms are
    added in the order of the list if it is short, else in that of the context.
    """
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
                        distinct[found], times[found], place[found] = k, 0, -1
                        shares[found] = background[w]
                        found += 1
                        seen[w], near[w & _NEAR] = found, True
                    times[seen[w] - 1] += 1
        for c in range(size[i]):
            e = candidates[i, c]
            z = totals[e]
            if z <= 0:
                out[i, c] = 0.0
                continue
            backoff = backoff_weight(mass[e], types[e], z, xi)
            row, count = row_word[offsets[e] : offsets[e + 1]], row_count[offsets[e] : offsets[e + 1]]
            total, short = 0.0, row.size <= _SHORT * found
            if row.size <= _LONG * found:
                for k in range(row.size):
                    w = row[k]
                    if near[w & _NEAR] and seen[w] > 0 and count[k] >= smallest:
                        d = seen[w] - 1
                        if short:
                            p = shares[d]
                            total += times[d] * word_score(count[k], z, p, backoff, xi, clip, floor)
                        else:
                            place[d] = k
            else:
                for d in range(found):
                    k = first_at_least(row, 0, row.size, words[distinct[d]])
                    if k < row.size and row[k] == words[distinct[d]] and count[k] >= smallest:
                        place[d] = k
            for d in range(0 if short else found):
                if place[d] >= 0:
                    n, p = count[place[d]], shares[d]
                    total += times[d] * word_score(n, z, p, backoff, xi, clip, floor)
                    place[d] = -1
            out[i, c] = total + unmatched * length * np.log(backoff)
        for d in range(found):
            w = words[distinct[d]]
            seen[w], near[w & _NEAR] = 0, False


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
