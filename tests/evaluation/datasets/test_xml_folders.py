"""XML annotations beside raw texts: WNED, BAT and IITB."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, every_span_slices, golds

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


class TestWned:
    def test_folder(self) -> None:
        dataset = read_dataset(f"wned:{DATA}/wned")
        assert dataset.name == "small"
        assert golds(dataset) == [
            ("Dow Jones", "Dow Jones & Company"),
            ("AT&amp;T", "AT&T"),
            ("Home\nDepot", "The Home Depot"),
            ("Nardelli", None),
        ]
        assert golds(dataset, 1) == [("Paris", None)]
        # lost: a surface form that is nowhere, an offset that is no number, a document without a text
        assert dataset.problem_counts() == {"repaired": 3, "lost": 3}
        assert every_span_slices(dataset)

    def test_recognised_as_folder_and_as_file(self) -> None:
        named = read_dataset(f"wned:{DATA}/wned")
        assert read_dataset(DATA / "wned").documents == named.documents
        assert read_dataset(DATA / "wned" / "small.xml").documents == named.documents

    def test_without_texts(self, tmp_path: Path) -> None:
        (tmp_path / "x.xml").write_text('<a.entityAnnotation><document docName="d"/></a.entityAnnotation>')
        with pytest.raises(InputError, match="RawText"):
            read_dataset(tmp_path)


def test_bat_problems_and_raw_texts() -> None:
    dataset = read_dataset(DATA / "bat")
    assert golds(dataset) == [("Saddam Hussein", "Saddam Hussein"), ("Baghdad", None)]
    # offsets count \r\n as one character, so the text is read that way and nothing has to be moved
    assert "\r" not in dataset.documents[0].text
    assert dataset.problem_counts() == {}
    assert read_dataset(f"bat:{DATA}/bat").documents == dataset.documents


def test_bat_with_bare_ampersands(tmp_path: Path) -> None:
    (tmp_path / "Problems").mkdir()
    (tmp_path / "RawTexts").mkdir()
    (tmp_path / "RawTexts" / "a").write_text("AT&T fell")
    fields = "<SurfaceForm>AT&T</SurfaceForm><Offset>0</Offset><Length>4</Length>"
    chosen = "<ChosenAnnotation>http://en.wikipedia.org/wiki/AT&T</ChosenAnnotation>"
    instance = f"<ReferenceInstance>{fields}{chosen}</ReferenceInstance>"
    (tmp_path / "Problems" / "a").write_text(f"<ReferenceProblem>{instance}</ReferenceProblem>")
    dataset = read_dataset(tmp_path)
    assert golds(dataset) == [("AT&T", "AT&T")]
    assert dataset.problem_counts() == {"text": 1}
    (tmp_path / "Problems" / "b").write_text("not XML at all")
    with pytest.raises(InputError, match="not XML"):
        read_dataset(tmp_path)


def test_iitb() -> None:
    dataset = read_dataset(DATA / "iitb")
    assert golds(dataset) == [("Obama", "Barack Obama"), ("loudly", None)]
    assert dataset.documents[0].mentions[0].golds == ("Barack Obama", "Family of Barack Obama")
    assert dataset.problem_counts() == {"merged": 1, "lost": 2}
    assert read_dataset(f"iitb:{DATA}/iitb/annotations.xml").documents == dataset.documents
