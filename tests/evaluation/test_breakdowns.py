"""Accuracy in groups, calibration and intervals of shares."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.evaluation import breakdowns
from pboh.evaluation.runner import evaluate


class TestBreakdowns:
    def test_bins(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        charts = breakdowns.accuracy_charts([run.judgement] * 2, [run.judgement.candidates] * 2)
        by_ambiguity, by_popularity, by_length = (
            {b.label: (b.count, b.accuracy) for b in bins} for _, _, bins in charts
        )
        assert by_ambiguity == {"0": (2, 0.0), "1": (2, 1.0), "2": (6, pytest.approx(1 / 3))}
        assert by_popularity == {"0": (2, 0.0), "1": (2, 1.0), "2–4": (6, pytest.approx(1 / 3))}
        assert by_length == {"2–4": (10, pytest.approx(0.4))}

    def test_labels(self) -> None:
        assert [breakdowns._label(*pair) for pair in ((0, 1), (2, 5), (1000, None))] == ["0", "2–4", "1,000+"]

    def test_calibration(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        curve = breakdowns.calibration_of([run.judgement])
        # answers: Paris 0.9 wrong, Texas 1.0 right, Jordan 0.3 right, Jordan 0.3 wrong
        assert curve.points == ((pytest.approx(0.3), 0.5, 2), (pytest.approx(0.95), 0.5, 2))
        assert curve.error == pytest.approx((0.2 * 2 + 0.45 * 2) / 4)

    def test_the_error_by_chance_is_that_of_probabilities_that_are_right(self) -> None:
        generator = np.random.default_rng(0)
        probability = generator.uniform(0.2, 1, 400)
        drawn = [
            breakdowns.calibration(probability, generator.random(400) < probability).error for _ in range(200)
        ]
        chance = breakdowns.calibration(probability, probability > 0.5).chance
        assert chance == pytest.approx(np.mean(drawn), rel=0.05)

    def test_rounds(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        assert breakdowns.rounds_histogram([run.judgement]) == {1: 0, 2: 1, 3: 1}

    def test_wilson(self) -> None:
        assert breakdowns.wilson(0, 0) == (0.0, 1.0)
        low, high = breakdowns.wilson(50, 100)
        assert (low, high) == (pytest.approx(0.4038, abs=1e-3), pytest.approx(0.5962, abs=1e-3))
        assert breakdowns.wilson(10, 10)[1] == pytest.approx(1.0)
