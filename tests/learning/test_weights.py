"""Fitted weights are the maximum and recover those the data came from; features are the score's terms."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.learning.fit import fit_weights
from pboh.learning.weights import FEATURES, Choices, Weights, features, fit, fixed, judge, usefulness

WORLD = Path(__file__).parent.parent / "data" / "world.xml"


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
    return Choices(matrix, offsets, np.asarray(gold), np.arange(count) // 10, FEATURES, 0)


def log_likelihood(data, w):
    """Σ_i log p(gold_i), one mention at a time."""
    total = 0.0
    for a, b, g in zip(data.offsets[:-1], data.offsets[1:], data.gold, strict=True):
        score = data.matrix[a:b] @ w
        total += score[g - a] - np.log(np.exp(score).sum())
    return total


TRUE = np.asarray([1.0, 0.3, 0.8, -0.4, 0.0, 0.5, 0.1])


def test_the_maximum_is_found():
    data = choices(300, TRUE)
    weights = fit(data, penalty=0.0)
    best = log_likelihood(data, weights.value)
    assert weights.loss == pytest.approx(-best / 300)
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


def test_a_part_of_the_documents():
    data = choices(100, TRUE)
    part = data.of(np.asarray([2, 5]))
    assert part.gold.size == 20
    rows = np.concatenate(
        [np.arange(data.offsets[i], data.offsets[i + 1]) for i in [*range(20, 30), *range(50, 60)]]
    )
    np.testing.assert_array_equal(part.matrix, data.matrix[rows])
    np.testing.assert_array_equal(
        part.matrix[part.gold], data.matrix[data.gold[[*range(20, 30), *range(50, 60)]]]
    )


def test_judging_and_leaving_out():
    data = choices(3000, TRUE)
    weights = fit(data)
    assert judge(data, weights)["loss"] == pytest.approx(weights.loss)
    assert judge(data, fixed(FEATURES, TRUE))["loss"] == pytest.approx(weights.loss, abs=0.01)
    worth = usefulness(data, weights)
    assert worth["prior"] > worth["context"] > worth["popularity"] > -1e-9


def test_weights_as_settings():
    weights = Weights(
        ("prior", "context", "pairs", "own_words"), np.asarray([2.0, 0.2, 1.0, 0.1]), np.zeros(4), 0, 0
    )
    assert weights.settings() == pytest.approx({"zeta": 0.1, "tau": 0.5, "own_words": 0.5})
    assert Weights(("prior",), np.asarray([-1.0]), np.zeros(1), 0, 0).settings() == {}


def test_an_unknown_term_is_said_in_one_sentence():
    with pytest.raises(InputError, match="unknown features"):
        fit(choices(10, TRUE), ["prior", "luck"])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    from pboh.corpus.extract import extract
    from pboh.counts.count import count
    from pboh.model.build import build_model

    folder = tmp_path_factory.mktemp("world")
    extract([WORLD], folder / "corpus", workers=1)
    count([folder / "corpus"], folder / "counts", threads=1)
    build_model(folder / "counts", folder / "model")
    return folder / "model"


TEXTS = [
    ("Müller scored twice for Bayern in the Bundesliga, as Gerd Müller once did in the World Cup.",
     {"Müller": "Gerd Müller", "Bayern": "FC Bayern Munich", "Bundesliga": "Bundesliga",
      "Gerd Müller": "Gerd Müller", "World Cup": "FIFA World Cup"}),
    ("Madrid lost to Paris; Zidane was not there. Dortmund won the Champions League.",
     {"Madrid": "Real Madrid CF", "Paris": "Paris Saint-Germain FC", "Zidane": "Zinedine Zidane",
      "Dortmund": "Borussia Dortmund", "Champions League": "UEFA Champions League"}),
]  # fmt: skip


def gold_documents():
    """Each anchor at its last place in the text, so that no two overlap."""
    out = []
    for text, golds in TEXTS:
        spans = sorted(
            (text.index(name), text.index(name) + len(name), title) for name, title in golds.items()
        )
        out.append((text, [s for i, s in enumerate(spans) if i == 0 or s[0] >= spans[i - 1][1]]))
    return out


def test_features_are_the_terms_inference_adds_up(model):
    """w·f with the settings' weights is the conditional score of inference wherever it answers gold."""
    from pboh.inference.spans import Span
    from pboh.learning.weights import _Terms
    from pboh.linker import load

    linker = load(model, paper=True, coreference=1.0, self_pair=0.0, candidates=64, tau=0.7, zeta=0.2)
    w = fixed(FEATURES, (1.0, 0.2, 0.7, 0.0, 0.0, 1.0, 0.0)).value
    compared = 0
    for text, mentions in gold_documents():
        matrix, size, gold = _Terms(linker).document(text, mentions)
        solution = linker.solve(text, [Span(a, b, title) for a, b, title in mentions])  # every answer clamped
        free = linker.solve(text, [Span(a, b) for a, b, _ in mentions])
        assert (gold >= 0).sum() >= 3
        for i in range(len(mentions)):
            if gold[i] < 0 or (gold < 0).any():
                continue
            row = free.unary.entity[i, : free.unary.size[i]].tolist()
            clamped = int(solution.unary.entity[i, 0])
            mine = matrix[i, : size[i]] @ w
            entities = linker.engine.candidates.find([text[a:b] for a, b, _ in mentions])[0][
                i, : size[i]
            ].tolist()
            assert mine[entities.index(clamped)] - matrix[
                i, entities.index(clamped), [0, 5]
            ].sum() == pytest.approx(solution.scores[i, 0] - np.log(solution.unary.prior[i, 0]), abs=1e-4)
            assert set(entities) == set(row)
            compared += 1
    assert compared >= 5


def test_fitting_real_documents(model):
    from pboh.linker import load

    figures = fit_weights(load(model), gold_documents() * 5, ["prior", "context", "pairs"], test=0.4)
    assert figures["documents"] == 10
    assert figures["mentions_with_a_choice"] > 10
    assert figures["fitted_loss"] <= figures["current_loss"] + 1e-6
    assert {"setting_zeta", "setting_tau"} <= set(figures)


def test_documents_without_a_choice_are_said_in_one_sentence(model):
    from pboh.linker import load

    with pytest.raises(InputError, match="no mention"):
        features(load(model), [("Nothing here.", []), ("Xyzzy", [(0, 5, "Gerd Müller")])])


def test_the_command_fits(model, tmp_path):
    gold = tmp_path / "gold.jsonl"
    lines = [
        {
            "id": str(i),
            "text": text,
            "mentions": [{"start": a, "end": b, "gold": title} for a, b, title in mentions],
        }
        for i, (text, mentions) in enumerate(gold_documents())
    ]
    gold.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "fit", str(model), str(gold)]
    command += ["--test", "0", "--json", str(tmp_path / "out.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "weight prior" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["documents"] == 2
