"""What a row becomes: found, given or bad mentions, and the columns that are carried over."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows_of_files import read, write

from pboh.annotation import Options, annotate
from pboh.errors import InputError


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


def test_rows_say_what_entities_are(typed_linker, typed_model, tmp_path):
    spans = [{"start": 0, "end": 9}, {"start": 19, "end": 24}]
    rows = [{"text": "Müller scored for Bayern."}, {"text": "Hemingway wrote of Paris.", "mentions": spans}]
    source = write(tmp_path / "a.jsonl", rows)
    for name in ("b.jsonl", "b.parquet"):
        annotate([source], tmp_path / name, typed_model, Options(candidates=3), workers=1)
        found, [_, paris] = (row["mentions"] for row in read(tmp_path / name))
        about = typed_linker.entity("Paris").to_dict()
        assert {key: paris[key] for key in about} == about
        assert "son of Priam" in {c["description"] for c in paris["candidates"]}
        annotate([source], tmp_path / f"of-{name}", typed_model, Options(types=("organisation",)), workers=1)
        restricted, given = (row["mentions"] for row in read(tmp_path / f"of-{name}"))
        assert {m["type"] for m in found} > {m["type"] for m in restricted} == {"organisation"}
        assert {m["type"] for m in given} <= {None, "organisation"}


def test_types_are_checked_before_any_row(world_model, typed_model, tmp_path):
    source = write(tmp_path / "a.jsonl", [{"text": "Paris"}])
    with pytest.raises(InputError, match="'city' is not a type"):
        Options(types=("city",))
    with pytest.raises(InputError, match="does not know the types"):
        annotate([source], tmp_path / "b.jsonl", world_model, Options(types=("place",)), workers=1)
    assert not (tmp_path / "b.jsonl").exists()


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
