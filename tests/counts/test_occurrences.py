"""Names in running text: the matcher against a slow one that says the same in a few lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from corpora import Page, random_pages, write_corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from twin import Counted, rows

from pboh.counts import CountOptions, count
from pboh.counts.occurrences import Dictionary
from pboh.errors import InputError
from pboh.text.matcher_kernels import LONGEST


def cut(text: str) -> list[str]:
    """Tokens with the space before them, if any; lines apart. A Chinese character is a token."""
    return re.findall(r"\s*(?:[一-鿿]|[^\W_一-鿿]+|[^\w\s]|_)", text)


def slow(names: list[str], texts: list[str]) -> list[int]:
    found = [0] * len(names)
    wanted = {name: number for number, name in enumerate(names) if len(cut(name)) <= LONGEST}
    for text in texts:
        for line in text.splitlines():
            parts = [re.sub(r"^\s+", " ", part) for part in cut(line)]
            for i in range(len(parts)):
                for j in range(i, len(parts)):
                    name = "".join(parts[i : j + 1]).removeprefix(" ")
                    if name in wanted:
                        found[wanted[name]] += 1
    return found


WORDS = st.sampled_from(
    ["New", "York", "new", "AT", "&", "T", "é", "東京", "!", "(", "x_y", " ", "  ", "-", "İ"]
)
TEXT = st.lists(WORDS, max_size=25).map("".join)


def test_the_order_of_words_matters() -> None:
    words = ["New", "York", "AT", "T", "&", "Müller", "東京", "new"]
    pairs = [f"{a} {b}" for a in words for b in words if a != b]
    found = Dictionary.of([pairs]).count([[pair] for pair in pairs])
    assert found.tolist() == [1] * len(pairs)


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXT, max_size=12), st.lists(TEXT, max_size=6))
def test_counts_equal_the_slow_ones(names: list[str], texts: list[str]) -> None:
    names = list(dict.fromkeys(name for raw in names if (name := " ".join(raw.split()))))
    fast = Dictionary.of([names[:5], names[5:]]).count([texts[:2], texts[2:]])
    assert fast.tolist() == slow(names, texts)


def test_whole_words_cased_and_overlapping() -> None:
    names = ["York", "New York", "new", "Yahoo!", "C", "C++", "York\u0301"]
    text = "New York, New\nYork; Yorkshire newer new. Yahoo! C++ York\u0301"
    assert Dictionary.of([names]).count([[text]]).tolist() == [2, 1, 1, 1, 1, 1, 1]


def test_names_of_scripts_without_spaces_are_counted_where_they_are_detected() -> None:
    names = ["東京", "東京都", "京都", "กรุงเทพ", "ကို", "Linux", "リナックス"]
    text = "東京都は東京、京都。Linuxリナックス ไปกรุงเทพ"
    assert Dictionary.of([names]).count([[text]]).tolist() == [2, 1, 2, 1, 0, 1, 1]


def test_a_large_dictionary_grows() -> None:
    names = [f"name {number} of many" for number in range(60_000)]
    counts = Dictionary.of([names[:100], names[100:]]).count([["x name 7 of many y", "name 59999 of many"]])
    assert counts.sum() == 2 and counts[7] == counts[59999] == 1


def test_linked_and_total(tmp_path: Path) -> None:
    pages = [
        Page("A", links=[("York", "York"), ("foot", "Foot")], words=["York", "York", "yorks"]),
        Page("B", "disambiguation", links=[("York", "York")], words=["York"]),
    ]
    corpus = write_corpus(tmp_path / "corpus", pages)
    count([corpus], tmp_path / "counts", CountOptions(names_in_text=True))
    found = {row["name"]: (row["linked"], row["total"]) for row in rows(tmp_path / "counts/names_in_text")}
    assert found["York"] == (1, 3)
    assert found["foot"] == (1, 1)
    assert found["A"] == (0, 0)
    assert set(found) == {name for name, _, _ in Counted(tmp_path / "counts").names()}
    with pytest.raises(InputError, match="running text"):
        count([tmp_path / "counts"], tmp_path / "more", CountOptions(names_in_text=True))


def test_option_adds_only_its_own_steps(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", random_pages(3, 40))
    count([corpus], tmp_path / "counts")
    done: list[str] = []
    count(
        [corpus],
        tmp_path / "counts",
        CountOptions(names_in_text=True),
        report=lambda _done, _total=None, detail="": done.append(detail),
    )
    assert done == ["name_ids", "name_occurrences", "names_in_text", "done"]
