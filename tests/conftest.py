"""Fixtures every test may use: the shared folder when it is there, and models trained once per session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the sample corpus and benchmarks, beside the checkout (or $PBOH_SHARED)."""
    folder = Path(os.environ.get("PBOH_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "corpus").is_dir():
        pytest.skip("the shared sample corpus is not here (set PBOH_SHARED to its folder)")
    return folder


settings.register_profile(
    "pboh",
    deadline=None,  # the first example may wait for a kernel to compile
    derandomize="CI" in os.environ,
)
settings.load_profile("pboh")
