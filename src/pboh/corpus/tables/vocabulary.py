"""Words of many texts numbered as they appear: the tokeniser of `pboh.text.words` over UTF-8, in one sweep.

Extraction reads every text of a dump once, so this is its largest loop. A text is read in pieces that stay
in the cache: lower-case its bytes, find runs of letters 64 bytes at a time, take the key of each run from
eight bytes at a time, look the keys up. Hardly any step of that depends on what the letters are, as a
processor cannot foresee that; only runs that are not ASCII are read character by character.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pboh.corpus.compiled import Number, compiled
from pboh.corpus.instructions import eight_bytes, lowest, prefetch, word_bytes
from pboh.corpus.string_table import (
    StringTable,
    folded,
    found_at_once,
    has_room,
    hashed_bytes,
    key_of,
    look_up,
    slot_of,
)
from pboh.corpus.utf8_kernels import decoded, put
from pboh.text.word_kernels import BREAK, DIGIT, LONGEST_WORD, UNSPACED
from pboh.text.words import character_tables, stop_words

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Uint64 = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_PIECE = 2048  # bytes of a text read at once
_OTHERS = _PIECE + 64  # where words that are not ASCII are written
_MOST_LETTERS = 2 * _PIECE + 4 * LONGEST_WORD  # bytes of a piece's words: each unspaced character is in two
_MOST_WORDS = _PIECE // 2 + 2  # a word takes two bytes or more; the last may end behind the piece
_AHEAD = 16  # words between fetching the slot of one and looking it up
_NOT_ASCII, _NO_DIGIT = np.uint64(0x8080808080808080), np.uint64(0x4040404040404040)  # bits of eight bytes
_BYTE, _SHIFT, _FOUND = range(3)  # where the sweep is, what to add for code points, how many words there are


class Letters(NamedTuple):
    """For every code point: what it does to a word, and its lower case."""

    kinds: Bytes
    lower: Int32


class Piece(NamedTuple):
    """A piece of a text in lower case, its runs of letters, and its words; made once, filled many times.

    ``letters`` holds the piece, 64 zeros, and the words that are not ASCII. Of every run there is where it
    begins and ends there, its key and the bits set in any byte; of every word its key, where it begins and
    ends there, and its place in the text.
    """

    letters: Bytes
    edges: Int32
    hashes: Uint64
    bits: Uint64
    keys: Uint64
    begins: Int32
    ends: Int32
    firsts: Int32
    lasts: Int32

    @classmethod
    def empty(cls) -> Piece:
        """Room for a piece."""
        letters, edges = np.zeros(_OTHERS + _MOST_LETTERS, np.uint8), np.empty(_PIECE + 2, np.int32)
        hashes, bits, keys = np.zeros((3, _MOST_WORDS + _AHEAD), np.uint64)
        return cls(letters, edges, hashes, bits, keys, *np.empty((4, _MOST_WORDS), np.int32))


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._names = StringTable.empty()
        self._stop = 0
        self._found = np.empty((3, 0), dtype=np.int32)
        self._state = np.zeros(3, dtype=np.int64)
        self._piece = Piece.empty()
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
        if isinstance(text, str):
            return self.encode(np.frombuffer(bytearray(text.encode("utf-8", "surrogatepass")), np.uint8))
        if self._found.shape[1] <= text.size // 2 + 1:  # a word takes two bytes or more
            self._found = np.empty((3, text.size // 2 + 2), dtype=np.int32)
        self._state[:] = 0
        tables = Letters(*character_tables())
        while not _number(text, tables, self._piece, self._names, self._stop, self._state, self._found):
            self._names = self._names.with_room(_MOST_LETTERS, _MOST_WORDS)
        starts, ends, numbers = self._found[:, : self._state[_FOUND]]
        return starts, ends, numbers


@compiled
def _pair(
    data: Bytes, tables: Letters, letters: Bytes, here: Number, end: Number
) -> tuple[int, int, int, int]:
    """A character of a script without spaces and the one behind it, written at ``end``.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: the next word begins with the second character, unless that is the last of its row.
    """
    kinds, lower = tables.kinds, tables.lower
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
    data: Bytes, tables: Letters, letters: Bytes, here: Number, end: Number
) -> tuple[int, int, int, int]:
    """What begins here, whatever its letters, written at ``end`` in lower case.

    Returns the end of what was written, where to go on, how many characters that is from here, and how many
    the word has: none if it is no content word.
    """
    kinds, lower = tables.kinds, tables.lower
    code, after = decoded(data, here)
    if kinds[code] == UNSPACED:
        return _pair(data, tables, letters, here, end)
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
def _lowered(data: Bytes, begin: Number, letters: Bytes) -> Number:
    """Write the next piece, its ASCII in lower case, and 64 zeros; returns how many bytes the piece has."""
    size = min(_PIECE, data.size - begin)
    for k in range(size):
        byte = data[np.uint64(begin + k)]
        capital = (byte - np.uint8(65)) & np.uint8(255) < np.uint8(26)
        letters[np.uint64(k)] = byte | capital << 5
    for k in range(size, size + 64):
        letters[np.uint64(k)] = 0
    return size


@compiled
def _runs(letters: Bytes, size: Number, edges: Int32) -> Number:
    """Write where runs of letters, digits and what is not ASCII begin and end; returns how many there are."""
    one, found, before = np.uint64(1), np.uint64(0), np.uint64(0)
    for block in range(size // 64 + 1):
        inside = word_bytes(letters, np.uint64(64 * block))
        changes = inside ^ (inside << one | before)
        before = inside >> np.uint64(63)
        while changes:
            edges[found] = np.uint64(64 * block) + lowest(changes)
            found += one
            changes &= changes - one
    return np.int64(found >> one)


@compiled
def _whole(edges: Int32, runs: Number, size: Number) -> tuple[Number, Number]:
    """How many runs of a piece that is not the last surely end in it, and where the next piece begins.

    A run too long for a word of ASCII counts too: it is read character by character, from the text itself.
    """
    if runs and edges[2 * runs - 1] == size and size - edges[2 * runs - 2] <= LONGEST_WORD:
        return runs - 1, np.int64(edges[2 * runs - 2])
    return runs, size


@compiled
def _hash_runs(letters: Bytes, edges: Int32, runs: Number, hashes: Uint64, bits: Uint64) -> None:
    """Write the key of every run and the bits set in any of its bytes; what is too long is not ASCII."""
    one, two, eight = np.uint64(1), np.uint64(2), np.uint64(8)
    for k in range(np.uint64(runs)):
        here = np.uint64(edges[two * k])
        length = np.uint64(edges[two * k + one]) - here
        if length > np.uint64(LONGEST_WORD):
            bits[k] = _NOT_ASCII
            continue
        hashed, seen, rest, packed = np.uint64(0), np.uint64(0), length, eight_bytes(letters, here)
        while rest >= eight:
            hashed, seen = folded(hashed, packed), seen | packed
            here, rest = here + eight, rest - eight
            packed = eight_bytes(letters, here)
        packed &= (one << rest * eight) - one
        hashes[k], bits[k] = key_of(hashed, packed, length), seen | packed


@compiled
def _keep(
    piece: Piece, k: np.uint64, key: np.uint64, begin: Number, end: Number, first: Number, last: Number
) -> None:
    """Write down a word."""
    piece.keys[k], piece.begins[k], piece.ends[k] = key, begin, end
    piece.firsts[k], piece.lasts[k] = first, last


@compiled
def _other_words(
    data: Bytes, tables: Letters, piece: Piece, here: int, end: int, shift: int, out: int, k: Number
) -> tuple[int, int, int, Number]:
    """Write the words of ``data[here:end]``, character by character; the last may end behind it.

    ``shift`` is to be added to bytes to get code points, ``out`` where letters are written and ``k`` the
    number of words so far. Returns where to go on, and these three.
    """
    while here < end:
        last, after, characters, length = _any_word(data, tables, piece.letters, here, out)
        if length:
            hashed, packed = hashed_bytes(piece.letters, out, last)
            key = key_of(hashed, packed, last - out)
            _keep(piece, k, key, out, last, here + shift, here + shift + length)
            k, out = k + np.uint64(1), last
        shift += here + characters - after
        here = after
    return here, shift, out, k


@compiled
def _collect(data: Bytes, tables: Letters, piece: Piece, state: Int64) -> Number:
    """Write the words of the next piece of a text, in lower case; returns how many."""
    edges, begin, shift = piece.edges, state[_BYTE], state[_SHIFT]
    size = _lowered(data, begin, piece.letters)
    runs, after = _runs(piece.letters, size, edges), size
    if begin + size < data.size:
        runs, after = _whole(edges, runs, size)
    _hash_runs(piece.letters, edges, runs, piece.hashes, piece.bits)
    count, out, one, two = np.uint64(0), _OTHERS, np.uint64(1), np.uint64(2)
    for k in range(np.uint64(runs)):
        first, last, bits = np.int64(edges[two * k]), np.int64(edges[two * k + one]), piece.bits[k]
        start, end = begin + first, begin + last
        if bits & _NOT_ASCII:
            here, shift, out, count = _other_words(data, tables, piece, start, end, shift, out, count)
            after = max(after, here - begin)
        else:  # no branch: whether it is a word cannot be foreseen
            _keep(piece, count, piece.hashes[k], first, last, start + shift, end + shift)
            count += np.uint64(end - start > 1 if bits & _NO_DIGIT else end - start == 4)
    state[_BYTE], state[_SHIFT] = begin + after, shift
    return count


@compiled
def _number(
    data: Bytes, tables: Letters, piece: Piece, names: StringTable, stop: int, state: Int64, found: Int32
) -> bool:
    """Number the content words from ``state`` on; False when there must be more room before it can go on."""
    kept = np.uint64(state[_FOUND])
    while state[_BYTE] < data.size:
        if not has_room(names, _MOST_LETTERS, _MOST_WORDS):
            return False
        for k in range(_collect(data, tables, piece, state)):
            # behind the last word there are keys of other pieces: fetching theirs does no harm
            prefetch(names.table, 2 * slot_of(names.table, piece.keys[k + np.uint64(_AHEAD)]))
            key, begin, end = piece.keys[k], piece.begins[k], piece.ends[k]
            number = found_at_once(names, key, piece.letters, begin, end)
            if number < 0:
                number = look_up(names, key, piece.letters, begin, end, True)
            # no branch: whether a word is a stop word cannot be foreseen
            found[0, kept], found[1, kept], found[2, kept] = piece.firsts[k], piece.lasts[k], number - stop
            kept += np.uint64(number >= stop)
        state[_FOUND] = kept
    return True
