"""Models to detect with: with link probabilities counted in running text, and without."""

from __future__ import annotations

import pytest

from pboh.counts import CountOptions
from pboh.counts.count import count
from pboh.linker import Linker, load
from pboh.model.build import build_model


@pytest.fixture(scope="module")
def counted(world_corpus, tmp_path_factory) -> Linker:
    """A linker over the small world with link probabilities."""
    folder = tmp_path_factory.mktemp("counted")
    count([world_corpus], folder / "counts", CountOptions(min_word_count=2, names_in_text=True))
    build_model(folder / "counts", folder / "model")
    return load(folder / "model")


@pytest.fixture(params=["with link probabilities", "without"])
def either(request, counted, linker) -> Linker:
    return counted if request.param == "with link probabilities" else linker
