"""Kernels that find names in a text (see :mod:`pboh.text.matcher`)."""

from __future__ import annotations

from numba import njit, uint8, uint64

from pboh.text.hash_kernels import find, helper, mix

SPACE, WORD, SINGLE, OTHER = 0, 1, 2, 3
SMALL = 4  # flag of a small letter
LONGEST = 16  # tokens of the longest name that is looked for
AS_WRITTEN, FOLDED = 0, 1
BEGINS, IS = 1, 2  # bits of the filter: names begin like this; this is (perhaps) a name

DROPPED = -1
START = uint64(0xCBF29CE484222325)
_PRIME = uint64(0x100000001B3)


@helper
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


@njit(cache=True, nogil=True, inline="always")
def _feed_space(h):  # type: ignore[no-untyped-def]
    """The hash after a space."""
    return (h ^ uint64(32)) * _PRIME


@njit(cache=True, nogil=True, inline="always")
def _feed_folded(f, blank, code, several):  # type: ignore[no-untyped-def]
    """The folded name's hash after one more (folded) code point; ``blank``: a space comes before the next."""
    if code >= 0:
        return (f, True) if code == 32 else (feed(_feed_space(f) if blank else f, code), False)
    if code < DROPPED:
        for other in several[-2 - code]:
            if other == 32:
                blank = True
            elif other >= 0:
                f, blank = feed(_feed_space(f) if blank else f, other), False
    return f, blank


@njit(cache=True, nogil=True, inline="always")
def _flags(bits, shift, key):  # type: ignore[no-untyped-def]
    """The two bits of a key in the filter."""
    slot = key >> shift
    return (bits[slot >> uint64(2)] >> uint8(2 * (slot & uint64(3)))) & 3


@njit(cache=True, nogil=True, inline="always")
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
    """Hash what comes before every token end inside each line of ``codes``; returns how many there are."""
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


@njit(cache=True, nogil=True, inline="always")
def _may_begin(kinds, here):  # type: ignore[no-untyped-def]
    """Whether a name may begin at ``here``."""
    sort = kinds[here] & 3
    return sort == SINGLE or (sort == WORD and (here == 0 or kinds[here - 1] & 3 != WORD))


@njit(cache=True, nogil=True, inline="always")
def _after_gap(codes, kinds, at):  # type: ignore[no-untyped-def]
    """Where the white space at ``at`` ends; the end of the text if a paragraph ends in it."""
    lines = 0
    while kinds[at] & 3 == SPACE:
        lines += codes[at] == 10
        at += 1
    return at if lines <= 1 else codes.size


@njit(cache=True, nogil=True, inline="always")
def _note(found, used, start, end, place, tokens, form):  # type: ignore[no-untyped-def]
    """Write a row of what was found; returns how many there are now."""
    found[used, 0], found[used, 1], found[used, 2] = start, end, place
    found[used, 3], found[used, 4] = tokens, form
    return used + 1


@njit(cache=True, nogil=True)
def match_written(codes, kinds, start, hashes, buckets, bits, worth, least, found):  # type: ignore[no-untyped-def]
    """Find names as written, white space collapsed, from code point ``start`` on until ``found`` is full.

    ``kinds`` are the kinds of the text's ``codes`` and one more, which is OTHER. Name k is passed over if
    ``worth[k]`` is less than ``least``. A row of ``found`` is (start, end, place in the table, tokens, form).
    Returns the number of rows and where to go on.
    """
    n, shift = codes.size, _shift(bits)
    used, here = 0, start
    while here < n and used + LONGEST <= len(found):
        if not _may_begin(kinds, here):
            here += 1
            continue
        first, at, tokens, h = here, here, 0, START
        goes_on = True
        while goes_on:
            h = feed(h, codes[at])
            at += 1
            if kinds[at - 1] & 3 == WORD:
                while kinds[at] & 3 == WORD:
                    h = feed(h, codes[at])
                    at += 1
            tokens += 1
            if tokens == 1:
                here = at  # no name begins inside a token
            key = mix(h)
            flags = _flags(bits, shift, key)
            if flags & IS:
                place = find(hashes, buckets, key)
                if place >= 0 and worth[place] >= least:
                    used = _note(found, used, first, at, place, tokens, AS_WRITTEN)
            goes_on = flags & BEGINS != 0 and tokens < LONGEST
            if goes_on and kinds[at] & 3 == SPACE:
                h = _feed_space(h)
                at = _after_gap(codes, kinds, at)
            goes_on &= at < n
    return used, here


@njit(cache=True, nogil=True)
def match_folded(codes, kinds, start, folded, several, hashes, buckets, bits, worth, least, found):  # type: ignore[no-untyped-def]
    """The same for names and texts that are folded, from tokens that do not begin with a small letter."""
    n, shift = codes.size, _shift(bits)
    used, here = 0, start
    while here < n and used + LONGEST <= len(found):
        if kinds[here] & SMALL or not _may_begin(kinds, here):
            here += 1
            continue
        first, at, tokens, f = here, here, 0, START
        blank = False  # a space waits to be written to the folded name
        goes_on = True
        while goes_on:
            sort = kinds[at] & 3
            within = True
            while within:
                f, blank = _feed_folded(f, blank, folded[codes[at]], several)
                at += 1
                within = sort == WORD and kinds[at] & 3 == WORD
            tokens += 1
            if tokens == 1:
                here = at
            key = mix(f)
            flags = _flags(bits, shift, key)
            if flags & IS and sort != OTHER:
                place = find(hashes, buckets, key)
                if place >= 0 and worth[place] >= least:
                    used = _note(found, used, first, at, place, tokens, FOLDED)
            goes_on = at < n and tokens < LONGEST and (flags & BEGINS != 0 or _glued(codes, folded, at))
            if goes_on and kinds[at] & 3 == SPACE:
                blank = True
                at = _after_gap(codes, kinds, at)
                goes_on = at < n
    return used, here


@njit(cache=True, nogil=True, inline="always")
def _glued(codes, folded, at):  # type: ignore[no-untyped-def]
    """Whether ``at`` ends no word because what folds to nothing glues its neighbours: U.S., O'Neill."""
    following = folded[codes[at]]
    return following == DROPPED or (following != 32 and folded[codes[at - 1]] == DROPPED)
