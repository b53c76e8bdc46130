"""Merging the nodes of other programs' graphs: what the adapters to them have in common."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from pboh.canonical.graph import Merged, Record, by_key, combined
from pboh.linker import Linker


class Node(NamedTuple):
    """A node as another program has it: what edges call it, its name, a text about it, its kind."""

    id: Hashable
    name: str
    context: str | None = None
    type: str | None = None


def merge(
    linker: Linker, nodes: Sequence[Node], edges: Iterable[tuple[Hashable, Hashable]], threshold: float | None
) -> Merged:
    """Group nodes by what they mean.

    Edges to unknown nodes are left out; of several nodes with one id, edges mean the first.
    """
    rows = {node.id: row for row, node in reversed(list(enumerate(nodes)))}
    inside = [(rows[one], rows[two]) for one, two in edges if one in rows and two in rows]
    _, names, contexts, types = zip(*nodes, strict=True) if nodes else ((), (), (), ())
    return Merged.of(linker.canonical(names, contexts, types, inside, threshold=threshold), rows)


class Fields(NamedTuple):
    """What a program calls the fields of its records, and how records that become one are combined."""

    name: str
    type: str
    source: str
    target: str
    texts: Mapping[str, str]
    lists: Sequence[str] = ()
    sums: Sequence[str] = ()

    def combined(self, records: Sequence[Record]) -> Record:
        """The first of some records, with what the others add."""
        return combined(records, self.texts, self.lists, self.sums)


def merge_records(
    linker: Linker, entities: Sequence[Record], relations: Sequence[Record], contexts: Iterable[str | None],
    fields: Fields, threshold: float | None,
) -> tuple[Merged, list[Record], list[Record]]:  # fmt: skip
    """Merge records of entities that are known by their names, and of relations between them.

    Relations within a group disappear.
    """
    name, *ends = fields.name, fields.source, fields.target
    names = [record[name] or "" for record in entities]
    nodes = [Node(n, n, c, r.get(fields.type)) for n, c, r in zip(names, contexts, entities, strict=True)]
    merged = merge(linker, nodes, ((r[ends[0]], r[ends[1]]) for r in relations), threshold)
    new_entities, new_relations = list[Record](), list[Record]()
    for some in by_key(entities, lambda r: merged.name(r[name] or "")):
        new_entities.append(fields.combined(some) | {name: merged.name(some[0][name] or "")})
    for some in by_key(relations, lambda r: merged.ends(r[ends[0]], r[ends[1]])):
        places = {end: merged.name(some[0][end]) for end in ends}
        new_relations.append(fields.combined(some) | places)
    return merged, new_entities, new_relations
