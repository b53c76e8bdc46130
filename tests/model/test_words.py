"""Context scores equal the formula of the paper, term by term, and the smoothed distributions sum to one."""

import numpy as np
import pytest

from pboh.model.word_kernels import Contexts, backoff_weight, context_scores


def world(seed, entities=12, vocabulary=60, smallest=1):
    """Random N(w,e) with some pruned rows."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (entities, vocabulary)).astype(np.float64)
    counts[0] = 0  # an entity without statistics
    totals = counts.sum(1)
    kept = np.where(counts >= smallest, counts, 0)
    background = rng.dirichlet(np.ones(vocabulary)).astype(np.float32)
    return rng, counts, kept, totals, background


def twin(kept, totals, background, entity, words, xi, unmatched, clip, floor):
    """Σ_w log p̃(w|e)/p(w); unknown words (−1) and unmatched ones bring log(1−μ_e)."""
    z = totals[entity]
    if z == 0:
        return 0.0
    backoff = 1 - np.where(kept[entity] > 0, kept[entity] - xi, 0).sum() / z
    total = 0.0
    for w in words:
        if w >= 0 and kept[entity, w] > 0:
            ratio = (kept[entity, w] - xi) / z / float(background[w]) + backoff
            total += min(np.log(ratio), clip) - np.log(backoff) if ratio >= floor else 0.0
        total += unmatched * np.log(backoff)
    return total


@pytest.mark.parametrize(
    "options", [(0.5, 1.0, np.inf, 0.0, 1), (0.5, 0.5, 1.5, 2.0, 2), (0.9, 1.0, np.inf, 0.0, 3)]
)
@pytest.mark.parametrize("vocabulary", [60, 600], ids=["few words", "many words"])
@pytest.mark.parametrize("seed", range(5))
def test_equals_the_formula(seed, vocabulary, options):
    """Entities with few or many words beside contexts of 1 to 27: each of the ways they are compared."""
    xi, unmatched, clip, floor, smallest = options
    rng, _, kept, totals, background = world(seed, vocabulary=vocabulary, smallest=smallest)
    rows = [np.flatnonzero(row) for row in kept]
    offsets = np.cumsum([0, *(r.size for r in rows)]).astype(np.int64)
    words = rng.integers(-1, vocabulary, 40)
    first, left, right, last = np.asarray(
        [[0, 3, 4, 30], [5, 20, 22, 40], [7, 8, 9, 9], [1, 4, 5, 6]]
    ).T.copy()
    entities = np.asarray([np.arange(12), np.arange(12)[::-1], *[np.arange(12)] * 2], np.int32)
    out = np.zeros((4, 12))
    seen = np.zeros(vocabulary, np.int32)
    contexts = Contexts(
        offsets, np.concatenate(rows).astype(np.int32), kept[kept > 0].astype(np.uint16),
        totals.astype(np.float32), kept.sum(1).astype(np.float32), (kept > 0).sum(1).astype(np.float32),
        background,
    )  # fmt: skip
    size, weights = np.full(4, 12, np.int32), np.asarray(options, np.float64)
    context_scores(entities, size, words, (first, left, right, last), contexts, seen, weights, out)
    for i in range(4):
        context = [*words[first[i] : left[i]], *words[right[i] : last[i]]]
        for c, e in enumerate(entities[i]):
            expected = twin(kept, totals, background, e, context, xi, unmatched, clip, floor)
            assert out[i, c] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert not seen.any()


@pytest.mark.parametrize("smallest", [1, 2, 3])
def test_smoothed_word_distribution_sums_to_one(smallest):
    _, _, kept, totals, background = world(3, smallest=smallest)
    p = background.astype(np.float64) / background.astype(np.float64).sum()
    for e in range(1, 12):
        backoff = backoff_weight(kept[e].sum(), (kept[e] > 0).sum(), totals[e], 0.5)
        total = (np.maximum(kept[e] - 0.5, 0) / totals[e] + backoff * p).sum()
        assert total == pytest.approx(1, abs=1e-9)
