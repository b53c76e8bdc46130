"""What the settings mean for the weights of context and pairs."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest

from pboh.document import Entity
from pboh.errors import InputError
from pboh.inference.settings import DEFAULT, PAPER, Settings, parse_changes
from pboh.linker import Linker
from pboh.model.tables import WORD_THRESHOLDS

TEXT = "Müller scored for Bayern."


def contexts(linker: Linker, before: str, few_words: float) -> dict[Entity, float]:
    """ζ·context of the candidates of "Müller" behind and before other words."""
    at = len(before)
    linker = linker.with_settings(few_words=few_words, topic=0.0)
    document = linker.disambiguate(before + TEXT + before, [(at, at + 6)])
    return {c.entity: c.local - np.log(c.prior) for c in document.mentions[0].candidates}


def test_few_mentions_soften_the_pairs_of_short_texts_only() -> None:
    soft = PAPER.change(few_mentions=2.0)
    assert PAPER.pair_weight(2) == 1.0 and soft.pair_weight(2) == pytest.approx(1 / 3)
    assert soft.pair_weight(200) == pytest.approx(PAPER.pair_weight(200), rel=0.02)
    assert soft.change(system="rescaled").pair_weight(2) == 2.0, "the paper's own systems stay as they are"


def test_a_model_with_an_unknown_setting_is_refused() -> None:
    tuned = {"tau": 0.7, "layers": {"last": 0.5}}
    assert Settings.stored({"settings": tuned}) == DEFAULT.change(tau=0.7, layers={"last": 0.5})
    with pytest.raises(InputError, match="unknown settings"):
        Settings.stored({"settings": {"gamma": 1}})


def test_what_was_fitted_keeps_its_settings_when_the_defaults_change() -> None:
    settings = PAPER.change(tau=0.7, layers={"last": 0.5})
    recorded = json.loads(json.dumps(settings.record(), allow_nan=False))
    assert Settings.stored({"settings": recorded, "calibration": {"weights": {}}}) == settings
    assert set(recorded) == {item.name for item in fields(Settings)}, "no default says anything"
    assert settings.differences(PAPER) == {"tau": 0.7, "layers": {"last": 0.5}}


def test_few_words_weigh_more_and_many_as_ever(linker: Linker) -> None:
    plain, more = (contexts(linker, "", n) for n in (1.0, 2.0))
    assert len(plain) > 1 and any(abs(value) > 0.01 for value in plain.values())
    assert all(more[entity] == pytest.approx(2 * value) for entity, value in plain.items())
    long = "The football season of the league was long. " * 30
    assert contexts(linker, long, 1.0) == contexts(linker, long, 2.0)


def test_every_number_has_a_range() -> None:
    numbers = {item.name for item in fields(Settings) if type(getattr(DEFAULT, item.name)) in (int, float)}
    assert numbers == {item.name for item in fields(Settings) if "range" in item.metadata}
    least, most = next(item.metadata["range"] for item in fields(Settings) if item.name == "min_word_count")
    assert tuple(range(least, most + 1)) == WORD_THRESHOLDS


@pytest.mark.parametrize(
    "change",
    ["tau=-1", "tau=nan", "tau=inf", "candidates=0", "window=-3", "threshold=5", "min_word_count=4",
     "layers.last=-1", "layers.last=nan"],
)  # fmt: skip
def test_values_that_make_no_sense_are_refused(change: str) -> None:
    name, _, value = change.partition("=")
    with pytest.raises(InputError, match=f"^{name} cannot be {value}.*Choose a (whole )?number from"):
        DEFAULT.change(**parse_changes([change]))


@pytest.mark.parametrize(
    ("change", "message"),
    [("tau=x", "Write a number"), ("window=2.5", "whole"), ("fuzzy=2", "true or false")],
)
def test_values_of_another_kind_are_refused(change: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_changes([change])


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="tau cannot be many"):
        PAPER.change(tau="many")
    with pytest.raises(InputError, match="Choose a whole number"):
        PAPER.change(window=2.5)


def test_pair_weights_are_those_of_the_paper():
    weights = {
        s: PAPER.change(system=s).pair_weight(5) for s in ("unnorm", "rescaled", "pboh", "localcontext")
    }
    assert weights == {"unnorm": 1.0, "rescaled": 0.5, "pboh": 0.25, "localcontext": 0.0}
    assert PAPER.pair_weight(1) == 0


def test_settings_can_be_written_as_text():
    changes = parse_changes(["tau=0.7", "fuzzy=false", "layers.last=0", "candidates=5"])
    assert changes == {"tau": 0.7, "fuzzy": False, "layers": {"last": 0.0}, "candidates": 5}
    for wrong in ("tau", "gamma=1", "tau=many", "layers=1", "fuzzy=perhaps"):
        with pytest.raises(InputError):
            parse_changes([wrong])
