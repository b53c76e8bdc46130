"""Grid search on the small world: it finds what helps, keeps its place on a plateau, and can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.evaluation.metrics import judge, macro_scores, micro_scores
from pboh.evaluation.runner import answer_document
from pboh.evaluation.trials import scoring, value_of, with_values
from pboh.inference.settings import DEFAULT, PAPER, Settings
from pboh.learning.grid import SPACE, Trial, Tuning, _improve, fine_values, parse_space, tune
from pboh.linker import Linker

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"


@pytest.fixture(scope="module")
def gold() -> Dataset:
    return read_dataset(WORLD)


def scores(linker: Linker, dataset: Dataset) -> tuple[float, float]:
    """Micro and macro F1 by the evaluation's own way."""
    counts = judge(dataset, [answer_document(linker, d) for d in dataset], linker.resolve).counts
    return float(micro_scores(counts)[2]), float(macro_scores(counts)[2])


def objective(trial: Trial) -> float:
    return trial.micro_f1 + trial.macro_f1


def test_the_winner_scores_what_the_tuning_says(linker: Linker, gold: Dataset) -> None:
    poor = linker.with_settings(zeta=0.0, tau=0.0)
    tuning = tune(poor, [gold], space={"zeta": (0.0, 0.1), "tau": (0.0, 0.5)}, rounds=1, confidence=0.6)
    assert (tuning.start.micro_f1, tuning.start.macro_f1) == pytest.approx(scores(poor, gold))
    found = Linker(linker.model, tuning.settings)
    assert (tuning.best.micro_f1, tuning.best.macro_f1) == pytest.approx(scores(found, gold))
    assert objective(tuning.best) > objective(tuning.start)
    assert tuning.settings.zeta > 0
    taken = [trial for trial in tuning.trials if trial.taken and trial.gain]
    assert sum(t.gain for t in taken) == pytest.approx(objective(tuning.best) - objective(tuning.start))


@pytest.mark.parametrize("name", ["delta", "xi", "zeta", "tau"])
def test_the_four_parameters_act_without_a_rebuild(name: str, linker: Linker, gold: Dataset) -> None:
    files = {path: path.stat().st_mtime_ns for path in linker.model.folder.iterdir()}
    text = gold.documents[0].text
    spans = [(m.start, m.end) for m in gold.documents[0].linked]

    def probabilities(value: float) -> list[float]:
        found = linker.with_settings(**{name: value}).disambiguate(text, spans)
        return [candidate.probability for mention in found for candidate in mention.candidates]

    assert probabilities(0.1) != pytest.approx(probabilities(0.9), abs=1e-9)
    tuning = tune(linker, [gold], space={name: (0.1, 0.9)}, rounds=1, confidence=0.0)
    assert {trial.value for trial in tuning.trials} >= {0.1, 0.9}
    assert {path: path.stat().st_mtime_ns for path in linker.model.folder.iterdir()} == files


def test_a_plateau_keeps_its_value(linker: Linker, gold: Dataset) -> None:
    tuning = tune(linker, [gold], space={"rounds": (20, 30), "fuzzy_distance": (0.5, 0.49)}, rounds=2)
    assert tuning.settings == linker.settings
    assert tuning.best == tuning.start
    assert tuning.settings.differences(tuning.before) == {}


def test_a_gain_that_is_not_sure_is_not_taken(linker: Linker, gold: Dataset) -> None:
    one = replace(gold, documents=gold.documents[1:2])  # of one document, every resample is the same
    poor = linker.with_settings(zeta=0.0, tau=0.0, coreference=0.0)
    space = {"zeta": (0.0, 0.1, 0.2), "tau": (0.0, 0.5), "coreference": (0.0, 10.0)}
    sure = tune(poor, [one], space=space, rounds=1)
    assert objective(sure.best) > objective(sure.start)
    never = tune(poor, [one], space=space, rounds=1, confidence=1.01)
    assert never.settings == poor.settings


def test_the_fine_round_is_optional(linker: Linker, gold: Dataset) -> None:
    space = {"tau": (0.25, 0.5, 1.0), "window": (25, 50)}
    coarse = tune(linker, [gold], space=space, rounds=1, fine=False, confidence=1.0)
    assert [trial.value for trial in coarse.trials] == [0.5, 0.25, 1.0, 25, 50]
    whole = tune(linker, [gold], space=space, rounds=1, confidence=1.0)
    assert [trial.value for trial in whole.trials[5:]] == [0.5, 0.375, 0.75], (
        "whole numbers have no fine grid"
    )


