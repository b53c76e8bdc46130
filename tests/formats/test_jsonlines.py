"""Lines of files as people have them: compressed, marked, blank, cut off, or not lines at all."""

from __future__ import annotations

import bz2
import gzip

import pyarrow as pa
import pytest

from pboh.errors import InputError
from pboh.formats import jsonlines
from pboh.formats.jsonlines import read_lines

TEXT = b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"b": 2}'


def pack(codec: str, data: bytes) -> bytes:
    return {"plain": bytes, "gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}[codec](data)


def zstd(data: bytes) -> bytes:
    return pa.compress(data, "zstd", asbytes=True)


@pytest.mark.parametrize("codec", ["plain", "gz", "bz2", "zst"])
@pytest.mark.parametrize("piece", [1, 5, 1 << 20])
def test_lines_are_numbered_whatever_the_file_is_packed_with(tmp_path, monkeypatch, codec, piece):
    monkeypatch.setattr(jsonlines, "_PIECE", max(piece, 3))
    path = tmp_path / "file"
    path.write_bytes(pack(codec, TEXT))
    lines = list(read_lines(path))
    assert [(line.number, line.data.strip()) for line in lines] == [(1, b'{"a": 1}'), (4, b'{"b": 2}')]
    assert lines[-1].position == path.stat().st_size


def test_members_one_behind_the_other(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b"1\n") + gzip.compress(b"2\n"))
    assert [line.data for line in read_lines(path)] == [b"1", b"2"]


@pytest.mark.parametrize("codec", ["gz", "bz2", "zst"])
def test_a_file_that_was_cut_off_is_one_sentence(tmp_path, codec):
    path = tmp_path / "file"
    path.write_bytes(pack(codec, TEXT * 9)[:-5])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_lines(path))


def test_what_is_not_lines_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonlines, "LONGEST_LINE", 1 << 20)
    (tmp_path / "long").write_bytes(b"x" * (3 << 20))
    for name, message in (("long", "a line is longer than 1 MB"), ("none", "no such file"), ("", "director")):
        with pytest.raises(InputError, match=message):
            list(read_lines(tmp_path / name))
    (tmp_path / "empty").write_bytes(b"")
    assert list(read_lines(tmp_path / "empty")) == []
