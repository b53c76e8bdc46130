"""Who influences whom: mentions out of reach and mentions that only listen change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.spans import Span

TEXT = "Müller scored twice for Bayern against Dortmund, and Paris Saint-Germain watched in Tbilisi, Georgia."


def spans(*names):
    return [Span(TEXT.index(name), TEXT.index(name) + len(name)) for name in names]


def test_neighbours_are_within_reach_and_elsewhere():
    near = Neighbourhood(np.asarray([0, 0, 1, 2, 4]), 2, np.asarray([True, False, True, True, True]))
    assert near.of(0).tolist() == [2, 3]
    assert near.of(1).tolist() == [2, 3]
    assert near.of(3).tolist() == [0, 2, 4]
    assert near.linked(np.asarray([1, 1, 0, 1, 1])) == 3
    assert Neighbourhood.everyone(3).of(1).tolist() == [0, 2]
    assert Neighbourhood.everyone(3).linked(np.ones(3)) == 3


def test_a_mention_that_listens_changes_no_other(linker):
    some = spans("Müller", "Bayern", "Dortmund", "Paris Saint-Germain", "Georgia")
    alone = linker.engine.solve(TEXT, some)
    both = sorted([*some, *spans("Paris")])
    listener = both.index(spans("Paris")[0])
    where, speaks = np.asarray([0, 1, 2, 3, 3, 4]), np.arange(6) != listener
    solution = linker.engine.solve(TEXT, both, near=Neighbourhood(where, 9, speaks))
    assert solution.answer[speaks].tolist() == alone.answer.tolist()
    assert solution.probability[speaks] == pytest.approx(alone.probability)
    assert solution.scores[speaks] == pytest.approx(alone.scores)
    assert solution.answer[listener] == solution.scores[listener].argmax()
    assert solution.probability[listener].sum() == pytest.approx(1)
    assert np.isfinite(solution.beliefs.history[:, listener, 0]).all()


def test_mentions_out_of_reach_do_not_count(linker):
    some = spans("Müller", "Bayern", "Georgia")
    far = Neighbourhood(np.asarray([0, 1, 50]), 3, np.ones(3, bool))
    solution = linker.engine.solve(TEXT, some, near=far)
    assert solution.neighbours.tolist() == [1, 1, 0]
    last = solution.unary.size[2]
    assert solution.scores[2, :last] == pytest.approx(solution.unary.local[2, :last])
