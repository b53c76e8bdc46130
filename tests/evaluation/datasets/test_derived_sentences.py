"""Sentences as documents: every mention stays, offsets are the sentence's own, and the page is recognised."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.datasets.core import GoldDocument, GoldMention
from pboh.evaluation.datasets.derived import sentences
from pboh.evaluation.leakage import check_disjoint

DATA = Path(__file__).parents[2] / "data"


def document(text: str, *names: str) -> GoldDocument:
    starts = [text.index(name) for name in names]
    mentions = (GoldMention(s, s + len(n), n, n) for s, n in zip(starts, names, strict=True))
    return GoldDocument("d", text, tuple(mentions))


def test_every_sentence_with_a_mention_is_a_document() -> None:
    text = "Clinton met Blair. It rained!\nÉtienne left St. Louis for Paris."
    found = sentences(document(text, "Clinton", "Blair", "St. Louis", "Paris"))
    assert [d.text for d in found] == ["Clinton met Blair.", "Étienne left St. Louis for Paris."]
    assert [d.id for d in found] == ["d/0", "d/2"]
    assert [[d.text[m.start : m.end] for m in d.mentions] for d in found] == [
        ["Clinton", "Blair"],
        ["St. Louis", "Paris"],
    ]


@given(st.text(alphabet="Ab.!\n ", max_size=60), st.data())
def test_no_mention_is_lost(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    mentions = tuple(GoldMention(start, end, text[start:end], "X") for start, end in spans)
    found = sentences(GoldDocument("d", text, mentions))
    assert [m.text for d in found for m in d.mentions] == [m.text for m in mentions]
    assert all(d.text[m.start : m.end] == m.text for d in found for m in d.mentions)


def test_the_prefix_combines_and_says_what_it_did() -> None:
    later = read_dataset(f"later:{DATA / 'world.jsonl'}")
    short = read_dataset(f"sentences:later:{DATA / 'world.jsonl'}")
    assert short.name == "sentences:later:world"
    assert short.mentions == later.mentions and len(short) > len(later)
    assert any("sentence" in line for line in short.policy)


def test_sentences_of_a_page_do_not_judge_what_the_page_chose() -> None:
    pages = read_dataset(DATA / "world.jsonl")
    with pytest.raises(InputError, match="also in the validation data"):
        check_disjoint([read_dataset(f"sentences:{DATA / 'world.jsonl'}")], [pages])
