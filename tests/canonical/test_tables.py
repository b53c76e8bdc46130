"""Tables of names in every format, in and out, and what is said of those that cannot be read."""

from __future__ import annotations

import csv
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pboh.canonical.tables import COLUMNS, Names, Wanted, read_edges, read_names, write_groups
from pboh.errors import InputError, OutputError

ROWS = [
    {"name": "Bayern", "type": "club", "id": "1", "context": None},
    {"name": "FC Bayern Munich", "type": None, "id": "2", "context": "a club"},
    {"name": "", "type": "x", "id": "3", "context": None},
    {"name": 'Quotes ", and\nlines', "type": None, "id": "4", "context": None},
]
EXPECTED = Names(
    ["Bayern", "FC Bayern Munich", "", 'Quotes ", and\nlines'],
    [None, "a club", None, None], ["club", None, "x", None], list("1234"),
)  # fmt: skip


def write(path, rows=ROWS):
    kind = [suffix for suffix in path.suffixes if suffix != ".gz"][-1]
    if kind == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return path
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        if kind == ".jsonl":
            file.write("".join(json.dumps(row) + "\n" for row in rows))
        else:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if kind == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return path


@pytest.mark.parametrize("name", ["n.csv", "n.tsv", "n.csv.gz", "n.jsonl", "n.jsonl.gz", "n.parquet"])
def test_every_format_reads_the_same(tmp_path, name):
    assert read_names(write(tmp_path / name), Wanted()) == EXPECTED


def test_plain_lines_and_json_strings(tmp_path):
    (tmp_path / "n.txt").write_text("Bayern\n\nParis\r\n")
    assert read_names(tmp_path / "n.txt", Wanted()) == Names(["Bayern", "", "Paris"], [], [], [])
    (tmp_path / "n.jsonl").write_text('"Bayern"\n{"name": "Paris", "type": 3}\n')
    assert read_names(tmp_path / "n.jsonl", Wanted()) == Names(["Bayern", "Paris"], [], [None, "3"], [])


@pytest.mark.parametrize("name", ["n.csv", "n.jsonl", "n.parquet"])
def test_columns_are_named(tmp_path, name):
    path = write(tmp_path / name, [{"title": "Paris", "text": "a city"}])
    assert read_names(path, Wanted("title", "text")) == Names(["Paris"], ["a city"], [], [])
    for wanted, missing in ((Wanted(), "name"), (Wanted("title", "about"), "about")):
        with pytest.raises(InputError, match=f"there is no column {missing}; there are title, text"):
            read_names(path, wanted)


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("n.csv", b"name\n\xff\xfe\n", "not text in UTF-8"),
        ("n.csv", b"", "there is no column name; there are none"),
        ("n.csv.gz", b"\x1f\x8b damaged", "cannot be read"),
        ("n.jsonl", b"[1]\n", "line 1: this is not a JSON object"),
        ("n.jsonl", b'{"name": "a"}\n{"title": "b"}\n', "line 2: there is no column name"),
        ("n.parquet", b"PAR1 damaged", "cannot be read"),
        ("n.xlsx", b"", "no known kind"),
        ("n.txt", b"\xff", "not text in UTF-8"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, name, data, what):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=what):
        read_names(tmp_path / name, Wanted())


@pytest.mark.parametrize("name", ["n.csv", "n.jsonl", "n.parquet", "n.txt"])
def test_missing_files(tmp_path, name):
    with pytest.raises(InputError, match="there is no such file"):
        read_names(tmp_path / name, Wanted())


def test_edges_name_ids_or_names(tmp_path):
    edges = write(tmp_path / "e.csv", [{"source": "1", "target": "2"}, {"source": "Bayern", "target": "4"}])
    assert read_edges(edges, EXPECTED, "source", "target") == [(0, 1), (0, 3)]
    edges = write(tmp_path / "e.csv", [{"source": "1", "target": "nobody"}])
    with pytest.raises(InputError, match="edge 1 ends at 'nobody', which is neither an id nor a name"):
        read_edges(edges, EXPECTED, "source", "target")


@pytest.fixture
def groups(linker):
    return linker.canonical(EXPECTED.names, types=EXPECTED.types)


def test_written_tables(groups, tmp_path):
    for name in ("out.csv", "out.parquet", "out.jsonl"):
        write_groups(groups, EXPECTED.ids, tmp_path / name)
    with (tmp_path / "out.csv").open(newline="") as file:
        flat = list(csv.DictReader(file))
    assert tuple(flat[0]) == COLUMNS
    assert [row["id"] for row in flat] == EXPECTED.ids
    assert [row["label"] for row in flat[:2]] == ["FC Bayern Munich"] * 2
    typed = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [{k: "" if v is None else str(v) for k, v in row.items()} for row in typed] == flat
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["label"] for line in lines] == [group.label for group in groups]
    assert [member["id"] for member in lines[0]["members"]] == ["1", "2"]


def test_nothing_is_half_written(groups, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"
    out.write_text("as before")
    monkeypatch.setattr(type(groups), "members", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_groups(groups, [], out)
    assert out.read_text() == "as before"
    assert list(tmp_path.iterdir()) == [out]


def test_an_unknown_output_is_refused(groups, tmp_path):
    with pytest.raises(InputError, match="no known kind"):
        write_groups(groups, [], tmp_path / "out.xml")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        write_groups(groups, [], tmp_path / "file" / "out.csv")
