"""Adding is counting: counts of parts, added, equal the counts of the whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import Page, random_pages, write_corpus
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from twin import Counted

from pboh.counts import CountOptions, count
from pboh.errors import CorpusError, InputError


def union(tmp_path: Path, *parts: list[Page]) -> dict:
    whole = write_corpus(tmp_path / "whole", [page for part in parts for page in part])
    count([whole], tmp_path / "whole-counts")
    return Counted(tmp_path / "whole-counts").everything()


def totals(folder: Path) -> dict[str, int]:
    return json.loads((folder / "counts.json").read_text())["totals"]


@pytest.fixture
def parts() -> tuple[list[Page], list[Page], list[Page]]:
    """Three corpora whose links cross: red links of one are articles, redirects and lists of another."""
    of_b = [f"BPage {number}" for number in range(40)]
    of_c = [f"CPage {number}" for number in range(40)]
    of_a = [f"APage {number}" for number in range(40)]
    return (
        random_pages(1, 50, "A", of_b + of_c),
        random_pages(2, 50, "B", of_a + of_c),
        random_pages(3, 50, "C", of_a),
    )


def test_corpora_counted_together_equal_the_union(tmp_path: Path, parts: tuple[list[Page], ...]) -> None:
    folders = [write_corpus(tmp_path / f"part{i}", part) for i, part in enumerate(parts)]
    count(folders, tmp_path / "merged")
    assert Counted(tmp_path / "merged").everything() == union(tmp_path, *parts)
    assert totals(tmp_path / "merged") == totals(tmp_path / "whole-counts")


def test_counts_added_to_counts_equal_the_union(tmp_path: Path, parts: tuple[list[Page], ...]) -> None:
    """((A counted + B) counted + (C counted)): nothing is read from the old corpora again."""
    a, b, c = (write_corpus(tmp_path / f"part{i}", part) for i, part in enumerate(parts))
    count([a], tmp_path / "a")
    count([tmp_path / "a", b], tmp_path / "ab")
    count([c], tmp_path / "c")
    count([tmp_path / "ab", tmp_path / "c"], tmp_path / "abc")
    assert Counted(tmp_path / "abc").everything() == union(tmp_path, *parts)
    assert totals(tmp_path / "abc") == totals(tmp_path / "whole-counts")


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cut=st.integers(1, 39))
def test_any_cut_of_a_corpus_adds_up(seed: int, cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp_path = tmp_path_factory.mktemp("cut")
    pages = random_pages(seed, 40)
    a = write_corpus(tmp_path / "a", pages[:cut])
    b = write_corpus(tmp_path / "b", pages[cut:])
    count([a], tmp_path / "a-counts")
    count([tmp_path / "a-counts", b], tmp_path / "merged")
    assert Counted(tmp_path / "merged").everything() == union(tmp_path, pages)


def test_a_red_link_becomes_what_the_other_corpus_says(tmp_path: Path) -> None:
    links = [("one", "Alias"), ("two", "Many"), ("three", "Index"), ("four", "Real")]
    pages = [Page("Home", links=links, words=["w"] * 4), Page("Hop", "redirect", "Alias")]
    a = write_corpus(tmp_path / "a", pages)
    pages = [Page("Alias", "redirect", "Real"), Page("Many", "disambiguation"), Page("Index", "list")]
    b = write_corpus(tmp_path / "b", [*pages, Page("Real")])
    count([a], tmp_path / "a-counts")
    count([tmp_path / "a-counts", b], tmp_path / "merged")
    merged = Counted(tmp_path / "merged")
    assert set(merged.entities) == {"Home", "Real"}
    assert merged.entities["Real"]["occurrences"] == 2 and merged.entities["Real"]["page"]
    names = merged.names()
    assert names["one", "Real", "anchor"] == 1
    assert names["Hop", "Real", "redirect"] == names["Alias", "Real", "redirect"] == 1
    assert merged.words("word_entity") == {("Real", "w"): 8}


def test_the_first_input_decides_what_a_title_is(tmp_path: Path) -> None:
    a = write_corpus(tmp_path / "a", [Page("X", "redirect", "Y"), Page("Y", links=[("x", "X")])])
    b = write_corpus(tmp_path / "b", [Page("X", links=[("z", "Z")])])
    count([a, b], tmp_path / "ab")
    assert set(Counted(tmp_path / "ab").entities) == {"Y", "Z"}
    count([b, a], tmp_path / "ba")
    assert set(Counted(tmp_path / "ba").entities) == {"X", "Y", "Z"}


def test_redirects_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    a = write_corpus(
        tmp_path / "a", [Page("Home", links=[("x", "X"), ("home", "Home")]), Page("Y", "redirect", "X")]
    )
    b = write_corpus(tmp_path / "b", [Page("X", "redirect", "Y")])
    count([a, b], tmp_path / "ab")
    assert set(Counted(tmp_path / "ab").entities) == {"Home"}


def test_counting_twice_counts_everything_twice(tmp_path: Path) -> None:
    a = write_corpus(tmp_path / "a", random_pages(5))
    once, twice = count([a], tmp_path / "once")["totals"], count([a, a], tmp_path / "twice")["totals"]
    for doubled in ("documents", "links", "incidences", "pairs", "word_tokens", "context_tokens"):
        assert twice[doubled] == 2 * once[doubled]
    assert twice["distinct_pairs"] == once["distinct_pairs"]


def test_counts_without_sums_cannot_be_added_to(tmp_path: Path) -> None:
    a = write_corpus(tmp_path / "a", random_pages(5))
    count([a], tmp_path / "counts", CountOptions(sums=False))
    assert not (tmp_path / "counts/sums").exists()
    with pytest.raises(CorpusError, match="--no-sums"):
        count([tmp_path / "counts"], tmp_path / "more")
    assert count([a], tmp_path / "counts", CountOptions(sums=False))["fresh"] is False


def test_languages_are_not_mixed(tmp_path: Path) -> None:
    a = write_corpus(tmp_path / "a", random_pages(5), "en")
    b = write_corpus(tmp_path / "b", random_pages(6), "de")
    with pytest.raises(InputError, match="different languages"):
        count([a, b], tmp_path / "counts")
