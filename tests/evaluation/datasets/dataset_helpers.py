"""What the tests of all dataset formats look at."""

from __future__ import annotations

from pathlib import Path

from pboh.evaluation.datasets import Dataset

DATA = Path(__file__).parents[1] / "data"


def golds(dataset: Dataset, document: int = 0) -> list[tuple[str, str | None]]:
    return [(mention.text, mention.gold) for mention in dataset.documents[document].mentions]


def every_span_slices(dataset: Dataset) -> bool:
    return all(d.text[m.start : m.end] == m.text for d in dataset for m in d.mentions)
