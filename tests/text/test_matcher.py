"""Names in a text: the kernel against a slow twin that says the same in a few lines, on any script."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.text.folding import fold
from pboh.text.matcher import Lexicon, characters, matches
from pboh.text.matcher_kernels import FOLDED, LONGEST

NONE = np.empty(0, np.float32)


def found(text, names, *, folded=False):
    """Every (surface, form) that the kernel finds."""
    lexicon = Lexicon.of(names)
    any_name = np.ones(lexicon.hashes.size, np.float32)
    rows, _ = matches(text, lexicon, any_name, any_name if folded else NONE, 0.5)
    return [(text[a:b], int(form)) for a, b, _, _, form in rows]


def surfaces(text, names):
    return [surface for surface, _ in found(text, names)]


def tokens(text):
    """(start, end) of every token, as the module's docstring defines them."""
    kind = characters().kind
    spans = []
    for i, c in enumerate(text):
        sort = kind[ord(c)] & 3
        if sort == 0:
            continue
        if sort == 1 and spans and spans[-1][1] == i and kind[ord(text[i - 1])] & 3 == 1:
            spans[-1] = (spans[-1][0], i + 1)
        else:
            spans.append((i, i + 1))
    return spans


def twin(text, names):
    """All spans of up to LONGEST tokens, starting at a word, whose collapsed text is a name."""
    kind, spans, names = characters().kind, tokens(text), {" ".join(n.split()) for n in names}
    hits = []
    for i, (start, _) in enumerate(spans):
        if kind[ord(text[start])] & 3 not in (1, 2):
            continue
        for _, end in spans[i : i + LONGEST]:
            inside = text[start:end]
            gaps = "".join(c if c.isspace() else "x" for c in inside).split("x")
            if any(gap.count("\n") > 1 for gap in gaps):
                break
            if " ".join(inside.split()) in names:
                hits.append(inside)
    return hits


NAMES = [
    "New York",
    "New York City",
    "York",
    "U.S.",
    "U.S. Army",
    "AT&T",
    "Yahoo!",
    "北京",
    "北京大学",
    "a b",
]


def test_names_stand_at_whole_tokens_and_may_overlap():
    text = "New York City's Yorkshire; the U.S. Army and AT&T bought Yahoo! in New\nYork."
    assert surfaces(text, NAMES) == [
        "New York", "New York City", "York", "U.S.", "U.S. Army", "AT&T", "Yahoo!", "New\nYork", "York",
    ]  # fmt: skip


def test_a_paragraph_ends_every_name():
    assert surfaces("New\n\nYork", ["New York"]) == []


def test_scripts_without_spaces_are_matched_by_character():
    assert surfaces("我在北京大学学习。", NAMES) == ["北京", "北京大学"]
    assert surfaces("ไปกรุงเทพมหานคร", ["กรุงเทพ"]) in (["กรุงเทพ"], [])  # marks belong to their letter


@pytest.mark.parametrize(
    ("name", "text", "surface"),
    [
        ("Gerd Müller", "GERD MULLER scored", "GERD MULLER"),
        ("Gerd Müller", unicodedata.normalize("NFD", "Gerd Müller scored"), "Gerd Mu\u0308ller"),
        ("US Army", "the U.S. Army", "U.S. Army"),
        ("O'Neill", "O’Neill's play", "O’Neill"),
        ("Paris Saint-Germain", "PARIS SAINT GERMAIN", "PARIS SAINT GERMAIN"),
        ("AT&T", "At and T", "At and T"),
        ("Straße", "STRASSE", "STRASSE"),
        ("İstanbul", "Istanbul", "Istanbul"),
    ],
)
def test_other_spellings_are_found_folded(name, text, surface):
    assert (surface, FOLDED) in found(text, [fold(name)], folded=True)


def test_small_letters_are_only_compared_as_written():
    assert found("the us army", [fold("US Army")], folded=True) == [("us army", 0)]  # it is written like that
    assert found("the gerd muller", ["gerd müller"], folded=True) == []


def test_characters_fold_as_whole_names_do():
    letters = characters()
    for code in [*range(32, 0x2000), *range(0xAC00, 0xAC40), *range(0xFB00, 0xFB50), *range(0xFF00, 0xFFA0)]:
        inside = fold(f"a{chr(code)}a")[1:-1]
        value = int(letters.folded[code])
        made = "" if value == -1 else chr(value) if value >= 0 else None
        if made is None:
            made = "".join(chr(c) for c in letters.several[-2 - value] if c >= 0)
        assert made == inside, hex(code)


def test_a_worthless_name_is_passed_over():
    lexicon = Lexicon.of(["New York", "York"])
    worth = np.where(lexicon.hashes == lexicon.hashes[lexicon.places(["York"])[0]], 0.1, 0.9)
    rows, values = matches("New York", lexicon, worth.astype(np.float32), NONE, 0.5)
    assert rows[:, :2].tolist() == [[0, 8]]
    assert values.tolist() == pytest.approx([0.9])


pieces = ["New ", "York", " City", "北", "京", ".", "U.S.", "\n", " ", "é", "e\u0301", "🙂", "a", "b"]
texts = st.lists(st.sampled_from(pieces) | st.characters()).map("".join)


@given(texts, st.lists(texts.map(lambda t: " ".join(t.split())).filter(bool)))
def test_the_kernel_agrees_with_the_twin(text, names):
    names = [name for name in [*NAMES, *names] if "\n" not in name]
    expected = twin(text, names)
    assert surfaces(text, names) == expected


@given(st.text())
def test_any_text_is_read_without_harm(text):
    for surface, _ in found(text, [fold(text[:5]) or "x", "x"], folded=True):
        assert surface


def test_many_hits_are_found_beyond_the_buffer():
    text = "New York " * 50_000
    assert len(surfaces(text, ["New York", "York"])) == 100_000
