"""Every row is asked for once, in a document that has its name, its context and its neighbours."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pboh.canonical.documents import ALONE, AROUND, MOST, Kind, tasks
from pboh.canonical.neighbours import Neighbours


def made(names, contexts=(), edges=None, types=()):
    near = None if edges is None else Neighbours.of(names, edges)
    found = list(tasks(names, contexts, types, near, range(len(names))))
    for task in found:
        assert len(task.rows) <= len(task.spans) and len(task.types) == len(task.rows)
        for row, span in zip(task.rows, task.spans, strict=False):
            assert task.text[span.start : span.end] == names[row]
    assert sorted(row for task in found for row in task.rows) == list(range(len(names)))
    return found


def texts(task):
    return [task.text[span.start : span.end] for span in task.spans]


def test_a_context_is_a_document_with_all_names_that_share_it():
    contexts = ["Ann met Bob.", "Ann met Bob.", "about him", None, " "]
    first, second, alone = made(["Ann", "Bob", "Carl", "Dora", "Emil"], contexts)
    assert first.text == "Ann met Bob." and first.rows == [0, 1]
    assert second.text == "about him\nCarl"
    assert alone.kind is Kind.STRANGERS and alone.rows == [3, 4]


def test_of_a_long_context_only_what_is_near_the_name_is_read():
    (task,) = made(["Ann"], ["x" * 5000 + "Ann" + "y" * 5000])
    assert len(task.text) == 2 * AROUND + 3


def test_neighbours_are_resolved_together():
    (clique,) = made(list("abcd"), edges=list(itertools.combinations(range(4), 2)))
    assert sorted(clique.rows) == [0, 1, 2, 3]
    star = made(list("abcde"), edges=[(0, k) for k in range(1, 5)])
    assert [texts(task) for task in star] == [list("abcde")]


def test_a_hub_is_seen_with_some_of_its_neighbours():
    size = 3 * MOST
    found = made([f"n{k}" for k in range(size)], edges=[(0, k) for k in range(1, size)])
    assert all(len(task.spans) <= MOST + 1 for task in found)


def test_a_large_clique_takes_few_documents():
    size = 2 * MOST
    edges = list(itertools.combinations(range(size), 2))
    assert len(made([f"n{k}" for k in range(size)], edges=edges)) <= 3


def test_names_without_anything_are_looked_up_many_at_a_time():
    found = made(["a"] * (2 * ALONE + 1))
    assert [len(task.rows) for task in found] == [ALONE, ALONE, 1]
    assert all(task.kind is Kind.STRANGERS for task in found)


def test_context_and_neighbours_at_once():
    contexts = ["Ann sings.", None, "of whom little is known"]
    (task,) = made(["Ann", "Bob", "Carl"], contexts, [(0, 1), (1, 2), (0, 2)])
    assert task.text == "Ann sings.\nBob\nof whom little is known\nCarl" and task.kind is Kind.NEIGHBOURS


@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11))), st.lists(st.sampled_from("xy "), max_size=12)
)
def test_every_row_is_answered_once(edges, contexts):
    names = [f"name {k}" for k in range(12)]
    made(names, [*contexts, *[None] * (12 - len(contexts))], edges)
    assert np.unique(names).size == 12
