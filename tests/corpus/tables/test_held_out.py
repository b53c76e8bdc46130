"""Pages set aside: always the same ones, and as if their texts were not there for whoever counts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from corpus_helpers import DATA, dump, page, rows

from pboh.corpus.extract import Options, extract
from pboh.counts import CountOptions, count

WORLD = DATA / "world.xml"
SOME = Options(hold_out=30)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("held") / "corpus"
    assert extract([WORLD], out, SOME, workers=1)["held_out"] == 30
    return out


def held(corpus: Path) -> set[str]:
    return {each["title"] for each in rows(corpus, "pages") if each["held"]}


def test_the_same_pages_whatever_the_chunks_and_parts(corpus: Path, tmp_path: Path) -> None:
    extract([WORLD], tmp_path / "chunks", Options(hold_out=30, chunk_size=20_000), workers=1)
    head, *pages = re.split(r"(?=  <page>)", WORLD.read_text(encoding="utf-8").removesuffix("</mediawiki>\n"))
    parts = [dump(tmp_path / f"{k}.xml", *pages[k::3], head=head) for k in range(3)]
    extract(parts, tmp_path / "parts", SOME, workers=1)
    assert len(held(corpus)) == 30
    assert held(corpus) == held(tmp_path / "chunks") == held(tmp_path / "parts")


def test_more_pages_are_the_same_and_others(corpus: Path, tmp_path: Path) -> None:
    extract([WORLD], tmp_path / "more", Options(hold_out=50), workers=1)
    assert held(corpus) < held(tmp_path / "more")


@pytest.mark.parametrize(("wanted", "chosen"), [(0, 0), (None, 7), (5, 5), (10_000, 71)])
def test_how_many(wanted: int | None, chosen: int, tmp_path: Path) -> None:
    """The world has 142 articles with three links or more: a twentieth unless asked, half at most."""
    assert extract([WORLD], tmp_path / "c", Options(hold_out=wanted), workers=1)["held_out"] == chosen
    assert len(held(tmp_path / "c")) == chosen


def without_texts(source: Path, titles: set[str], out: Path) -> Path:
    """A dump in which the pages of these titles are empty."""

    def emptied(match: re.Match[str]) -> str:
        inside = re.search(r"<title>(.*?)</title>", match[0])
        return (
            re.sub(r"(<text[^>]*>).*?(</text>)", r"\1\2", match[0], flags=re.DOTALL)
            if (inside and inside[1] in titles)
            else match[0]
        )

    text = re.sub(r"<page>.*?</page>", emptied, source.read_text(encoding="utf-8"), flags=re.DOTALL)
    out.write_text(text, encoding="utf-8")
    return out


def counted(corpus: Path, out: Path, **options: Any) -> dict[str, list[dict[str, Any]]]:
    count([corpus], out, CountOptions(min_word_count=1, **options), threads=1)
    tables = ("names", "words", "word_entity", "word_totals", "sums/anchors", "names_in_text", "entities")
    return {
        table: [
            {name: value for name, value in row.items() if name not in ("documents", "marginal")}
            for row in pq.read_table(out / table).to_pylist()
        ]
        for table in tables
    }


@pytest.mark.parametrize("chunk_size", [None, 20_000])
def test_nothing_of_them_is_counted(chunk_size: int | None, tmp_path: Path) -> None:
    source = tmp_path / "world.xml"
    red = '<text xml:space="preserve">[[Only here]] unseenword [[Everywhere]] '
    source.write_text(
        WORLD.read_text(encoding="utf-8").replace('<text xml:space="preserve">', red), encoding="utf-8"
    )
    options = Options(hold_out=30, chunk_size=chunk_size)
    extract([source], tmp_path / "first", options, workers=1)
    aside = held(tmp_path / "first")
    assert len(aside) == 30
    # a red link and a word that stand on a page set aside alone
    text = source.read_text(encoding="utf-8")
    kept = next(title for title in sorted(aside))
    marked = re.sub(
        r"<page>.*?</page>",
        lambda m: (
            m[0] if f"<title>{kept}</title>" in m[0] else m[0].replace("[[Only here]] unseenword ", "", 1)
        ),
        text,
        flags=re.DOTALL,
    )
    source.write_text(marked, encoding="utf-8")
    extract([source], tmp_path / "held", options, workers=1)
    assert held(tmp_path / "held") == aside
    assert [each["title"] for each in rows(tmp_path / "held", "entities") if each["held"]] == ["Only here"]
    empty = without_texts(source, aside, tmp_path / "empty.xml")
    extract([empty], tmp_path / "none", Options(chunk_size=chunk_size), workers=1)
    found = counted(tmp_path / "held", tmp_path / "counts", names_in_text=True)
    expected = counted(tmp_path / "none", tmp_path / "others", names_in_text=True)
    assert "unseenword" not in {each["text"] for each in found["words"]}
    for table, content in expected.items():
        assert found[table] == content, table


def test_counts_of_the_rest_can_be_added_to(corpus: Path, tmp_path: Path) -> None:
    once = count([corpus], tmp_path / "counts", threads=1)["totals"]
    again = count([tmp_path / "counts"], tmp_path / "again", threads=1)["totals"]
    assert again["documents"] == once["documents"] == 142 + 4 - 30
    assert again == once


def test_pages_without_an_id_are_chosen_by_title(tmp_path: Path) -> None:
    lines = [
        json.dumps({"title": f"P{k}", "text": "a b c", "links": [[0, 1, "A"], [2, 3, "B"], [4, 5, "C"]]})
        for k in range(40)
    ]
    for name, order in (("one", lines), ("other", lines[::-1])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(order))
        extract([tmp_path / f"{name}.jsonl"], tmp_path / name, Options(hold_out=7), workers=1)
    assert len(held(tmp_path / "one")) == 7
    assert held(tmp_path / "one") == held(tmp_path / "other")


def test_pages_with_few_links_are_not_set_aside(tmp_path: Path) -> None:
    source = dump(tmp_path / "d.xml", page("A", "[[B]] [[C]]"), page("B", "[[A]] [[B]] [[C]]"), page("C", ""))
    assert extract([source], tmp_path / "out", Options(hold_out=9), workers=1)["held_out"] == 0
