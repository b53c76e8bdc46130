"""Edges of every shape become neighbours, or one sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.canonical.neighbours import Neighbours
from pboh.errors import InputError

NAMES = ["a", "b", "a", "c"]


def neighbours(edges, names=NAMES):
    near = Neighbours.of(names, edges)
    return [near[row].tolist() for row in range(len(names))]


def test_rows_and_names():
    assert neighbours([(0, 1), (1, 3)]) == [[1], [0, 3], [], [1]]
    assert neighbours([("a", "b"), ("b", 3)]) == [[1], [0, 2, 3], [1], [1]]
    assert neighbours(np.asarray([[0, 1]])) == [[1], [0], [], []]
    assert neighbours([]) == [[], [], [], []]
    assert neighbours([], []) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6))))
def test_directions_repetitions_loops_and_cycles(edges):
    expected = [sorted({b for a, b in edges + [e[::-1] for e in edges] if a == row != b}) for row in range(7)]
    assert neighbours(edges, list("abcdefg")) == expected


@pytest.mark.parametrize(
    ("edges", "what"),
    [
        ([(0, 4)], "edge 0 ends at row 4, and there are 4 names"),
        ([(0, 1), (-1, 0)], "edge 1 ends at row -1"),
        ([("a", "x")], "edge 0 names 'x', which is not among the names"),
        (["ab"], "edge 0 is 'ab', not a pair"),
        ([(0, 1), (0,)], r"edge 1 is \(0,\), not a pair"),
        ([(0, 1), (0, 1, 2)], "edge 1 is"),
        ([(0.5, 1)], "edge 0 ends at 0.5"),
        ([(True, False)], "edge 0 ends at True"),
        ([("a", None)], "edge 0 ends at None"),
        ([("b", 9)], "edge 0 ends at row 9"),
        ([5], "edge 0 is 5, not a pair"),
    ],
)
def test_other_edges_are_one_sentence(edges, what):
    with pytest.raises(InputError, match=what):
        neighbours(edges)
