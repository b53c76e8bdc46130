"""GraphRAG's tables: merged, rewired, and with the columns they had."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pboh.errors import InputError
from pboh.integrations.graphrag import merge_folder, merge_tables

# the columns of the present data model, in its order and of its types
ENTITIES = pa.schema(
    [("id", pa.string()), ("human_readable_id", pa.int64()), ("title", pa.string()), ("type", pa.string()),
     ("description", pa.string()), ("text_unit_ids", pa.list_(pa.string())), ("frequency", pa.int64()),
     ("degree", pa.int64())]
)  # fmt: skip
RELATIONSHIPS = pa.schema(
    [("id", pa.string()), ("human_readable_id", pa.int64()), ("source", pa.string()), ("target", pa.string()),
     ("description", pa.string()), ("weight", pa.float64()), ("combined_degree", pa.int64()),
     ("text_unit_ids", pa.list_(pa.string()))]
)  # fmt: skip


def entity(number, title, description="", units=("u1",), frequency=1):
    return {
        "id": f"e{number}", "human_readable_id": number, "title": title, "type": "ORGANIZATION",
        "description": description, "text_unit_ids": list(units), "frequency": frequency, "degree": 99,
    }  # fmt: skip


def relation(number, source, target, weight=1.0, units=("u1",)):
    return {
        "id": f"r{number}", "human_readable_id": number, "source": source, "target": target,
        "description": f"{source} and {target}", "weight": weight, "combined_degree": 99,
        "text_unit_ids": list(units),
    }  # fmt: skip


@pytest.fixture
def tables():
    entities = [
        entity(0, "BAYERN", "A football club.", ["u1"], 2),
        entity(1, "FC BAYERN MUNICH", "A club from Munich.", ["u1", "u2"], 3),
        entity(2, "ZORBLAX INC."),
        entity(3, "ZORBLAX", units=["u3"]),
    ]
    relations = [
        relation(0, "BAYERN", "ZORBLAX", 2.0),
        relation(1, "FC BAYERN MUNICH", "ZORBLAX INC.", 3.0, ["u2"]),
        relation(2, "BAYERN", "FC BAYERN MUNICH"),
    ]
    units = [
        {"id": "u1", "text": "…", "entity_ids": ["e1", "e0", "e2"], "relationship_ids": ["r1", "r2", "r0"]}
    ]
    return {
        "entities": pa.Table.from_pylist(entities, schema=ENTITIES),
        "relationships": pa.Table.from_pylist(relations, schema=RELATIONSHIPS),
        "text_units": pa.Table.from_pylist(units),
    }


def test_entities_are_merged_and_relationships_follow(linker, tables):
    merged, groups = merge_tables(linker, tables)
    assert {name: table.schema for name, table in merged.items()} == {n: t.schema for n, t in tables.items()}
    bayern, zorblax = merged["entities"].to_pylist()
    assert bayern == {
        "id": "e0", "human_readable_id": 0, "title": "FC Bayern Munich", "type": "ORGANIZATION",
        "description": "A football club.\nA club from Munich.", "text_unit_ids": ["u1", "u2"], "frequency": 5,
        "degree": 1,
    }  # fmt: skip
    assert (zorblax["id"], zorblax["title"], zorblax["text_unit_ids"]) == ("e2", "ZORBLAX INC.", ["u1", "u3"])
    (one,) = merged["relationships"].to_pylist()
    assert (one["source"], one["target"]) == ("FC Bayern Munich", "ZORBLAX INC.")
    assert (one["weight"], one["combined_degree"], one["text_unit_ids"]) == (5.0, 2, ["u1", "u2"])
    (unit,) = merged["text_units"].to_pylist()
    assert (unit["entity_ids"], unit["relationship_ids"]) == (["e0", "e2"], ["r0"])
    assert len(groups) == 2


def test_a_folder(linker, tables, tmp_path):
    for name, table in tables.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    merge_folder(linker, tmp_path, tmp_path / "merged")
    written = {path.stem: pq.read_table(path) for path in (tmp_path / "merged").iterdir()}
    assert {n: t.to_pylist() for n, t in written.items()} == {
        n: t.to_pylist() for n, t in merge_tables(linker, tables)[0].items()
    }
    assert pq.read_table(tmp_path / "entities.parquet").equals(tables["entities"])


def test_only_what_is_there_is_needed(linker):
    some = pa.Table.from_pylist([{"id": "1", "title": "Zorblax"}, {"id": "2", "title": "ZORBLAX"}])
    merged, _ = merge_tables(linker, {"entities": some})
    assert merged["entities"].to_pylist() == [{"id": "1", "title": "Zorblax"}]


def test_other_tables_are_one_sentence(linker, tables, tmp_path):
    with pytest.raises(InputError, match="entities has no column title"):
        merge_tables(linker, {"entities": tables["entities"].drop_columns(["title"])})
    with pytest.raises(InputError, match="there is no table entities"):
        merge_tables(linker, {})
    with pytest.raises(InputError, match="there is no such file"):
        merge_folder(linker, tmp_path, tmp_path / "out")
    (tmp_path / "entities.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="cannot be read"):
        merge_folder(linker, tmp_path, tmp_path / "out")
