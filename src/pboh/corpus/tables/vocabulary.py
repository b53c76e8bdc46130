"""Words of many texts numbered as they appear: the tokeniser of `pboh.text.words` over UTF-8."""

from __future__ import annotations

import numpy as np

from pboh.corpus.string_table import StringTable
from pboh.corpus.string_table_kernels import number_strings
from pboh.corpus.tables.vocabulary_kernels import Letters, Words, find_words
from pboh.corpus.utf8_kernels import Bytes, Int32, Int64
from pboh.text.words import character_tables, stop_words


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._strings = StringTable.empty()
        self._stop = 0
        self._words = Words.empty(1 << 16)
        self.encode("\n".join(sorted(stop_words(language))))
        self._stop = int(self._strings.size[0])

    def __len__(self) -> int:
        return int(self._strings.size[0]) - self._stop

    def letters(self) -> tuple[Int64, Bytes]:
        """The words by number, as UTF-8: where each begins (and the last one ends), and the bytes."""
        return self._strings.strings(self._stop)

    def texts(self) -> list[str]:
        """The words, by number."""
        return self._strings.texts(self._stop)

    def encode(self, text: str | Bytes) -> tuple[Int32, Int32, Int32]:
        """Start, end and number of every content word of a text (or its UTF-8); new words are added."""
        if isinstance(text, str):
            return self.encode(np.frombuffer(bytearray(text.encode("utf-8", "surrogatepass")), np.uint8))
        if self._words.begins.size <= text.size // 2:
            self._words = Words.empty(text.size)
        found = find_words(text, Letters(*character_tables()), self._words)
        letters = self._words.letters
        begins, ends, firsts, lasts = (column[:found] for column in self._words[1:])
        numbers, done = np.empty(found, dtype=np.int64), 0
        while (done := number_strings(self._strings, letters, begins, ends, done, True, numbers)) < found:
            self._strings = self._strings.with_room()
        kept = numbers >= self._stop
        starts, stops, words = (column[kept].astype(np.int32) for column in (firsts, lasts, numbers))
        return starts, stops, words - np.int32(self._stop)
