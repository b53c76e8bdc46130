"""Candidates of names: p(e|m) as the name layers say it, unknown names rescued, surnames inherited."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.inference.candidate_kernels import gather
from pboh.inference.candidates import Shares, inherit, longer_mentions, restrict, variants
from pboh.inference.entities import EntitySet
from small_world import titles


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("exponent", [0.0, 1.0])
def test_p_of_an_entity_given_a_name_equals_the_formula(seed, exponent):
    """p(e|m) ∝ Σ_layer weight·c_layer(m, e), where layers made from titles count popularity instead."""
    rng = np.random.default_rng(seed)
    names, entities, layers, top = 6, 40, 5, 4
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 30, names)))).astype(np.int64)
    rows = int(offsets[-1])
    entity, layer = rng.integers(0, entities, rows).astype(np.int32), rng.integers(0, layers, rows)
    count, popularity = rng.integers(1, 9, rows), rng.integers(0, 50, entities)
    weights = np.asarray([1.0, 0.5, 0.0, 0.2, 0.1])
    positions = rng.integers(-1, names, (7, 3))
    rest = popularity, weights, exponent, rng.random(7) < 0.5, 1.0, top
    found, prior, size, total = gather(positions, offsets, entity, layer.astype(np.uint8), count, *rest)
    for i, forms in enumerate(positions):
        expected: dict[int, float] = {}
        for form, at in enumerate(forms):
            for k in range(offsets[at], offsets[at + 1]) if at >= 0 else ():
                if min(layer[k], 2) == form and weights[layer[k]] > 0:
                    boost = (popularity[entity[k]] + 1.0) ** exponent if layer[k] >= 3 else 1.0
                    expected[entity[k]] = expected.get(entity[k], 0.0) + weights[layer[k]] * count[k] * boost
        best = sorted(expected.items(), key=lambda item: (-item[1], item[0]))[:top]
        assert found[i, : size[i]].tolist() == [e for e, _ in best]
        assert total[i] == pytest.approx(sum(value for _, value in best))
        assert prior[i, : size[i]] == pytest.approx([value / total[i] for _, value in best])


@pytest.mark.parametrize("use", [0.0, 0.8])
def test_factors_of_what_follows_a_name_change_what_it_means(use):
    """p(e|m, followed) ∝ p(e|m) · (p(followed|m,e) / p(followed|m))^use, by the rows behind all layers."""
    entity, layer = np.asarray([3, 5, 3, 5, 9], np.int32), np.asarray([0, 0, 1, 1, 1], np.uint8)
    count, positions = np.asarray([4.0, 1.0, 6.0, 2.0, 1.0]), np.asarray([[0, 1, -1]] * 2)
    factors = {3: 0.25, 5: 3.0, 7: 9.0}  # the entity 7 is no candidate
    rows = (
        np.asarray([0, 2, 8]), np.append(entity, [*factors]).astype(np.int32),
        np.append(layer, [2] * 3).astype(np.uint8), np.append(count, [*factors.values()]),
    )  # fmt: skip
    rest = np.zeros(10), np.asarray([1.0, 0.3]), 1.0, np.asarray([False, True]), use, 4
    found, prior, size, _ = gather(positions, *rows, *rest)
    assert size.tolist() == [3, 3]
    plain = {3: 4 + 0.3 * 6, 5: 1 + 0.3 * 2, 9: 0.3}
    followed = {e: value * factors.get(e, 1.0) ** use for e, value in plain.items()}
    for row, values in enumerate((plain, followed)):
        shares = {e: value / sum(values.values()) for e, value in values.items()}
        got = zip(found[row, :3].tolist(), prior[row, :3].tolist(), strict=True)
        assert dict(got) == pytest.approx(shares)


def test_shares_of_a_name_sum_to_one_best_first(linker):
    _, prior, size = linker.engine.candidates.find(["Müller", "Paris", "Xqzzyvw"])
    assert size[2] == 0 and (size[:2] > 1).all()
    for row, k in zip(prior[:2], size, strict=False):
        assert row[:k].sum() == pytest.approx(1) and (np.diff(row[:k]) <= 0).all()


def test_names_can_be_looked_at_alone(linker):
    find = linker.engine.candidates.find
    names = ["Müller", "Max Müller"]
    together, alone = find(names), find(names, alone=True)
    assert together[1][0].tolist() != alone[1][0].tolist()
    only_one = find(names[:1])
    assert [column[0].tolist() for column in alone] == [column[0].tolist() for column in only_one]


def test_other_spellings_of_unknown_names():
    assert variants("Müller's") == ["Müller", "Müller'"]
    assert variants("Acme Corp.") == ["Acme"]
    assert variants("Parties") == ["Party", "Partie"]
    assert variants("Mueller") == ["Müller"]
    assert variants("Paris") == ["Pari"]
    assert variants("LaLiga") == ["La Liga"]
    assert variants("J. R. Müller") == ["Müller"]


def test_an_initial_is_that_of_the_title(linker):
    found, prior, size = linker.engine.candidates.find(["G. Müller", "Q. Müller", "Müller"])
    assert size[2] > size[0] > size[1] == 0
    assert {linker.engine.entities[e].title[0] for e in found[0, : size[0]].tolist()} == {"G"}
    assert 0 < prior[0].sum() < 1  # it may be somebody else of that name


def test_a_legal_form_that_hardly_anybody_writes_is_left_out(linker):
    find = linker.engine.candidates.find
    assert [column[0].tolist() for column in find(["Bayern AG"])] == [c[0].tolist() for c in find(["Bayern"])]


def test_longer_mentions_begin_or_end_with_the_words():
    names = ["Clinton", "Bill Clinton", "Clinton Foundation", "Hillary", "the Clintons", "bill"]
    assert longer_mentions(names) == [[1, 2], [], [], [], [], [1]]


@pytest.mark.parametrize("seed", range(5))
def test_what_a_name_inherits_equals_the_formula(seed):
    """p(e|m) ∝ c(m, e) + weight · the mean p(e|m′) of the longer names m′ that have candidates."""
    rng = np.random.default_rng(seed)
    names = ["Clinton", "Bill Clinton", "Clinton", "Clinton Foundation", "Hillary Clinton", "Bill", "Hillary"]
    size = rng.integers(0, 4, len(names)).astype(np.int32)
    entity = np.stack([rng.permutation(9)[:4] for _ in names]).astype(np.int32)
    prior = rng.random(entity.shape) * (np.arange(4) < size[:, None])
    prior /= np.maximum(prior.sum(1, keepdims=True), 1e-9)
    shares = Shares(entity, prior, size, rng.random(len(names)) * 9)
    own = [shares.row(i) for i in range(len(names))]
    expected = Shares(*(column.copy() for column in shares))
    for i, longer in {0: [1, 3, 4], 2: [1, 3, 4], 5: [1], 6: [4]}.items():
        givers = [own[j] for j in longer if own[j]]
        links = {e: p * shares.total[i] for e, p in own[i].items()}
        for giver in givers:
            for e, p in giver.items():
                links[e] = links.get(e, 0.0) + 10.0 * p / len(givers)
        if givers:
            expected.put(i, links)
    inherit(names, shares, 10.0)
    for i in range(len(names)):
        assert shares.row(i) == pytest.approx(expected.row(i)) and list(shares.row(i)) == list(
            expected.row(i)
        )
    assert shares.total == pytest.approx(expected.total)


def test_a_misspelt_name_is_rescued_by_its_trigrams(linker):
    text = "Hemmingway wrote."  # 6 of 9 trigrams shared: a distance of 1/3
    for distance, title in ((0.5, "Ernest Hemingway"), (0.3, None)):
        strict = linker.with_settings(fuzzy_distance=distance)
        assert titles(strict.disambiguate(text, [(0, 10)])) == [title]
    assert titles(linker.with_settings(fuzzy=False).disambiguate(text, [(0, 10)])) == [None]


def test_a_surname_inherits_from_the_full_name_before_it(linker):
    text = "Max Müller taught. Müller wrote about goals."
    document = linker.disambiguate(text, [(0, 10), (19, 25)])
    alone = linker.with_settings(coreference=0.0).disambiguate(text, [(0, 10), (19, 25)])
    inherited = {c.entity.title: c.prior for c in document.mentions[1].candidates}
    without = {c.entity.title: c.prior for c in alone.mentions[1].candidates}
    assert inherited["Max Müller"] > without.get("Max Müller", 0)


@pytest.mark.parametrize("name", ["BAYERN", "bayern", "Bayern", "BaYeRn"])
def test_case_is_a_hint_not_a_condition(linker, name):
    assert titles(linker.disambiguate(f"{name} scored a goal.", [(0, 6)])) == ["FC Bayern Munich"]


def test_the_name_as_written_counts_more_than_other_cases(linker):
    fruit = linker.disambiguate("an apple", [(3, 8)]).mentions[0]
    company = linker.disambiguate("an Apple", [(3, 8)]).mentions[0]
    share = {m.text: {c.entity.title: c.prior for c in m.candidates} for m in (fruit, company)}
    assert share["apple"]["Apple"] > share["Apple"]["Apple"]
    assert share["Apple"]["Apple Inc."] > share["apple"].get("Apple Inc.", 0)


rows = st.lists(st.lists(st.integers(0, 12), max_size=6, unique=True), min_size=1, max_size=4)


@given(rows, st.sets(st.integers(0, 12)), st.integers(1, 6))
def test_restricting_is_what_filtering_rows_would_be(rows, allowed, top):
    """Against a slow twin, row by row."""
    found, prior = np.zeros((len(rows), 6), np.int32), np.zeros((len(rows), 6))
    size = np.asarray([len(row) for row in rows], np.int32)
    for i, row in enumerate(rows):
        found[i, : len(row)] = row
        prior[i, : len(row)] = 1 / (1 + np.arange(len(row)))
    expected = [[(e, 1 / (1 + k)) for k, e in enumerate(row) if e in allowed][:top] for row in rows]
    entities, shares = restrict(found, prior, size, EntitySet(allowed), top)
    assert size.tolist() == [len(row) for row in expected]
    assert entities.shape == shares.shape == (len(rows), min(top, 6))
    for i, row in enumerate(expected):
        assert entities[i, : size[i]].tolist() == [e for e, _ in row]
        total = sum(p for _, p in row)
        assert shares[i, : size[i]] == pytest.approx([p / total for _, p in row])
