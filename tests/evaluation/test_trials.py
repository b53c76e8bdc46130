"""Many settings on the same documents, compared in pairs."""

from __future__ import annotations

import numpy as np

from pboh.evaluation.trials import gain_draws, micro_f1


def test_gains_are_drawn_in_pairs() -> None:
    old = [np.array([[1.0, 2.0, 2.0], [2.0, 2.0, 4.0], [0.0, 1.0, 1.0]])]
    assert not gain_draws(old, old, micro_f1).any()
    new = [old[0] + [[1.0, 0.0, 0.0]] * 3]
    draws = gain_draws(new, old, micro_f1)
    assert (draws > 0).all() and draws.std() > 0
    assert np.allclose(gain_draws(new * 2, old * 2, micro_f1), draws)  # the same pages twice prove no more
