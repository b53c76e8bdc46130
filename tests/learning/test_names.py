"""The decision on names: what is learned from examples, and complete gold made of pages."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets.core import GoldDocument, GoldMention
from pboh.learning.complete import Complete, annotated
from pboh.learning.names import USED, NameExample, fit_names


def example(rng, size=40):
    """Names are what the finder says; an answer is right if its posterior is high."""
    features = {name: rng.normal(size=size) for name in USED} | {"known": np.ones(size)}
    named = rng.random(size) < 1 / (1 + np.exp(-3 * features["name"]))
    right = named & (rng.random(size) < 1 / (1 + np.exp(-2 * features["posterior"] - 1)))
    start = np.arange(size) * 10
    everything = np.ones(size, bool)
    return NameExample(
        features, start, start + 5, named, right, everything, int(named.sum()), int(named.sum())
    )


def test_what_decides_is_found_and_probabilities_are_right():
    rng = np.random.default_rng(0)
    pages = [example(rng) for _ in range(60)]
    fitted = fit_names(pages, [], range(60))
    by_name, by_answer = fitted["name"]["weights"], fitted["answer"]["weights"]
    assert by_name["name"] == pytest.approx(3, abs=0.5)
    assert by_answer["posterior"] == pytest.approx(2, abs=0.5)
    assert max(abs(w) for name, w in by_name.items() if name not in ("bias", "name", "known")) < 0.4
    assert fitted["fitted"]["error"] < 0.05
    assert 0 < fitted["threshold"] == fitted["answer"]["threshold"] < 0.9


def test_annotated_texts_say_how_probable_things_are():
    rng = np.random.default_rng(1)
    pages, texts = [example(rng) for _ in range(40)], [example(rng) for _ in range(4)]
    for text in texts:  # here nothing is right
        text.right[:] = False
    alone, both = fit_names(pages, [], range(40)), fit_names(pages, texts, range(44))
    share = [f["fitted"]["right"] / max(f["fitted"]["answers"], 1) for f in (alone, both)]
    assert share[1] < share[0]
    assert both["answer"]["weights"]["bias"] < alone["answer"]["weights"]["bias"] - 0.5


def test_examples_without_a_name_teach_nothing():
    nobody = example(np.random.default_rng(2))
    nobody.named[:] = nobody.right[:] = False
    with pytest.raises(InputError, match="cannot fit"):
        fit_names([nobody], [], [0])


def test_spans_are_inside_stretches_or_not():
    gold = Complete("x" * 30, np.asarray([[0, 10], [20, 30]]), {})
    start, end = np.asarray([0, 5, 9, 12, 20, 25, 29]), np.asarray([3, 10, 12, 14, 25, 31, 30])
    assert gold.inside(start, end).tolist() == [True, True, False, False, True, False, True]
    nowhere = Complete("", np.empty((0, 2), np.int64), {})
    assert nowhere.inside(start, end).sum() == 0


def test_an_annotated_text_is_one_stretch(linker):
    text = "Bayern met Nobody."
    mentions = (GoldMention(0, 6, "Bayern", "FC Bayern Munich"), GoldMention(11, 17, "Nobody", None))
    gold = annotated(linker, GoldDocument("1", text, mentions))
    assert gold.stretches.tolist() == [[0, len(text)]]
    assert gold.names == {(0, 6): {linker.entity("FC Bayern Munich").index}, (11, 17): set()}
