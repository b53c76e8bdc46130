"""Kernels of the table that says how the corpus writes a word."""

from __future__ import annotations

from numba import njit, uint32


@njit(cache=True, nogil=True)
def fill_words(words, known, table):  # type: ignore[no-untyped-def]
    """Enter words (hashes) into an empty table: 24 bits of the hash and 8 bits of what is known of it."""
    mask = uint32(table.size - 1)
    for k in range(words.size):
        slot = words[k] & mask
        while table[slot] != 0:
            slot = (slot + uint32(1)) & mask
        table[slot] = (words[k] & uint32(0xFFFFFF00)) | uint32(known[k])


@njit(cache=True, nogil=True)
def look_up_words(words, table, out):  # type: ignore[no-untyped-def]
    """What is known of every word; 0 is nothing."""
    mask = uint32(table.size - 1)
    for k in range(words.size):
        slot = words[k] & mask
        out[k] = 0
        while table[slot] != 0:
            if (table[slot] ^ words[k]) & uint32(0xFFFFFF00) == 0:
                out[k] = table[slot] & uint32(0xFF)
                break
            slot = (slot + uint32(1)) & mask
