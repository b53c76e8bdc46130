"""Graphs whose nodes are merged: what the adapters to other programs have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pboh.canonical.groups import Group, Groups

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """Groups of nodes, a name for each group that no other group has, and the rows of nodes by their ids."""

    groups: Groups
    keys: list[str]
    rows: Mapping[Hashable, int]

    @classmethod
    def of(cls, groups: Groups, rows: Mapping[Hashable, int] = MappingProxyType({})) -> Merged:
        """Name every group by its label; where two have the same one, later ones get a number."""
        keys, taken = list[str](), set[str]()
        for label in groups.labels:
            key, number = label, 2
            while key in taken:
                key, number = f"{label} ({number})", number + 1
            taken.add(key)
            keys.append(key)
        return cls(groups, keys, rows)

    def key(self, row: int) -> str:
        """The name of a row's group."""
        return self.keys[int(self.groups.number[row])]

    def name(self, id: Hashable) -> str:
        """The name of a node's group; a node that is unknown is called by its id."""
        return self.key(self.rows[id]) if id in self.rows else str(id)

    def ends(self, source: Hashable, target: Hashable) -> tuple[str, str] | None:
        """The names of both ends of an edge; None within a group."""
        names = self.name(source), self.name(target)
        return names if names[0] != names[1] else None


def facts(group: Group) -> dict[str, Any]:
    """What is worth keeping of a group as properties of a node; nothing that is not known."""
    known = {
        "names": list(group.names),
        "wikipedia": group.entity.url if group.entity else None,
        "wikidata": group.id,
        "description": group.entity.description if group.entity else None,
        "probability": group.probability,
    }
    return {name: value for name, value in known.items() if value not in (None, [])}


def united(values: Iterable[Iterable[Any] | None]) -> list[Any]:
    """All items of some lists, each once."""
    return list(dict.fromkeys(item for some in values if some is not None for item in some))


def joined(texts: Iterable[str | None], separator: str) -> str:
    """Different texts one after the other; each may itself consist of several."""
    parts = (part for text in texts if text for part in str(text).split(separator))
    return separator.join(dict.fromkeys(part for part in parts if part))


def combined(
    records: Sequence[dict[str, Any]],
    texts: Mapping[str, str],
    lists: Iterable[str] = (),
    sums: Iterable[str] = (),
) -> dict[str, Any]:
    """The first of some records, with ``texts`` joined by their separators, ``lists`` united, ``sums`` added.

    Fields that none of them has stay away.
    """
    there, columns = {field for record in records for field in record}, dict[str, Any]()
    for field in there:
        values = [record.get(field) for record in records]
        if field in texts:
            columns[field] = joined(values, texts[field])
        elif field in lists:
            columns[field] = united(values)
        elif field in sums:
            columns[field] = sum(value or 0 for value in values)
    return {**records[0], **columns}


def by_key(
    records: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], Hashable | None]
) -> list[list[dict[str, Any]]]:
    """Records with one key together, in the order of the first; those with the key None are left out."""
    together: dict[Hashable, list[dict[str, Any]]] = {}
    for record in records:
        if (found := key(record)) is not None:
            together.setdefault(found, []).append(record)
    return list(together.values())
