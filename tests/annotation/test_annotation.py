"""Bulk annotation: the same answers as one by one, whatever the format, the workers and the interruptions."""

from __future__ import annotations

import bz2
import fcntl
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.annotation import Options, annotate, inputs, job
from pboh.annotation.inputs import open_inputs
from pboh.errors import InputError, OutputError

TEXTS = (
    "Müller scored for Bayern in Paris and Georgia won.",
    "Mercury is closer to the Sun than Venus. 🙂 Apple shipped Java to Jordan.",
    "",
    "Zidane met Beckenbauer in Madrid.",
)


def documents(number: int) -> list[dict]:
    return [{"id": f"d{k}", "text": f"{TEXTS[k % 4]} {k}" * (k % 3), "year": k} for k in range(number)]


def write(path: Path, rows: list[dict], **options) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, **options)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = pa.CompressedInputStream(pa.py_buffer(data), "zstd").read()
    return [json.loads(line) for line in data.splitlines()]


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


def test_given_mentions_are_resolved_and_may_be_ignored(linker, world_model, tmp_path):
    text = "Müller scored for Bayern in Paris."
    spans = [{"start": 0, "end": 6}, {"start": 28, "end": 33, "entity": "Paris"}]
    rows = [{"id": 1, "text": text, "mentions": spans}, {"id": 2, "text": text, "mentions": None}]
    rows += [{"id": 3, "text": text, "mentions": []}]
    for source in (write(tmp_path / "a.parquet", rows), write(tmp_path / "a.jsonl", rows)):
        out = tmp_path / f"{source.suffix}.jsonl"
        annotate([source], out, world_model, Options(candidates=2), workers=1)
        resolved, searched, none = (row["mentions"] for row in read(out))
        asked = linker.disambiguate(text, [(0, 6), (28, 33, "Paris")])
        assert [m["entity"] for m in resolved] == [str(m.entity) for m in asked]
        assert resolved[1]["entity"] == "Paris"
        assert resolved[1]["probability"] == 1.0
        assert [c["entity"] for c in resolved[0]["candidates"]] == [
            c.entity.title for c in asked.mentions[0].candidates[:2]
        ]
        assert [m["start"] for m in searched] == [m.start for m in linker.link(text)]
        assert none == []
        annotate([source], tmp_path / f"found{out.name}", world_model, Options(mentions=None), workers=1)
        assert len({json.dumps(row["mentions"]) for row in read(tmp_path / f"found{out.name}")}) == 1


def test_a_threshold_is_for_found_and_for_given_mentions(world_model, tmp_path):
    text = "Müller scored for Bayern in Paris."
    rows = [{"text": text}, {"text": text, "mentions": [{"start": 0, "end": 6}]}]
    source = write(tmp_path / "a.jsonl", rows)
    annotate([source], tmp_path / "b.jsonl", world_model, Options(threshold=1.0), workers=1)
    found, given_ = (row["mentions"] for row in read(tmp_path / "b.jsonl"))
    assert found == []
    assert [m["entity"] for m in given_] == [None]


