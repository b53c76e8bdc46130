"""Fitted weights are the maximum and recover those the data came from; features are the score's terms."""

from itertools import pairwise

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, GoldDocument, GoldMention
from pboh.inference.spans import Span
from pboh.learning.weights import (
    FEATURES,
    Choices,
    Weights,
    _Terms,
    features,
    fit,
    fit_settings,
    judge,
    usefulness,
)
from pboh.linker import load


def choices(count, weights, seed=0):
    """Mentions with 2…6 candidates, normal features, golds drawn from softmax(w·f)."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, count)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    matrix = rng.normal(size=(offsets[-1], len(FEATURES)))
    gold = []
    for a, b in pairwise(offsets):
        score = matrix[a:b] @ weights
        p = np.exp(score - score.max())
        gold.append(a + rng.choice(b - a, p=p / p.sum()))
    return Choices(matrix, offsets, np.asarray(gold), FEATURES)


def log_likelihood(data, w):
    """Σ_i log p(gold_i), one mention at a time."""
    total = 0.0
    for a, b, g in zip(data.offsets[:-1], data.offsets[1:], data.gold, strict=True):
        score = data.matrix[a:b] @ w
        total += score[g - a] - np.log(np.exp(score).sum())
    return total


TRUE = np.asarray([1.0, 0.3, 0.8, -0.4, 0.0, 0.5])


def test_the_maximum_is_found():
    data = choices(300, TRUE)
    weights = fit(data, penalty=0.0)
    best = log_likelihood(data, weights.value)
    assert judge(data, weights)["loss"] == pytest.approx(-best / 300)
    for k in range(len(FEATURES)):
        for step in (-0.01, 0.01):
            moved = weights.value.copy()
            moved[k] += step
            assert log_likelihood(data, moved) < best


def test_true_weights_are_recovered_within_their_errors_as_data_grows():
    for count in (300, 3000, 30_000):
        weights = fit(choices(count, TRUE))
        assert (np.abs(weights.value - TRUE) < 4 * weights.error).all()
    assert np.abs(weights.value - TRUE).max() < 0.05


def test_weights_that_separate_stay_finite():
    data = choices(20, 100 * TRUE)
    assert np.isfinite(fit(data).value).all()


def test_judging_and_leaving_out():
    data = choices(3000, TRUE)
    weights = fit(data)
    right = judge(data, Weights(FEATURES, TRUE))
    assert right["loss"] == pytest.approx(judge(data, weights)["loss"], abs=0.01)
    assert right["accuracy"] == pytest.approx(judge(data, weights)["accuracy"], abs=0.01)
    worth = usefulness(data, weights)
    assert worth["prior"] > worth["context"] > worth["popularity"] > -1e-9


def test_weights_as_settings():
    weights = Weights(("prior", "context", "pairs"), np.asarray([2.0, 0.2, 1.0]))
    assert weights.settings() == pytest.approx({"zeta": 0.1, "tau": 0.5})
    assert Weights(("prior",), np.asarray([-1.0])).settings() == {}


def test_an_unknown_term_is_said_in_one_sentence():
    with pytest.raises(InputError, match="unknown terms"):
        fit(choices(10, TRUE), ["prior", "luck"])


TEXTS = [
    ("Müller scored twice for Bayern in the Bundesliga, as Gerd Müller once did in the World Cup.",
     {"Müller": "Gerd Müller", "Bayern": "FC Bayern Munich", "Bundesliga": "Bundesliga",
      "Gerd Müller": "Gerd Müller", "World Cup": "FIFA World Cup"}),
    ("Madrid lost to Paris; Zidane was not there. Dortmund won the Champions League.",
     {"Madrid": "Real Madrid CF", "Paris": "Paris Saint-Germain FC", "Zidane": "Zinedine Zidane",
      "Dortmund": "Borussia Dortmund", "Champions League": "UEFA Champions League"}),
]  # fmt: skip


def gold_documents():
    """Each anchor at its first place in the text; of two that overlap, the one before."""
    out = []
    for text, golds in TEXTS:
        spans = sorted(
            (text.index(name), text.index(name) + len(name), title) for name, title in golds.items()
        )
        kept = [span for i, span in enumerate(spans) if i == 0 or span[0] >= spans[i - 1][1]]
        mentions = tuple(GoldMention(a, b, text[a:b], title) for a, b, title in kept)
        out.append(GoldDocument(text[:6], text, mentions))
    return out


def test_features_are_the_terms_inference_adds_up(world_model):
    """w·f with the settings' weights is the conditional score of inference wherever it answers gold."""
    linker = load(world_model, paper=True, coreference=1.0, self_pair=0.0, candidates=64, tau=0.7, zeta=0.2)
    w = np.asarray([1.0, 0.2, 0.7, 0.0, 0.0, 1.0])
    compared = 0
    for document in gold_documents():
        text, mentions = document.text, [(m.start, m.end, m.gold) for m in document.mentions]
        matrix, size, gold = _Terms(linker).document(document)
        solution = linker.engine.solve(text, [Span(*mention) for mention in mentions])  # all clamped
        free = linker.engine.solve(text, [Span(a, b) for a, b, _ in mentions])
        assert (gold >= 0).sum() >= 3
        for i in range(len(mentions)):
            if gold[i] < 0 or (gold < 0).any():
                continue
            row = free.unary.entity[i, : free.unary.size[i]].tolist()
            clamped = int(solution.unary.entity[i, 0])
            mine = matrix[i, : size[i]] @ w
            found = linker.engine.candidates.find([text[a:b] for a, b, _ in mentions])[0]
            entities = found[i, : size[i]].tolist()
            assert mine[entities.index(clamped)] - matrix[
                i, entities.index(clamped), [0, 5]
            ].sum() == pytest.approx(solution.scores[i, 0] - np.log(solution.unary.prior[i, 0]), abs=1e-4)
            assert set(entities) == set(row)
            compared += 1
    assert compared >= 5


def test_fitting_real_documents(world_model):
    gold = Dataset("gold", tuple(gold_documents() * 5))
    linker = load(world_model)
    settings, figures = fit_settings(linker, [gold], [gold], ["prior", "context", "pairs"])
    assert figures["documents"] == 10
    assert figures["mentions_with_a_choice"] > 10
    assert figures["gold_fitted_loss"] <= figures["gold_current_loss"] + 1e-6
    assert settings == linker.settings.change(zeta=figures["setting_zeta"], tau=figures["setting_tau"])


def test_documents_without_a_choice_are_said_in_one_sentence(world_model):
    unknown = GoldDocument("2", "Xyzzy", (GoldMention(0, 5, "Xyzzy", "Gerd Müller"),))
    with pytest.raises(InputError, match="no mention"):
        features(load(world_model), [GoldDocument("1", "Nothing here.", ()), unknown])
