"""Models to detect with: with link probabilities counted in running text, and without."""

from __future__ import annotations

import pytest

from pboh.linker import Linker, load


@pytest.fixture(scope="module")
def counted(counted_model) -> Linker:
    """A linker over the small world with link probabilities."""
    return load(counted_model)


@pytest.fixture(params=["with link probabilities", "without"])
def either(request, counted, linker) -> Linker:
    return counted if request.param == "with link probabilities" else linker
