"""Pages of a corpus: all of them once, however they are sampled."""

from __future__ import annotations

import pytest

from pboh.detection import pages as module
from pboh.detection.pages import read_pages, sample_pages


@pytest.mark.slow
def test_turns_are_samples_that_cover_every_page_once(world_corpus, monkeypatch):
    everything = {page.number: page for page in read_pages(world_corpus)}
    assert [page.number for page in sample_pages(world_corpus)] == list(everything)
    monkeypatch.setattr(module, "TURN", 3)
    sampled = list(sample_pages(world_corpus))
    numbers = [page.number for page in sampled]
    assert sorted(numbers) == sorted(everything) and numbers != sorted(numbers)
    for page in sampled:
        whole = everything[page.number]
        assert (page.title, page.text) == (whole.title, whole.text)
        assert page.start.tolist() == whole.start.tolist()
