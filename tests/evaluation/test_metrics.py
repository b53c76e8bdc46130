from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, GoldDocument, GoldMention
from pboh.evaluation.metrics import (
    Answer,
    AnsweredDocument,
    Row,
    bootstrap,
    judge,
    paired_test,
    summarise_judgement,
)


def evaluate_system(dataset, answers, resolve=str, system="pboh", samples=1000):
    """The results line of a system."""
    return summarise_judgement(judge(dataset, answers, resolve, system), samples)


Gold = str | None | tuple[str, ...]


def dataset(*documents: list[Gold]) -> Dataset:
    """Documents of one-letter mentions with these golds (a tuple: any of them is right)."""

    def mention(at: int, gold: Gold) -> GoldMention:
        first, *rest = gold if isinstance(gold, tuple) else (gold,)
        return GoldMention(at, at + 1, "x", first, tuple(rest))

    made = (
        GoldDocument(str(n), "x" * 99, tuple(mention(i, gold) for i, gold in enumerate(golds)))
        for n, golds in enumerate(documents)
    )
    return Dataset("made", tuple(made))


def answered(*entities: str | None, candidates: tuple[str, ...] = ()) -> AnsweredDocument:
    return AnsweredDocument(tuple(Answer(e, (*candidates, *([e] if e else []))) for e in entities))


def scores(row: Row, measure: str) -> tuple[float, float, float]:
    value = getattr(row, measure)
    return value.precision, value.recall, value.f1


def test_by_hand() -> None:
    # document 0: 3 gold, 2 answered, 1 right -> P 1/2, R 1/3, F 2/5
    # document 1: 1 gold, 1 answered, 1 right -> P 1, R 1, F 1
    gold = dataset(["A", "B", "C"], ["D"])
    row = evaluate_system(gold, [answered("A", "X", None), answered("D")])
    assert scores(row, "micro") == pytest.approx((2 / 3, 2 / 4, 4 / 7))
    assert scores(row, "macro") == pytest.approx((3 / 4, 2 / 3, 2 * (3 / 4) * (2 / 3) / (3 / 4 + 2 / 3)))
    assert scores(row, "macro_gerbil") == pytest.approx((3 / 4, 2 / 3, (2 / 5 + 1) / 2))
    assert (row.documents, row.mentions, row.answered, row.correct) == (2, 4, 3, 2)


def test_withheld_answers() -> None:
    # the model knows A and B only: of three silences one is right, and of two unknown golds one is left alone
    gold = dataset(["A", "B", "B", "Unknown", "Unheard of"])
    row = evaluate_system(gold, [answered("A", None, None, None, "A")], {"A": "A", "B": "B"}.get)
    assert scores(row, "nil") == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert scores(evaluate_system(dataset(["A"]), [answered("A")]), "nil") == (0, 0, 0)


def test_no_output() -> None:
    row = evaluate_system(dataset(["A"], ["B"]), [answered(None), answered(None)])
    for measure in ("micro", "macro", "macro_gerbil"):
        assert scores(row, measure) == (0, 0, 0)


def test_no_output_in_one_document_costs_no_micro_precision() -> None:
    row = evaluate_system(dataset(["A", "B"], ["C", "D"]), [answered("A", "B"), answered(None, None)])
    assert scores(row, "micro") == pytest.approx((1, 1 / 2, 2 / 3))
    assert scores(row, "macro") == pytest.approx((1 / 2, 1 / 2, 1 / 2))


def test_no_gold() -> None:
    # A document whose mentions are all NIL: absent for the authors' macro, a perfect document for GERBIL's.
    row = evaluate_system(dataset(["A", "B"], [None]), [answered("A", "X"), answered()])
    assert scores(row, "micro") == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert scores(row, "macro") == pytest.approx((1 / 2, 1 / 2, 1 / 2))
    assert scores(row, "macro_gerbil") == pytest.approx((3 / 4, 3 / 4, 3 / 4))
    nothing = evaluate_system(dataset([None], []), [answered(), answered()])
    assert scores(nothing, "micro") == (0, 0, 0)
    assert scores(nothing, "macro_gerbil") == (1, 1, 1)
    assert (nothing.mentions, nothing.gold_in_kb, nothing.intervals) == (0, 0.0, {})


def test_redirects_on_gold_and_answer() -> None:
    redirects = {"USA": "United States", "America": "United States", "United States": "United States"}
    gold = dataset(["USA", "America", "Gone", "Gone"])
    answers = [answered("America", "Bern", "Gone", "Lost")]
    row = evaluate_system(gold, answers, redirects.get)
    assert row.correct == 2  # through the redirect, and two titles the model does not know that are the same
    assert row.gold_in_kb == 2 / 4
    assert evaluate_system(gold, answers).correct == 1


def test_several_golds_and_duplicates() -> None:
    gold = dataset([("A", "B"), "A", "A"])
    row = evaluate_system(gold, [answered("B", "A", "B")])
    assert row.correct == 2  # the same entity twice in a document is two mentions


def test_candidates() -> None:
    answers = [
        AnsweredDocument(
            (
                Answer("A", ("A", "B")),
                Answer("X", ("B", "X")),
                Answer("X", ("X",)),
                Answer(None, ("D",)),
                Answer(),
            )
        )
    ]
    row = evaluate_system(dataset(["A", "B", "C", "D", "E"]), answers)
    assert row.gold_in_candidates == 3 / 5
    assert row.accuracy_given_candidate == pytest.approx(1 / 3)
    assert row.entities_per_document == 4


