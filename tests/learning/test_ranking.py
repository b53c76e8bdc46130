"""A ranking of candidates that is learned: it finds what decides, and is judged on pages it has not seen."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.ranking import FEW, READINGS, Mention, counted, gained, logit, measure, trees

from pboh.evaluation.datasets import read_dataset

pytestmark = pytest.mark.slow

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"


@pytest.fixture
def mentions():
    """The third term decides; the model always takes the first candidate."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(400):
        terms = rng.normal(size=(4, 17))
        made.append(Mention(number % 20, terms, terms[:, 2] == terms[:, 2].max(), 0))
    return made


@pytest.mark.parametrize("learn", [logit, trees])
def test_what_decides_is_found(mentions, learn):
    own, ranked, size = counted(mentions[200:], learn(mentions[:200]), 20).sum(axis=1)
    assert size == 200 and own < 80 and ranked > 150


def test_mentions_without_candidates_are_right_for_nobody():
    nothing = Mention(1, np.empty((0, 17)), np.empty(0, bool), -1)
    one = Mention(0, np.zeros((2, 17)), np.array([False, True]), 1)
    assert counted([nothing, one], lambda terms: -np.arange(len(terms)), 2).tolist() == [
        [1, 0], [0, 0], [1, 1],
    ]  # fmt: skip


def test_gains_are_the_mean_of_readings():
    short, long = np.array([[1, 1], [2, 2], [2, 2]]), np.array([[8, 8], [8, 8], [10, 10]])
    found = gained([short, long])
    assert found == pytest.approx({"model": 65, "gain": 25, "low": 25, "high": 25})


def test_both_rankings_are_judged_on_every_reading(linker):
    found = measure(linker, read_dataset(WORLD))
    assert list(found) == ["logit", "trees"]
    for one in found.values():
        assert list(one) == [*READINGS, "mean of the readings", "worst topic"]
        assert all(row["low"] <= row["gain"] <= row["high"] for row in one.values())
        assert one["worst topic"]["gain"] <= one["mean of the readings"]["gain"]
    assert len(FEW) == 7
