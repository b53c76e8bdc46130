"""The one scoring function against a slow twin: every term of Eq. (c2), under the settings of all systems."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.inference.belief_propagation import Couplings, FactorGraph
from pboh.inference.bethe import Bethe
from pboh.inference.score_kernels import conditional_scores, keep_best, pair_couplings
from pboh.inference.spans import Span
from pboh.linker import load
from pboh.model.build import BuildOptions, build_model
from small_world import FOOTBALL, WRITERS, mark


def couplings_of(solution):
    """λ as a full table."""
    start, other, value = solution.pairs.couplings
    lam = np.full((start.size - 1,) * 2, solution.pairs.unseen)
    for u in range(start.size - 1):
        lam[u, other[start[u] : start[u + 1]]] += value[start[u] : start[u + 1]]
    return lam


def counted_pairs(model):
    """N(e,e′) of all entities: on how many pages both stand, from the pages that link each."""
    offsets, documents = model["posting_offsets"], model["posting_document"]
    incidence = np.zeros((model.entities, int(model.info["totals"]["documents"])))
    for e in range(model.entities):
        incidence[e, documents[offsets[e] : offsets[e + 1]]] = 1
    return incidence @ incidence.T


@pytest.mark.parametrize("system", ["localmention", "localcontext", "unnorm", "rescaled", "pboh"])
@pytest.mark.parametrize("text", [FOOTBALL, WRITERS])
def test_scores_equal_the_formula(world_model, system, text):
    """log p(e|m) + ζ·Σ_w log p(w|e)/p(w) + weight·Σ_{j≠i} log(p̃(e,e_j)/(p(e)p(e_j))), from the counts."""
    linker = load(world_model, paper=True, system=system)
    model, s = linker.model, linker.settings
    spans = [Span(*span) for span in mark(text, "Müller", "Bayern", "Dortmund", "Hemingway", "Paris")]
    solution = linker.engine.solve(text, spans)
    unary, totals = solution.unary, model.info["totals"]
    weight = s.pair_weight(len(spans))
    backoff = s.delta * totals["distinct_pairs"] / totals["pairs"]
    together, marginal = counted_pairs(model), model["entity_marginal"].astype(float)

    def lam(e, u):
        n = s.self_pair * marginal[e] if e == u else together[e, u]
        seen = max(n - s.delta, 0) * totals["pairs"] / (marginal[e] * marginal[u]) if n > 0 else 0.0
        return weight * np.log(seen + backoff) if weight else 0.0

    answers = [int(unary.entity[i, a]) for i, a in enumerate(solution.answer)]
    for i in range(len(spans)):
        for c in range(unary.size[i]):
            e = int(unary.entity[i, c])
            local = np.log(unary.prior[i, c]) + s.context_weight * unary.context[i, c]
            pairs = sum(lam(e, answers[j]) for j in range(len(spans)) if j != i)
            assert unary.local[i, c] == pytest.approx(local)
            assert solution.scores[i, c] == pytest.approx(local + pairs, abs=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_conditional_scores_equal_sums_over_all_neighbours(seed):
    rng = np.random.default_rng(seed)
    n, r, labels, unseen = 5, 3, 8, -0.7
    local, label = rng.normal(size=(n, r)), rng.integers(0, labels, (n, r)).astype(np.int32)
    size = rng.integers(0, r + 1, n).astype(np.int32)
    above = np.triu(rng.exponential(1.0, (labels, labels)) * (rng.random((labels, labels)) < 0.5))
    above = (above + above.T).astype(np.float32)
    start = np.concatenate(([0], np.cumsum((above > 0).sum(1)))).astype(np.int64)
    other = np.nonzero(above)[1].astype(np.int32)
    chosen = np.asarray([label[i, 0] if size[i] else -1 for i in range(n)])
    where, reach = np.sort(rng.integers(0, n, n)), int(rng.integers(1, n + 1))
    pairs = start, other, above[above > 0], unseen
    scores, neighbours = conditional_scores(local, label, size, chosen, *pairs, where, reach)
    for i in range(n):
        near = [j for j in range(n) if 0 < abs(where[j] - where[i]) <= reach and chosen[j] >= 0]
        assert neighbours[i] == len(near)
        for c in range(size[i]):
            others = [above[label[i, c], chosen[j]] + unseen for j in near]
            assert scores[i, c] == pytest.approx(local[i, c] + sum(others), abs=1e-5)
    assert (scores[np.arange(r) >= size[:, None]] == -np.inf).all()


@pytest.mark.parametrize("seed", range(10))
def test_the_best_local_candidates_are_kept(seed):
    rng = np.random.default_rng(seed)
    n, r, keep, zeta = 4, 9, 3, 0.3
    entity, size = rng.permuted(np.tile(np.arange(r), (n, 1)), axis=1).astype(np.int32), rng.integers(0, r, n)
    prior, context, topic = rng.random((n, r)) + 0.1, rng.normal(0, 2, (n, r)), rng.normal(0, 1, (n, r))
    terms = prior, context, topic
    kept, kept_size, kept_prior, kept_context, kept_topic, local = keep_best(entity, size, *terms, zeta, keep)
    for i in range(n):
        scores = np.log(prior[i]) + zeta * context[i] + topic[i]
        best = sorted(range(size[i]), key=lambda c: -scores[c])[:keep]
        assert kept_size[i] == len(best)
        assert kept[i, : len(best)].tolist() == entity[i, best].tolist()
        assert kept_prior[i, : len(best)].tolist() == prior[i, best].tolist()
        assert kept_context[i, : len(best)].tolist() == context[i, best].tolist()
        assert kept_topic[i, : len(best)].tolist() == topic[i, best].tolist()
        assert local[i, : len(best)] == pytest.approx(scores[best])


def dense_kinship(model, entities, kinship, least):
    """kinship · (cosine − least), if positive, of all pairs of entities."""
    rows = model["vector_entity"][entities].astype(float)
    length = np.linalg.norm(rows, axis=1)
    cosine = rows @ rows.T / np.maximum(np.outer(length, length), 1e-9)
    return kinship * np.maximum(cosine - least, 0.0)


@pytest.mark.parametrize("least", [0.0, 0.3])
def test_pairs_that_are_alike_have_a_back_off_of_their_own(world_model, least):
    """λ = log( max(N−δ,0)·N_ep/(c_e·c_e′) + (1−μ)·exp(kinship·(cos − least)) ), against the full table."""
    linker = load(world_model, kinship=3.0, kinship_from=least, topic=0.0)
    plain = linker.with_settings(kinship=0.0)
    spans = [Span(*span) for span in mark(WRITERS, "Müller", "Hemingway", "Paris")]
    solution, before = linker.engine.solve(WRITERS, spans), plain.engine.solve(WRITERS, spans)
    entities = np.unique(solution.unary.entity)
    kin = dense_kinship(linker.model, entities, 3.0, least)
    weight = linker.settings.pair_weight(len(spans))
    unseen = before.pairs.unseen / weight  # log(1−μ)
    seen = np.exp(couplings_of(before) / weight) - np.exp(unseen)
    expected = weight * np.log(seen + np.exp(unseen + kin))
    assert (kin > 0).any() and couplings_of(solution) == pytest.approx(expected, abs=1e-5)
    dense = FactorGraph(solution.unary.local, solution.pairs.label, solution.unary.size, expected)
    assert dense.propagate().best().tolist() == solution.beliefs.best().tolist()
    sums = dense.propagate("sum", rounds=linker.settings.rounds).probability()
    assert sums == pytest.approx(solution.probability, abs=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_couplings_of_kin_equal_a_full_table(seed):
    rng = np.random.default_rng(seed)
    u, shared = 7, Bethe(1000.0, 0.3, 0.5, 0.01)
    count = np.triu(rng.integers(0, 3, (u, u)) * (rng.random((u, u)) < 0.5), 1)
    count, marginal = count + count.T, rng.integers(1, 90, u)
    alike = np.triu(rng.random((u, u)) * (rng.random((u, u)) < 0.4))
    alike = np.maximum(alike, alike.T).astype(np.float32)
    rows = [Couplings.dense(table, 0.0) for table in (count, alike)]
    found = Couplings(*pair_couplings(*rows[0], marginal, shared, 0.7, rows[1]))
    n = count + np.diag(shared.self_pair * marginal)
    ratio = np.maximum(n - 0.5, 0) * 1000.0 / np.outer(marginal, marginal) / 0.3
    table = np.zeros((u, u))
    for i in range(u):
        columns = found.other[found.start[i] : found.start[i + 1]]
        assert (np.diff(columns) > 0).all()
        table[i, columns] = found.value[found.start[i] : found.start[i + 1]]
    assert table == pytest.approx(0.7 * np.log(np.exp(alike) + ratio), abs=1e-5)


def test_the_topic_is_weighed_and_added_to_the_local_score(world_model):
    linker = load(world_model, topic=2.0)
    spans = [Span(*span) for span in mark(FOOTBALL, "Müller", "Paris")]
    unary = linker.engine.solve(FOOTBALL, spans).unary
    twice = linker.with_settings(topic=4.0).engine.solve(FOOTBALL, spans).unary
    for i in range(2):
        rows = [dict(zip(u.entity[i].tolist(), u.topic[i].tolist(), strict=True)) for u in (unary, twice)]
        assert any(rows[0].values()) and all(abs(value) <= 2.0 for value in rows[0].values())
        assert rows[1] == pytest.approx({entity: 2 * value for entity, value in rows[0].items()})
    inside = np.arange(unary.local.shape[1]) < unary.size[:, None]
    local = np.log(unary.prior[inside]) + linker.settings.zeta * unary.context[inside] + unary.topic[inside]
    assert unary.local[inside] == pytest.approx(local)


def test_a_model_without_vectors_answers_as_if_they_were_switched_off(world_counts, world_model, tmp_path):
    build_model(world_counts, tmp_path / "model", BuildOptions(vectors=0))
    spans = mark(FOOTBALL, "Müller", "Bayern", "Paris")
    without = load(tmp_path / "model", topic=3.0, kinship=5.0)
    off = load(world_model, topic=0.0, kinship=0.0)
    assert "vector_entity" not in without.model and "vector_entity" in off.model
    answers = [linker.disambiguate(FOOTBALL, spans).to_dict()["mentions"] for linker in (without, off)]
    assert answers[0] == answers[1]


def test_windows_are_the_content_words_around_a_mention(linker):
    text = "The striker Müller scored a goal for the team of Bayern."
    potentials = linker.with_settings(window=2).engine.potentials
    windows = potentials.windows(potentials.content(text), [Span(12, 18), Span(49, 55)])
    words = [[text[windows.starts[k] : windows.ends[k]] for k in windows.places(i)] for i in range(2)]
    assert words == [["striker", "scored", "goal"], ["goal", "team"]]
    assert windows.lengths.tolist() == [3, 2]


@pytest.mark.parametrize("system", ["localmention", "localcontext", "unnorm", "rescaled", "pboh"])
def test_the_five_systems_are_settings_of_one_score(world_model, system):
    linker = load(world_model, paper=True, system=system)
    document = linker.disambiguate(WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris"))
    assert all(mention.entity for mention in document)
    why = document.mentions[0].explain()
    assert (why.context == 0) == (system in ("localmention", "unnorm", "rescaled"))
    assert (why.neighbours == ()) == (system in ("localmention", "localcontext"))


def test_local_mention_takes_the_most_frequent_entity(world_model):
    linker = load(world_model, paper=True, system="localmention")
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Paris"))
    for mention in document:
        assert mention.entity == max(mention.candidates, key=lambda c: c.prior).entity
