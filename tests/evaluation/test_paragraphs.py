"""The paragraphs with complete gold: their counts, their offsets, and that the halves are apart."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import pboh.learning.annotated
from pboh.evaluation.datasets import Dataset, read_dataset

UNSEEN = Path(__file__).parents[1] / "data" / "paragraphs"
ANNOTATED = Path(pboh.learning.annotated.__file__).parent
HALVES = ("development", "unseen")
FILES = (*HALVES, "newsroom")
GENRES = {
    "news": 6,
    "sport": 6,
    "business": 5,
    "science": 5,
    "medicine": 4,
    "law": 4,
    "history": 5,
    "film-music": 5,
    "post": 6,
    "headline": 5,
    "mail": 5,
    "log": 4,
    "travel": 4,
    "recipe": 3,
    "review": 4,
    "encyclopaedia": 4,
}
OTHER_LANGUAGES = {"de", "es", "fr", "it", "ja", "nl", "pl", "pt", "sv", "uk"}
SHORT = {"post", "headline", "log"}
OWN_POSSESSIVES = {"Lord's", "Old St Paul's"}


def read(half: str) -> Dataset:
    return read_dataset((UNSEEN if half == "unseen" else ANNOTATED) / f"{half}.jsonl")


@pytest.mark.parametrize("half", HALVES)
class TestEachHalf:
    def test_genres_and_languages(self, half: str) -> None:
        dataset = read(half)
        assert Counter(document.genre for document in dataset) == GENRES
        languages = Counter(document.language for document in dataset)
        assert languages == {"en": 65, **dict.fromkeys(OTHER_LANGUAGES, 1)}

    def test_ten_have_no_name(self, half: str) -> None:
        assert sum(not document.mentions for document in read(half)) == 10

    def test_lengths_are_those_of_paragraphs(self, half: str) -> None:
        for document in read(half):
            if document.genre not in SHORT and document.language != "ja":
                assert 40 <= len(document.text.split()) <= 140, document.id

    def test_some_names_are_unknown_and_most_are_not(self, half: str) -> None:
        dataset = read(half)
        assert dataset.mentions + dataset.nil > 700
        assert 0.05 < dataset.nil / (dataset.mentions + dataset.nil) < 0.15


@pytest.mark.parametrize("half", FILES)
class TestEachFile:
    def test_nothing_was_repaired_or_lost(self, half: str) -> None:
        assert read(half).problems == ()

    def test_mentions_are_trimmed_and_do_not_overlap(self, half: str) -> None:
        for document in read(half):
            for mention in document.mentions:
                surface = document.text[mention.start : mention.end]
                assert surface == mention.text == surface.strip(" \n\"'“”«»„(),:;#@"), document.id
                assert not surface.endswith("'s") or surface in OWN_POSSESSIVES, document.id
            for before, after in pairwise(document.mentions):
                assert before.end <= after.start, document.id

    def test_every_occurrence_of_a_name_is_marked(self, half: str) -> None:
        for document in read(half):
            rest = document.text
            for mention in document.mentions:
                rest = rest[: mention.start] + " " * len(mention.text) + rest[mention.end :]
            words = set(rest.replace("'", " ").replace(",", " ").replace(".", " ").split())
            assert not words & {mention.text for mention in document.mentions}, document.id


def test_the_newsroom_has_what_newspapers_have() -> None:
    dataset = read("newsroom")
    assert len(dataset) == 48 and {document.language for document in dataset} == {"en"}
    assert Counter(document.id.split("-")[0] for document in dataset) == {
        "wire": 16, "table": 9, "report": 5, "headline": 8, "tweet": 9, "list": 1,
    }  # fmt: skip


def test_halves_share_no_paragraph() -> None:
    first, second = map(read, HALVES)
    assert not {document.id for document in first} & {document.id for document in second}
    assert not {document.text for document in first} & {document.text for document in second}
    # A shared story would show as an invented name that is in both.
    assert not unknown(first) & unknown(second)


def unknown(dataset: Dataset) -> set[str]:
    return {mention.text for document in dataset for mention in document.mentions if mention.gold is None}
