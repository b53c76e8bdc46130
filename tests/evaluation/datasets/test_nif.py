"""NIF in its versions and with its mistakes."""

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


class TestNif:
    def test_offsets_sameas_and_nested_nil(self) -> None:
        dataset = read_dataset(DATA / "small.ttl")
        assert len(dataset) == 2
        assert golds(dataset) == [("Rome", "Rom"), ("Rätia", None), ("Who", "Who's Next?"), ("Foo", None)]
        assert dataset.documents[0].mentions[0].golds == ("Rom", "Rome")
        # lost: absent surface form, no offsets at all, context without text; unmapped: Wikidata
        assert kinds(dataset) == {"lost": 3, "unmapped": 1, "repaired": 1}
        assert every_span_slices(dataset)

    def test_bad_turtle_names_file_and_line(self, tmp_path: Path) -> None:
        file = tmp_path / "x.ttl"
        file.write_text("<a> <b> .\n")
        with pytest.raises(InputError, match=r"x\.ttl, line 1, column 9"):
            read_dataset(file)
        file.write_text("<a> <b> <c> .\n")
        with pytest.raises(InputError, match="isString"):
            read_dataset(file)
