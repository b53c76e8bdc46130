"""End-to-end evaluation: matching by hand, figures that add up, and the command."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pboh.cli import app
from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention
from pboh.evaluation.end_to_end import end_to_end_tables, evaluate_end_to_end, pair_up
from pboh.linker import load

TEXT = "Müller scored for FC Bayern against Dortmund. Nobody saw Zidane in Xyzzy."


def gold(surface: str, title: str | None) -> GoldMention:
    start = TEXT.index(surface)
    return GoldMention(start, start + len(surface), surface, title)


def dataset(*mentions: GoldMention) -> Dataset:
    return Dataset("made up", (GoldDocument("1", TEXT, mentions),))


def test_pairs_are_strong_or_weak():
    golds, found = [(0, 4), (10, 14), (20, 24)], [(0, 4), (12, 16), (13, 18), (30, 31)]
    assert pair_up(golds, found, "strong") == [(0, 0)]
    assert pair_up(golds, found, "weak") == [(0, 0), (1, 1)]
    # one answer over two golds counts once
    assert pair_up([(0, 3), (4, 7)], [(0, 7)], "weak") == [(0, 0)]
    # an exact answer is not taken by the gold before it
    assert pair_up([(0, 5), (3, 5)], [(3, 5)], "weak") == [(1, 0)]


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=8).map(
    lambda rows: sorted({(start, start + size) for start, size in rows})
)


@given(spans, spans)
def test_nobody_is_paired_twice(golds, found):
    for match in ("strong", "weak"):
        pairs = pair_up(golds, found, match)
        assert len({g for g, _ in pairs}) == len({k for _, k in pairs}) == len(pairs)
        for g, k in pairs:
            assert golds[g][0] < found[k][1]
            assert found[k][0] < golds[g][1]
    strong, weak = set(pair_up(golds, found, "strong")), set(pair_up(golds, found, "weak"))
    assert strong <= weak


def test_every_kind_of_error_is_counted(world_model):
    data = dataset(
        gold("Bayern", "FC Bayern Munich"),  # the answer is wider: FC Bayern, or the same
        gold("Dortmund", "Tbilisi"),  # the wrong entity
        gold("Zidane", "Zinedine Zidane"),  # right
        gold("Xyzzy", "Yerevan"),  # missed
    )
    [result] = evaluate_end_to_end(load(world_model), [data], threshold=0)
    assert result.gold == 4
    assert result.errors["missed"] == 1
    assert result.errors["entity"] == 1
    assert result.errors["extra"] >= 1  # Müller
    assert result.a2kb["strong"].recall <= result.a2kb["weak"].recall
    assert result.detection["strong"].recall >= result.a2kb["strong"].recall
    found = result.gold - result.errors["missed"] - result.errors["boundary"]
    assert result.detection["strong"].recall == pytest.approx(found / result.gold)
    assert result.linking == pytest.approx(result.a2kb["strong"].recall / result.detection["strong"].recall)
    assert result.megabytes_per_second > 0
    tables = end_to_end_tables([result], "world")
    assert all(len(row) == len(table.header) for table in tables for row in table.rows)


def test_answers_on_nil_are_neither_right_nor_wrong(world_model):
    [with_nil] = evaluate_end_to_end(load(world_model), [dataset(gold("Dortmund", None))], threshold=0)
    [without] = evaluate_end_to_end(load(world_model), [dataset()], threshold=0)
    assert with_nil.answers == without.answers - 1
    assert with_nil.gold == 0


def test_the_command_prints_and_writes(world_model, tmp_path):
    import pboh.cli.evaluate  # noqa: F401

    start = TEXT.index("Dortmund")
    line = {
        "id": "1",
        "text": TEXT,
        "mentions": [{"start": start, "end": start + 8, "gold": "Borussia Dortmund"}],
    }
    (tmp_path / "gold.jsonl").write_text(json.dumps(line) + "\n")
    out = tmp_path / "rows.json"
    arguments = ["evaluate", str(tmp_path / "gold.jsonl"), "--model", str(world_model), "--end-to-end"]
    run = CliRunner().invoke(app, [*arguments, "--json", str(out)])
    assert run.exit_code == 0, run.output
    assert "A2KB" in run.output
    assert "weak" in run.output
    [row] = json.loads(out.read_text())
    assert row["a2kb"]["strong"]["recall"] == 1.0
