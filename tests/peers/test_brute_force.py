"""Belief propagation against all assignments of small graphs: equal where theory says so, often elsewhere."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from pboh.inference.belief_propagation import FactorGraph


class Graph:
    """A random pairwise model; every state of every mention has a label of its own."""

    def __init__(self, seed, n, r, edges, strength=1.0, least=1):
        rng = np.random.default_rng(seed)
        self.size = rng.integers(least, r + 1, n).astype(np.int32)
        self.unary = rng.normal(0, 1, (n, r)).astype(np.float32)
        self.label = np.arange(n * r, dtype=np.int32).reshape(n, r)
        self.table = np.zeros((n * r, n * r), np.float32)
        for i, j in edges(rng, n):
            block = rng.normal(0, strength, (r, r))
            self.table[np.ix_(self.label[i], self.label[j])] = block
            self.table[np.ix_(self.label[j], self.label[i])] = block.T

    def propagate(self, **options):
        return FactorGraph(self.unary, self.label, self.size, self.table).propagate(**options)

    def scores(self):
        """Log-score of every assignment, one axis per mention."""
        n, total = len(self.size), np.zeros(self.size)
        for i in range(n):
            shape = [1] * n
            shape[i] = self.size[i]
            total += self.unary[i, : self.size[i]].reshape(shape)
        for i, j in combinations(range(n), 2):
            shape = [1] * n
            shape[i], shape[j] = self.size[i], self.size[j]
            rows, columns = self.label[i, : self.size[i]], self.label[j, : self.size[j]]
            total += self.table[np.ix_(rows, columns)].reshape(shape)
        return total


def tree(rng, n):
    order = rng.permutation(n)
    return [(order[rng.integers(0, k)], order[k]) for k in range(1, n)]


def loop(rng, n):
    order = rng.permutation(n)
    return [(order[k - 1], order[k]) for k in range(n)]


def complete(_, n):
    return combinations(range(n), 2)


def over_others(scores, i, reduce):
    return reduce(scores, axis=tuple(k for k in range(scores.ndim) if k != i))


def random_graphs(count, edges, sizes, **options):
    for seed in range(count):
        yield Graph(seed, sizes[seed % len(sizes)], 3, edges, **options)


def test_trees_are_solved_exactly():
    """2000 trees: the best assignment, and for every state the best score it can be part of."""
    for graph in random_graphs(2000, tree, (1, 2, 3, 4, 5, 6), strength=2.0):
        beliefs, scores = graph.propagate(), graph.scores()
        assert beliefs.converged and beliefs.rounds <= len(graph.size) + 1
        assert scores[tuple(beliefs.best())] == pytest.approx(scores.max(), abs=1e-4)
        for i, size in enumerate(graph.size):
            best = over_others(scores, i, np.max)
            ours = beliefs.belief[i, :size]
            np.testing.assert_allclose(ours - ours.max(), best - best.max(), atol=1e-4)


def test_marginals_of_trees_are_exact():
    for graph in random_graphs(1000, tree, (1, 2, 3, 4, 5, 6), strength=2.0):
        ours = graph.propagate(mode="sum").probability()
        weights = np.exp(graph.scores())
        for i, size in enumerate(graph.size):
            np.testing.assert_allclose(
                ours[i, :size], over_others(weights, i, np.sum) / weights.sum(), atol=1e-5
            )


def test_single_loops_are_solved_when_they_converge():
    """Max-product on one loop: a fixed point is the best assignment."""
    graphs = list(random_graphs(1500, loop, (3, 4, 5, 6)))
    converged = 0
    for graph in graphs:
        beliefs, scores = graph.propagate(rounds=100), graph.scores()
        if beliefs.converged:
            converged += 1
            assert scores[tuple(beliefs.best())] == pytest.approx(scores.max(), abs=1e-4)
    assert converged > 0.9 * len(graphs)


def better_neighbour(scores, best, changed):
    """Whether other states of at most ``changed`` mentions give a better assignment."""
    for nodes in combinations(range(scores.ndim), changed):
        for states in product(*(range(scores.shape[i]) for i in nodes)):
            other = list(best)
            for i, state in zip(nodes, states, strict=True):
                other[i] = state
            if scores[tuple(other)] > scores[tuple(best)] + 1e-4:
                return True
    return False


def test_a_fixed_point_cannot_be_improved_by_changing_three_mentions(record_property):
    """A fixed point is best among all assignments that differ in single loops and trees: 3 mentions here.

    The couplings are far stronger than a document's; most of these fixed points are the best of all.
    """
    graphs = list(random_graphs(1000, complete, (3, 4, 5, 6), strength=0.7))
    converged = solved = 0
    for graph in graphs:
        beliefs, scores = graph.propagate(rounds=200), graph.scores()
        if beliefs.converged:
            best = tuple(beliefs.best())
            assert not better_neighbour(scores, best, 3)
            converged += 1
            solved += scores[best] >= scores.max() - 1e-4
    record_property("converged", float(converged / len(graphs)))
    record_property("equal to brute force where converged", float(solved / converged))
    assert converged > 0.75 * len(graphs)
    assert solved > 0.97 * converged


def test_documents_are_solved_almost_always(record_property):
    """Complete graphs scaled by 1/(n−1) as the paper does, with its 15 rounds."""
    graphs = [Graph(seed, n, 4, complete, strength=2.0 / (n - 1)) for seed in range(300) for n in (4, 5, 6)]
    converged = solved = 0
    for graph in graphs:
        beliefs, scores = graph.propagate(), graph.scores()
        converged += beliefs.converged
        solved += scores[tuple(beliefs.best())] >= scores.max() - 1e-4
    record_property("converged", float(converged / len(graphs)))
    record_property("equal to brute force", float(solved / len(graphs)))
    assert converged > 0.8 * len(graphs)
    assert solved > 0.93 * len(graphs)
