"""Files of documents, cut into chunks that depend on nothing but the files."""

from __future__ import annotations

import bz2
import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows_of_files import documents, read, write

from pboh.annotation import Options, annotate, arrow, inputs
from pboh.annotation.inputs import open_inputs
from pboh.errors import InputError, OutputError
from pboh.formats import jsonlines


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
        rows = [row for chunk in chunks for row in zip(chunk.places, chunk.rows, strict=True)]
        assert rows == [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        assert list(source.chunks(done)) == [chunk for chunk in chunks if chunk.number not in done]
        assert sum(chunk.weight for chunk in chunks) <= source.total


def test_files_are_read_as_far_as_needed(tmp_path, monkeypatch):
    """Memory does not grow with the input: the first chunk is there before the rest was read."""
    pieces = []
    real = jsonlines._pieces
    monkeypatch.setattr(jsonlines, "_PIECE", 1 << 10)
    monkeypatch.setattr(jsonlines, "_pieces", lambda file: ((pieces.append(1), p)[1] for p in real(file)))
    lines = write(tmp_path / "a.jsonl", documents(2000))
    next(open_inputs([lines], Options()).chunks())
    assert len(pieces) < 20 < lines.stat().st_size >> 10
    table = write(tmp_path / "a.parquet", documents(2000), row_group_size=100)
    groups = []
    real_batches = pq.ParquetFile.iter_batches
    monkeypatch.setattr(
        pq.ParquetFile,
        "iter_batches",
        lambda file, size, group, **how: (groups.extend(group), real_batches(file, size, group, **how))[1],
    )
    next(open_inputs([table], Options()).chunks())
    assert groups == [0]


def test_chunks_of_parquet_follow_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK_ROWS", 4)
    path = write(tmp_path / "a.parquet", documents(23), row_group_size=9)
    source = open_inputs([path, path], Options())
    chunks = list(source.chunks())
    assert [chunk.rows.num_rows for chunk in chunks] == [4, 4, 1, 4, 4, 1, 4, 1] * 2
    assert [chunk.places[0] for chunk in chunks][:8] == [1, 5, 9, 10, 14, 18, 19, 23]
    some = list(source.chunks({0, 1, 2, 4, 9}))
    assert some == [chunk for chunk in chunks if chunk.number not in {0, 1, 2, 4, 9}]
    monkeypatch.setattr(arrow, "CHUNK_BYTES", 1)
    assert all(chunk.rows.num_rows == 1 for chunk in source.chunks())
