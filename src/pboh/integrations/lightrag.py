"""LightRAG's knowledge graph as it is inserted: ``entities`` and ``relationships``, duplicates merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pboh.canonical.graph import Merged, by_key, combined
from pboh.canonical.groups import Groups
from pboh.errors import InputError
from pboh.linker import Linker

Record = dict[str, Any]
SEPARATOR = "<SEP>"
"""What LightRAG puts between several values of one field."""
_TEXTS = {"description": SEPARATOR, "source_id": SEPARATOR, "file_path": SEPARATOR, "keywords": ","}


def merge_knowledge_graph(
    linker: Linker, graph: Mapping[str, Any], threshold: float | None = None
) -> tuple[dict[str, Any], Groups]:
    """Merge what is passed to ``LightRAG.insert_custom_kg``; chunks and other parts stay as they are.

    Descriptions, sources and files are put together with LightRAG's separator, weights are added, and
    relationships within a group disappear.
    """
    entities, relations = list(graph.get("entities", ())), list(graph.get("relationships", ()))
    groups = _groups(linker, entities, relations, threshold)
    merged = Merged.of(groups)
    key: dict[str, str] = {record["entity_name"]: merged.key(row) for row, record in enumerate(entities)}

    def ends(record: Record) -> tuple[str, str] | None:
        source, target = (str(key.get(record[end], record[end])) for end in ("src_id", "tgt_id"))
        return None if source == target else (source, target)

    together = by_key(entities, lambda record: key[record["entity_name"]])
    new_entities = [_one(some) | {"entity_name": key[some[0]["entity_name"]]} for some in together]
    new_relations = []
    for some in by_key(relations, ends):
        source, target = ends(some[0]) or ("", "")
        new_relations.append(_one(some) | {"src_id": source, "tgt_id": target})
    return {**graph, "entities": new_entities, "relationships": new_relations}, groups


def merges(
    linker: Linker, graph: Mapping[str, Any], threshold: float | None = None
) -> list[tuple[list[str], str]]:
    """Arguments for ``LightRAG.merge_entities``, which merges what it has stored already."""
    entities, relations = list(graph.get("entities", ())), list(graph.get("relationships", ()))
    merged = Merged.of(_groups(linker, entities, relations, threshold))
    return [
        (list(group.names), key)
        for group, key in zip(merged.groups, merged.keys, strict=True)
        if len(group.names) > 1
    ]


def _groups(
    linker: Linker, entities: list[Record], relations: list[Record], threshold: float | None
) -> Groups:
    for what, records, fields in (
        ("entity", entities, ("entity_name",)),
        ("relationship", relations, ("src_id", "tgt_id")),
    ):
        for number, record in enumerate(records):
            for field in fields:
                if not isinstance(record, Mapping) or not isinstance(record.get(field), str):
                    raise InputError(f"{what} {number} has no {field}")
    names = [record["entity_name"] for record in entities]
    known = set(names)
    edges = [(r["src_id"], r["tgt_id"]) for r in relations if {r["src_id"], r["tgt_id"]} <= known]
    told = (record.get("description") for record in entities)
    descriptions = [text.replace(SEPARATOR, "\n") if text else None for text in told]
    return linker.canonical(
        names, descriptions, [record.get("entity_type") for record in entities], edges, threshold=threshold
    )


def _one(some: list[Record]) -> Record:
    return combined(some, _TEXTS, sums=("weight",))
