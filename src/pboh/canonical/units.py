"""The first step of merging: names that mean one entity, and equal names of which nothing else is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pboh.canonical.forms import PROBABILITY, Reason
from pboh.canonical.kinds import kind_of
from pboh.canonical.resolve import Answers
from pboh.text.folding import squeeze
from pboh.text.hashing import Array


@dataclass(slots=True)
class Membership:
    """The group of every row and why it is there: merged with row ``other`` for ``reason``."""

    group: Array
    reason: Array
    probability: Array
    other: Array
    shared: Array  # number of neighbours in common that made it more probable

    @classmethod
    def of(cls, size: int) -> Membership:
        """Nobody is anywhere."""
        columns = (
            np.zeros(size, np.uint8),
            np.ones(size),
            np.full(size, -1, np.int64),
            np.zeros(size, np.int32),
        )
        return cls(np.full(size, -1, np.int64), *columns)

    def put(self, row: int, group: int, reason: Reason, probability: float, other: int = -1) -> None:
        """Put a row into a group."""
        self.group[row], self.reason[row] = group, reason
        self.probability[row], self.other[row] = probability, other


@dataclass(slots=True)
class Units:
    """Groups before names are compared by form: those of entities come first.

    ``first`` is a row of each group, whose name is the group's for now. ``entity`` is what the names mean,
    −1 where that is not sure; ``guess`` what else they may mean, −1 if nothing is known of them. ``open``
    ones may be merged with others: nothing is known of them, or nothing but the name. ``anchors`` are rows
    with the different names that mean an entity.
    """

    first: Array
    entity: Array
    guess: Array
    open: Array
    anchors: Array


def units(
    names: Sequence[str],
    types: Sequence[str | None],
    answers: Answers,
    sure: Array,
    told: Array,
    same: Array,
    threshold: float,
) -> tuple[Units, Membership]:
    """Group the rows that are ``sure`` by their entity, and what is left by name, type and best guess.

    ``same`` is the first row that nothing distinguishes a row from: they are always together.

    A row that is ``told`` more than its name, by a context or neighbours, and yet is unsure what it means has
    a name of many meanings: it is left alone. Of such rows with one name and one guess, less than half mean
    the same.
    """
    member, alike = Membership.of(len(names)), PROBABILITY[Reason.SAME]
    known, first, group = np.unique(answers.entity[sure], return_index=True, return_inverse=True)
    member.group[sure], member.reason[sure] = group, Reason.ENTITY
    member.probability[sure] = answers.probability[sure]
    rows = np.flatnonzero(sure)
    meant = {
        (g, squeeze(names[row])): row
        for g, row in zip(group[::-1].tolist(), rows[::-1].tolist(), strict=True)
    }
    places: dict[tuple[str, str, int], int] = {}
    firsts, guesses, closed = rows[first].tolist(), [-1] * len(known), [True] * len(known)
    for row in np.flatnonzero(~sure).tolist():
        name, guess = squeeze(names[row]), int(answers.entity[row])
        if same[row] != row and name:
            member.put(row, int(member.group[same[row]]), Reason.SAME, 1.0, int(same[row]))
            continue
        alone = not name or alike < threshold or (guess >= 0 and bool(told[row]))
        place = name, kind_of(types[row] if types else None), guess
        at = -1 if alone else places.setdefault(place, len(firsts))
        if 0 <= at < len(firsts):
            member.put(row, at, Reason.SAME, alike, firsts[at])
            continue
        reason = Reason.UNSURE if guess >= 0 else Reason.ALONE
        member.put(row, len(firsts), reason, 1.0)
        firsts.append(row)
        guesses.append(guess)
        closed.append(guess >= 0 and bool(told[row]))
    entity = np.concatenate([known, np.full(len(firsts) - len(known), -1, np.int64)])
    columns = np.asarray(firsts, np.int64), entity, np.asarray(guesses, np.int64), ~np.asarray(closed, bool)
    return Units(*columns, np.asarray(sorted(meant.values()), np.int64)), member
