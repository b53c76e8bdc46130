"""Words of many texts, numbered as they appear."""

from __future__ import annotations

import numpy as np

from pboh.corpus.string_table import StringTable
from pboh.corpus.string_table_kernels import number_strings
from pboh.text.utf8_kernels import Bytes, Int32, Int64
from pboh.text.words import scan, stop_words


class Vocabulary:
    """Numbers for words in order of appearance; stop words are known to it but get none."""

    def __init__(self, language: str = "en") -> None:
        self._strings = StringTable.empty(unit=np.int32)
        self._stop = 0
        self.encode("\n".join(sorted(stop_words(language))))
        self._stop = int(self._strings.size[0])

    def letters(self) -> tuple[Int64, Bytes]:
        """The words by number, as UTF-8: where each begins (and the last one ends), and the bytes."""
        bounds, codes = self._strings.strings(self._stop)
        sizes = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
        ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        letters = codes.tobytes().decode("utf-32-le", "surrogatepass").encode("utf-8", "surrogatepass")
        return ends[bounds], np.frombuffer(letters, np.uint8)

    def encode(self, text: str | Bytes) -> tuple[Int32, Int32, Int32]:
        """Start, end and number of every content word of a text (or its UTF-8); new words are added."""
        if not isinstance(text, str):
            text = text.tobytes().decode("utf-8", "surrogatepass")
        codes, starts, ends = scan(text)
        numbers, done = np.empty(starts.size, dtype=np.int64), 0
        while (done := number_strings(self._strings, codes, starts, ends, done, True, numbers)) < starts.size:
            self._strings = self._strings.with_room()
        kept = numbers >= self._stop
        return starts[kept], ends[kept], (numbers[kept] - self._stop).astype(np.int32)
