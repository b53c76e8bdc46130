"""LightRAG's knowledge graph as it is inserted: ``entities`` and ``relationships``, duplicates merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pboh.canonical.graph import Merged, Record
from pboh.canonical.groups import Groups
from pboh.errors import InputError
from pboh.integrations.graphs import Fields, merge_records
from pboh.linker import Linker

SEPARATOR = "<SEP>"
"""What LightRAG puts between several values of one field."""
_TEXTS = {"description": SEPARATOR, "source_id": SEPARATOR, "file_path": SEPARATOR, "keywords": ","}
_FIELDS = Fields("entity_name", "entity_type", "src_id", "tgt_id", _TEXTS, sums=("weight",))


def merge_knowledge_graph(
    linker: Linker, graph: Mapping[str, Any], threshold: float | None = None
) -> tuple[dict[str, Any], Groups]:
    """Merge what is passed to ``LightRAG.insert_custom_kg``; chunks and other parts stay as they are.

    Descriptions, sources and files are put together with LightRAG's separator, weights are added, and
    relationships within a group disappear.
    """
    merged, entities, relations = _merged(linker, graph, threshold)
    return {**graph, "entities": entities, "relationships": relations}, merged.groups


def merges(
    linker: Linker, graph: Mapping[str, Any], threshold: float | None = None
) -> list[tuple[list[str], str]]:
    """Arguments for ``LightRAG.merge_entities``, which merges what it has stored already."""
    merged, *_ = _merged(linker, graph, threshold)
    return [
        (list(group.names), key)
        for group, key in zip(merged.groups, merged.keys, strict=True)
        if len(group.names) > 1
    ]


def _merged(
    linker: Linker, graph: Mapping[str, Any], threshold: float | None
) -> tuple[Merged, list[Record], list[Record]]:
    entities, relations = list(graph.get("entities", ())), list(graph.get("relationships", ()))
    for what, records, fields in (
        ("entity", entities, ("entity_name",)),
        ("relationship", relations, ("src_id", "tgt_id")),
    ):
        for number, record in enumerate(records):
            for field in fields:
                if not isinstance(record, Mapping) or not isinstance(record.get(field), str):
                    raise InputError(f"{what} {number} has no {field}")
    told = (record.get("description") for record in entities)
    contexts = (text.replace(SEPARATOR, "\n") if text else None for text in told)
    return merge_records(linker, entities, relations, contexts, _FIELDS, threshold)
