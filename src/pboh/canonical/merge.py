"""Groups whose names are alike become one: the likeliest pairs first, never a chain of unlike names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from operator import or_
from typing import NamedTuple

import numpy as np

from pboh.canonical import pairs
from pboh.canonical.forms import CHOOSY, PROBABILITY, Form, Reason, alike, is_part
from pboh.canonical.kinds import kind_of, may_be_same
from pboh.canonical.neighbours import Neighbours
from pboh.canonical.pairs import Pair, form
from pboh.canonical.units import Membership, Units
from pboh.files.progress import Report

MOST_COMPARED = 16  # names of a group that a newcomer is compared with
MOST_NEIGHBOURS = 1_000  # rows around a group that are looked at
LETTERS = 15.0  # acronyms of n letters meet a name by chance about once in 15ⁿ


class Link(NamedTuple):
    """Two nodes that are alike, and for what reason."""

    probability: float
    a: int
    b: int
    reason: Reason
    shared: int


class Merger:
    """Merges units by form. Nodes are units, followed by further names (anchors) of units with an entity."""

    def __init__(
        self, names: Sequence[str], types: Sequence[str | None], units: Units, member: Membership,
        near: Neighbours | None, threshold: float, report: Report,
    ) -> None:  # fmt: skip
        self.names, self.types, self.units, self.member = names, types, units, member
        self.near, self.threshold, self.report = near, threshold, report
        self.size = len(units.first)
        shown = set(units.first.tolist())
        anchors = [row for row in units.anchors.tolist() if row not in shown]
        self.nodes = [*units.first.tolist(), *anchors]
        self.unit = [*range(self.size), *member.group[anchors].tolist()]
        self.parent = list(range(self.size))
        self.inside: dict[int, list[int]] = {}  # nodes of groups that have more than one
        for node in range(self.size, len(self.nodes)):
            self.inside.setdefault(self.unit[node], [self.unit[node]]).append(node)
        self.merges: dict[int, list[tuple[int, int, Link]]] = {}  # of a unit: its node, the other node, why
        self._around: dict[int, frozenset[int]] = {}
        self._rows: dict[int, list[int]] | None = None

    def run(self) -> None:
        """Merge by spelling, legal form, order and typing slips; then by initials, acronyms and parts."""
        given = self.names, self.nodes
        if not self.units.open.any():
            return
        self._join(_sure(self._links(pairs.plain_pairs(*given, self.report))))
        asking = np.flatnonzero(self.units.open)
        self._join(_sure(self._links(pairs.trigram_pairs(*given, asking, self.report))))
        choosy: list[tuple[pairs.Keys, Callable[[Form], bool]]] = [
            (pairs.initial_keys, lambda one: (one.turned or one).has_initial),
            (pairs.acronym_keys, lambda one: one.acronym is not None),
        ]
        if self.near is not None and self.types:
            choosy.append((pairs.part_keys, lambda one: len(one.core) == 1))
        for keys, short in choosy:
            some = pairs.choosy_pairs(*given, keys, short, self.report)
            self._join(self._choice(self._links(some)))
        self._settle()

    # -- which nodes are alike ---------------------------------------------------------------------------

    def _links(self, some: Iterable[Pair]) -> list[Link]:
        """The pairs that are probable enough, each once."""
        found: dict[Pair, Link] = {}
        for a, b in some:
            if (a, b) not in found and self._may_meet(a, b) and (link := self._link(a, b)):
                found[a, b] = link
        return list(found.values())

    def _may_meet(self, a: int, b: int) -> bool:
        """Whether nothing forbids that two nodes are the same: types, entities and guesses."""
        one, two = self.unit[a], self.unit[b]
        known = [self.units.entity[unit] >= 0 for unit in (one, two)]
        if one == two or all(known) or not all(map(or_, known, self.units.open[[one, two]].tolist())):
            return False
        meant = [int(max(self.units.entity[u], self.units.guess[u])) for u in (one, two)]
        if min(meant) >= 0 and meant[0] != meant[1]:
            return False
        return not self.types or may_be_same(*(self.types[self.nodes[node]] for node in (a, b)))

    def _link(self, a: int, b: int) -> Link | None:
        one, two = (form(self.names[self.nodes[node]]) for node in (a, b))
        likeness = alike(one, two)
        if likeness:
            reason, probability = likeness
        elif self._persons(a, b) and (is_part(one, two) or is_part(two, one)):
            reason, probability = Reason.SHORT, PROBABILITY[Reason.SHORT]
        else:
            return None
        if reason == Reason.ACRONYM:
            probability /= 1 + self._by_chance(
                min(len(one.acronym or one.name), len(two.acronym or two.name))
            )
        weight, shared = self._shared(self.unit[a], self.unit[b])
        if reason == Reason.SHORT and not shared:
            return None
        probability = 1 - (1 - probability) ** (1 + weight)
        return Link(probability, a, b, reason, shared) if probability >= self.threshold else None

    def _persons(self, *nodes: int) -> bool:
        """Whether nodes are said to be persons."""
        return bool(self.types) and all(kind_of(self.types[self.nodes[n]]) == "person" for n in nodes)

    def _by_chance(self, letters: int) -> float:
        """How many names of the list have a given acronym of so few letters by chance."""
        return len(self.nodes) / LETTERS**letters

    def _shared(self, one: int, two: int) -> tuple[float, int]:
        """Weight and number of the neighbours that two units share; rare ones weigh more."""
        if self.near is None:
            return 0.0, 0
        common = self._neighbours(one) & self._neighbours(two)
        weight = sum(
            1 / math.log2(2 + len(self._neighbours(unit))) for unit in sorted(common)[:MOST_COMPARED]
        )
        return min(weight, 3.0), len(common)

    def _neighbours(self, unit: int) -> frozenset[int]:
        """Units around a unit."""
        found = self._around.get(unit)
        if found is None and self.near is not None:
            around = [self.near[row] for row in self._rows_of(unit)[:MOST_NEIGHBOURS]]
            rows = np.concatenate(around)[:MOST_NEIGHBOURS] if around else np.empty(0, np.int64)
            found = self._around[unit] = frozenset(self.member.group[rows].tolist()) - {unit}
        return found or frozenset()

    def _rows_of(self, unit: int) -> list[int]:
        if self._rows is None:
            self._rows = {}
            for row, group in enumerate(self.member.group.tolist()):
                self._rows.setdefault(group, []).append(row)
        return self._rows[unit]

    # -- merging -----------------------------------------------------------------------------------------

    def _choice(self, links: list[Link]) -> list[Link]:
        """Of the groups a short name may belong to, the one with most shared neighbours; none of equals."""
        rivals: dict[int, dict[int, int]] = {}
        for link in links:
            held = rivals.setdefault(link.a, {})
            group = self._root(self.unit[link.b])
            held[group] = max(link.shared, held.get(group, 0))
        kept = []
        for link in links:
            mine = self._root(self.unit[link.b])
            others = [shared for group, shared in rivals[link.a].items() if group != mine]
            if all(link.shared > shared for shared in others):
                kept.append(link)
        return kept

    def _root(self, unit: int) -> int:
        while self.parent[unit] != unit:
            self.parent[unit] = self.parent[self.parent[unit]]
            unit = self.parent[unit]
        return unit

    def _join(self, links: list[Link]) -> None:
        """Merge groups, the likeliest pair first, if all of their names are alike."""
        for link in sorted(links, key=lambda link: (-link.probability, link.a, link.b)):
            one, two = self._root(self.unit[link.a]), self._root(self.unit[link.b])
            if one != two and self._agree(one, two):
                self._merge(link, one, two)

    def _agree(self, one: int, two: int) -> bool:
        """Whether every name of one group is like those of the other, or like a name of its entity."""
        entities = [unit for unit in (one, two) if self.units.entity[unit] >= 0]
        if len(entities) == 2:
            return False
        left, right = (self.inside.get(unit, [unit])[:MOST_COMPARED] for unit in (one, two))
        if not all(self._may_meet(a, b) for a, b in product(left, right)):
            return False
        if entities:
            newcomers, anchors = (right, left) if entities[0] == one else (left, right)
            return all(any(self._alike(a, b) for b in anchors) for a in newcomers)
        return all(self._alike(a, b) for a, b in product(left, right))

    def _alike(self, a: int, b: int) -> bool:
        one, two = (form(self.names[self.nodes[node]]) for node in (a, b))
        return alike(one, two) is not None or is_part(one, two) or is_part(two, one)

    def _merge(self, link: Link, one: int, two: int) -> None:
        """Make one group of two: an entity's, or the one that came first."""
        known = self.units.entity[two] >= 0 or (self.units.entity[one] < 0 and two < one)
        into, gone = (two, one) if known else (one, two)
        self.parent[gone] = into
        if self.units.entity[into] < 0:  # names that joined an entity by their form attract no others
            self.inside[into] = self.inside.get(into, [into]) + self.inside.get(gone, [gone])
        for mine, theirs in ((link.a, link.b), (link.b, link.a)):
            self.merges.setdefault(self.unit[mine], []).append((mine, theirs, link))

    def _settle(self) -> None:
        """Number the groups of all rows anew and say why each unit is where it is, from the first one on."""
        root = np.asarray([self._root(unit) for unit in range(self.size)], np.int64)
        for unit in sorted(self.merges):
            if root[unit] == unit:
                self._tell(unit)
        self.member.group[:] = root[self.member.group]

    def _tell(self, root: int) -> None:
        """Follow the merges of a group outwards; each one is the reason of the unit it leads to."""
        member, told, waiting = self.member, {root}, [root]
        if self.units.entity[root] < 0:
            member.reason[self.nodes[root]] = Reason.FIRST
        while waiting:
            for mine, theirs, link in self.merges[waiting.pop()]:
                unit = self.unit[theirs]
                if unit not in told:
                    told.add(unit)
                    waiting.append(unit)
                    row = self.nodes[unit]
                    member.put(row, int(member.group[row]), link.reason, link.probability, self.nodes[mine])
                    member.shared[row] = link.shared


def _sure(links: list[Link]) -> list[Link]:
    """Without those that need a choice, which come later."""
    return [link for link in links if link.reason not in CHOOSY]
