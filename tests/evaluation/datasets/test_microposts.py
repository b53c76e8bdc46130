"""Tweets with mentions that have no offsets."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, every_span_slices, golds

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


class TestMicroposts:
    def test_tsv(self) -> None:
        dataset = read_dataset(DATA / "microposts.tsv")
        assert len(dataset) == 4
        assert golds(dataset) == [("Chicago", "Chicago"), ("obama", "Barack Obama")]
        assert golds(dataset, 1) == [("NewYork", "New York"), ("New York", "New York City")]
        assert dataset.problem_counts() == {"lost": 2}
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
