"""The name finder, trained on the small world: it finds what it was taught, always the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.detection.dictionary import Dictionary
from pboh.detection.finder import Finder
from pboh.detection.finder_training import FinderOptions, Teacher, learn_casing, train_finder
from pboh.detection.pages import read_pages
from pboh.model.names import strip_title
from pboh.model.store import open_model
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import look_up

OPTIONS = FinderOptions(rows=1 << 14, epochs=8, per_page=100)


@pytest.fixture(scope="module")
def model(counted_model):
    return open_model(counted_model)


@pytest.fixture(scope="module")
def arrays(world_corpus, model):
    return train_finder(world_corpus, model, OPTIONS)


@pytest.fixture(scope="module")
def finder(model, arrays):
    return Finder(Dictionary(model, arrays["entity_nameness"]), arrays)


def likely(finder, text, least=0.5):
    return [text[a:b] for a, b, _ in zip(*finder.find(text, least)[:3], strict=True)]


def test_names_are_found(finder):
    names = likely(finder, "Müller scored a late goal when Bayern beat Dortmund.")
    assert {"Müller", "Bayern", "Dortmund"} <= set(names)
    assert not {"goal", "late", "scored"} & set(names)


def test_names_are_found_in_other_styles(finder):
    assert "DORTMUND" in likely(finder, "THEN BAYERN BEAT DORTMUND IN THE FINAL.", 0.3)


def test_numbers_and_dates_are_not_names(finder):
    assert likely(finder, "1996-12-06, 2–1, 000, 12 % or 25 °C", 0.2) == []


def test_an_unknown_word_beside_a_name_is_noticed(finder):
    for text, beside in {
        "Then Zorkmid Bayern beat Dortmund.": {"Bayern": True, "Dortmund": False},
        "Then Bayern Zorkmid beat Dortmund.": {"Bayern": True, "Dortmund": False},
        "He met Zorkmid. Bayern beat Zorkmid, Dortmund lost.": {"Bayern": False, "Dortmund": False},
    }.items():
        names = finder.find(text, 0.01)
        spans = [text[a:b] for a, b in zip(names.start.tolist(), names.end.tolist(), strict=True)]
        told = dict(zip(spans, names.touched.tolist(), strict=True))
        assert {name: told[name] for name in beside} == beside, text


def test_training_is_deterministic(world_corpus, model, arrays):
    again = train_finder(world_corpus, model, OPTIONS)
    assert set(again) == set(arrays)
    for name, array in arrays.items():
        assert (again[name] == array).all(), name


@pytest.mark.parametrize("unknown", [0.0, 1.0])
def test_a_page_is_read_as_if_some_of_its_names_were_unknown(world_corpus, model, unknown):
    casing = learn_casing(read_pages(world_corpus))
    nothing = np.zeros(model.entities, np.uint8)
    options = replace(OPTIONS, unknown=unknown)
    teacher = Teacher(model, casing, nothing, nothing, nothing > 0, options)
    table = model["name_hash"], model["name_buckets"]
    for page in list(read_pages(world_corpus))[:20]:
        only_here, hidden = teacher._hidden(page)
        anchors = [page.text[a:b] for a, b in zip(page.start.tolist(), page.end.tolist(), strict=True)]
        names = [*(anchors if unknown else ()), *([strip_title(page.title)] if page.title else ())]
        for form, keys in zip((squeeze, fold), hidden, strict=True):
            known = look_up(*table, [form(name) for name in names])
            assert set(known[known >= 0].tolist()) <= set(keys.tolist())
            assert keys.min(initial=0) >= 0
        assert set(only_here.tolist()) <= set(hidden[0].tolist())


def test_a_few_sentences_train_no_finder(world_corpus, model):
    assert train_finder(world_corpus, model, replace(OPTIONS, sentences=20)) == {}


def test_a_model_without_a_finder_has_none(model):
    assert Finder.of(model) is None


@given(st.text())
def test_any_text_gives_spans_with_probabilities(finder, text):
    start, end, probability, *_ = finder.find(text)
    assert ((start >= 0) & (start < end) & (end <= len(text))).all()
    assert ((probability > 0) & (probability <= 1 + 1e-9)).all()
    assert len(set(zip(start.tolist(), end.tolist(), strict=True))) == start.size
    sums = np.zeros(len(text) + 1)
    for a, b, p in zip(start.tolist(), end.tolist(), probability.tolist(), strict=True):
        sums[a:b] += p
    assert (sums <= 1 + 1e-6).all()  # a character is inside one name at most
