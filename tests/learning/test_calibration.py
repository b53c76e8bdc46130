"""Calibration: its parts against what they promise, and the whole on the small world."""

from __future__ import annotations

import itertools
import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError
from pboh.evaluation.breakdowns import calibration
from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention
from pboh.inference.reliability import Reliability, log_odds
from pboh.learning.calibration import (
    answer_examples,
    best_threshold,
    calibrate,
    fit,
    fit_knots,
    fit_weights,
    isotonic,
    share_of_others,
)
from pboh.learning.store import store_calibration, target
from pboh.linker import load

pairs = st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=1, max_size=60)


def columns(rows):
    z, right = zip(*rows, strict=True)
    return np.asarray(z), np.asarray(right, bool)


@given(pairs)
def test_isotonic_steps_rise_and_keep_the_sum(rows):
    z, right = columns(rows)
    centres, means, sizes = isotonic(z, right)
    assert (np.diff(means) > 0).all()
    assert (np.diff(centres) >= 0).all()
    assert sizes.sum() == len(z)
    assert (means * sizes).sum() == pytest.approx(right.sum())


def test_isotonic_is_the_closest_rising_function():
    """Against all rising step functions on a small grid."""
    right = np.asarray([0, 1, 0, 1, 1, 0, 1, 1], bool)
    z = np.arange(8.0)
    _, means, sizes = isotonic(z, right)
    ours = ((np.repeat(means, sizes.astype(int)) - right) ** 2).sum()
    grid = np.linspace(0, 1, 13)
    best = dict.fromkeys(grid, 0.0)
    for value in right.astype(float):
        least, new = np.inf, {}
        for g in grid:
            least = min(least, best[g])
            new[g] = least + (g - value) ** 2
        best = new
    assert ours <= min(best.values()) + 1e-9


@given(pairs)
def test_knots_rise_and_are_probabilities(rows):
    knots = fit_knots(*columns(rows))
    assert 1 <= len(knots) <= 12
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in itertools.pairwise(knots))
    assert all(0 < p < 1 for _, p in knots)


def test_logistic_regression_finds_the_truth():
    random = np.random.default_rng(1)
    x = {"a": random.normal(size=40_000), "b": 3 + 2 * random.normal(size=40_000)}
    p = 1 / (1 + np.exp(-(0.5 + 2 * x["a"] - 0.7 * x["b"])))
    weights = fit_weights(x, random.random(40_000) < p, ("a", "b"))
    assert weights == pytest.approx({"bias": 0.5, "a": 2.0, "b": -0.7}, abs=0.1)


@given(pairs)
def test_the_threshold_has_the_best_f1(rows):
    z, right = columns(rows)
    p, gold = 1 / (1 + np.exp(-z)), int(right.sum()) + 2

    def f1(t):
        return 2 * right[p >= t].sum() / ((p >= t).sum() + gold)

    assert f1(best_threshold(p, right, gold)) == pytest.approx(max(f1(t) for t in p))


def test_a_calibrated_score_means_what_it_says():
    """An overconfident posterior: after fitting, the error on documents left out is small."""
    random = np.random.default_rng(2)
    examples = []
    for _ in range(50):
        z = random.normal(size=80)
        right = random.random(80) < 1 / (1 + np.exp(-0.4 * z - 0.8))
        examples.append(({"posterior": 5 * z}, right))
    function, figures = fit(examples, ("posterior",), 5000)
    before = calibration(
        1 / (1 + np.exp(-np.concatenate([f["posterior"] for f, _ in examples]))),
        np.concatenate([r for _, r in examples]),
    ).error
    assert figures["error"] < 0.03 < before
    ordered = function.probability({"posterior": np.linspace(-9, 9, 50)})
    assert (np.diff(ordered) >= 0).all()
    again = Reliability.of(json.loads(json.dumps(function.to_dict())))
    assert again.probability({"posterior": np.zeros(1)}) == pytest.approx(
        function.probability({"posterior": np.zeros(1)}), abs=1e-3
    )