def test_bad_rows_are_named_and_stop_nothing(world_model, tmp_path):
    lines = [
        '{"id": 1, "text": "Paris"}', "", "{", "[1]", '{"id": 4}', '{"id": 5, "text": 7}',
        '{"id": 6, "text": "Paris", "mentions": [{"start": 3, "end": 9}]}',
        '{"id": 7, "text": "Paris", "mentions": 3}', '{"id": 8, "text": "\\ud800"}',
        '{"id": 9, "text": "Rome"}',
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    heard: list[str] = []
    figures = annotate(
        [tmp_path / "a.jsonl"], tmp_path / "b.parquet", world_model, workers=1, complain=heard.append
    )
    assert (figures["documents"], figures["failed_rows"]) == (2, 7)
    assert [what.split(", ")[1].split(":")[0] for what in heard] == [
        f"line {k}" for k in (3, 4, 5, 6, 7, 8, 9)
    ]
    rows = read(tmp_path / "b.parquet")
    assert [row["error"] is None for row in rows] == [row["mentions"] is not None for row in rows]
    assert [row["id"] for row in rows] == ["1", None, None, "4", "5", "6", "7", None, "9"]
    assert "there is no text" in heard[2]
    assert "not inside the text" in heard[4]


def test_text_that_is_not_utf8_in_parquet(world_model, tmp_path):
    bad = pa.array([b"Paris", b"\xff\xfe"]).view(pa.string())
    pq.write_table(pa.table({"id": [1, 2], "text": bad}), tmp_path / "a.parquet")
    annotate([tmp_path / "a.parquet"], tmp_path / "b.jsonl", world_model, workers=1)
    assert [row.get("error") for row in read(tmp_path / "b.jsonl")] == [None, "the text is not UTF-8"]


def test_types_and_values_are_carried_over(world_model, tmp_path):
    table = pa.table({
        "key": pa.array([7, 8], pa.int16()),
        "body": pa.array(["Paris", "Rome"], pa.large_string()),
        "tags": pa.array([["a"], None], pa.list_(pa.string())),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "a.parquet")
    options = Options(text="body", id="key", keep=("tags", "body"))
    annotate([tmp_path / "a.parquet"], tmp_path / "b.parquet", world_model, options, workers=1)
    made = pq.read_table(tmp_path / "b.parquet")
    assert made.schema.names == ["id", "tags", "body", "mentions", "error"]
    assert made.schema.field("id").type == pa.int16()
    assert made.column("tags") == table.column("tags")
    big = '{"id": 123456789012345678901234567890, "text": "x", "deep": {"a": [1.50, null]}}'
    (tmp_path / "c.jsonl").write_text("\ufeff" + big, encoding="utf-8")
    for suffix in (".jsonl", ".parquet"):
        annotate([tmp_path / "c.jsonl"], tmp_path / f"d{suffix}", world_model, Options(keep=("deep",)))
    assert b'"deep":{"a": [1.50, null]}' in (tmp_path / "d.jsonl").read_bytes()
    [row] = read(tmp_path / "d.parquet")
    assert (row["id"], row["deep"]) == ("123456789012345678901234567890", '{"a": [1.50, null]}')


def test_folders_compressed_files_and_empty_ones(world_model, tmp_path):
    folder = tmp_path / "in"
    (folder / "inner").mkdir(parents=True)
    line = b'{"id": "%s", "text": "Paris"}\n'
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(line % b"a1") + gzip.compress(line % b"a2"))
    (folder / "b.jsonl.bz2").write_bytes(bz2.compress(line % b"b"))
    (folder / "inner" / "c.ndjson").write_bytes(line % b"c")
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "_done.jsonl").write_bytes(b"no")
    (folder / "notes.txt").write_bytes(b"no")
    annotate([folder], tmp_path / "out.jsonl", world_model, workers=1)
    assert [row["id"] for row in read(tmp_path / "out.jsonl")] == ["a1", "a2", "b", "c"]
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "none.parquet")
    annotate([tmp_path / "none.parquet"], tmp_path / "none-out.parquet", world_model)
    assert pq.read_table(tmp_path / "none-out.parquet").num_rows == 0


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
    real = job.annotate_part

    def stopping(task, chunk):
        if len(done) == 4:
            raise KeyboardInterrupt
        done.append(chunk.number)
        return real(task, chunk)

    monkeypatch.setattr(job, "annotate_part", stopping)
    with pytest.raises(KeyboardInterrupt):
        annotate([source], tmp_path / "out.parquet", world_model, workers=1)
    assert not (tmp_path / "out.parquet").exists()
    journal = tmp_path / "out.parquet.parts" / "done.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])  # the last line was not written whole
    (tmp_path / "out.parquet.parts" / ".0000004.parquet.1.tmp").write_bytes(b"half")
    monkeypatch.setattr(
        job, "annotate_part", lambda task, chunk: (done.append(chunk.number), real(task, chunk))[1]
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
    description = json.loads((other / "model.json").read_text())
    (other / "model.json").write_text(json.dumps({**description, "note": 1}))
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
    parts.mkdir()
    handle = os.open(parts, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(OutputError, match="another process"):
        annotate([source], out, world_model)
    os.close(handle)
    (parts / "0000000.jsonl").write_text("parts without a record are of nobody")
    assert annotate([source], out, world_model)["resumed_documents"] == 0


def test_wrong_inputs_are_one_sentence(world_model, tmp_path):
    parquet = write(tmp_path / "a.parquet", documents(3))
    lines = write(tmp_path / "a.jsonl", documents(3))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes())[:-9])
    (tmp_path / "damaged.parquet").write_bytes(parquet.read_bytes()[:-20])
    (tmp_path / "folder").mkdir()
    pq.write_table(pa.table({"text": [1]}), tmp_path / "number.parquet")
    pq.write_table(pa.table({"id": [1], "text": ["x"]}), tmp_path / "other.parquet")
    out = tmp_path / "out.jsonl"
    for named, options, why in [
        ([tmp_path / "none.jsonl"], Options(), "no such file"),
        ([tmp_path / "folder"], Options(), "no .parquet or .jsonl"),
        ([parquet, lines], Options(), "is Parquet and"),
        ([parquet], Options(text="body"), "no column body; there are id, text, year"),
        ([parquet], Options(mentions="spans"), "no column spans"),
        ([parquet], Options(keep=("x",)), "no column x"),
        ([tmp_path / "number.parquet"], Options(), "not text"),
        ([parquet, tmp_path / "other.parquet"], Options(), "column id is int64"),
        ([tmp_path / "damaged.parquet"], Options(), "cannot be read"),
        ([tmp_path / "cut.jsonl.gz"], Options(), "cut off"),
        ([], Options(), "no documents"),
    ]:
        with pytest.raises(InputError, match=why):
            annotate(named, out, world_model, options, workers=1)
    with pytest.raises(InputError, match="called out"):
        annotate([lines], tmp_path / "out.csv", world_model)
    with pytest.raises(InputError, match="cannot be called error"):
        Options(keep=("error",))
    with pytest.raises(OutputError, match="is a folder"):
        (tmp_path / "f.jsonl").mkdir()
        annotate([lines], tmp_path / "f.jsonl", world_model)


