"""A mirror of Wikimedia for the tests of downloading."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from wikimedia_server import Mirror, running_mirror


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("no_proxy", "*")
    with running_mirror() as mirror:
        yield mirror
