"""The engine: all mentions of a text are resolved together, once, and the solution is kept."""

from __future__ import annotations

import pickle
from itertools import product
from unittest import mock

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.formats.html import to_html
from pboh.inference.engine import Engine
from pboh.inference.spans import Span
from pboh.linker import load
from small_world import FOOTBALL, WRITERS, mark, titles


def test_answers_maximise_the_joint_score_of_the_paper(world_model):
    """Brute force over all assignments of Eq. (c2), from the terms that explanations report."""
    linker = load(world_model, paper=True, candidates=4)
    text, spans = WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris")
    solution = linker.engine.solve(text, [Span(*s) for s in spans])
    unary, pairs = solution.unary, solution.pairs
    start, other, value = pairs.couplings
    lam = np.full((start.size - 1,) * 2, pairs.unseen)
    for u in range(start.size - 1):
        lam[u, other[start[u] : start[u + 1]]] += value[start[u] : start[u + 1]]

    def joint(choice):
        labels = [pairs.label[i, a] for i, a in enumerate(choice)]
        pair_sum = sum(lam[labels[i], labels[j]] for i in range(3) for j in range(i))
        return sum(unary.local[i, a] for i, a in enumerate(choice)) + pair_sum

    best = max(product(*(range(k) for k in unary.size)), key=joint)
    assert solution.answer.tolist() == list(best)
    assert solution.beliefs.converged


def test_a_clamped_mention_is_certain_and_steers_the_rest(linker):
    text = "Mercury and Venus were there."
    free = titles(linker.disambiguate(text, mark(text, "Mercury", "Venus")))
    assert free == ["Mercury (planet)", "Venus"]
    clamped = linker.disambiguate(text, [(0, 7), (12, 17, "Queen (band)")])
    assert clamped.mentions[1].clamped
    assert clamped.mentions[1].entity.title == "Queen (band)"
    assert clamped.mentions[1].probability == 1
    assert (
        clamped.mentions[0].probability
        != linker.disambiguate(text, [(0, 7), (12, 17)]).mentions[0].probability
    )
    with pytest.raises(InputError, match="does not know"):
        linker.disambiguate(text, [(0, 7, "Nobody at all")])


def test_nothing_one_thing_and_unknown_names(linker):
    assert linker.disambiguate("", []).mentions == []
    assert linker.disambiguate("Nothing here.", []).rounds == 0
    text = "Paris met Xqzzyvw."
    document = linker.disambiguate(text, mark(text, "Paris", "Xqzzyvw"))
    assert document.mentions[0].entity is not None
    unknown = document.mentions[1]
    assert (unknown.entity, unknown.candidates, unknown.probability) == (None, (), 0.0)
    assert unknown.explain() is None


def test_a_thousand_mentions_fit(linker):
    sentence = "Müller scored for Bayern in Paris and Georgia won. "
    text = sentence * 250
    document = linker.disambiguate(text, mark(text, "Müller", "Bayern", "Paris", "Georgia"))
    assert len(document) == 1000
    assert all(mention.entity for mention in document)


def test_a_document_is_solved_once_whatever_is_asked_of_it(linker):
    with mock.patch.object(Engine, "solve", autospec=True, side_effect=Engine.solve) as solve:
        document = linker.link(FOOTBALL, threshold=0.0)
        assert solve.call_count == len(document.parts) == 1
        for mention in document:
            assert [mention.explain(c.entity).score for c in mention.candidates]
        to_html(document)
        document.to_dict(explain=True, terms=True)
        assert solve.call_count == 1


def test_a_pickled_document_is_light_and_solved_again_only_when_asked(linker):
    document = linker.disambiguate(WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris"))
    pickled = pickle.dumps(document)
    assert len(pickled) < 10_000
    with mock.patch.object(Engine, "solve", autospec=True, side_effect=Engine.solve) as solve:
        again = pickle.loads(pickled)
        assert again.to_dict() == document.to_dict() and solve.call_count == 0
        for one, two in zip(document, again, strict=True):
            assert one.explain() == two.explain()
        assert solve.call_count == 1, "all mentions of a part share its solution"


def test_the_solution_has_the_beliefs_of_every_round(linker):
    (part,) = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Bayern", "Dortmund")).parts
    solution = part.solution
    history = solution.beliefs.history
    assert len(history) == solution.beliefs.rounds + 1
    assert (history[-1] == solution.beliefs.belief).all()
    live = np.arange(history.shape[2]) < solution.unary.size[:, None]
    assert history[0][live] == pytest.approx(solution.unary.local[live].astype(np.float32))


def test_mentions_of_a_long_document_know_their_part(linker):
    text = "Müller scored for Bayern in Paris and Georgia won. " * 150
    document = linker.link(text, threshold=0.0)
    assert len(document.parts) > 1
    for mention in document:
        span = mention.part.spans[mention.row]
        assert span.start + mention.part.first == mention.start
        assert mention.part.text[span.start : span.end] == mention.text
        assert mention.explain().score == pytest.approx(mention.score)
    assert {id(mention.part) for mention in document} == {id(part) for part in document.parts}


def test_calibration_belongs_to_the_settings_it_was_fitted_with(linker):
    fitted = {"calibration": {"weights": {"bias": 0.0}}, "settings": linker.settings.record()}
    linker.model.info.update(fitted)
    try:
        assert Engine(linker.model, linker.settings).reliability is not None
        assert Engine(linker.model, linker.settings.change(threshold=0.9)).reliability is not None
        assert Engine(linker.model, linker.settings.change(tau=0.9)).reliability is None
        assert Engine(linker.model, linker.settings, calibrated=False).reliability is None
    finally:
        for name in fitted:
            del linker.model.info[name]
