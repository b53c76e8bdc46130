"""The annotated texts that come with pboh, and which models are fitted on them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from pboh.learning.annotated import annotated_texts, texts_for
from pboh.linker import Linker, load


def test_every_name_is_where_it_says() -> None:
    assert [texts.name for texts in annotated_texts()] == ["development", "newsroom"]
    documents = [document for texts in annotated_texts() for document in texts]
    assert len(documents) == 123
    for document in documents:
        assert all(document.text[m.start : m.end] == m.text for m in document.mentions)
        places = sorted((m.start, m.end) for m in document.mentions)
        assert all(end <= start for (_, end), (start, _) in pairwise(places))


def speaking(linker: Linker, language: str) -> Linker:
    other = load(linker.model.folder)
    other.model.info["language"] = language
    return other


def test_the_starter_knows_these_texts() -> None:
    assert texts_for(load()) == annotated_texts()


def test_models_of_other_languages_and_other_worlds_are_not_fitted_on_them(finding_model: Path) -> None:
    assert texts_for(speaking(load(), "de")) == ()
    world = load(finding_model)
    assert world.finder is not None and world.model.info["language"] == "en"
    assert texts_for(world) == ()


def test_a_model_without_a_finder_is_not_fitted_on_them(
    linker: Linker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pboh.learning.annotated.KNOWN", 0.0)
    assert linker.finder is None and texts_for(linker) == ()
