"""λ of a pair equals Eq. (lambda-bethe), smoothed, and its distribution sums to one."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.inference.belief_propagation import Couplings
from pboh.inference.bethe import Bethe
from pboh.inference.score_kernels import bethe, bethe_of_all, pair_couplings
from pboh.inference.settings import PAPER

SHARED = Bethe(pairs=1000.0, backoff=0.2, delta=0.5, self_pair=0.1)


def twin(n, c_e, c_u, shared=SHARED):
    smoothed = max(n - shared.delta, 0) / shared.pairs + shared.backoff * c_e * c_u / shared.pairs**2
    independent = (c_e / shared.pairs) * (c_u / shared.pairs)
    return np.log(smoothed / independent) - shared.unseen


def test_one_pair_and_many_equal_the_formula():
    n, c_e, c_u = np.asarray([[0, 5, 8], [0.3, 9, 2], [1, 3, 30], [7, 60, 44], [40, 80, 80]]).T
    expected = [twin(*pair) for pair in zip(n, c_e, c_u, strict=True)]
    assert bethe_of_all(n, c_e, c_u, SHARED) == pytest.approx(expected)
    assert bethe(7.0, 60.0, 44.0, SHARED) == pytest.approx(expected[3])
    assert expected[:2] == pytest.approx([0, 0]), "a pair below the discount is an unseen one"


def test_pairs_of_a_document_have_their_diagonal(seed=3):
    rng = np.random.default_rng(seed)
    size, weight = 12, 0.4
    count = np.triu(rng.poisson(0.6, (size, size)), 1)
    count += count.T
    marginal = rng.integers(0, 40, size)
    marginal[count.any(1)] += count.sum(1)[count.any(1)]
    start = np.concatenate(([0], np.cumsum((count > 0).sum(1)))).astype(np.int64)
    other = np.nonzero(count)[1].astype(np.int32)
    rows, columns, values = pair_couplings(
        start, other, count[count > 0], marginal, SHARED, weight, Couplings.none(size)
    )
    table = np.zeros((size, size))
    for u in range(size):
        assert (np.diff(columns[rows[u] : rows[u + 1]]) > 0).all()
        table[u, columns[rows[u] : rows[u + 1]]] = values[rows[u] : rows[u + 1]]
    for u in range(size):
        for v in range(size):
            n = SHARED.self_pair * marginal[u] if u == v else count[u, v]
            expected = weight * twin(n, marginal[u], marginal[v]) if n > SHARED.delta else 0.0
            assert table[u, v] == pytest.approx(expected, rel=1e-5)


def test_the_back_off_of_the_paper_sums_to_one(linker):
    """Σ p̃(e,e′) = Σ max(N−δ,0)/N_ep + (1−μ)·Σ p(e)p(e′) = 1, which the authors' 1 − δ·D/N_ep does not."""
    totals = linker.model.info["totals"]
    paper = Bethe.of(linker.model)
    discounted = 1 - PAPER.delta * totals["distinct_pairs"] / totals["pairs"]
    assert discounted + paper.backoff == pytest.approx(1)
    authors = Bethe.of(linker.model, PAPER.change(backoff="authors"))
    assert authors.backoff == pytest.approx(1 - paper.backoff)
    assert paper.unseen == pytest.approx(np.log(paper.backoff))
