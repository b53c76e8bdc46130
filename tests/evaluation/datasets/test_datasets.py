"""Datasets are recognised, cut and read as their publishers describe them."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, every_span_slices

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


class TestNames:
    def test_missing_and_unknown(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such dataset"):
            read_dataset(tmp_path / "nothing.ttl")
        (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02 nothing known")
        with pytest.raises(InputError, match=r"not recognised.*the formats are aida"):
            read_dataset(tmp_path / "x.bin")
        with pytest.raises(InputError, match="part 'testb'"):
            read_dataset(f"{DATA}/small.jsonl#testb")
        with pytest.raises(InputError, match="no documents"):
            read_dataset(f"{DATA}/small.jsonl#5:6")

    def test_a_hash_in_a_file_name(self, tmp_path: Path) -> None:
        file = tmp_path / "a#b.jsonl"
        file.write_text('{"text": "ok", "mentions": []}\n')
        assert len(read_dataset(file)) == 1


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "documents", "mentions", "nil"),
    [
        ("kore50-nif.ttl", 50, 144, 0),
        ("dbpedia-spotlight-nif.ttl", 58, 330, 0),
        ("Reuters-128.ttl", 128, 650, 230),
        ("RSS-500.ttl", 500, 524, 476),
    ],
)
def test_published_statistics(shared: Path, file: str, documents: int, mentions: int, nil: int) -> None:
    dataset = read_dataset(shared / "benchmarks" / file)
    assert (len(dataset), dataset.mentions, dataset.nil) == (documents, mentions, nil)
    assert every_span_slices(dataset)
    assert dataset.problem_counts().get("lost", 0) == (
        1 if "spotlight" in file else 0
    )  # a phrase whose context is not in the file


@pytest.mark.shared
def test_validation_pages(shared: Path) -> None:
    dataset = read_dataset(f"{shared}/corpus/validation.jsonl.gz#150:1000")
    assert (len(dataset), dataset.problem_counts().get("lost"), dataset.nil) == (850, None, 0)
    assert every_span_slices(dataset)
