"""Tokens are those of the dictionary's matcher, and sentences end where readers see an end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.detection.token_kernels import GLUED, NEW_LINE, S_OTHER, SPACED, cut_sentences
from pboh.detection.tokens import CAPITALISED, code_points, tokens
from pboh.text.matcher import characters
from pboh.text.matcher_kernels import SPACE, WORD


def words(text):
    cut = tokens(code_points(text))
    return [text[a:b] for a, b in zip(cut.start.tolist(), cut.end.tolist(), strict=True)]


def sentences(text, abbreviations=()):
    codes = code_points(text)
    cut = tokens(codes)
    short = np.asarray([word in abbreviations for word in words(text)], bool)
    number = np.zeros(cut.start.size, np.int32)
    count = cut_sentences(codes, cut.start, cut.shape, cut.gap, short, number)
    assert count == (number[-1] + 1 if number.size else 0)
    ends = [*np.flatnonzero(np.diff(number)), number.size - 1]
    begins = [0, *(end + 1 for end in ends[:-1])]
    return [text[cut.start[a] : cut.end[b]] for a, b in zip(begins, ends, strict=True)]


def test_words_are_whole_and_other_characters_single():
    assert words("O'Neill won 2–1, état!") == ["O", "'", "Neill", "won", "2", "–", "1", ",", "état", "!"]
    assert words("東京に行く") == ["東", "京", "に", "行", "く"]


@pytest.mark.parametrize("word", ["Paris", "UN", "X", "McDonald", "B52", "Éva", "Київ"])
def test_capitalised_words(word):
    assert CAPITALISED[tokens(code_points(word)).shape[0]]


@pytest.mark.parametrize("word", ["paris", "1996", "3rd", "iPhone", "京", "서울", ","])
def test_other_words(word):
    assert not CAPITALISED[tokens(code_points(word)).shape[0]]


def test_gaps():
    assert tokens(code_points("a b,c\nd")).gap.tolist() == [NEW_LINE, SPACED, GLUED, GLUED, NEW_LINE]


def test_same_word_in_another_case():
    cut = tokens(code_points("Paris PARIS paris"))
    assert len(set(cut.word.tolist())) == 1
    assert len(set(cut.written.tolist())) == 3


def test_sentences():
    assert sentences("It rained. He left! “Why?” Ann asked.") == [
        "It rained.",
        "He left!",
        "“Why?”",
        "Ann asked.",
    ]
    assert sentences("J. K. Rowling wrote it. It sold.") == ["J. K. Rowling wrote it.", "It sold."]
    assert sentences("Dr. Smith came.", {"Dr"}) == ["Dr. Smith came."]
    assert sentences("About 3.5 km. of road") == ["About 3.5 km. of road"]
    assert sentences("A title\nIts text") == ["A title", "Its text"]
    assert sentences("東京に行く。京都も。") == ["東京に行く。", "京都も。"]


@given(st.text())
def test_any_text_is_covered_but_for_its_spaces(text):
    codes, kind = code_points(text), characters().kind & 3
    cut = tokens(codes)
    inside = np.zeros(codes.size, bool)
    for start, end in zip(cut.start.tolist(), cut.end.tolist(), strict=True):
        assert end - start == 1 or (kind[codes[start:end]] == WORD).all()
        inside[start:end] = True
    assert (inside == (kind[codes] != SPACE)).all()
    assert (cut.start[1:] >= cut.end[:-1]).all()
    assert ((cut.shape >= S_OTHER) == (kind[codes[cut.start]] == 3)).all()
    number = np.zeros(cut.start.size, np.int32)
    cut_sentences(codes, cut.start, cut.shape, cut.gap, np.zeros(number.size, bool), number)
    assert (np.diff(number) >= 0).all()