def test_two_processes_find_the_same(linker: Linker, gold: Dataset) -> None:
    many = [DEFAULT, PAPER]
    with scoring(linker, [gold, gold], 1) as score:
        alone = list(score(many))
    with scoring(linker, [gold, gold], 2) as score:
        together = list(score(many))
    for one, other in zip(alone, together, strict=True):
        assert len(one) == 2
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_stopping_returns_the_best_so_far(linker: Linker, gold: Dataset) -> None:
    def impatient(done: float, total: float | None = None, detail: str = "") -> None:
        assert "micro F1" in detail
        if done == 1:
            raise KeyboardInterrupt

    poor = linker.with_settings(zeta=0.0)
    space = {"zeta": (0.0, 0.1), "tau": (0.5, 1.0)}
    tuning = tune(poor, [gold], space=space, confidence=0.5, report=impatient)
    assert tuning.interrupted
    assert {trial.parameter for trial in tuning.trials} == {"zeta"}
    assert objective(tuning.best) >= objective(tuning.start)


def test_nothing_to_tune_on(linker: Linker) -> None:
    with pytest.raises(InputError, match="nothing to tune on"):
        tune(linker, [])


def test_fine_values_lie_half_way() -> None:
    assert fine_values((0.25, 0.5, 1.0), 0.5) == [0.375, 0.75]
    assert fine_values((0.25, 0.5, 1.0), 0.25) == [0.375]
    assert fine_values((0.25, 0.5), 0.3) == [0.275, 0.4]
    assert fine_values((4.0, float("inf")), 4.0) == []


def test_fine_gains_continue_the_coarse_curve() -> None:
    def trial(value: float, number: int, gain: float) -> Trial:
        return Trial("tau", value, number, 0.5, 0.5, gain, gain - 0.1, gain + 0.1)

    trials = [trial(0.5, 1, 0.0), trial(1.0, 1, 0.2), trial(1.0, 2, 0.0), trial(0.75, 2, 0.05)]
    tuning = Tuning(PAPER, PAPER, trials[0], trials[1], 1, trials)
    (curve,) = tuning.curves().values()
    assert [point.value for point in curve] == [0.5, 0.75, 1.0]
    assert [point.gain for point in curve] == pytest.approx([0.0, 0.25, 0.2])
    assert (curve[1].low, curve[1].high) == pytest.approx((0.15, 0.35))


def test_the_grid_has_every_parameter_that_matters() -> None:
    wanted = "zeta tau delta xi self_pair backoff coreference candidates top"
    assert set(wanted.split()) <= set(SPACE)
    for name, values in SPACE.items():
        for value in values:
            assert value_of(with_values(DEFAULT, {name: value}), name) == value
        assert type(values[0]) is type(value_of(DEFAULT, name)), name
    paper = {"tau": 0.5, "delta": 0.5, "xi": 0.5}
    for name, value in paper.items():  # the paper's grid ended at its winners
        assert min(SPACE[name]) < value < max(SPACE[name])


def test_a_grid_on_the_command_line() -> None:
    assert parse_space([]) == SPACE
    assert parse_space(["tau"]) == {"tau": SPACE["tau"]}
    found = parse_space(["tau=0.5,0.7", "window=10,20", "fuzzy=false,true", "layers.last=0,0.1"])
    assert found == {
        "tau": (0.5, 0.7), "window": (10, 20), "fuzzy": (False, True), "layers.last": (0.0, 0.1),
    }  # fmt: skip
    for wrong in ("tua", "tua=1", "tau=much", "layers.nosuch=1"):
        with pytest.raises(InputError):
            parse_space([wrong])


def test_a_value_that_harms_one_reading_is_not_taken() -> None:
    """Counts are right answers, answers and gold of every document, for each dataset."""

    def counts(*right: int) -> list[np.ndarray]:
        return [np.tile(np.asarray([[n, 10, 10]], float), (20, 1)) for n in right]

    scored = {0.5: counts(9, 4), 0.6: counts(7, 6), 0.7: counts(8, 5)}

    def score(many: list[Settings]) -> Iterator[list[np.ndarray]]:
        return (scored[settings.tau] for settings in many)

    start = Trial("start", "", 0, 0.5, 0.5)
    tuning = Tuning(DEFAULT, DEFAULT, start, start, 1)
    old, texts = counts(5, 5), [np.arange(20)] * 2
    assert _improve(tuning, "tau", [0.5, 0.6, 0.7], 1, old, texts, score, 0.95) is scored[0.6]
    assert tuning.settings.tau == 0.6, "the mean prefers 0.5 and 0.7, the worst reading 0.6"
    assert [trial.worst for trial in tuning.trials[1:]] == pytest.approx([-0.2, 0.2, 0.0])
