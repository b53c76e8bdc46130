"""NIF in its versions and with its mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, every_span_slices, golds

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


class TestNif:
    def test_offsets_sameas_and_nested_nil(self) -> None:
        dataset = read_dataset(DATA / "small.ttl")
        assert len(dataset) == 2
        assert golds(dataset) == [("Rome", "Rom"), ("Rätia", None), ("Who", "Who's Next?"), ("Foo", None)]
        assert dataset.documents[0].mentions[0].golds == ("Rom", "Rome")
        # lost: absent surface form, no offsets at all, context without text; unmapped: Wikidata
        assert dataset.problem_counts() == {"lost": 3, "unmapped": 1, "repaired": 1}
        assert every_span_slices(dataset)

    def test_bad_turtle_names_file_and_line(self, tmp_path: Path) -> None:
        file = tmp_path / "x.ttl"
        file.write_text("<a> <b> .\n")
        with pytest.raises(InputError, match=r"x\.ttl, line 1, column 9"):
            read_dataset(file)
        file.write_text("<a> <b> <c> .\n")
        with pytest.raises(InputError, match="isString"):
            read_dataset(file)
