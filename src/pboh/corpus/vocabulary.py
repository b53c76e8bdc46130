"""Words of many texts numbered as they appear: the tokeniser of :mod:`pboh.text` over UTF-8, in one sweep.

Extraction reads every text of a dump once, so finding a word, lower-casing, hashing and looking it up are one
loop over the bytes that are written to the table of texts anyway; positions are still code points.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pboh.corpus.compiled import Number, compiled
from pboh.corpus.names import Names, folded, has_room, hashed_bytes, key_of, look_up, slot_of
from pboh.corpus.utf8 import decoded, put
from pboh.text import BREAK, DIGIT, LONGEST_WORD, UNSPACED, _tables, stop_words

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_LONGEST = 4 * (LONGEST_WORD + 1)  # bytes
_BATCH = 128  # words looked up one after the other
_BYTE, _POINT, _FOUND, _TOUCHED = range(4)  # where the sweep over a text is


class Letters(NamedTuple):
    """For every byte of ASCII and every code point: what it does to a word, and its lower case."""

    ascii_lower: Bytes
    kinds: Bytes
    lower: Int32


class Batch(NamedTuple):
    """Words found but not yet numbered, in lower case: where each ends, its key, its place in the text."""

    letters: Bytes
    ends: Int32
    keys: Uint64
    firsts: Int32
    lasts: Int32

    @classmethod
    def empty(cls) -> Batch:
        """Room for a batch."""
        letters, keys = np.empty(_BATCH * _LONGEST, np.uint8), np.empty(_BATCH, np.uint64)
        ends, firsts, lasts = np.empty((3, _BATCH), np.int32)
        return cls(letters, ends, keys, firsts, lasts)


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._names = Names.empty()
        self._stop = 0
        self._found = np.empty((3, 0), dtype=np.int32)
        self._state = np.zeros(4, dtype=np.int64)
        self._batch = Batch.empty()
        self.encode("\n".join(sorted(stop_words(language))))
        self._stop = int(self._names.size[0])

    def __len__(self) -> int:
        return int(self._names.size[0]) - self._stop

    def letters(self) -> tuple[Int64, Bytes]:
        """The words by number, as UTF-8: where each begins (and the last one ends), and the bytes."""
        return self._names.strings(self._stop)

    def texts(self) -> list[str]:
        """The words, by number."""
        return self._names.texts(self._stop)

    def encode(self, text: str | Bytes) -> tuple[Int32, Int32, Int32]:
        """Start, end and number of every content word of a text (or its UTF-8); new words are added.

        The arrays are written to again when the next text is read.
        """
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        codes = np.frombuffer(data, dtype=np.uint8) if isinstance(data, bytes) else data
        if self._found.shape[1] <= codes.size // 2 + 1:  # a word takes two bytes or more
            self._found = np.empty((3, codes.size // 2 + 2), dtype=np.int32)
        self._state[:] = 0
        tables = _letters()
        while not _number(codes, tables, self._batch, self._names, self._stop, self._state, self._found):
            self._names = self._names.with_room(_BATCH * _LONGEST, _BATCH)
        starts, ends, numbers = self._found[:, : self._state[_FOUND]]
        return starts, ends, numbers


@cache
def _letters() -> Letters:
    """A byte in a word becomes its lower case, 0 if it ends the word, 255 if it is not ASCII."""
    kinds, lower = _tables()
    table = np.where(kinds[:256] == BREAK, 0, lower[:256]).astype(np.uint8)
    table[128:] = 255
    return Letters(table, kinds, lower)


@compiled
def _pair(
    data: Bytes, kinds: Bytes, lower: Int32, letters: Bytes, here: Number, end: Number
) -> tuple[int, int, int, int]:
    """A character of a script without spaces and the one behind it, written at ``end``.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: the next word begins with the second character, unless that is the last of its row.
    """
    code, second = decoded(data, here)
    end = put(lower[code], letters, end)
    if second >= data.size:
        return end, second, 1, 1
    code, third = decoded(data, second)
    if kinds[code] != UNSPACED:
        return end, second, 1, 1
    end = put(lower[code], letters, end)
    if third < data.size and kinds[decoded(data, third)[0]] == UNSPACED:
        return end, second, 1, 2
    return end, third, 2, 2


@compiled
def _any_word(
    data: Bytes, kinds: Bytes, lower: Int32, letters: Bytes, here: Number, end: Number
) -> tuple[int, int, int, int]:
    """What begins here, whatever its letters, written at ``end`` in lower case.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: none if it is no content word.
    """
    code, after = decoded(data, here)
    if kinds[code] == UNSPACED:
        return _pair(data, kinds, lower, letters, here, end)
    if kinds[code] == BREAK:
        return end, after, 1, 0
    length = digits = 0
    while kinds[code] not in (BREAK, UNSPACED):
        digits += kinds[code] == DIGIT
        length += 1
        if length <= LONGEST_WORD:
            end = put(lower[code], letters, end)
        here = after
        if here >= data.size:
            break
        code, after = decoded(data, here)
    return end, here, length, length if _is_word(length, digits) else 0


@compiled
def _is_word(length: Number, digits: Number) -> Number:
    """Whether so many characters, so many of them digits, are a content word."""
    return length == 4 if digits == length else 2 <= length <= LONGEST_WORD


@compiled
def _collect(data: Bytes, tables: Letters, batch: Batch, table: Uint64, state: Int64) -> int:
    """Write the next words of a text to the batch, in lower case; returns how many.

    The place of each in the table of names is touched, so that it is at hand when it is looked up.
    """
    here, at, touched = np.uint64(state[_BYTE]), state[_POINT], np.uint64(state[_TOUCHED])
    lower, letters, size = tables.ascii_lower, batch.letters, np.uint64(data.size)
    one, seven, eight = np.uint64(1), np.uint64(7), np.uint64(8)
    count, out = 0, np.uint64(0)
    length: Number
    characters: Number
    while here < size and count < _BATCH:
        low = lower[data[here]]
        if low == 0:
            here, at = here + one, at + 1
            continue
        begin, first, hashed, packed = here, out, np.uint64(0), np.uint64(0)
        longest = min(size, here + np.uint64(LONGEST_WORD + 1))
        while 0 < low < 128:
            letters[out] = low
            packed = packed << eight | np.uint64(low)
            here, out = here + one, out + one
            if (out - first) & seven == 0:
                hashed, packed = folded(hashed, packed), np.uint64(0)
            low = lower[data[here]] if here < longest else 0
        if low == 0 and (here < longest or here == size):
            length = characters = np.int64(here - begin)
            digits = _digits(data, begin, here) if data[begin] <= 57 else 0
            length = length if _is_word(length, digits) else 0
        else:
            end, after, characters, length = _any_word(
                data, tables.kinds, tables.lower, letters, np.int64(begin), np.int64(first)
            )
            out, here = np.uint64(end), np.uint64(after)
            hashed, packed = hashed_bytes(letters, np.int64(first), end)
        at += characters
        if not length:
            out = first
            continue
        key = key_of(hashed, packed, np.int64(out - first))
        touched ^= table[2 * slot_of(table, key)]
        batch.keys[count], batch.ends[count] = key, out
        batch.firsts[count], batch.lasts[count] = at - characters, at - characters + length
        count += 1
    state[_BYTE], state[_POINT], state[_TOUCHED] = here, at, np.int64(touched)
    return count


@compiled
def _digits(data: Bytes, begin: np.uint64, end: np.uint64) -> int:
    """How many digits there are among letters and digits."""
    digits = 0
    for k in range(begin, end):
        digits += data[k] <= 57
    return digits


@compiled
def _number(
    data: Bytes, tables: Letters, batch: Batch, names: Names, stop: int, state: Int64, found: Int32
) -> bool:
    """Number the content words from ``state`` on; False when there must be more room before it can go on."""
    kept = state[_FOUND]
    while state[_BYTE] < data.size:
        if not has_room(names, _BATCH * _LONGEST, _BATCH):
            return False
        begin = 0
        for k in range(_collect(data, tables, batch, names.table, state)):
            end = batch.ends[k]
            number = look_up(names, batch.keys[k], batch.letters, begin, end, True)
            # no branch: whether a word is a stop word cannot be foreseen
            found[0, kept], found[1, kept], found[2, kept] = batch.firsts[k], batch.lasts[k], number - stop
            kept += number >= stop
            begin = end
        state[_FOUND] = kept
    return True