def test_inference_figures() -> None:
    answers = [
        AnsweredDocument((Answer("A"),), rounds=4, converged=False, milliseconds=3, timings={"pairs": 0.001}),
        AnsweredDocument((Answer("A"),), rounds=2, milliseconds=5, timings={"pairs": 0.003}),
        AnsweredDocument((Answer("A"),), rounds=0, milliseconds=1),  # one mention: nothing to pass
    ]
    row = evaluate_system(dataset(["A"], ["A"], ["A"]), answers)
    assert (row.rounds, row.ms_per_document) == (3, 3)
    assert row.converged == pytest.approx(2 / 3)
    assert row.ms_by_stage["pairs"] == pytest.approx(4 / 3)


def test_row_as_json() -> None:
    row = asdict(evaluate_system(dataset(["A"]), [answered("A")], system="unnorm"))
    assert row["system"] == "unnorm"
    assert row["micro"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    wanted = (
        "dataset system documents mentions micro macro gold_in_kb gold_in_candidates accuracy_given_candidate"
    )
    assert {*wanted.split(), "ms_per_document", "rounds", "converged", "macro_gerbil"} <= set(row)


def test_answers_must_fit() -> None:
    with pytest.raises(InputError, match="2 answers were given for 1 mentions"):
        judge(dataset(["A"]), [answered("A", "B")])
    with pytest.raises(InputError, match="2 answered documents for 1"):
        judge(dataset(["A"]), [answered("A"), answered("B")])


LETTERS = st.sampled_from(["A", "B", None])
DOCUMENTS = st.lists(st.lists(st.tuples(LETTERS, LETTERS), max_size=4), min_size=1, max_size=5)


@given(DOCUMENTS)
def test_against_a_slow_twin(documents: list[list[tuple[str | None, str | None]]]) -> None:
    gold = dataset(*[[g for g, _ in pairs] for pairs in documents])
    answers = [answered(*[a for g, a in pairs if g is not None]) for pairs in documents]
    row = evaluate_system(gold, answers, samples=0)
    kept = [[(g, a) for g, a in pairs if g is not None] for pairs in documents]

    def prf(pairs: list[tuple[str | None, str | None]]) -> tuple[float, float, float]:
        right, given_, wanted = (
            sum(g == a for g, a in pairs),
            sum(a is not None for _, a in pairs),
            len(pairs),
        )
        p, r = right / given_ if given_ else 0.0, right / wanted if wanted else 0.0
        return p, r, 2 * p * r / (p + r) if p + r else 0.0

    assert scores(row, "micro") == pytest.approx(prf([pair for pairs in kept for pair in pairs]))
    each = [prf(pairs) if pairs else (1.0, 1.0, 1.0) for pairs in kept]
    assert scores(row, "macro_gerbil") == pytest.approx(tuple(np.mean(each, axis=0)))
    with_gold = [prf(pairs) for pairs in kept if pairs] or [(0.0, 0.0, 0.0)]
    p, r, _ = np.mean(with_gold, axis=0)
    assert scores(row, "macro") == pytest.approx((p, r, 2 * p * r / (p + r) if p + r else 0.0))


def half_right(documents: int, every: int) -> tuple[Dataset, list[AnsweredDocument]]:
    gold = dataset(*[["A", "B"]] * documents)
    return gold, [answered("A", "B" if n % every == 0 else "X") for n in range(documents)]


def test_bootstrap_interval() -> None:
    gold, answers = half_right(100, every=2)
    judgement = judge(gold, answers)
    low, high = bootstrap(judgement, samples=2000)["micro"]
    # 100 documents worth 1 or 1/2 with equal chance: mean 3/4, deviation 1/4, so ± 1.96 · 0.025
    assert low == pytest.approx(0.75 - 0.049, abs=0.012)
    assert high == pytest.approx(0.75 + 0.049, abs=0.012)
    assert bootstrap(judgement) == bootstrap(judgement)
    assert bootstrap(judgement, seed=1) != bootstrap(judgement)


def test_bootstrap_in_blocks_is_whole() -> None:
    gold, answers = half_right(3000, every=2)
    assert bootstrap(judge(gold, answers), samples=1500)["macro"][0] == pytest.approx(0.75, abs=0.02)


def test_paired_test() -> None:
    gold, better = half_right(60, every=2)
    _, worse = half_right(60, every=6)
    comparison = paired_test(judge(gold, better, system="a"), judge(gold, worse, system="b"))
    assert (comparison.first, comparison.second) == ("a", "b")
    assert comparison.difference == pytest.approx(20 / 120)
    assert comparison.low > 0
    assert comparison.p < 0.001
    assert comparison.macro == pytest.approx(20 / 120)  # all documents have two mentions
    assert 0 < comparison.macro_low < comparison.macro < comparison.macro_high
    same = paired_test(judge(gold, better), judge(gold, better), samples=200)
    assert (same.difference, same.p) == (0, 1)
    small = paired_test(judge(*half_right(4, 2)), judge(*half_right(4, 4)), samples=2000)
    assert small.p == pytest.approx(1.0)  # one document differs: the coin decides nothing
    with pytest.raises(InputError):
        paired_test(judge(gold, better), judge(*half_right(59, 2)))


def test_p_value_against_all_swaps() -> None:
    gold = dataset(*[["A", "A", "A"]] * 6)
    one = judge(gold, [answered("A", "A", x) for x in ("A", "A", "A", "A", "X", "A")])
    two = judge(gold, [answered("A", x, "X") for x in ("X", "X", "A", "A", "A", "A")])
    a, b = one.counts[:, 0], two.counts[:, 0]
    observed = abs((a - b).sum())
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    exact = (np.abs((a - b) @ signs) >= observed).mean()
    assert paired_test(one, two, samples=20_000).p == pytest.approx(exact, abs=0.01)
