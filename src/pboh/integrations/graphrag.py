"""GraphRAG's tables of entities and relationships, with entities that mean the same merged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pboh.canonical.graph import Merged, by_key, combined, united
from pboh.canonical.groups import Groups
from pboh.errors import InputError, MissingExtraError
from pboh.files.writing import check_outputs, written_aside
from pboh.linker import Linker

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtraError.of("pyarrow", "train") from None

Record = dict[str, Any]
ENTITIES, RELATIONSHIPS, TEXT_UNITS = "entities", "relationships", "text_units"
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
    titles = [record["title"] or "" for record in entities]
    known = set(titles)
    edges = [(r["source"], r["target"]) for r in relations if {r["source"], r["target"]} <= known]
    groups = linker.canonical(
        titles,
        [record.get("description") for record in entities],
        [record.get("type") for record in entities],
        edges, threshold=threshold,
    )  # fmt: skip
    merged = Merged.of(groups)
    key = {title: merged.key(row) for row, title in reversed(list(enumerate(titles)))}
    new_relations, relation_id = _relations(relations, key)
    together = by_key(entities, lambda r: key[r["title"] or ""])
    new_entities = [_one(some) | {"title": key[some[0]["title"] or ""]} for some in together]
    _count(new_entities, new_relations)
    out = {ENTITIES: _table(new_entities, tables[ENTITIES])}
    if RELATIONSHIPS in tables:
        out[RELATIONSHIPS] = _table(new_relations, tables[RELATIONSHIPS])
    if TEXT_UNITS in tables:
        first = {key[r["title"]]: r["id"] for r in reversed(entities)}
        entity_id = {r["id"]: first[key[r["title"]]] for r in entities}
        units = [_unit(r, entity_id, relation_id) for r in tables[TEXT_UNITS].to_pylist()]
        out[TEXT_UNITS] = _table(units, tables[TEXT_UNITS])
    return out, groups


def _one(some: list[Record]) -> Record:
    return combined(some, {"description": "\n"}, lists=("text_unit_ids",), sums=("frequency", "weight"))


def _relations(relations: list[Record], key: Mapping[str, str]) -> tuple[list[Record], dict[str, str | None]]:
    """Relationships between groups, and the id of each old one's new one (None if it disappeared)."""

    def ends(record: Record) -> tuple[str, str] | None:
        source, target = (
            key.get(record["source"], record["source"]),
            key.get(record["target"], record["target"]),
        )
        return None if source == target else (source, target)

    new, ids = list[Record](), dict[str, str | None].fromkeys(r["id"] for r in relations)
    for some in by_key(relations, ends):
        source, target = ends(some[0]) or ("", "")
        new.append(_one(some) | {"source": source, "target": target})
        ids |= dict.fromkeys((r["id"] for r in some), some[0]["id"])
    return new, ids


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
