"""``pboh canonical`` as a user types it."""

from __future__ import annotations

import csv
import json

import pytest

NAMES = "id,name,context\n1,Bayern,\n2,FC Bayern Munich,\n3,Zorblax Inc.,\n4,Zorblax,\n5,,\n"


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text(NAMES)
    return path


def test_a_table_of_groups(run, names, world_model):
    code, shown, _ = run("canonical", names, "-m", world_model)
    assert code == 0
    assert "FC Bayern Munich" in shown and "Zorblax Inc., Zorblax" in shown


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_groups_in_a_file(run, names, world_model, tmp_path, kind):
    out, figures = tmp_path / f"out.{kind}", tmp_path / "figures.json"
    code, shown, said = run("canonical", names, "-m", world_model, "-o", out, "--json", figures, "-w", 1)
    assert (code, shown) == (0, "")
    assert "merged names 2" in " ".join(said.split())
    assert out.stat().st_size
    assert json.loads(figures.read_text())["groups"] == 3


def test_edges(run, names, world_model, tmp_path):
    edges, out = tmp_path / "edges.csv", tmp_path / "out.csv"
    edges.write_text("from,to\n1,3\n2,Zorblax\n")
    options = ("--edges", edges, "--source-column", "from", "--target-column", "to", "-o", out)
    assert run("canonical", names, "-m", world_model, *options)[0] == 0
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert "shared neighbour" in " ".join(row["reason"] for row in rows)


def test_a_higher_threshold_merges_less(run, names, world_model, tmp_path):
    counts = []
    for threshold in (0.1, 0.7, 1.0):
        out = tmp_path / f"{threshold}.jsonl"
        run("canonical", names, "-m", world_model, "-o", out, "--merge-threshold", threshold)
        counts.append(len(out.read_text().splitlines()))
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_mistakes_are_one_sentence_before_the_work(run, names, tmp_path, monkeypatch):
    monkeypatch.setattr("pboh.linker.load", lambda *_, **__: pytest.fail("it began to work"))
    for arguments in (
        (tmp_path / "missing.csv",),
        (names, "--name-column", "title"),
        (names, "--out", tmp_path / "out.xml"),
        (names, "--edges", tmp_path / "missing.csv"),
    ):
        code, _, err = run("canonical", *arguments)
        assert code == 1 and err.startswith("error: ") and "Traceback" not in err


def test_ctrl_c_leaves_an_old_file_alone(run, names, world_model, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    out = tmp_path / "out.csv"
    out.write_text("as before")
    monkeypatch.setattr("pboh.canonical.resolve.Resolver.__call__", stop)
    code, _, _ = run("canonical", names, "-m", world_model, "-o", out, "-w", 1)
    assert code == 130
    assert out.read_text() == "as before"
