"""The closest name by letter trigrams, against comparing the query with every name."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.model.fuzzy import alike, build_index, closest


def blob_of(names):
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.concatenate([[0], np.cumsum([len(name) for name in encoded])]).astype(np.uint64)
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def grams_of(name: str) -> frozenset[str]:
    """Letter trigrams of a name, as the definition says it."""
    if len(name) < 3:
        return frozenset([name] if name else [])
    return frozenset(name[i : i + 3] for i in range(len(name) - 2))


grams = functools.cache(grams_of)


def brute_force(names, query):
    """The name at the smallest distance, the first of several."""
    wanted, found = grams(query), []
    for i, name in enumerate(names):
        union = wanted | grams(name)
        distance = 1 - len(wanted & grams(name)) / len(union) if union else 1.0
        found.append((distance, i))
    best = min(found, default=(1.0, 0))
    return (best[1], best[0]) if best[0] < 0.5 else None


def look_up(names, query):
    blob, offsets = blob_of(names)
    return closest(build_index(blob, offsets), blob, offsets, query)


def test_grams():
    assert grams_of("banana") == {"ban", "ana", "nan"}
    assert grams_of("abc") == {"abc"} and grams_of("ab") == {"ab"} and grams_of("a") == {"a"}
    assert grams_of("") == frozenset()


def test_finds_misspelt_names():
    names = ["barack obama", "michelle obama", "angela merkel", "new york city", "são paulo", "東京都庁舎"]
    assert look_up(names, "barak obama") == (0, 1 - 7 / 12)
    assert look_up(names, "angela merkell")[0] == 2
    assert look_up(names, "são paulo!") == (4, 1 - 7 / 8)
    assert look_up(names, "東京都庁") == (5, 1 - 2 / 3)
    assert look_up(names, "vladimir putin") is None


def test_the_limit_is_strict():
    # 2 of 4 grams are common: a distance of exactly one half is too far
    assert len(grams_of("abcdef") & grams_of("abcd")) * 2 == len(grams_of("abcdef") | grams_of("abcd"))
    assert look_up(["abcdef"], "abcd") is None
    assert look_up(["abcde"], "abcd") == (0, 1 - 2 / 3)


def test_ties_go_to_the_lower_number():
    names = ["xabcdef", "yabcdef", "zabcdef", "abcdef far away"]
    assert look_up(names, "abcdef")[0] == 0
    assert look_up([*names, "abcdef"], "abcdef")[0] == 4  # a closer name wins


def test_short_empty_and_absent():
    assert look_up(["ab", "a", ""], "ab") == (0, 0.0)
    assert look_up(["ab", "a", ""], "a") == (1, 0.0)
    assert look_up(["ab", "a", ""], "") is None
    assert look_up(["ab", "a", ""], "ba") is None
    assert look_up([], "anything") is None
    assert look_up([""], "anything") is None


alphabets = st.sampled_from(["ab", "abc d", "aé€😀", "abcdefgh"])
cases = alphabets.flatmap(
    lambda letters: st.tuples(
        st.lists(st.text(letters, max_size=14), max_size=40),
        st.lists(st.text(letters, max_size=14), max_size=5),
    )
)


@settings(deadline=None, max_examples=300)
@given(case=cases)
def test_equals_brute_force(case):
    names, queries = case
    blob, offsets = blob_of(names)
    index = build_index(blob, offsets)
    for query in [*queries, *names[:3]]:
        assert closest(index, blob, offsets, query) == brute_force(names, query)


@settings(deadline=None, max_examples=200)
@given(names=st.lists(st.text(), max_size=10), query=st.text())
def test_any_text_at_all(names, query):
    assert look_up(names, query) == brute_force(names, query)


TITLES = (
    "the of county school river station football club national new north saint john james robert university "
    "district album film season railway lake house park battle championship women men world cup history list "
    "church bridge mary william henry smith brown lopez garcía müller dupont ivanov tanaka o'brien van der "
    "springfield düsseldorf århus łódź québec zürich hudson valley music award street theatre 1998 politician"
)
WORDS = TITLES.split()


def realistic(count, seed):
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.choice((1, 2, 2, 3, 3, 4)))) for _ in range(count)]


def misspelt(name, chance):
    for _ in range(chance.choice((1, 1, 2, 3))):
        at = chance.randrange(len(name))
        name = name[:at] + chance.choice(("", "x", "e", name[at] * 2)) + name[at + 1 :] or "x"
    return name


def test_realistic_names_equal_brute_force():
    names, chance = realistic(3000, 1), random.Random(2)
    blob, offsets = blob_of(names)
    index = build_index(blob, offsets)
    queries = [misspelt(name, chance) for name in chance.sample(names, 60)] + realistic(40, 3)
    answers = [closest(index, blob, offsets, query) for query in queries]
    assert answers == [brute_force(names, query) for query in queries]
    assert sum(answer is not None for answer in answers) > 50


def test_long_names():
    names = [" ".join(realistic(40, seed)) for seed in range(20)]
    names += [names[0][:700], names[0] + names[0], "a" * 5000]
    for query in (names[0][5:], names[3] + "!", "a" * 300, names[7][:400] + names[8][:400]):
        assert look_up(names, query) == brute_force(names, query)


def test_the_index_survives_a_growing_table():
    chance = random.Random(4)
    names = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9)) for _ in range(12_000)]
    blob, offsets = blob_of(names)
    index = build_index(blob, offsets)
    assert len(index["grams"]) > 2**15  # more than the first table takes
    for i in range(0, len(names), 400):
        assert closest(index, blob, offsets, names[i][:-1] + "!") == brute_force(names, names[i][:-1] + "!")


def test_half_of_the_grams_are_indexed():
    names = realistic(500, 5)
    blob, offsets = blob_of(names)
    assert len(build_index(blob, offsets)["postings"]) == sum(
        (len(grams_of(name)) + 1) // 2 for name in names
    )


def test_mapped_arrays_answer_the_same(tmp_path):
    names = realistic(200, 6)
    blob, offsets = blob_of(names)
    index = build_index(blob, offsets)
    mapped = {}
    for name, array in (index | {"blob": blob, "offsets": offsets}).items():
        np.save(tmp_path / f"{name}.npy", array)
        mapped[name] = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
    for query in realistic(50, 7):
        expected = closest(index, blob, offsets, query)
        assert closest(mapped, mapped["blob"], mapped["offsets"], query) == expected


@pytest.mark.parametrize("damaged", [b"ab\xff\xfecd", b"abc\xe2\x82", b"\x80\x80\x80\x80", b"\xf0\x9f\x98"])
def test_damaged_text_is_read_within_its_bounds(damaged):
    blob = np.frombuffer(damaged + b"next name", np.uint8)
    offsets = np.array([0, len(damaged), len(damaged) + 9], np.uint64)
    assert closest(build_index(blob, offsets), blob, offsets, "next name") == (1, 0.0)


@settings(max_examples=60)
@given(st.lists(st.text("abcé", max_size=9), min_size=1, max_size=25), st.integers(1, 30))
def test_names_that_are_alike_equal_brute_force(names, most):
    blob, offsets = blob_of(names)
    left, right = alike(build_index(blob, offsets), blob, offsets, np.arange(len(names)), most)
    found = list(zip(left.tolist(), right.tolist(), strict=True))
    assert len(set(found)) == len(found)
    sets = [grams_of(name) for name in names]
    every = {
        (i, j)
        for i, a in enumerate(sets)
        for j, b in enumerate(sets)
        if i != j and a and 2 * len(a & b) > len(a | b)
    }
    assert set(found) <= every
    for i in range(len(names)):
        assert sum(a == i for a, _ in found) == min(most, sum(a == i for a, _ in every))
