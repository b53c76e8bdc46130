"""What training adds to a model when it is built, step by step."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pboh.detection.finder_training import FinderOptions
from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, GoldDocument, GoldMention
from pboh.learning.finishing import LEAST_LINKS, add_finder, fit, halves, judge
from pboh.model.store import open_model, read_manifest

PAGES = Dataset("pages", tuple(GoldDocument(str(k), f"text {k}", ()) for k in range(5)))


@pytest.fixture
def model(world_model: Path, tmp_path: Path) -> Path:
    return shutil.copytree(world_model, tmp_path / "model")


def linked(name: str, documents: int, title: str) -> Dataset:
    mention = GoldMention(0, 6, "Müller", title)
    return Dataset(name, tuple(GoldDocument(str(k), f"Müller {k}", (mention,)) for k in range(documents)))


def test_halves_share_no_page_and_are_named_as_slices() -> None:
    first, second = halves(PAGES)
    assert (first.name, second.name) == ("pages#0:2", "pages#2:5")
    assert first.documents + second.documents == PAGES.documents


def test_a_model_that_knows_no_link_probabilities_gets_no_finder(model: Path, world_corpus: Path) -> None:
    before = read_manifest(model)
    assert "name_link_written" not in open_model(model)
    assert add_finder(world_corpus, model, FinderOptions()) == {"finder_megabytes": 0}
    assert read_manifest(model) == before


@pytest.mark.parametrize("documents", [LEAST_LINKS - 1, LEAST_LINKS])
def test_pages_that_tell_nothing_are_not_fitted_on(documents: int, model: Path) -> None:
    """One link short of enough; or enough of them, but all answers are wrong."""
    assert fit(model, [linked("pages", documents, "Nobody of that name")]) == {"fitted": False}
    assert "calibration" not in read_manifest(model)


def test_gold_that_tells_nothing_is_an_error(model: Path) -> None:
    with pytest.raises(InputError, match="all right or all wrong"):
        fit(model, [], [linked("mine", 2, "Nobody of that name")])


def test_without_links_there_is_nothing_to_judge(model: Path) -> None:
    assert judge(model, [PAGES]) == judge(model, []) == {}


def test_answers_are_judged_from_raw_text_and_with_mentions_given(model: Path) -> None:
    figures = judge(model, [linked("pages", 3, "Thomas Müller")])
    assert (figures["pages"], figures["links"]) == (3, 3)
    assert figures["given_mentions"]["f1"] in (0.0, 1.0)  # all three texts are alike
    assert set(figures["raw_text"]) == {"precision", "recall", "f1"}
