"""Many settings on the same documents, compared in pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.datasets.derived import readings
from pboh.evaluation.trials import gain_draws, macro_f1, micro_f1, text_numbers

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"


def test_gains_are_drawn_in_pairs() -> None:
    old = [np.array([[1.0, 2.0, 2.0], [2.0, 2.0, 4.0], [0.0, 1.0, 1.0]])]
    assert not gain_draws(old, old, micro_f1).any()
    new = [old[0] + [[1.0, 0.0, 0.0]] * 3]
    draws = gain_draws(new, old, micro_f1)
    assert (draws > 0).all() and draws.std() > 0
    assert np.allclose(gain_draws(new * 2, old * 2, micro_f1), draws)  # the same pages twice prove no more


@pytest.mark.parametrize("measure", [micro_f1, macro_f1])
def test_what_is_cut_from_a_text_is_drawn_with_it(measure) -> None:
    """A page in ten copies proves no more than the page; ten pages do."""
    generator = np.random.default_rng(0)
    gold = generator.integers(1, 9, 40).astype(float)
    old, new = (np.stack([np.floor(gold * generator.random(40)), gold, gold], 1) for _ in range(2))
    pages = np.arange(40)
    draws = gain_draws([new], [old], measure, [pages])
    tenfold = [np.repeat(new, 10, 0)], [np.repeat(old, 10, 0)]
    assert np.allclose(gain_draws(*tenfold, measure, [np.repeat(pages, 10)]), draws)
    assert gain_draws(*tenfold, measure).std() < draws.std() / 2


def test_readings_of_a_text_have_its_number() -> None:
    pages = read_dataset(WORLD)
    same, later, *short, thin = text_numbers(readings(pages))
    assert same.tolist() == later.tolist() == thin.tolist() == list(range(len(pages)))
    for numbers in short:
        assert len(numbers) > len(pages) and sorted({*numbers.tolist()}) == list(range(len(pages)))
