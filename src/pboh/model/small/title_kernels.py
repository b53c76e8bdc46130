"""Kernel that hashes the names a title suggests (see :func:`pboh.model.small.compressed.title_forms`)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import mix
from pboh.text.matcher_kernels import DROPPED, SPACE, START, feed


@njit(cache=True, nogil=True)
def _folded_hash(codes, first, last, folded, several, buffer):  # type: ignore[no-untyped-def]
    """Hash of ``codes[first:last]`` folded as :func:`pboh.text.folding.fold` does, 0 if nothing is left."""
    size, blank = 0, False
    for i in range(first, last):
        code = folded[codes[i]]
        parts = 1 if code >= DROPPED else several.shape[1]
        for k in range(parts):
            other = code if code >= DROPPED else several[-2 - code, k]
            if other == 32:
                blank = size > 0
            elif other >= 0:
                if blank:
                    buffer[size] = 32
                    size += 1
                    blank = False
                buffer[size] = other
                size += 1
    begin = 0
    if size > 4 and buffer[0] == 116 and buffer[1] == 104 and buffer[2] == 101 and buffer[3] == 32:
        begin = 4
    if begin == size:
        return np.uint64(0)
    h = START
    for i in range(begin, size):
        h = feed(h, buffer[i])
    return mix(h)


@njit(cache=True, nogil=True)
def _bare_end(codes, first, last):  # type: ignore[no-untyped-def]
    """Where a title ends without its qualifier: before the last (…), and before the first ", "."""
    end = last
    if codes[last - 1] == 41:
        at = last - 2
        while at >= first and codes[at] not in (40, 41):
            at -= 1
        if at >= first and codes[at] == 40:
            end = at
            while end > first and codes[end - 1] == 32:
                end -= 1
    for i in range(first, end - 1):
        if codes[i] == 44 and codes[i + 1] == 32:
            return i
    return end


@njit(cache=True, nogil=True)
def title_forms_kernel(codes, starts, ends, kind, folded, several, out):  # type: ignore[no-untyped-def]
    """Hashes of title, stripped title, last and first word of every title: rows of ``out``."""
    longest = 0
    for i in range(starts.size):
        longest = max(longest, ends[i] - starts[i])
    buffer = np.empty(several.shape[1] * longest + 2, np.int32)
    for i in range(starts.size):
        first, last = starts[i], ends[i]
        if first == last:
            continue
        bare = _bare_end(codes, first, last)
        out[0, i] = _folded_hash(codes, first, last, folded, several, buffer)
        out[1, i] = _folded_hash(codes, first, bare, folded, several, buffer)
        at = bare
        while at > first and kind[codes[at - 1]] & 3 != SPACE:
            at -= 1
        out[2, i] = _folded_hash(codes, at, bare, folded, several, buffer)
        at = first
        while at < bare and kind[codes[at]] & 3 != SPACE:
            at += 1
        out[3, i] = _folded_hash(codes, first, at, folded, several, buffer)