@given(
    st.lists(st.sampled_from([b'{"text": "a"}', b"", b"  ", b'{"text": "b"}\r'])),
    st.booleans(),
    st.sets(st.integers(0, 8)),
)
def test_lines_keep_their_numbers_and_chunks_theirs(tmp_path_factory, lines, ends, done):
    path = tmp_path_factory.mktemp("lines") / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ends else b""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "CHUNK_ROWS", 2)
        source = open_inputs([path], Options())
        chunks = list(source.chunks())
        assert [row for chunk in chunks for row in chunk.rows] == [
            (number, line) for number, line in enumerate(lines, 1) if line.strip()
        ]
        assert list(source.chunks(done)) == [chunk for chunk in chunks if chunk.number not in done]
        assert sum(chunk.weight for chunk in chunks) <= source.total


def test_files_are_read_as_far_as_needed(tmp_path, monkeypatch):
    """Memory does not grow with the input: the first chunk is there before the rest was read."""
    pieces = []
    real = inputs._read
    monkeypatch.setattr(inputs, "_PIECE", 1 << 10)
    monkeypatch.setattr(inputs, "_read", lambda *a: (pieces.append(1), real(*a))[1])
    lines = write(tmp_path / "a.jsonl", documents(2000))
    next(open_inputs([lines], Options()).chunks())
    assert len(pieces) < 20 < lines.stat().st_size >> 10
    groups = []
    table = write(tmp_path / "a.parquet", documents(2000), row_group_size=100)
    source = open_inputs([table], Options())
    batches = source._batches
    source._batches = lambda path, file, group, size: (
        groups.append(group),
        batches(path, file, group, size),
    )[1]
    next(source.chunks())
    assert groups == [0]


def test_chunks_of_parquet_follow_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK_ROWS", 4)
    path = write(tmp_path / "a.parquet", documents(23), row_group_size=9)
    source = open_inputs([path, path], Options())
    chunks = list(source.chunks())
    assert [chunk.rows.num_rows for chunk in chunks] == [4, 4, 1, 4, 4, 1, 4, 1] * 2
    assert [chunk.first for chunk in chunks][:8] == [1, 5, 9, 10, 14, 18, 19, 23]
    some = list(source.chunks({0, 1, 2, 4, 9}))
    assert some == [chunk for chunk in chunks if chunk.number not in {0, 1, 2, 4, 9}]
    monkeypatch.setattr(inputs, "CHUNK_BYTES", 1)
    assert all(chunk.rows.num_rows == 1 for chunk in source.chunks())
