"""GraphRAG's tables of entities and relationships, with entities that mean the same merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pboh.canonical.graph import Record, united
from pboh.canonical.groups import Groups
from pboh.errors import InputError, MissingExtraError
from pboh.files.writing import check_outputs, written_aside
from pboh.integrations.graphs import Fields, merge_records
from pboh.linker import Linker

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtraError.of("pyarrow", "train") from None

ENTITIES, RELATIONSHIPS, TEXT_UNITS = "entities", "relationships", "text_units"
_FIELDS = Fields(
    "title", "type", "source", "target", {"description": "\n"}, ("text_unit_ids",), ("frequency", "weight")
)
NEEDED = {ENTITIES: ("id", "title"), RELATIONSHIPS: ("id", "source", "target"), TEXT_UNITS: ("id",)}


def merge_tables(
    linker: Linker, tables: Mapping[str, pa.Table], threshold: float | None = None
) -> tuple[dict[str, pa.Table], Groups]:
    """Merge ``entities`` and rewire ``relationships`` and ``text_units``, each with the columns it had.

    A merged entity keeps the id of its first one; descriptions and lists of text units are put together,
    frequencies and weights added, degrees counted anew. Relationships within a group disappear.
    """
    for name, columns in NEEDED.items():
        for column in columns if name in tables else ():
            if column not in tables[name].column_names:
                raise InputError(f"the table {name} has no column {column}")
    if ENTITIES not in tables:
        raise InputError("there is no table entities")
    entities = tables[ENTITIES].to_pylist()
    relations = tables[RELATIONSHIPS].to_pylist() if RELATIONSHIPS in tables else []
    contexts = [record.get("description") for record in entities]
    merged, new_entities, new_relations = merge_records(
        linker, entities, relations, contexts, _FIELDS, threshold
    )
    _count(new_entities, new_relations)
    out = {ENTITIES: _table(new_entities, tables[ENTITIES])}
    if RELATIONSHIPS in tables:
        out[RELATIONSHIPS] = _table(new_relations, tables[RELATIONSHIPS])
    if TEXT_UNITS in tables:
        entity = {r["title"]: r["id"] for r in new_entities}
        entity_id = {r["id"]: entity[merged.name(r["title"] or "")] for r in entities}
        relation = {(r["source"], r["target"]): r["id"] for r in new_relations}
        ends = {r["id"]: merged.ends(r["source"], r["target"]) for r in relations}
        relation_id = {id: relation[pair] if pair else None for id, pair in ends.items()}
        units = [_unit(r, entity_id, relation_id) for r in tables[TEXT_UNITS].to_pylist()]
        out[TEXT_UNITS] = _table(units, tables[TEXT_UNITS])
    return out, merged.groups


def _count(entities: list[Record], relations: list[Record]) -> None:
    """Degrees of entities, and of both ends of relationships together."""
    degree: dict[str, int] = {}
    for record in relations:
        for end in (record["source"], record["target"]):
            degree[end] = degree.get(end, 0) + 1
    for record in entities:
        if "degree" in record:
            record["degree"] = degree.get(record["title"], 0)
    for record in relations:
        if "combined_degree" in record:
            record["combined_degree"] = degree[record["source"]] + degree[record["target"]]


def _unit(record: Record, entities: Mapping[str, str], relations: Mapping[str, str | None]) -> Record:
    record = dict(record)
    for column, new in (("entity_ids", entities), ("relationship_ids", relations)):
        if record.get(column) is not None:
            record[column] = [
                i for i in united([[new.get(old, old) for old in record[column]]]) if i is not None
            ]
    return record


def _table(records: list[Record], like: pa.Table) -> pa.Table:
    return pa.Table.from_pylist(records, schema=like.schema)


def merge_folder(
    linker: Linker, folder: Path | str, out: Path | str, threshold: float | None = None
) -> Groups:
    """Merge the tables in a folder that GraphRAG wrote; the merged ones go to another folder."""
    folder, out = Path(folder), Path(out)
    tables = {}
    for name in (ENTITIES, RELATIONSHIPS, TEXT_UNITS):
        path = folder / f"{name}.parquet"
        if path.exists() or name == ENTITIES:
            check_outputs(out / path.name)
            tables[name] = _read(path)
    merged, groups = merge_tables(linker, tables, threshold)
    for name, table in merged.items():
        with written_aside(out / f"{name}.parquet") as aside:
            pq.write_table(table, aside)
    return groups


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except FileNotFoundError:
        raise InputError("there is no such file", where=path, todo="Name GraphRAG's output folder") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"this Parquet file cannot be read ({error})", where=path) from error
