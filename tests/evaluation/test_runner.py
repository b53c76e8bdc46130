from __future__ import annotations

import pytest

from pboh.evaluation import breakdowns
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.metrics import Scores
from pboh.evaluation.mistakes import _is_chosen, sentence_around
from pboh.evaluation.runner import answer_document, compare_models, compare_systems, evaluate, uniquely_named
from pboh.evaluation.tables import (
    ablation_table,
    dataset_table,
    graph_table,
    paper_tables,
    propagation_table,
    results_table,
    side_by_side_table,
)


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


def test_unique_names(small) -> None:
    assert [d.name for d in uniquely_named([small, small])] == ["kore50-small", "kore50-small (2)"]


def test_comparisons(linker, small) -> None:
    first = evaluate(linker, [small], ["localmention", "pboh"], name="new")
    second = evaluate(linker, [small], ["localmention", "pboh"], name="old")
    (test,) = compare_systems(first)
    assert (test.first, test.second) == ("pboh", "localmention")
    assert test.difference > 0
    assert [(t.first, t.second, t.difference) for t in compare_models(first, second)] == [
        ("new localmention", "old localmention", 0.0),
        ("new pboh", "old pboh", 0.0),
    ]


def test_tables(linker, small) -> None:
    evaluation = evaluate(linker, [small, Dataset("other", small.documents)], ["localmention", "pboh"])
    results = results_table(evaluation)
    assert [row[:4] for row in results.rows][1] == ["kore50-small", "PBoH", "3", "5"]
    assert results.rows[1][4:7] == ["50.00", "40.00", "44.44"]
    assert (1, 6) in results.strong
    (gerbil,) = paper_tables(evaluation)
    assert gerbil.header == ["System", "KORE50"]
    assert ["PBoH", "61.70 / 55.83"] in gerbil.rows
    assert gerbil.rows[-1][0] == "ours: PBoH"
    assert gerbil.ours == {11, 12}
    assert gerbil.strong == {(1, 1)}  # Babelfy has the best published figure
    ablation = ablation_table(evaluation)
    assert ablation.rows[1][0] == "PBoH" and ablation.rows[1][-1] == "87.51 / 86.39"
    assert ["AIDA/CoNLL-Test A", "paper", "22.18", "100.00", "445.56", "2.86"] in propagation_table(
        evaluation
    ).rows
    assert graph_table(evaluation).rows[0][:4] == ["kore50-small", "ours", "2.50", "3.50"]
    assert dataset_table(evaluation.datasets).rows[0][:7] == [
        "kore50-small",
        "jsonl",
        "3",
        "2",
        "5",
        "1",
        "50 / 144",
    ]
    both = side_by_side_table(evaluation, evaluation)
    assert both.rows[-1][:2] == ["average", "PBoH"] and both.rows[-1][4] == "+0.00"


class TestBreakdowns:
    def test_bins(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        bins = {b.label: (b.count, b.accuracy) for b in breakdowns.by_ambiguity([run.judgement])}
        assert bins == {"0": (1, 0.0), "1": (1, 1.0), "2": (3, pytest.approx(1 / 3))}
        lengths = {b.label: b.count for b in breakdowns.by_length([run.judgement, run.judgement])}
        assert lengths == {"2–4": 10}
        assert [b.label for b in breakdowns.by_popularity([run.judgement], [run.judgement.candidates])]

    def test_labels(self) -> None:
        assert [breakdowns._label(*pair) for pair in ((0, 1), (2, 5), (1000, None))] == ["0", "2–4", "1,000+"]

    def test_calibration(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        curve = breakdowns.calibration_of([run.judgement])
        # answers: Paris 0.9 wrong, Texas 1.0 right, Jordan 0.3 right, Jordan 0.3 wrong
        assert curve.points == ((pytest.approx(0.3), 0.5, 2), (pytest.approx(0.95), 0.5, 2))
        assert curve.error == pytest.approx((0.2 * 2 + 0.45 * 2) / 4)

    def test_rounds(self, linker, small) -> None:
        run = evaluate(linker, [small], ["pboh"]).runs[0]
        assert breakdowns.rounds_histogram([run.judgement]) == {1: 0, 2: 1, 3: 1}

    def test_wilson(self) -> None:
        assert breakdowns.wilson(0, 0) == (0.0, 1.0)
        low, high = breakdowns.wilson(50, 100)
        assert (low, high) == (pytest.approx(0.4038, abs=1e-3), pytest.approx(0.5962, abs=1e-3))
        assert breakdowns.wilson(10, 10)[1] == pytest.approx(1.0)


def test_errors_need_no_explanations(linker, small) -> None:
    errors = evaluate(linker, [small], ["pboh"], errors=True).errors
    assert len(errors) == 3 and all(error.wrong is None for error in errors)
