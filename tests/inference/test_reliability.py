"""Reliability: evidence on one axis, turned into a rising probability, stored in the model's description."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.inference.reliability import EVIDENCE, Reliability, answer_features, links_of, log_odds
from pboh.inference.spans import Span
from pboh.model.overlays.opening import LINKS
from small_world import WRITERS, mark


def test_log_odds_stay_finite():
    assert log_odds(np.asarray([0.5])) == pytest.approx([0.0])
    ends = log_odds(np.asarray([0.0, 1.0]))
    assert np.isfinite(ends).all() and ends[0] == pytest.approx(-ends[1])


def test_probability_is_logistic_without_knots_and_rises_along_them():
    features = {"posterior": np.linspace(-4, 4, 9)}
    plain = Reliability({"bias": 1.0, "posterior": 2.0})
    assert plain.score(features) == pytest.approx(1.0 + 2.0 * features["posterior"])
    assert plain.probability(features) == pytest.approx(1 / (1 + np.exp(-plain.score(features))))
    line = Reliability({"posterior": 1.0}, knots=((-2.0, 0.1), (0.0, 0.4), (2.0, 0.9)))
    p = line.probability(features)
    assert (np.diff(p) >= 0).all() and p[0] == 0.1 and p[-1] == 0.9 and p[4] == pytest.approx(0.4)


def test_it_is_stored_and_read_back():
    fitted = Reliability({"bias": 0.1, "prior": 0.25}, ((-1.0, 0.2), (1.0, 0.8)), 0.3, 0.7, {"mentions": 7})
    assert Reliability.of(fitted.to_dict()) == fitted
    assert Reliability.of(None) is None and Reliability.of({}) is None


def test_entities_of_overlays_count_like_their_names():
    assert links_of(np.asarray([5, 9]), np.asarray([1, 2, 0])).tolist() == [9, LINKS, 5]


def test_features_of_answers_are_terms_of_the_solution(linker):
    text = WRITERS + " Xqzzyvw."
    spans = [Span(*span) for span in mark(text, "Müller", "Hemingway", "Paris", "Xqzzyvw")]
    solution = linker.engine.solve(text, spans)
    occurrences = linker.model["entity_occurrences"]
    features = answer_features(solution, occurrences)
    assert all(values[3] == 0.0 for values in features.values()), "no answer, no evidence"
    for i in range(3):
        best = solution.answer[i]
        entity = solution.unary.entity[i, best]
        neighbours = solution.scores[i, best] - solution.unary.local[i, best] - 2 * solution.pairs.unseen
        assert features["prior"][i] == pytest.approx(np.log(solution.unary.prior[i, best]))
        assert features["context"][i] == pytest.approx(solution.unary.context[i, best])
        assert features["coherence"][i] == pytest.approx(max(neighbours, 0.0), abs=1e-6)
        assert features["popularity"][i] == pytest.approx(np.log1p(occurrences[entity]))
        assert features["topic"][i] == solution.unary.topic[i, best]
        words = len(solution.windows.places(i))
        assert features["agreement"][i] == pytest.approx(min(features["context"][i] / words, 2.0))
        assert features["upper"][i] == 1.0
    assert set(features) == set(EVIDENCE)
    (small,) = answer_features(linker.engine.solve("paris", [Span(0, 5)]), occurrences)["upper"]
    assert small == 0.0
    assert {len(v) for v in answer_features(linker.engine.solve("", []), occurrences).values()} == {0}
