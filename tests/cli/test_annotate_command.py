"""``pboh annotate`` as a user types it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

import pboh.cli.annotate  # noqa: F401
from pboh.cli import app


def run(*arguments):
    outcome = CliRunner().invoke(app, ["annotate", *(str(a) for a in arguments)])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome


def test_documents_in_documents_out(world_model, tmp_path):
    rows = [{"key": k, "body": "Müller scored for Bayern in Paris.", "a": 1, "b": 2} for k in range(5)]
    rows += [{"key": 5 + k} for k in range(30)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = [tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--model", world_model]
    arguments += ["--text-column", "body", "--id-column", "key", "--keep-columns", "a, b", "--candidates", 1]
    done = run(*arguments, "--workers", 1, "--set", "tau=0.4", "--json", tmp_path / "figures.json")
    assert done.exit_code == 0
    assert "in.jsonl, line 6: there is no text" in done.stderr
    assert done.stderr.count("there is no text") == 20
    assert "only counted" in done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["documents"], figures["failed_rows"]) == (5, 30)
    assert {"mentions", "linked", "seconds", "documents_per_second", "peak_memory_megabytes"} <= set(figures)
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in found] == list(range(35))
    assert (found[0]["a"], found[0]["b"]) == (1, 2)
    assert all(len(m["candidates"]) == 1 for m in found[0]["mentions"])
    assert "nothing to do" in run(*arguments, "--set", "tau=0.4").stderr


def test_answers_can_be_restricted(world_model, tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "Müller scored for Bayern in Paris."}))
    (tmp_path / "only.txt").write_text("Paris\nNowhere at all\n")
    arguments = [tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--model", world_model]
    done = run(*arguments, "--threshold", 0, "--only", tmp_path / "only.txt")
    assert "does not know 1 of 2 titles" in " ".join(done.stderr.split())
    [row] = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {mention["entity"] for mention in row["mentions"]} == {"Paris"}
