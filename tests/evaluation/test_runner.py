"""Systems over datasets: rows, comparisons, unique names."""

from __future__ import annotations

import pytest

from pboh.evaluation.metrics import Scores
from pboh.evaluation.runner import answer_document, compare_models, compare_systems, evaluate, uniquely_named


def test_nil_mentions_are_not_shown_to_the_system(linker, small) -> None:
    answers = answer_document(linker, small.documents[2])
    assert answers.answers == ()
    assert linker.asked == [("Nothing here.", [])]


def test_rows(linker, small) -> None:
    steps = []
    evaluation = evaluate(
        linker,
        [small],
        ["localmention", "pboh"],
        report=lambda done, total=None, detail="": steps.append((done, total)),
    )
    assert steps == [(n, 6) for n in range(1, 7)]
    local, pboh = (run.row for run in evaluation.runs)
    assert (local.correct, local.answered, local.mentions) == (1, 4, 5)
    assert (pboh.correct, pboh.answered) == (2, 4)  # it also knows Michael Jordan
    assert pboh.micro.precision == 2 / 4
    assert pboh.micro.recall == 2 / 5
    assert pboh.gold_in_kb == 4 / 5  # USA is a redirect, Erewhon is unknown
    assert pboh.gold_in_candidates == 3 / 5
    assert pboh.accuracy_given_candidate == pytest.approx(2 / 3)
    assert pboh.nil == Scores(0.0, 0.0, 0.0)  # it answers for Erewhon and is silent about a known one
    assert pboh.rounds == 2.5  # the third document has no mentions
    assert pboh.ms_per_document > 0
    assert evaluation.popularity["kore50-small"].tolist() == [10, 1200, 30, 50, 0]


def test_overlapping_gold_spans_are_answered(linker, small) -> None:
    from pboh.evaluation.datasets import GoldDocument, GoldMention

    text = "Paris Texas"
    document = GoldDocument(
        "d", text, (GoldMention(0, 5, "Paris", "Paris"), GoldMention(0, 11, text, "Texas"))
    )
    assert [answer.entity for answer in answer_document(linker, document).answers] == ["Paris", None]


def test_unique_names(small) -> None:
    assert [d.name for d in uniquely_named([small, small])] == ["kore50-small", "kore50-small (2)"]


def test_comparisons(linker, small) -> None:
    first = evaluate(linker, [small], ["localmention", "pboh"], name="new")
    second = evaluate(linker, [small], ["localmention", "pboh"], name="old")
    (test,) = compare_systems(first)
    assert (test.first, test.second) == ("PBoH", "LocalMention")
    assert test.difference > 0
    assert [(t.first, t.second, t.difference) for t in compare_models(first, second)] == [
        ("new LocalMention", "old LocalMention", 0.0),
        ("new PBoH", "old PBoH", 0.0),
    ]
