"""JSON lines: somebody's own pages, validated line by line."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from corpus_helpers import rows, same_corpus

from pboh.corpus.extract import TABLES, Options, extract
from pboh.errors import CorpusError

PAGES: list[dict[str, Any]] = [
    {
        "title": "Köln",
        "text": "Köln liegt am Rhein. 😀 Der Dom ist hoch.",
        "links": [[14, 19, "Rhein"], [27, 30, "Dom"]],
    },
    {"title": "Rhein", "text": "Ein Fluss bei Cöln.", "links": [[14, 18, "Cöln"]], "id": 3, "extra": 1},
    {"title": "Cöln", "redirect": "Köln"},
    {
        "title": "Dom (Begriff)",
        "text": "Kirche oder Fluss Dom",
        "kind": "disambiguation",
        "links": [[0, 6, "Kirche"]],
    },
]


def lines(path: Path, pages: list[dict[str, Any]], packed: str = "") -> Path:
    content = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in pages).encode()
    path.write_bytes({"": bytes, "gz": gzip.compress, "bz2": bz2.compress}[packed](content))
    return path


def test_tables(tmp_path: Path) -> None:
    figures = extract(
        [lines(tmp_path / "d.jsonl", PAGES)], tmp_path / "out", Options(language="de"), workers=1
    )
    entities = {each["entity"]: each["title"] for each in rows(tmp_path / "out", "entities")}
    links = [(each["anchor"], entities[each["entity"]]) for each in rows(tmp_path / "out", "links")]
    assert links == [("Rhein", "Rhein"), ("Dom", "Dom"), ("Cöln", "Köln"), ("Kirche", "Kirche")]
    assert [each["kind"] for each in rows(tmp_path / "out", "pages")] == [
        "article", "article", "redirect", "disambiguation",
    ]  # fmt: skip
    assert [each["id"] for each in rows(tmp_path / "out", "pages")] == [None, 3, None, None]
    assert figures["links"] == 4


@pytest.mark.parametrize("packed", ["", "gz", "bz2"])
@pytest.mark.parametrize("size", [40, 97, 150, 400, 1_000_000])
def test_every_line_is_read_once_however_the_file_is_cut(packed: str, size: int, tmp_path: Path) -> None:
    many = [{"title": f"Page {number}", "text": "x" * (number % 9)} for number in range(30)]
    extract([lines(tmp_path / "d", many, packed)], tmp_path / "out", Options(chunk_size=size), workers=1)
    assert [each["title"] for each in rows(tmp_path / "out", "pages")] == [each["title"] for each in many]


def test_no_line_break_at_the_end_and_empty_lines(tmp_path: Path) -> None:
    whole, other = lines(tmp_path / "a.jsonl", PAGES), tmp_path / "b.jsonl"
    other.write_bytes(b"\xef\xbb\xbf" + whole.read_bytes().replace(b"\n", b"\r\n\n").rstrip())
    extract([whole], tmp_path / "one", workers=1)
    extract([other], tmp_path / "two", workers=1)
    same_corpus(tmp_path / "one", tmp_path / "two", TABLES)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"title": 3, "text": ""}, "Expected `str`, got `int` - at `$.title`"),
        ({"title": "A", "text": "b", "links": [[0, 1]]}, "Expected `array` of length 3"),
        ({"title": "A", "text": "b", "links": [[1, 1, "C"]]}, "not in its text"),
        ({"title": "A", "text": "b", "links": [[-1, 1, "C"]]}, "not in its text"),
        ({"title": "A", "text": "b", "links": [[0, 1, " "]]}, "not in its text"),
        ({"title": "  ", "text": "b"}, "no title"),
        ({"title": "A", "text": "b", "kind": "picture"}, "Invalid enum value"),
    ],
)
def test_bad_lines(line: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    source = lines(tmp_path / "d.jsonl", [{"title": "Good", "text": "fine"}, line])
    with pytest.raises(CorpusError) as caught:
        extract([source], tmp_path / "out", workers=1)
    assert complaint in str(caught.value)
    assert "byte 34" in str(caught.value)


def test_titles_of_jsonl_are_left_as_they_are(tmp_path: Path) -> None:
    pages = [{"title": "q42", "text": "see q_43", "links": [[4, 8, "q_43"]]}]
    extract([lines(tmp_path / "d.jsonl", pages)], tmp_path / "out", workers=1)
    assert [each["title"] for each in rows(tmp_path / "out", "entities")] == ["q42", "q_43"]
