"""Whatever the page: no error, exact places, linear time."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pboh.corpus.titles import Site, page_kind
from pboh.corpus.wikitext import plain_text

SITES = {language: Site.default(language) for language in ("en", "fr", "zh", "xx")}

FRAGMENTS = [
    "[[", "]]", "[", "]", "{{", "}}", "{{{", "}}}", "{", "}", "|", "||", "!!", "{|", "|}", "\n", "\n|",
    "\n!", "\n|-", "\n{|", "\n*", "\n==", "==", "=", "''", "'''", "'", "<", ">", "<ref>", "</ref>", "<ref",
    "/>", "<ref name=a/>", "<!--", "-->", "<nowiki>", "</nowiki>", "<math>", "</math>", "<gallery>",
    "</gallery>", "<br>", "</b>", "&", ";", "&amp;", "&#0;", "&#91;", "&#x1F600;", "#", ":", "%", "%5B",
    "_", "__TOC__", "-{", "}-", "[http://a ", "[//", "File:a.jpg", "[[File:a|", "[[Category:b", "[[fr:",
    "[[bus", "[[Bus|b]]", "[[a]]", "thumb", "alt=", " ", "  ", "\t", "\r\n", "a", "B", "é", "é", "字", "𝒳",
    "\x00", "\ud800", "\u200e", "\xa0", "-", "~~~", "..", "/",
]  # fmt: skip

markup = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)


def check(wikitext: str, site: Site) -> None:
    text, links = plain_text(wikitext, site)
    before = 0
    for start, end, target in links:
        assert before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert target and target == target.strip() and "\n" not in target and "[" not in target
        before = end
    page_kind("A", 0, False, wikitext.encode("utf-8", "surrogatepass"), site)


@given(st.text(), st.sampled_from(sorted(SITES)))
def test_any_string(wikitext: str, language: str) -> None:
    check(wikitext, SITES[language])


@given(markup, st.sampled_from(sorted(SITES)))
@settings(max_examples=600)
@example("[[File:a|[[b]]|[[File:a|[[c]]]]", "en")
@example("[[a|[b]]]]]", "en")
@example("&#0;[[a|&#0;]]", "en")
def test_any_markup(wikitext: str, language: str) -> None:
    check(wikitext, SITES[language])


@given(markup)
def test_reading_is_repeatable(wikitext: str) -> None:
    assert plain_text(wikitext, SITES["en"]) == plain_text(wikitext, SITES["en"])


# --- time ----------------------------------------------------------------------------------------------

BEGINNINGS = ["", "\n{|\n!", "[[File:a|", "<gallery>"]
ROUNDS = {12_000: None, 200_000: 100, 4_000_000: 8}  # bytes, and how many of the slowest cases go on
SLOWEST = 1e-5  # seconds per byte: most take a fiftieth of that


def worst_cases() -> Iterator[tuple[str, str]]:
    """A beginning and what is repeated behind it: fragments, their pairs, and some drawn at random."""
    drawn = random.Random(11)
    yield from product(BEGINNINGS, FRAGMENTS)
    yield from (("", one + other) for one, other in product(FRAGMENTS, FRAGMENTS))
    for _ in range(1500):
        beginning = drawn.choice(BEGINNINGS) + "".join(drawn.choices(FRAGMENTS, k=drawn.randrange(3)))
        yield beginning, "".join(drawn.choices(FRAGMENTS, k=drawn.randrange(2, 6)))


def seconds_per_byte(beginning: str, repeated: str, size: int) -> float:
    wikitext = beginning + repeated * (size // len(repeated.encode("utf-8", "surrogatepass")))
    start = time.process_time()
    plain_text(wikitext, SITES["zh"])
    page_kind("A", 0, False, wikitext.encode("utf-8", "surrogatepass"), SITES["zh"])
    return (time.process_time() - start) / size


@pytest.mark.slow
def test_time_per_byte_is_bounded_up_to_four_megabytes() -> None:
    """All cases are tried in small, the slowest ones of each round in larger."""
    seconds_per_byte("", "a [[B]] ", 1000)  # loads what is compiled
    cases = list(worst_cases())
    for size, count in ROUNDS.items():
        found = {case: seconds_per_byte(*case, size) for case in cases[:count]}
        cases = sorted(found, key=lambda case: -found[case])
        assert found[cases[0]] < SLOWEST, (size, cases[:5])


def seconds(wikitext: str, site: Site, times: int = 2) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        plain_text(wikitext, site)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize(
    "parts", [("[[File:a|x ", "]]"), ("{{a|", "}}"), ("{|\n|", "\n|}"), ("<ref>", "</ref>")]
)
def test_linear_in_depth(parts: tuple[str, str]) -> None:
    whole, eighth = (seconds(parts[0] * n + parts[1] * n, SITES["en"]) for n in (16_000, 2_000))
    assert whole < 32 * eighth + 0.1
