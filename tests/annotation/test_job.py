"""Annotated files: the same answers as one by one, whatever the workers and the interruptions."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
from rows_of_files import documents, read, write

from pboh.annotation import Options, annotate, inputs, job
from pboh.errors import OutputError
from pboh.files.writing import claimed
from pboh.model.store import read_manifest
from pboh.model.writing import write_manifest


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK_ROWS", 3)


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_answers_are_those_of_link(linker, world_model, tmp_path, small_chunks, suffix):
    rows = documents(10)
    out = tmp_path / f"out{suffix}"
    for source in (write(tmp_path / "in.parquet", rows), write(tmp_path / "in.jsonl", rows)):
        for made in tmp_path.glob("out*"):
            made.unlink()
        figures = annotate([source], out, world_model, Options(keep=("year",)), workers=1)
        found = read(out)
        assert [str(row["id"]) for row in found] == [row["id"] for row in rows]
        assert [int(row["year"]) for row in found] == list(range(10))
        for row, asked in zip(found, rows, strict=True):
            document = linker.link(asked["text"])
            assert [(m["start"], m["end"], m["entity"]) for m in row["mentions"]] == [
                (m.start, m.end, m.entity.title) for m in document
            ]
            assert [m["probability"] for m in row["mentions"]] == [m.probability for m in document]
            assert [m["detection"] for m in row["mentions"]] == [m.detection for m in document]
            assert all(m["text"] == asked["text"][m["start"] : m["end"]] for m in row["mentions"])
        assert figures["documents"] == 10
        assert figures["mentions"] == figures["linked"] == sum(len(row["mentions"]) for row in found) > 5
    assert {path.name for path in tmp_path.iterdir()} == {
        "in.parquet",
        "in.jsonl",
        out.name,
        f"{out.name}.json",
    }


def test_several_workers_write_the_same_bytes(world_model, tmp_path, small_chunks):
    source = write(tmp_path / "in.parquet", documents(20), row_group_size=7)
    for count in (1, 2):
        annotate([source], tmp_path / f"{count}.parquet", world_model, workers=count)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


@pytest.mark.parametrize("name", ["in.parquet", "in.jsonl"])
def test_a_run_that_failed_goes_on(world_model, tmp_path, small_chunks, monkeypatch, name):
    """Stopped after any number of parts, with a journal cut off in the middle of a line."""
    source = write(tmp_path / name, documents(20), **({"row_group_size": 7} if "parquet" in name else {}))
    annotate([source], tmp_path / "whole.parquet", world_model, workers=1)
    done = []
    real = job.annotate_chunk

    def stopping(task, chunk):
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(chunk.number)
        return real(task, chunk)

    monkeypatch.setattr(job, "annotate_chunk", stopping)
    with pytest.raises(KeyboardInterrupt):
        annotate([source], tmp_path / "out.parquet", world_model, workers=1)
    assert not (tmp_path / "out.parquet").exists()
    journal = tmp_path / "out.parquet.parts" / "done.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])  # the last line was not written whole
    (tmp_path / "out.parquet.parts" / ".0000004.parquet.1.tmp").write_bytes(b"half")
    monkeypatch.setattr(
        job, "annotate_chunk", lambda task, chunk: (done.append(chunk.number), real(task, chunk))[1]
    )
    figures = annotate([source], tmp_path / "out.parquet", world_model, workers=1)
    assert figures["documents"] == 20
    assert 0 < figures["resumed_documents"] < 20
    lost = {number for number in done if done.count(number) > 1}
    assert len(lost) == 1  # only what was lost is done again
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out.parquet", "out.parquet.json"]


@pytest.mark.slow
def test_killed_at_any_time_the_result_is_the_same(world_model, tmp_path):
    source = write(tmp_path / "in.jsonl", documents(400))
    script = "import pboh.annotation.inputs as i; i.CHUNK_ROWS = 8; from pboh.cli import main; main()"
    command = [sys.executable, "-c", script, "annotate", str(source), "--model", str(world_model), "-w", "2"]
    subprocess.run([*command, "--out", str(tmp_path / "whole.jsonl.gz")], check=True, capture_output=True)
    out = tmp_path / "out.jsonl.gz"
    journal, kills = tmp_path / "out.jsonl.gz.parts" / "done.jsonl", 0
    for wanted in (1, 8, 20):
        with subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.DEVNULL) as running:
            while running.poll() is None and not (
                journal.exists() and len(journal.read_bytes().split()) >= wanted
            ):
                time.sleep(0.005)
            kills += running.poll() is None
            running.send_signal(signal.SIGKILL)
    assert kills
    last = subprocess.run(
        [*command, "--out", str(out), "--json", str(tmp_path / "f.json")], capture_output=True, check=False
    )
    assert last.returncode == 0, last.stderr
    assert out.read_bytes() == (tmp_path / "whole.jsonl.gz").read_bytes()
    assert json.loads((tmp_path / "f.json").read_text())["resumed_documents"] > 0
    assert [row["id"] for row in read(out)] == [f"d{k}" for k in range(400)]


def test_another_job_does_not_touch_an_output(world_model, tmp_path):
    source, out = write(tmp_path / "in.jsonl", documents(3)), tmp_path / "out.jsonl"
    assert annotate([source], out, world_model)["fresh"]
    before = out.read_bytes()
    again = annotate([source], out, world_model)
    assert not again["fresh"]
    assert again["documents"] == 3
    other = shutil.copytree(world_model, tmp_path / "model")
    write_manifest(other / "model.json", {**read_manifest(other), "note": 1})
    with pytest.raises(OutputError, match="another model"):
        annotate([source], out, other)
    with pytest.raises(OutputError, match="other options"):
        annotate([source], out, world_model, Options(candidates=1))
    write(source, documents(4))
    with pytest.raises(OutputError, match="another input"):
        annotate([source], out, world_model)
    assert out.read_bytes() == before
    (tmp_path / "foreign.jsonl").write_text("mine")
    with pytest.raises(OutputError, match="already"):
        annotate([source], tmp_path / "foreign.jsonl", world_model)
    assert (tmp_path / "foreign.jsonl").read_text() == "mine"


def test_two_runs_do_not_write_the_same_output(world_model, tmp_path):
    source, out = write(tmp_path / "in.jsonl", documents(3)), tmp_path / "out.jsonl"
    parts = tmp_path / "out.jsonl.parts"
    with claimed(parts, parts), pytest.raises(OutputError, match="another process"):
        annotate([source], out, world_model)
    parts.mkdir()
    (parts / "0000000.jsonl").write_text("parts without a record are of nobody")
    assert annotate([source], out, world_model)["resumed_documents"] == 0
