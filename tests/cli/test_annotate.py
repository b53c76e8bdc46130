"""``pboh annotate`` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

TEXT = "Müller scored for Bayern."
LINE = {"id": 7, "text": TEXT, "mentions": [{"start": 0, "end": 6}, {"start": 18, "end": 24}]}


def test_documents_in_documents_out(run, world_model, tmp_path):
    rows = [{"key": k, "body": "Müller scored for Bayern in Paris.", "a": 1, "b": 2} for k in range(5)]
    rows += [{"key": 5 + k} for k in range(30)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    arguments = [tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--model", world_model]
    arguments += ["--text-column", "body", "--id-column", "key", "--keep-columns", "a, b", "--candidates", 1]
    code, _, err = run(
        "annotate", *arguments, "--workers", 1, "--set", "tau=0.4", "--json", tmp_path / "figures.json"
    )
    assert code == 0
    assert "in.jsonl, line 6: there is no text" in err
    assert err.count("there is no text") == 20
    assert "only counted" in err
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["documents"], figures["failed_rows"]) == (5, 30)
    assert {"mentions", "linked", "seconds", "documents_per_second", "peak_memory_megabytes"} <= set(figures)
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["id"] for row in found] == list(range(35))
    assert (found[0]["a"], found[0]["b"]) == (1, 2)
    assert all(len(m["candidates"]) == 1 for m in found[0]["mentions"])
    assert "nothing to do" in run("annotate", *arguments, "--set", "tau=0.4")[2]


def test_answers_can_be_restricted(run, world_model, tmp_path):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "Müller scored for Bayern in Paris."}))
    (tmp_path / "only.txt").write_text("Paris\nNowhere at all\n")
    arguments = [tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--model", world_model]
    _, _, err = run("annotate", *arguments, "--threshold", 0, "--only", tmp_path / "only.txt")
    assert "does not know 1 of 2 titles" in " ".join(err.split())
    [row] = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {mention["entity"] for mention in row["mentions"]} == {"Paris"}


def test_a_stream_keeps_order_and_reports_bad_lines(run, world_model, tmp_path):
    bad = [b"{", b'{"id": 2}', json.dumps({**LINE, "mentions": [{"start": 5, "end": 99}]}).encode()]
    source = tmp_path / "in.jsonl"
    good = json.dumps(LINE).encode()
    source.write_bytes(b"\n".join([good, *bad, b"", json.dumps({**LINE, "id": "last"}).encode()]) + b"\n")
    code, out, err = run("annotate", source, "--model", world_model, "--json", tmp_path / "figures.json")
    assert code == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [a["id"] for a in answers] == [7, None, 2, 7, "last"]
    assert ["error" in a for a in answers] == [False, True, True, True, False]
    first = answers[0]["mentions"][1]
    assert first["entity"] == "FC Bayern Munich"
    assert {"score", "probability", "detection"} <= set(first)
    assert [line.split(":")[0].split(", ")[1] for line in err.splitlines()] == ["line 2", "line 3", "line 4"]
    assert run("annotate", "--model", world_model, stdin=source.read_bytes())[1] == out
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures == {"documents": 2, "mentions": 4, "linked": 4, "failed_rows": 3}


@pytest.mark.slow
def test_several_workers_stream_the_same(run, world_model, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({**LINE, "id": i}) + "\n" for i in range(40)))
    _, alone, _ = run("annotate", source, "--model", world_model)
    _, together, _ = run("annotate", source, "--model", world_model, "--workers", 2)
    assert together == alone


def test_standard_input_is_answered_line_by_line(world_model):
    """A program that waits for an answer before it asks again gets one."""
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "annotate", "-", "-m", world_model]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        for number in range(3):
            running.stdin.write(json.dumps({**LINE, "id": number}).encode() + b"\n")
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["id"] == number
        running.stdin.close()
        assert running.wait() == 0


def test_given_mentions_are_clamped_and_explained(run, world_model):
    mentions = [{"start": 0, "end": 6, "entity": "Herta Müller"}, {"start": 18, "end": 24}]
    line = json.dumps({**LINE, "mentions": mentions}).encode()
    code, out, _ = run("annotate", "-", "--model", world_model, "--explain", "--set", "tau=1", stdin=line)
    assert code == 0
    answer = json.loads(out)
    assert answer["mentions"][0]["entity"] == "Herta Müller"
    assert answer["mentions"][1]["explanation"]["neighbours"][0]["label"] == "Herta Müller"


def test_it_fails_if_every_row_fails(run, world_model, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("{\n[]\n")
    for out in ((), ("--out", tmp_path / "out.jsonl")):
        code, _, err = run("annotate", source, "--model", world_model, *out)
        assert code == 1
        assert "none of the 2 rows could be annotated" in err
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.jsonl",), "no such file"),
        (("-", "--set", "tau"), "is not a setting"),
        (("-", "--set", "gamma=1"), "is not a setting"),
        (("-", "--out", "out.jsonl"), "Redirect standard output"),
        (("-", "news.jsonl"), "cannot be mixed"),
        (("-", "--out", "out.parquet", "--explain"), "only written as JSON lines"),
        (("-", "--engine", "spark"), "reads and writes files"),
    ],
)
def test_mistakes_are_one_sentence(run, world_model, arguments, message):
    code, _, err = run("annotate", *arguments, "--model", world_model)
    assert code == 1
    assert message in err
    assert "Traceback" not in err
