"""Tweets with mentions that have no offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, read_dataset

DATA = Path(__file__).parents[1] / "data"


def golds(dataset: Dataset, document: int = 0) -> list[tuple[str, str | None]]:
    return [(mention.text, mention.gold) for mention in dataset.documents[document].mentions]


def kinds(dataset: Dataset) -> dict[str, int]:
    return dataset.problem_counts()


def every_span_slices(dataset: Dataset) -> bool:
    return all(d.text[m.start : m.end] == m.text for d in dataset for m in d.mentions)


class TestMicroposts:
    def test_tsv(self) -> None:
        dataset = read_dataset(DATA / "microposts.tsv")
        assert len(dataset) == 4
        assert golds(dataset) == [("Chicago", "Chicago"), ("obama", "Barack Obama")]
        assert golds(dataset, 1) == [("NewYork", "New York"), ("New York", "New York City")]
        assert kinds(dataset) == {"lost": 2}
        assert every_span_slices(dataset)

    def test_csv(self) -> None:
        dataset = read_dataset(f"microposts:{DATA}/microposts.csv")
        assert golds(dataset) == [("Paris", "Paris")]
        assert dataset.documents[0].text == "Paris, I love you"

    def test_a_quotation_mark_swallows_nothing(self, tmp_path: Path) -> None:
        file = tmp_path / "x.tsv"
        file.write_text('1\t"open, Bern\tBern\thttp://dbpedia.org/resource/Bern\n2\tBern\n')
        assert [document.text for document in read_dataset(file)] == ['"open, Bern', "Bern"]
        file.write_text('1,"open\n2,x\n')
        with pytest.raises(InputError, match="not CSV"):
            read_dataset(f"microposts:{file}")
