"""Linked text as incomplete gold: how many mentions were left unlinked is found out."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.learning.incomplete import mention_shares


def test_mentions_that_were_not_linked_are_counted():
    """Half are mentions; a third of them is linked if their words often are, else a tenth."""
    rng = np.random.default_rng(0)
    size = 40_000
    mention, common = rng.random(size) < 0.5, rng.random(size) < 0.5
    habit = np.where(common, 0.1, 1 / 3)
    linked = mention & (rng.random(size) < habit)
    chance = np.where(mention, habit, 0.0)  # p(link) of a good classifier
    shares = mention_shares(linked, chance, np.where(common, -3.0, -1.0))
    assert (shares[linked] == 1).all()
    assert shares[mention].mean() == pytest.approx(1, abs=0.02)
    assert shares[~mention].max() < 0.05


def test_shares_are_probabilities_whatever_is_said():
    rng = np.random.default_rng(1)
    shares = mention_shares(rng.random(200) < 0.3, rng.random(200), rng.normal(size=200))
    assert ((shares >= 0) & (shares <= 1)).all()
