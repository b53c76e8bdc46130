"""Whatever the page: no error, exact places, linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from worst_cases import assert_linear, worst_cases

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

BEGINNINGS = ["", "\n{|\n!", "[[File:a|", "<gallery>", "#REDIRECT [["]


@pytest.mark.slow
def test_time_per_byte_stays_the_same_up_to_four_megabytes() -> None:
    def read(wikitext: str) -> None:
        plain_text(wikitext, SITES["zh"])
        page_kind("A", 0, False, wikitext.encode("utf-8", "surrogatepass"), SITES["zh"])

    assert_linear(read, list(worst_cases(FRAGMENTS, BEGINNINGS, 1500)))


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
