"""From names to groups: check what was given, link what is known, merge the rest by form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pboh.canonical.documents import comparable, tasks
from pboh.canonical.groups import Groups
from pboh.canonical.merge import Merger
from pboh.canonical.neighbours import Edge, Neighbours
from pboh.canonical.resolve import Answers, resolve
from pboh.canonical.units import units
from pboh.errors import InputError
from pboh.files.progress import Report, silent
from pboh.inference.engine import Engine
from pboh.text.hashing import Array

THRESHOLD = 0.6
"""Names are merged if it is at least this probable that they mean the same (chosen on validation pages)."""


def canonical(
    engine: Engine,
    names: Iterable[str],
    contexts: Iterable[str | None] | None = None,
    types: Iterable[str | None] | None = None,
    edges: Iterable[Edge] | None = None,
    *,
    threshold: float = THRESHOLD,
    workers: int = 1,
    report: Report = silent,
) -> Groups:
    """Group names that mean the same; see :meth:`pboh.linker.Linker.canonical`."""
    names = _texts("name", names, None)
    contexts = _texts("context", contexts, len(names))
    types = _texts("type", types, len(names))
    if not 0.0 <= threshold <= 1.0:
        raise InputError(f"the threshold is {threshold}", todo="Choose one between 0 and 1")
    near = Neighbours.of(names, edges) if edges is not None else None
    same = _same(names, contexts, types) if near is None else np.arange(len(names))
    rows = [row for row in np.unique(same).tolist() if comparable(names[row].strip())]
    found = resolve(engine, tasks(names, contexts, types, near, rows), len(names), len(rows), workers, report)
    answers = Answers(found.entity[same], found.probability[same])
    told = np.asarray([bool(c and c.strip()) for c in contexts] or np.zeros(len(names)), bool)
    if near is not None:
        told |= near.degree > 0
    sure = answers.sure(engine.model, threshold)
    groups, member = units(names, types, answers, sure, told, same, threshold)
    Merger(names, types, groups, member, near, threshold, report).run()
    meant = {g: engine.entities[int(e)] for g, e in enumerate(groups.entity.tolist()) if e >= 0}
    return Groups(names, types, member, meant, Guesses(engine, answers.entity))


class Guesses:
    """What rows may mean, asked for when it is shown; can be pickled."""

    def __init__(self, engine: Engine, entity: Array) -> None:
        self.engine, self.entity = engine, entity

    def __call__(self, row: int) -> str:
        """The title of a row's best guess."""
        return self.engine.entities[int(self.entity[row])].title


def _texts(what: str, given: Iterable[str | None] | None, size: int | None) -> Sequence[str]:
    """A column as a list, checked; ``size`` is how many there must be."""
    if given is None:
        return []
    if isinstance(given, str):
        raise InputError(f"the {what}s are one string", todo="Pass a list of strings")
    texts = list(given)
    if size is not None and len(texts) != size:
        raise InputError(
            f"there are {len(texts):,} {what}s and {size:,} names", todo=f"Pass one {what} per name"
        )
    for row, text in enumerate(texts):
        if not isinstance(text, str) and (size is None or text is not None):
            raise InputError(f"{what} {row} is {text!r:.80}, not a string")
    return texts  # type: ignore[return-value]


def _same(names: Sequence[str], contexts: Sequence[str], types: Sequence[str]) -> Array:
    """For every row the first row that nothing distinguishes it from."""
    seen: dict[tuple[str | None, ...], int] = {}
    columns = [column for column in (names, contexts, types) if column]
    return np.asarray(
        [seen.setdefault(key, row) for row, key in enumerate(zip(*columns, strict=True))], np.int64
    )
