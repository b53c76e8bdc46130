"""Sentences rewritten in other styles keep their tokens and labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.detection.chain_kernels import BEGIN, INSIDE, LAST, OUTSIDE, UNIT
from pboh.detection.styles import foreign_letters, incorporate, post, restyle, translate
from pboh.detection.tokens import code_points, tokens

TEXT = "The mayor of New York met Ann, it said."


@pytest.mark.parametrize(
    ("style", "text"),
    [
        (0, "THE MAYOR OF NEW YORK MET ANN, IT SAID."),
        (1, "the mayor of new york met ann, it said."),
        (2, "The Mayor of New York met Ann, it Said."),
    ],
)
def test_styles(style, text):
    codes = code_points(TEXT).copy()
    cut = tokens(codes)
    restyle(codes, cut, np.arange(cut.start.size), style)
    assert codes.tobytes().decode("utf-32-le") == text


@given(st.text(min_size=1), st.integers(0, 2))
def test_any_text_keeps_its_tokens(text, style):
    codes = code_points(text).copy()
    cut = tokens(codes)
    if cut.start.size:
        restyle(codes, cut, np.arange(cut.start.size), style)
        again = tokens(codes)
        assert again.start.tolist() == cut.start.tolist()
        assert again.end.tolist() == cut.end.tolist()


def test_posts_tag_names():
    cut = tokens(code_points(TEXT))
    label = np.full(cut.start.size, OUTSIDE, np.int8)
    label[[3, 4, 6]] = BEGIN, LAST, UNIT
    seen = set()
    for seed in range(30):
        text, labels = post(TEXT, cut, label, np.arange(label.size), np.random.default_rng(seed))
        again = tokens(code_points(text))
        assert again.start.size == labels.size
        names = {text[a:b] for a, b, y in zip(again.start, again.end, labels, strict=True) if y == UNIT}
        seen |= {name.lower() for name in names}
    assert seen == {"newyork", "ann"}


def test_another_language_has_other_words_but_the_same_names():
    codes = code_points(TEXT).copy()
    cut = tokens(codes)
    label = np.full(cut.start.size, OUTSIDE, np.int8)
    label[[3, 4, 6]] = BEGIN, LAST, UNIT
    translate(codes, cut, label, np.arange(label.size), foreign_letters(np.random.default_rng(1)))
    text = codes.tobytes().decode("utf-32-le")
    again = tokens(codes)
    assert again.start.tolist() == cut.start.tolist()
    assert again.shape.tolist() == cut.shape.tolist()
    assert text[13:21] == "New York" and text[26:29] == "Ann"
    assert not {"mayor", "met", "said"} & set(text.lower().replace(",", "").rstrip(".").split())


def test_firms_get_a_legal_form():
    cut = tokens(code_points(TEXT))
    label = np.full(cut.start.size, OUTSIDE, np.int8)
    label[[3, 4, 6]] = BEGIN, LAST, UNIT
    where, random = np.arange(label.size), np.random.default_rng(1)
    text, labels = incorporate(TEXT, cut, label, where, frozenset([4, 6]), random)
    again = tokens(code_points(text))
    written = [text[a:b] for a, b in zip(again.start, again.end, strict=True)]
    assert written[3:5] == ["New", "York"] and labels[3:6].tolist() == [BEGIN, INSIDE, LAST]
    assert written[7] == "Ann" and labels[7:9].tolist() == [BEGIN, LAST]
    assert incorporate(TEXT, cut, label, where, frozenset(), random)[0] == TEXT