def test_the_share_of_others_is_counted_over_wrong_answers_that_have_others():
    elsewhere = np.asarray([1.0, 0.0, -1.0, 1.0, 0.0])
    right = np.asarray([False, False, False, False, True])
    assert share_of_others([({"elsewhere": elsewhere}, right)]) == (2 + 1) / (3 + 2)


def test_the_probabilities_of_other_candidates_are_calibrated_too(linker):
    """Gold is another candidate in half of the wrong answers: that is what they share."""
    text = "Müller"
    asked = linker.disambiguate(text, [(0, 6)]).mentions[0]
    other = next(c.entity.title for c in asked.candidates if c.entity != asked.entity)
    golds = [asked.entity.title] * 2 + [other, "Tbilisi"]
    made = [GoldDocument(str(k), text, (GoldMention(0, 6, text, golds[k % 4]),)) for k in range(400)]
    assert calibrate(linker, [Dataset("made up", tuple(made))])["calibration"]["others"] == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["Müller", "müller"])
def test_what_a_name_means_can_be_missing_from_its_candidates(linker, name):
    """Names are capitalised: the entities of other words stay."""
    (asked,) = linker.disambiguate(name, [(0, 6)])
    document = GoldDocument("1", name, (GoldMention(0, 6, name, asked.entity.title),))
    _, right = answer_examples(linker, document)
    features, without = answer_examples(linker, document, missing=100)
    assert right.tolist() == [True]
    assert without.tolist() == [name.islower()]
    assert features["elsewhere"].tolist() == [0.0]


def test_other_readings_are_fitted_too_unless_texts_are_taken_as_they_are(linker):
    made = documents()
    answers = [
        calibrate(linker, [made], as_they_are=alone)["calibration"]["fitted"]["answers"]
        for alone in (True, False)
    ]
    assert answers[1] > 4 * answers[0]


def test_log_odds_stay_finite():
    assert np.isfinite(log_odds(np.asarray([0.0, 0.5, 1.0]))).all()


def documents():
    """Some right golds of the small world, and some wrong ones."""
    text = "Müller scored for Bayern against Dortmund, and Zidane came from Paris."
    golds = {"Bayern": "FC Bayern Munich", "Dortmund": "Borussia Dortmund", "Zidane": "Zinedine Zidane"}
    wrong = {**golds, "Zidane": "Tbilisi", "Dortmund": "Apple Inc."}
    made = []
    for k in range(12):
        titles = wrong if k % 3 == 0 else golds
        mentions = [
            GoldMention(text.index(name), text.index(name) + len(name), name, title)
            for name, title in titles.items()
        ]
        made.append(GoldDocument(str(k), text, tuple(sorted(mentions, key=lambda m: m.start))))
    return Dataset("made up", tuple(made))


def test_a_model_is_calibrated_and_remembers_on_what(world_model, tmp_path):
    folder = shutil.copytree(world_model, tmp_path / "model")
    fitted = calibrate(load(folder), [documents()])
    assert set(fitted) == {"calibration", "detection"}
    store_calibration(target(folder), [documents()], fitted)
    linker = load(folder)
    assert linker.settings.threshold == fitted["calibration"]["threshold"]
    assert linker.model.info["tuned_on"]["documents"]
    document = linker.with_settings(threshold=0.0).link(documents().documents[0].text, threshold=0)
    assert all(0 < m.probability < 1 for m in document)
    strict = linker.with_settings(threshold=1.0).disambiguate("Müller met Bayern", [(0, 6), (11, 17)])
    assert [m.entity for m in strict] == [None, None]
    assert all(m.candidates for m in strict)
    # a calibration belongs to the settings it was fitted with
    other = linker.with_settings(tau=0.9, threshold=0.0).disambiguate("Bayern", [(0, 6)])
    assert other.mentions[0].probability == other.mentions[0].candidates[0].probability


def test_documents_that_teach_nothing_are_refused():
    with pytest.raises(InputError, match="cannot calibrate"):
        fit([({"posterior": np.zeros(3)}, np.ones(3, bool))], ("posterior",), 3)
