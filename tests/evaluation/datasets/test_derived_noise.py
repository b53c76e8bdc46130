"""Readings in capitals and with thinned contexts: offsets still point at the mentions."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.datasets.core import GoldDocument, GoldMention
from pboh.evaluation.datasets.derived import capitals, thin

DATA = Path(__file__).parents[2] / "data"


def test_capitals_keep_every_offset() -> None:
    plain, loud = read_dataset(DATA / "world.jsonl"), read_dataset(f"capitals:{DATA / 'world.jsonl'}")
    assert loud.name == "capitals:world" and len(loud) == len(plain)
    for before, after in zip(plain, loud, strict=True):
        assert after.text == capitals(before.text) and after.whole == before.text
        assert [(m.start, m.end, m.gold) for m in after.mentions] == [
            (m.start, m.end, m.gold) for m in before.mentions
        ]
        assert all(after.text[m.start : m.end] == m.text for m in after.mentions)


@given(st.text())
def test_letters_without_a_single_capital_stay(text: str) -> None:
    assert len(capitals(text)) == len(text)
    assert capitals("Straße ﬁn") == "STRAßE ﬁN"


def test_half_of_the_words_go_and_mentions_stay() -> None:
    text = "Paris " + "word " * 400 + "Bill Clinton " + "other " * 400
    mentions = (GoldMention(0, 5, "Paris", "Paris"), GoldMention(2006, 2018, "Bill Clinton", "Bill Clinton"))
    after = thin(GoldDocument("d", text, mentions), ["foreign"])
    assert [after.text[m.start : m.end] for m in after.mentions] == ["Paris", "Bill Clinton"]
    words = re.findall(r"\w+", after.text)
    assert 320 < len(words) < 480 and 10 < words.count("foreign") < 80
    assert after == thin(GoldDocument("d", text, mentions), ["foreign"]), "the same every time"


@given(st.text(), st.lists(st.integers(0, 30), max_size=8))
def test_thinned_mentions_keep_their_text(text: str, cuts: list[int]) -> None:
    ends = sorted({cut for cut in cuts if cut <= len(text)})
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    document = GoldDocument("d", text, tuple(GoldMention(a, b, text[a:b], "X") for a, b in spans))
    after = thin(document, ["foreign"])
    assert [after.text[m.start : m.end] for m in after.mentions] == [m.text for m in document.mentions]


def test_overlapping_mentions_move_together() -> None:
    text = "some words before New York City and after"
    mentions = (GoldMention(18, 31, "New York City", "A"), GoldMention(22, 26, "York", "B"))
    after = thin(GoldDocument("d", text, mentions), [])
    assert [after.text[m.start : m.end] for m in after.mentions] == ["New York City", "York"]
