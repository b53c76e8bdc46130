"""A small dataset and a linker that knows all its answers."""

from __future__ import annotations

import pytest

from fake_linker import FakeLinker
from pboh.evaluation.datasets import Dataset, GoldDocument, GoldMention


def document(name: str, text: str, *golds: tuple[str, str | None]) -> GoldDocument:
    """A document with one mention for each (surface, gold), in order."""
    mentions, at = [], 0
    for surface, gold in golds:
        at = text.index(surface, at)
        mentions.append(GoldMention(at, at + len(surface), surface, gold))
        at += len(surface)
    return GoldDocument(name, text, tuple(mentions))


@pytest.fixture
def linker() -> FakeLinker:
    return FakeLinker()


@pytest.fixture
def small() -> Dataset:
    return Dataset(
        "kore50-small",
        (
            document(
                "one <b>",
                "It rained. Paris is not in Texas & <script>alert(1)</script> said Jordan.",
                ("Paris", "Paris Hilton"),
                ("Texas", "Texas"),
                ("Jordan", "Michael Jordan"),
            ),
            document(
                "two", "Nowhere is in Atlantis, says Jordan.", ("Nowhere", "USA"), ("Jordan", "Erewhon")
            ),
            document("three", "Nothing here.", ("Nothing", None)),
        ),
        format="jsonl",
    )
