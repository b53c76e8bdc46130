"""Names that mean the same: the groups of a list of names, made into objects when they are looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pboh.canonical.forms import LONGEST, WORDS, Reason
from pboh.canonical.units import Membership
from pboh.document import Entity
from pboh.text.folding import squeeze
from pboh.text.hashing import Array


@dataclass(frozen=True, slots=True)
class Member:
    """A name of a group: its row in the list, how probable it is that it belongs here, and why it does."""

    row: int
    name: str
    probability: float
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"row": self.row, "name": self.name, "probability": self.probability, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Group:
    """Names that mean the same, and the entity they mean if it is known.

    ``label`` is the entity's title or the most frequent of the names; ``probability`` is the lowest of its
    members; ``type`` is the entity's, or what was given for most of the names.
    """

    number: int
    label: str
    entity: Entity | None
    type: str | None
    probability: float
    members: tuple[Member, ...]

    @property
    def id(self) -> str | None:
        """The entity's identifier in another knowledge base, if the model has one."""
        return self.entity.id if self.entity else None

    @property
    def names(self) -> tuple[str, ...]:
        """The different names, as they are written, in the order of the list."""
        return tuple(dict.fromkeys(member.name for member in self.members))

    def __len__(self) -> int:
        return len(self.members)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "group": self.number,
            "label": self.label,
            "entity": self.entity.title if self.entity else None,
            "id": self.id,
            "type": self.type,
            "probability": self.probability,
            "members": [member.to_dict() for member in self.members],
        }


class Groups(Sequence[Group]):
    """The groups of a list of names, in the order of their first names.

    ``number[row]`` is the group of a row. Everything is kept as arrays; a :class:`Group` is
    made when it is asked for.
    """

    def __init__(
        self, names: Sequence[str], types: Sequence[str | None], member: Membership, meant: dict[int, Entity],
        guess: Callable[[int], str],
    ) -> None:  # fmt: skip
        self._names, self._types, self._member, self._guess = names, types, member, guess
        first, self.number = _in_order(member.group)
        self._entities = {int(self.number[row]): meant[g] for g, row in first.items() if g in meant}
        self._order = np.argsort(self.number, kind="stable")
        self._starts = np.searchsorted(self.number[self._order], np.arange(len(first) + 1))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __repr__(self) -> str:
        return (
            f"<{len(self):,} groups of {len(self._names):,} names, {len(self._entities):,} of known entities>"
        )

    def __iter__(self) -> Iterator[Group]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        at = range(len(self))[number]
        rows = self._order[self._starts[at] : self._starts[at + 1]].tolist()
        entity = self._entities.get(at)
        members = tuple(self._made(row, entity) for row in rows)
        return Group(at, self.labels[at], entity, self.type(at), min(m.probability for m in members), members)

    def of(self, row: int) -> Group:
        """The group of a row of the list."""
        return self[int(self.number[row])]  # type: ignore[no-any-return]

    def size(self, number: int) -> int:
        """How many rows are in a group."""
        return int(self._starts[number + 1] - self._starts[number])

    def first(self, number: int) -> int:
        """The first row of a group."""
        return int(self._order[self._starts[number]])

    def entity(self, number: int) -> Entity | None:
        """The entity of a group, without the rest."""
        return self._entities.get(number)

    def members(self) -> Iterator[Member]:
        """The names in the order of the list, each with its reason."""
        return (self._made(row, self._entities.get(int(at))) for row, at in enumerate(self.number))

    @cached_property
    def labels(self) -> list[str]:
        """The labels of all groups."""
        return [self._label(number) for number in range(len(self))]

    def _label(self, number: int) -> str:
        if entity := self._entities.get(number):
            return entity.title
        rows = self._order[self._starts[number] : self._starts[number + 1]].tolist()
        counts = Counter(squeeze(self._names[row]) for row in rows)
        return max(counts, key=lambda name: (counts[name], "," not in name, len(name) <= LONGEST, len(name)))

    def _made(self, row: int, entity: Entity | None) -> Member:
        member = self._member
        why, other, shared = Reason(int(member.reason[row])), int(member.other[row]), int(member.shared[row])
        reason = WORDS[why].format(
            entity=entity.title if entity else "",
            guess=self._guess(row) if why == Reason.UNSURE else "",
            other=repr(self._names[other][:80]) if other >= 0 else "",
        )
        if shared:
            reason += f"; {shared} shared neighbour{'s' * (shared > 1)}"
        return Member(row, self._names[row], round(float(member.probability[row]), 4), reason)

    def type(self, number: int) -> str | None:
        """The type of a group's entity, else what was given for most of its names."""
        entity = self._entities.get(number)
        if entity and entity.type not in (None, "unknown"):
            return entity.type
        if not self._types:
            return None
        rows = self._order[self._starts[number] : self._starts[number + 1]].tolist()
        given = Counter(kind for row in rows if (kind := self._types[row]))
        return given.most_common(1)[0][0] if given else None


def _in_order(group: Array) -> tuple[dict[int, int], Array]:
    """The first row of every group, and groups numbered by it."""
    found, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(len(found), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(found))
    return dict(zip(found.tolist(), first.tolist(), strict=True)), rank[inverse].astype(np.int32)
