"""The pages set aside as gold: what ``pboh evaluate`` reads is what stands in the tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from corpus_helpers import DATA, rows

from pboh.corpus.extract import Options, extract
from pboh.corpus.tables import held_out as gold
from pboh.evaluation.datasets import read_dataset


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gold") / "corpus"
    extract([DATA / "world.xml"], out, Options(hold_out=12, chunk_size=40_000), workers=1)
    return out


def test_texts_and_links_are_those_of_the_pages(corpus: Path, tmp_path: Path) -> None:
    assert gold.write_gold(corpus, tmp_path / "gold.jsonl.gz") == 12
    dataset = read_dataset(tmp_path / "gold.jsonl.gz")
    pages = {each["title"]: each for each in rows(corpus, "pages") if each["held"]}
    texts = {each["page"]: each["text"] for each in rows(corpus, "texts")}
    titles = {each["entity"]: each["title"] for each in rows(corpus, "entities")}
    assert {document.id for document in dataset} == set(pages)
    for document in dataset:
        number = pages[document.id]["page"]
        assert document.text == texts[number]
        links = [each for each in rows(corpus, "links") if each["page"] == number]
        assert [(m.start, m.end, m.text, m.gold) for m in document.linked] == [
            (each["start"], each["end"], each["anchor"], titles[each["entity"]]) for each in links
        ]


def test_every_byte_is_always_the_same(corpus: Path, tmp_path: Path) -> None:
    extract([DATA / "world.xml"], tmp_path / "whole", Options(hold_out=12), workers=1)
    gold.write_gold(corpus, tmp_path / "one.gz")
    gold.write_gold(tmp_path / "whole", tmp_path / "other.gz")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


def test_long_pages_are_cut_at_the_end_of_a_line(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold.write_gold(corpus, tmp_path / "whole.gz")
    monkeypatch.setattr(gold, "LONGEST", 700)
    gold.write_gold(corpus, tmp_path / "cut.gz")
    shorter = 0
    for whole, cut in zip(lines(tmp_path / "whole.gz"), lines(tmp_path / "cut.gz"), strict=True):
        assert whole["text"].startswith(cut["text"])
        assert len(cut["text"]) <= 700
        assert cut["links"] == [link for link in whole["links"] if link[1] <= len(cut["text"])]
        if len(whole["text"]) > 700:
            assert cut["text"].endswith("\n")
            shorter += 1
    assert shorter


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_no_pages_no_file(world_corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.gz").write_text("of an earlier training")
    assert gold.write_gold(world_corpus, tmp_path / "gold.gz") == 0
    assert not (tmp_path / "gold.gz").exists()
