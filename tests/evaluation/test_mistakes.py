"""Errors in their sentences, with what spoke for both candidates."""

from __future__ import annotations

import pytest

from pboh.evaluation.datasets import Dataset
from pboh.evaluation.mistakes import _is_chosen, sentence_around
from pboh.evaluation.runner import evaluate


def test_errors_and_their_explanations(linker, small) -> None:
    evaluation = evaluate(linker, [small], ["pboh"], errors=True, explain=10)
    confused, missed, unknown = evaluation.errors
    assert [error.kind for error in evaluation.errors] == ["confused", "missed", "unknown"]
    assert (confused.before, confused.mention) == ("", "Paris")
    assert confused.after.startswith(" is not in Texas & <script>")
    assert (confused.gold, confused.answer) == ("Paris Hilton", "Paris")
    assert confused.right is not None and confused.wrong is not None
    assert (confused.right["title"], confused.wrong["title"]) == ("Paris Hilton", "Paris")
    assert sum(value for _, _, value in confused.wrong["terms"]) == pytest.approx(
        confused.wrong["score"], abs=0.01
    )
    assert ["word", "4 more", -1.8] not in confused.wrong["terms"]
    assert missed.answer is None and missed.right is None and missed.wrong is None  # no candidate at all
    assert unknown.right is None and unknown.wrong is not None


def test_only_some_errors_are_explained(linker, small) -> None:
    many = Dataset("many", small.documents[:1] * 40)
    errors = evaluate(linker, [many], ["pboh"], errors=True, explain=10).errors
    assert len(errors) == 40
    assert sum(error.wrong is not None for error in errors) == 10
    assert evaluate(linker, [many], ["pboh"]).errors == ()


@pytest.mark.parametrize(("total", "wanted"), [(1, 0), (5, 0), (5, 2), (7, 7), (7, 100), (1000, 333), (3, 1)])
def test_the_explained_ones_are_as_many_as_wanted(total: int, wanted: int) -> None:
    chosen = [number for number in range(total) if _is_chosen(number, total, wanted)]
    assert len(chosen) == min(total, wanted)


def test_sentences() -> None:
    text = "One. Two is here! Three follows (yes). Four.\nFive"
    at = text.index("Three")
    assert sentence_around(text, at, at + 5) == ("", " follows (yes).")
    at = text.index("here")
    assert sentence_around(text, at, at + 4) == ("Two is ", "!")
    long = "x" * 1000
    before, after = sentence_around(long, 500, 505)
    assert before.startswith("…") and after.endswith("…") and len(before) < 300


def test_errors_need_no_explanations(linker, small) -> None:
    errors = evaluate(linker, [small], ["pboh"], errors=True).errors
    assert len(errors) == 3 and all(error.wrong is None for error in errors)
