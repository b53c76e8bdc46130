"""Whatever the page: no error, exact places, linear time."""

from __future__ import annotations

import time

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


WORST = [
    "[[", "]]", "{{", "}}", "{{{", "}}}", "<ref>", "<ref", "<!--", "'''", "''", "{|", "\n{|", "\n|", "||",
    "[", "[[File:a|[[", "[[File:a|", "[[File:a|x]]", "[[File:a|x [[b]] ", "[[a|", "[[a|b\n", "[[a\n",
    "[[[", "&", "=", "\n=", "\n= ", "<nowiki>", "<gallery>", "<ref><math>", "{{a|[[", "{{a}}", "<ref>{{",
    "{{<!--", "[http://a ", "-{", "a'''b", "\na'''b''c", "|thumb", "[[a|[b]]", "__A", "<gallery>{{",
    "\n!a|b!!", "-", " ", "\n\n", "%4", "&#", "[[a]]''b", "[[é", "[[Category:", "\x00", "<", "</ref>",
    "{{<ref>", "-->", "[[:", "a_", "[[a|b",
]  # fmt: skip


def seconds(wikitext: str, site: Site, times: int = 2) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        plain_text(wikitext, site)
        best = min(best, time.process_time() - start)
    return best


def whole_and_eighth(fragment: str, size: int, site: Site) -> tuple[float, float]:
    count = size // len(fragment)
    return seconds(fragment * count, site), seconds(fragment * (count // 8), site)


@pytest.mark.parametrize("fragment", WORST)
def test_linear_in_a_repeated_fragment(fragment: str) -> None:
    """Eight times the text is about eight times the work; quadratic would be sixty-four."""
    whole, eighth = whole_and_eighth(fragment, 80_000, SITES["zh"])
    assert whole < 32 * eighth + 0.1


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).map("".join))
@settings(max_examples=40, deadline=None)
def test_linear_in_any_repeated_fragments(fragment: str) -> None:
    whole, eighth = whole_and_eighth(fragment, 40_000, SITES["zh"])
    assert whole < 32 * eighth + 0.1


@pytest.mark.parametrize(
    "parts", [("[[File:a|x ", "]]"), ("{{a|", "}}"), ("{|\n|", "\n|}"), ("<ref>", "</ref>")]
)
def test_linear_in_depth(parts: tuple[str, str]) -> None:
    whole, eighth = (seconds(parts[0] * n + parts[1] * n, SITES["en"]) for n in (16_000, 2_000))
    assert whole < 32 * eighth + 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    "fragment",
    ["[[", "{{", "{{{", "<ref>", "[[File:a|[[", "<!--", "'''", "{|", "\n|", "[[a|[b]]", "<gallery>{{", "<"],
)
def test_ten_megabytes_of_the_worst(fragment: str) -> None:
    """At 10 MB anything worse than linear would take hours, so finishing is the test."""
    count = 10_000_000 // len(fragment)
    eighth = seconds(fragment * (count // 8), SITES["en"])
    assert seconds(fragment * count, SITES["en"], times=1) < 32 * eighth + 1
