"""Kernel that hashes the names a title suggests (see :func:`pboh.model.small.compressed.title_forms`)."""

from __future__ import annotations

import numpy as np
from numba import njit, uint64

from pboh.text.hash_kernels import helper, mix
from pboh.text.matcher_kernels import DROPPED, SPACE, START, feed

_BLANK = np.int32(32)
_THE = uint64(0x56F5C9194461D57C)  # the hash of "the", before it is mixed


@helper
def _folded_hash(codes, first, last, folded, several):  # type: ignore[no-untyped-def]
    """Hash of ``codes[first:last]`` folded as :func:`pboh.text.folding.fold` does, 0 if nothing is left."""
    h, blank, whole = START, first > last, first <= last  # not constants: helpers would compile twice
    for i in range(first, last):
        code = folded[codes[i]]
        if code >= DROPPED:
            h, blank, whole = _add(h, blank, whole, code)
        else:
            for other in several[-2 - code]:
                h, blank, whole = _add(h, blank, whole, other)
    return uint64(0) if h == START else mix(h)


@helper
def _add(h, blank, whole, code):  # type: ignore[no-untyped-def]
    """The hash of a folded name after one more code point; ``whole``: no leading article was cut off yet."""
    if code == 32:
        return h, h != START, whole
    if code < 0:
        return h, blank, whole
    if blank and whole and h == _THE:
        h, whole = START, False
    elif blank:
        h = feed(h, _BLANK)
    return feed(h, code), False, whole


@helper
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
    for i in range(starts.size):
        first, last = starts[i], ends[i]
        if first == last:
            continue
        bare = _bare_end(codes, first, last)
        out[0, i] = _folded_hash(codes, first, last, folded, several)
        out[1, i] = _folded_hash(codes, first, bare, folded, several)
        at = bare
        while at > first and kind[codes[at - 1]] & 3 != SPACE:
            at -= 1
        out[2, i] = _folded_hash(codes, at, bare, folded, several)
        at = first
        while at < bare and kind[codes[at]] & 3 != SPACE:
            at += 1
        out[3, i] = _folded_hash(codes, first, at, folded, several)
