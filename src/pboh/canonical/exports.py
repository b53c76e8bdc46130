"""Merged names for graph databases: RDF in Turtle with owl:sameAs, Cypher, CSV for Neo4j's bulk import."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pboh.canonical.graph import Merged
from pboh.canonical.groups import Groups
from pboh.files.writing import written_aside
from pboh.formats.identifiers import escaped, resource
from pboh.formats.turtle import quoted
from pboh.formats.types import BY_NAME

BASE = "urn:pboh:"
WIKIDATA = "http://www.wikidata.org/entity/"
RELATED = "RELATED_TO"
SEPARATOR = "\x1f"
"""Between the names of a node in CSV: no name has it. Tell the import: ``--array-delimiter=U+001F``."""
_PREFIXES = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}


_ESCAPES = {ord("\\"): "\\\\", ord("'"): "\\'"} | {
    c: f"\\u{c:04X}" for c in (*range(32), 127, 0x85, 0x2028, 0x2029)
}


def relations(groups: Groups, edges: Iterable[Sequence[Any]]) -> list[tuple[int, int, str]]:
    """Edges between rows, ``(row, row)`` or ``(row, row, kind)``, as edges between groups, each once."""
    found: dict[tuple[int, int, str], None] = {}
    for source, target, *kind in edges:
        one, two = int(groups.number[source]), int(groups.number[target])
        if one != two:
            found[one, two, str(kind[0]) if kind and kind[0] else RELATED] = None
    return list(found)


# -- RDF -------------------------------------------------------------------------------------------------


def to_turtle(
    groups: Groups, edges: Iterable[Sequence[Any]] = (), ids: Sequence[str | None] = (), base: str = BASE
) -> Iterator[str]:
    """Lines of Turtle: every name is the same as its entity in DBpedia, or as the first name of its group.

    Names are ``<base>name/`` and their id or row. Edges lead from group to group, by ``skos:related`` or the
    kind of the edge below ``<base>relation/``.
    """
    yield from (f"@prefix {name}: <{address}> ." for name, address in _PREFIXES.items())
    shown = [_iri(groups, number, ids, base) for number in range(len(groups))]
    for number, group in enumerate(groups):
        about = [f"rdfs:label {quoted(group.label)}"]
        about += [f"skos:altLabel {quoted(name)}" for name in group.names if name != group.label]
        if group.type in BY_NAME:
            about.append(f"a <{BY_NAME[group.type].uri}>")
        if group.id and group.id.startswith("Q"):
            about.append(f"owl:sameAs <{WIKIDATA}{escaped(group.id)}>")
        yield f"{shown[number]} {' ; '.join(about)} ."
        for member in group.members:
            name = _name(member.row, ids, base)
            if name != shown[number]:
                yield f"{name} owl:sameAs {shown[number]} ; rdfs:label {quoted(member.name)} ."
    for one, two, kind in relations(groups, edges):
        by = "skos:related" if kind == RELATED else f"<{base}relation/{escaped(kind)}>"
        yield f"{shown[one]} {by} {shown[two]} ."


def _name(row: int, ids: Sequence[str | None], base: str) -> str:
    return f"<{base}name/{escaped(str(ids[row])) if ids and ids[row] is not None else row}>"


def _iri(groups: Groups, number: int, ids: Sequence[str | None], base: str) -> str:
    entity = groups.entity(number)
    return f"<{resource(entity)}>" if entity else _name(groups.first(number), ids, base)


# -- Neo4j -----------------------------------------------------------------------------------------------


def to_cypher(groups: Groups, edges: Iterable[Sequence[Any]] = ()) -> Iterator[str]:
    """Statements for ``cypher-shell``, one per line; running them again changes nothing."""
    merged = Merged.of(groups)
    yield "CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (n:Entity) REQUIRE n.key IS UNIQUE;"
    for group, key in zip(groups, merged.keys, strict=True):
        values = _values(group)
        values["names"] = list(group.names)
        told = ", ".join(
            f"n.{name} = {_literal(value)}" for name, value in values.items() if value is not None
        )
        yield f"MERGE (n:Entity {{key: {_literal(key)}}}) SET {told};"
    for one, two, kind in relations(groups, edges):
        ends = (_literal(merged.keys[number]) for number in (one, two))
        match = "MATCH (a:Entity {{key: {}}}), (b:Entity {{key: {}}})".format(*ends)
        yield f"{match} MERGE (a)-[:{_symbol(kind)}]->(b);"


def _values(group: Any) -> dict[str, Any]:
    return {
        "label": group.label,
        "type": group.type,
        "wikidata": group.id,
        "wikipedia": group.entity.url if group.entity else None,
        "probability": group.probability,
    }


def _literal(value: Any) -> str:
    """A value as Cypher writes it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if not isinstance(value, str):
        return repr(value)
    plain = value.encode("utf-8", "replace").decode()
    return f"'{plain.translate(_ESCAPES)}'"


def _symbol(kind: str) -> str:
    """The type of a relation; backticks inside are doubled, as Cypher wants it."""
    plain = " ".join(kind.encode("utf-8", "replace").decode().split()) or RELATED
    return "`{}`".format(plain.replace("\\", "/").replace("`", "``"))


def write_import_csv(folder: Path, groups: Groups, edges: Iterable[Sequence[Any]] = ()) -> None:
    """Write ``nodes.csv`` and ``relationships.csv`` for ``neo4j-admin database import full``."""
    merged = Merged.of(groups)
    with written_aside(folder / "nodes.csv") as aside, aside.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(
            (
                "key:ID",
                "label",
                "type",
                "wikidata",
                "wikipedia",
                "probability:float",
                "names:string[]",
                ":LABEL",
            )
        )
        for group, key in zip(groups, merged.keys, strict=True):
            names = SEPARATOR.join(name.replace(SEPARATOR, " ") for name in group.names)
            writer.writerow((key, *_values(group).values(), names, "Entity"))
    with (
        written_aside(folder / "relationships.csv") as aside,
        aside.open("w", encoding="utf-8", newline="") as text,
    ):
        writer = csv.writer(text)
        writer.writerow((":START_ID", ":END_ID", ":TYPE"))
        for one, two, kind in relations(groups, edges):
            writer.writerow((merged.keys[one], merged.keys[two], kind))
