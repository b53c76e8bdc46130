"""Content words: the kernel against a definition in plain Python, and the vocabulary against the words."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.corpus.tables.vocabulary import Vocabulary
from pboh.text.word_kernels import LONGEST_WORD
from pboh.text.words import _SCRIPTS_WITHOUT_SPACES, lists, stop_words, words

LANGUAGES = sorted(lists())
# characters that have something to them: digits, marks, cased letters, scripts without spaces, astral planes
TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from("aBZéßİΣς09٣ _-'´東京カสวัน\u0301𐐀𝔘😀\u00ad"))
) | st.text("the AND der 19ßs")


# words around the eights of bytes that are read at once, the longest ones, and what stands between them
LENGTHS = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 59, 60, 61]
BETWEEN = ["Ⱥ", "İ", "\u2013", "\u201c", "東京", "\0", " ", "\n", "-", "😀", "1984", "k\u0301", "@[`{/:"]
PARTS = st.builds(str.__mul__, st.sampled_from("aZ7é京"), st.sampled_from(LENGTHS)) | st.sampled_from(BETWEEN)
PIECES = st.lists(PARTS, max_size=40).map("".join)


def numbered_words(vocabulary: Vocabulary) -> list[str]:
    bounds, letters = vocabulary.letters()
    data = letters.tobytes()
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]


def unspaced(character: str) -> bool:
    inside = any(first <= ord(character) <= last for first, last in _SCRIPTS_WITHOUT_SPACES)
    return inside and (ord(character) >= 0x20000 or unicodedata.category(character)[0] in "LM")


def lowered(character: str) -> str:
    special = {"İ": "i", "ς": "σ"}
    lower = character.lower()
    return special.get(character, lower if len(lower) == 1 else character)


def simple_words(text: str, language: str) -> list[tuple[int, int, str]]:
    """What a content word is, one character at a time."""
    kinds = ["U" if unspaced(c) else unicodedata.category(c)[0].translate({77: "L"}) for c in text]
    found, here = [], 0
    while here < len(text):
        group = "U" if kinds[here] == "U" else "LN" if kinds[here] in "LN" else ""
        end = here + 1
        while group and end < len(text) and kinds[end] in group:
            end += 1
        if group == "U":
            found += [(start, min(start + 2, end)) for start in range(here, max(end - 1, here + 1))]
        elif group and "L" in kinds[here:end]:
            found += [(here, end)] * (2 <= end - here <= LONGEST_WORD)
        elif group:
            found += [(here, end)] * (end - here == 4)
        here = end
    named = [(start, end, "".join(map(lowered, text[start:end]))) for start, end in found]
    return [each for each in named if each[2] not in stop_words(language)]


@given(TEXT, st.sampled_from(["en", "de", "xx"]))
def test_words_are_as_defined(text: str, language: str) -> None:
    assert words(text, language) == simple_words(text, language)


@given(st.lists(TEXT, max_size=5), st.sampled_from(["en", "xx"]))
def test_vocabulary_agrees_with_words(texts: list[str], language: str) -> None:
    vocabulary, numbered = Vocabulary(language), []
    for text in texts:
        starts, ends, numbers = vocabulary.encode(text)
        numbered.append(list(zip(starts.tolist(), ends.tolist(), numbers.tolist(), strict=True)))
    known = numbered_words(vocabulary)
    assert len(known) == len(set(known))
    for text, found in zip(texts, numbered, strict=True):
        assert [(start, end, known[number]) for start, end, number in found] == words(text, language)


def encoded(vocabulary: Vocabulary, text: str | np.ndarray) -> list[tuple[int, int, str]]:
    """What :func:`words` would say, from a vocabulary."""
    starts, ends, numbers = vocabulary.encode(text)
    known = numbered_words(vocabulary)
    return [(start, end, known[number]) for start, end, number in zip(starts, ends, numbers, strict=True)]


@given(PIECES, st.integers(1900, 2100), st.sampled_from("-aé京😀"), PIECES)
def test_texts_are_read_in_pieces(before: str, count: int, filling: str, behind: str) -> None:
    for between in (filling * count, (filling + "ab ") * (count // 4)):
        text = before + between + behind
        assert encoded(Vocabulary("en"), text) == words(text)


@pytest.mark.parametrize("word", ["A" * 60, "b" * 61, "é" * 30, "é" * 60, "é" * 61, "1984", "京" * 90])
def test_words_where_a_piece_ends(word: str) -> None:
    vocabulary = Vocabulary("en")
    for count in range(2048 - len(word.encode()) - 3, 2052):
        text = "." * count + word + " end " + word
        assert encoded(vocabulary, text) == words(text)


@given(st.lists(PIECES, max_size=5))
def test_a_text_may_be_a_part_of_an_array(texts: list[str]) -> None:
    data = np.frombuffer("".join(texts).encode(), dtype=np.uint8)
    bounds = np.cumsum([0, *(len(text.encode()) for text in texts)]).tolist()
    vocabulary = Vocabulary("en")
    for text, (first, end) in zip(texts, pairwise(bounds), strict=True):
        assert encoded(vocabulary, data[first:end]) == words(text)


@given(st.lists(st.text("ab\0", max_size=20) | st.text("aé", min_size=7, max_size=9), max_size=30))
def test_words_with_the_same_letters_are_told_apart(texts: list[str]) -> None:
    text = " ".join(texts + texts)
    assert encoded(Vocabulary("xx"), text) == words(text, "xx")


def test_lower_case_may_take_more_bytes() -> None:
    text = ("Ⱥ" * 60 + " ") * 100 + "京都" * 3000 + "Ⱥ" * 5000
    assert encoded(Vocabulary("en"), text) == words(text)


def test_examples() -> None:
    found = words("In 1984, Kim's mp3 and the 12 CD-ROMs of İzmir were 東京都; O'Neil had 12345.")
    assert [word for _, _, word in found] == [
        "1984", "kim", "mp3", "cd", "roms", "izmir", "東京", "京都", "neil",
    ]  # fmt: skip
    assert found[0] == (3, 7, "1984")


def test_marks_belong_to_their_word() -> None:
    assert [word for _, _, word in words("हिन्दी और cafe\u0301s", "hi")] == ["हिन्दी", "और", "cafe\u0301s"]


def test_a_vocabulary_grows() -> None:
    vocabulary = Vocabulary("en")
    text = " ".join(f"w{number}" for number in range(50_000))
    assert vocabulary.encode(text)[2].tolist() == list(range(50_000))
    assert vocabulary.encode("w49999 w7")[2].tolist() == [49_999, 7]


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_words(language: str) -> None:
    listed = stop_words(language)
    assert len(listed) > 100
    # each is what the tokeniser would make of it, else it could never match
    assert {word for each in listed for _, _, word in words(each, "none")} == listed


def test_languages_without_a_list_and_regional_codes() -> None:
    assert stop_words("tlh") == frozenset()
    assert stop_words("pt-br") == stop_words("pt")
