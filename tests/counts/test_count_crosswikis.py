"""The Crosswikis dictionary: its lines, its mistakes, and how its counts join those of links."""

from __future__ import annotations

import bz2
from pathlib import Path

import pytest
from corpora import Page, write_corpus
from hypothesis import given
from hypothesis import strategies as st
from twin import Counted

from pboh.corpus.titles import Site
from pboh.counts import CountOptions, count
from pboh.counts.crosswikis import parse_line
from pboh.errors import InputError

SITE = Site.default("en")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Hank\t0.99 Hank_Williams KB W:936/937 W08 W09 WDB w:756/758", ("Hank", "Hank Williams", 1692)),
        ("a  b\t1 the_%22bus%22 W:2/3 Wx:9/9", ("a b", 'The "bus"', 2)),
        ("x\t0 Y Wx:9/9", ("x", "Y", 0)),
        ("x\t0.5 Y KB", ("x", "Y", 0)),
        ("photo\t1 File:Photo.jpg W:3/3", ("photo", "Photo.jpg", 0)),
        ("東京\t1e-05 東京 W:1/2", ("東京", "東京", 1)),
    ],
)
def test_lines(line: str, expected: tuple[str, str, int]) -> None:
    assert parse_line(line, SITE) == expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("no tab", "no tab"),
        ("\t1 Title W:1/1", "name is empty"),
        ("name\tTitle W:1/1", "not a probability"),
        ("name\t", "not a probability"),
        ("name\t0.5", "no title"),
        ("name\t0.5 Title W:1", "not a count"),
        ("name\t0.5 Title W:-1/2", "not a count"),
        ("name\t0.5 Title W:99999999999999999999/1", "not a count"),
        ("name\t0.5 [[Title]] W:1/1", "not a title"),
    ],
)
def test_malformed_lines_say_why(line: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_line(line, SITE)


@given(st.text())
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        name, title, total = parse_line(line, SITE)
    except ValueError:
        return
    assert name and title and total >= 0


LINES = """Rome\t0.9 Rome W:90/100
Rome\t0.05 Roma_(redirect) W:5/100 w:1/1
rome\t0.5 Rome W:3/6
Roma\t1 Unknown_place W:50/50
broken line
Rome\t0.5 Rome W:x/2
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    links = [("Rome", "Rome"), ("Rome", "Rome, Georgia"), ("capital", "Rome")]
    pages = [Page("Italy", links=links), Page("Rome"), Page("Roma (redirect)", "redirect", "Rome")]
    return write_corpus(tmp_path / "corpus", pages)


@pytest.mark.parametrize("suffix", [".txt", ".bz2"])
def test_counts_join_those_of_links(corpus: Path, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"dictionary{suffix}"
    file.write_bytes(bz2.compress(LINES.encode()) if suffix == ".bz2" else LINES.encode())
    manifest = count([corpus], tmp_path / "counts", CountOptions(crosswikis=str(file)))
    names = Counted(tmp_path / "counts").names()
    assert names["Rome", "Rome", "crosswikis"] == 96  # the redirect resolved, its counts added
    assert names["Rome", "Rome", "anchor"] == 1
    assert ("rome", "Rome", "crosswikis") not in names  # 3 < 5
    assert "Unknown place" not in Counted(tmp_path / "counts").entities
    assert manifest["crosswikis"] == {
        "pairs": 4,
        "malformed": 2,
        "first": ["line 5: there is no tab", "line 6: 'W:x/2' is not a count"],
    }


def test_named_options(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "dictionary.txt"
    file.write_text(LINES)
    options = CountOptions(crosswikis=str(file), min_crosswikis_count=3, crosswikis_entities=True)
    count([corpus], tmp_path / "counts", options)
    counted = Counted(tmp_path / "counts")
    assert counted.names()["rome", "Rome", "crosswikis"] == 3
    assert counted.names()["Roma", "Unknown place", "crosswikis"] == 50
    assert (
        counted.entities["Unknown place"]["documents"] == 0 and not counted.entities["Unknown place"]["page"]
    )
    count([corpus], tmp_path / "off")
    assert all(source != "crosswikis" for _, _, source in Counted(tmp_path / "off").names())


def test_added_counts_keep_the_dictionary(corpus: Path, tmp_path: Path) -> None:
    """Crosswikis read when the first part was counted also names entities that come later."""
    file = tmp_path / "dictionary.txt"
    file.write_text(LINES)
    count([corpus], tmp_path / "counts", CountOptions(crosswikis=str(file)))
    more = write_corpus(tmp_path / "more", [Page("Unknown place")])
    count([tmp_path / "counts", more], tmp_path / "merged")
    assert Counted(tmp_path / "merged").names()["Roma", "Unknown place", "crosswikis"] == 50


def test_unreadable_files(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing"):
        count([corpus], tmp_path / "counts", CountOptions(crosswikis=str(tmp_path / "nowhere.bz2")))
    (tmp_path / "cut.bz2").write_bytes(bz2.compress(LINES.encode() * 1000)[:60])
    with pytest.raises(InputError, match="cannot be read after line"):
        count([corpus], tmp_path / "counts", CountOptions(crosswikis=str(tmp_path / "cut.bz2")))


@pytest.mark.shared
def test_the_real_dictionary(corpus: Path, shared: Path, tmp_path: Path) -> None:
    options = CountOptions(crosswikis=str(shared / "corpus/crosswikis-sample.bz2"), crosswikis_entities=True)
    found = count([corpus], tmp_path / "counts", options)["crosswikis"]
    assert found["pairs"] > 300_000 and found["malformed"] == 0
