"""Gold documents as JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, golds

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


class TestJsonLines:
    def test_our_own(self) -> None:
        dataset = read_dataset(DATA / "small.jsonl")
        assert golds(dataset) == [("Bern", "Bern"), ("is", None), ("Switzerland", "Switzerland")]
        assert dataset.documents[0].mentions[2].also == ("Swiss Confederation",)
        assert [document.id for document in dataset] == ["d1", "2"]

    def test_genre_and_language(self, tmp_path: Path) -> None:
        file = tmp_path / "x.jsonl"
        file.write_text(
            '{"text": "Bern. Rome.", "mentions": [[6, 10, "Rome"]], "genre": "mail", "language": "de"}\n'
            '{"text": "Oslo", "mentions": []}\n'
        )
        assert [(d.genre, d.language) for d in read_dataset(file)] == [("mail", "de"), (None, None)]
        assert [(d.genre, d.language) for d in read_dataset(f"sentences:{file}")] == [("mail", "de")]

    def test_pages_with_links_and_slices(self) -> None:
        dataset = read_dataset(DATA / "pages.jsonl.gz")
        assert golds(dataset) == [("Bern", "Bern"), ("Europe", "Europe")]
        assert [d.id for d in read_dataset(f"{DATA}/pages.jsonl.gz#1:3")] == ["Oslo", "Rome"]
        assert [d.id for d in read_dataset(f"jsonl:{DATA}/pages.jsonl.gz#:1")] == ["Bern"]
        assert dataset.problem_counts() == {"lost": 1}
        assert read_dataset(f"{DATA}/pages.jsonl.gz#:1").problem_counts() == {}

    @pytest.mark.parametrize(
        "line",
        ["{", "[]", '{"id": 1}', '{"text": "a", "mentions": [{"start": "0", "end": 1}]}', '{"text": 1}'],
    )
    def test_a_bad_line_is_named(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "x.jsonl"
        file.write_text('{"text": "ok", "mentions": []}\n' + line + "\n")
        with pytest.raises(InputError, match="line 2"):
            read_dataset(file)

    def test_truncated_gzip(self, tmp_path: Path) -> None:
        file = tmp_path / "x.jsonl.gz"
        file.write_bytes((DATA / "pages.jsonl.gz").read_bytes()[:60])
        with pytest.raises(InputError, match="cannot be read"):
            read_dataset(file)
