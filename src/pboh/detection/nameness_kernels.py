"""Kernels that look at how links are written."""

from __future__ import annotations

from numba import njit

from pboh.detection.token_kernels import BLANK, CAPITAL, DIGIT, LETTER, LINE, SMALL


@njit(cache=True, nogil=True)
def _look(codes, sort, start, end):  # type: ignore[no-untyped-def]
    """How a link is written: 1 capitalised, 0 in small letters, −1 unclear (it may begin a sentence)."""
    words, unclear = 0, False
    for k in range(start, end):
        kind = sort[codes[k]]
        if kind > LETTER or kind < SMALL:
            continue
        fresh = k == start or not SMALL <= sort[codes[k - 1]] <= DIGIT
        words += fresh
        if kind != CAPITAL:
            continue
        if words > 1 or (not fresh and sort[codes[k - 1]] == SMALL):  # Free Trade, iPhone, McDonald
            return 1
        before = start - 1
        while before >= 0 and sort[codes[before]] < LINE:
            before -= 1
        if before >= 0 and (sort[codes[before]] == SMALL or codes[before] == 44):  # after a word or a comma
            return 1
        unclear = True
    return -1 if unclear or words == 0 else 0


@njit(cache=True, nogil=True)
def count_looks(codes, sort, start, end, entity, person, counts):  # type: ignore[no-untyped-def]
    """Add the links of one text to ``counts[entity]`` = (capitalised, clear, right before a person, all)."""
    for k in range(start.size):
        look = _look(codes, sort, start[k], min(end[k], codes.size))
        if look >= 0:
            counts[entity[k], 0] += look
            counts[entity[k], 1] += 1
        if k + 1 < start.size and start[k + 1] == end[k] + 1 and person[entity[k + 1]]:
            counts[entity[k], 2] += sort[codes[end[k]]] == BLANK
        counts[entity[k], 3] += 1
