"""Kernels that find names in a text (see :mod:`pboh.text.matcher`)."""

from __future__ import annotations

from numba import njit, uint8, uint64

from pboh.text.hash_kernels import find, mix

SPACE, WORD, SINGLE, OTHER = 0, 1, 2, 3
SMALL = 4  # flag of a small letter
LONGEST = 16  # tokens of the longest name that is looked for
AS_WRITTEN, FOLDED = 0, 1
BEGINS, IS = 1, 2  # bits of the filter: names begin like this; this is (perhaps) a name

DROPPED = -1
START = uint64(0xCBF29CE484222325)
_PRIME = uint64(0x100000001B3)


@njit(cache=True, nogil=True, inline="always")
def feed(h, code):  # type: ignore[no-untyped-def]
    """The hash after the UTF-8 bytes of one more code point."""
    if code < 0x80:
        return (h ^ uint64(code)) * _PRIME
    if code < 0x800:
        h = (h ^ uint64(0xC0 | (code >> 6))) * _PRIME
    else:
        if code < 0x10000:
            h = (h ^ uint64(0xE0 | (code >> 12))) * _PRIME
        else:
            h = (h ^ uint64(0xF0 | (code >> 18))) * _PRIME
            h = (h ^ uint64(0x80 | ((code >> 12) & 63))) * _PRIME
        h = (h ^ uint64(0x80 | ((code >> 6) & 63))) * _PRIME
    return (h ^ uint64(0x80 | (code & 63))) * _PRIME


@njit(cache=True, nogil=True)
def _feed_folded(f, blank, code, several):  # type: ignore[no-untyped-def]
    """The folded name's hash after one more (folded) code point; ``blank``: a space comes before the next."""
    if code >= 0:
        return (f, True) if code == 32 else (feed(feed(f, 32) if blank else f, code), False)
    if code < DROPPED:
        for other in several[-2 - code]:
            if other == 32:
                blank = True
            elif other >= 0:
                f, blank = feed(feed(f, 32) if blank else f, other), False
    return f, blank


@njit(cache=True, nogil=True, inline="always")
def _flags(bits, shift, key):  # type: ignore[no-untyped-def]
    """The two bits of a key in the filter."""
    slot = key >> shift
    return (bits[slot >> uint64(2)] >> uint8(2 * (slot & uint64(3)))) & 3


@njit(cache=True, nogil=True)
def _shift(bits):  # type: ignore[no-untyped-def]
    """How far a key is shifted to give its slot."""
    power = 0
    while (1 << power) < 4 * bits.size:
        power += 1
    return uint64(64 - power)


@njit(cache=True, nogil=True)
def set_flags(bits, keys, flag):  # type: ignore[no-untyped-def]
    """Set one of the two bits of every key in the filter."""
    shift = _shift(bits)
    for key in keys:
        slot = key >> shift
        bits[slot >> uint64(2)] |= uint8(flag << uint8(2 * (slot & uint64(3))))


@njit(cache=True, nogil=True)
def find_beginnings(codes, kind, longest, out):  # type: ignore[no-untyped-def]
    """Hash what stands before every token end inside each line of ``codes``; returns how many there are."""
    used, here = 0, 0
    while here < codes.size:
        h, tokens = START, 0
        while here < codes.size and codes[here] != 10:
            last = kind[codes[here]] & 3
            h = feed(h, codes[here])
            here += 1
            if here == codes.size or codes[here] == 10:
                break
            if last == SPACE or (last == WORD and kind[codes[here]] & 3 == WORD):
                continue
            tokens += 1
            if tokens < longest:
                out[used] = mix(h)
                used += 1
        here += 1
    return used


@njit(cache=True, nogil=True)
def match(codes, start, kind, folded, several, hashes, buckets, bits, written, loosely, least, found, value):  # type: ignore[no-untyped-def]
    """Find names from code point ``start`` on until ``found`` is full.

    ``written[k]`` and ``loosely[k]`` are what name k is worth as written and folded; a name worth less than
    ``least`` is passed over (and an empty ``loosely`` leaves folding out). A row of ``found`` is (start, end,
    place in the table, tokens, form), ``value`` its worth. Returns the number of rows and where to go on.
    """
    shift = _shift(bits)
    n, used, here = codes.size, 0, start
    while here < n and used + 2 * LONGEST <= len(found):
        first = kind[codes[here]]
        sort = first & 3
        if sort in (SPACE, OTHER) or (sort == WORD and here > 0 and kind[codes[here - 1]] & 3 == WORD):
            here += 1
            continue
        h, f = START, START
        whole, loose = True, loosely.size > 0 and first & SMALL == 0
        blank = False  # a space waits to be written to the folded name
        at, tokens = here, 0
        while tokens < LONGEST and (whole or loose):
            sort = kind[codes[at]] & 3
            while True:  # one token
                code = codes[at]
                if whole:
                    h = feed(h, code)
                if loose:
                    f, blank = _feed_folded(f, blank, folded[code], several)
                at += 1
                if sort != WORD or at == n or kind[codes[at]] & 3 != WORD:
                    break
            tokens += 1
            ends = at == n
            if whole:
                key = mix(h)
                flags = _flags(bits, shift, key)
                if flags & IS:
                    place = find(hashes, buckets, key)
                    if place >= 0 and written[place] >= least:
                        found[used] = here, at, place, tokens, AS_WRITTEN
                        value[used] = written[place]
                        used += 1
                whole = flags & BEGINS != 0
            if loose:
                key = mix(f)
                flags = _flags(bits, shift, key)
                if flags & IS and sort != OTHER:
                    place = find(hashes, buckets, key)
                    if place >= 0 and loosely[place] >= least:
                        found[used] = here, at, place, tokens, FOLDED
                        value[used] = loosely[place]
                        used += 1
                # what folds to nothing glues its neighbours together (U.S., O'Neill): not a word's end yet
                glued = not ends and folded[codes[at]] != 32
                glued &= folded[codes[at - 1]] == DROPPED or (not ends and folded[codes[at]] == DROPPED)
                if not glued:
                    loose = flags & BEGINS != 0
            if ends or not (whole or loose):
                break
            lines, gap = 0, at
            while at < n and kind[codes[at]] & 3 == SPACE:
                lines += codes[at] == 10
                at += 1
            if at == n or lines > 1:
                break
            if at > gap:
                blank = True
                if whole:
                    h = feed(h, 32)
        here += 1
    return used, here
