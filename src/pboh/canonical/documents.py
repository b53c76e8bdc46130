"""Names, their contexts and their graph turned into small documents, each resolved as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pboh.canonical.forms import LONGEST
from pboh.canonical.kinds import code_of
from pboh.canonical.neighbours import Neighbours
from pboh.inference.spans import Span
from pboh.text.hashing import Array

AROUND = 1_000  # characters of a context on each side of the name
MOST = 64  # names of a document: neighbours beyond them add little
BESIDE = 8  # neighbours of a name that has a context, which says more than they do
TOGETHER = 0.5  # a name is answered with another one if the document has this share of its neighbours
ALONE = 256  # names without any context that are looked up at once


class Task(NamedTuple):
    """A text to resolve; the answers of its first spans are those of ``rows``, the others only help."""

    text: str
    spans: list[Span]
    rows: list[int]
    kinds: list[int]  # codes of the types of ``rows``, 0 where none was given
    alone: bool = False  # whether its names have nothing to do with each other
    context: bool = False  # whether it is a text, in which other names may occur


def tasks(
    names: Sequence[str],
    contexts: Sequence[str | None],
    types: Sequence[str | None],
    near: Neighbours | None,
    rows: Sequence[int],
) -> Iterator[Task]:
    """Documents that together answer ``rows``.

    A context is a document of its own, with all names that share it. A name without one is resolved among
    its neighbours in the graph, and one without neighbours alone.
    """
    for some, others, context, alone in _together(contexts, near, rows):
        kinds = [code_of(types[row]) for row in some] if types else [0] * len(some)
        text, spans = _text(names, some, others, context)
        yield Task(text, spans, some, kinds, alone, bool(context))


def _together(
    contexts: Sequence[str | None], near: Neighbours | None, rows: Sequence[int]
) -> Iterator[tuple[list[int], list[int], str, bool]]:
    """Rows of one document, others that help, their context, and whether they are strangers."""
    by_context: dict[str, list[int]] = {}
    degree = near.degree if near is not None else np.empty(0, np.int64)
    free = list[int]()
    for row in rows:
        context = contexts[row] if contexts else None
        if context and context.strip():
            by_context.setdefault(context, []).append(row)
        else:
            free.append(row)
    for context, sharing in by_context.items():
        for first in range(0, len(sharing), MOST):
            some = sharing[first : first + MOST]
            yield some, _others(near, some, degree), context, False
    single = free
    if near is not None:
        single = [row for row in free if not degree[row]]
        for some, others in _neighbourhoods(near, [row for row in free if degree[row]]):
            yield some, others, "", False
    for first in range(0, len(single), ALONE):
        yield single[first : first + ALONE], [], "", True


def _text(
    names: Sequence[str], rows: list[int], others: Sequence[int], context: str
) -> tuple[str, list[Span]]:
    """A text with all names: those that the context has are found there, the others follow line by line."""
    at = {row: context.find(names[row]) for row in rows} if context else {}
    found = [place for place in at.values() if place >= 0]
    if found and len(context) > 2 * AROUND and len(rows) == 1:  # a long text: what is around the name
        first = max(0, found[0] - AROUND)
        context = context[first : found[0] + len(names[rows[0]]) + AROUND]
        at = {rows[0]: found[0] - first}
    text, spans = context, list[Span]()
    for row in (*rows, *others):
        name, place = names[row], at.get(row, -1)
        if place < 0:
            place = len(text) + 1
            text = f"{text}\n{name}"
        spans.append(Span(place, place + len(name)))
    return text, spans


def _others(near: Neighbours | None, rows: list[int], degree: Array) -> list[int]:
    """A few neighbours of each row, those with few others."""
    if near is None:
        return []
    found = dict.fromkeys(other for row in rows for other in closest(near, row, degree, BESIDE).tolist())
    inside = set(rows)
    return [row for row in found if row not in inside][: max(0, MOST - len(rows))]


def closest(near: Neighbours, row: int, worth: Array, most: int = MOST) -> Array:
    """Neighbours of a row; of many, those of the lowest ``worth``."""
    others = near[row]
    if len(others) > most:
        others = others[np.argsort(worth[others], kind="stable")[:most]]
    return others


def _neighbourhoods(near: Neighbours, rows: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Rows to answer together and neighbours that help, until all rows are answered.

    A row is answered with one of its neighbours if most of its own neighbours are there as well. Of many
    neighbours those not answered yet are taken, and those with few others, which say more.
    """
    degree = near.degree
    left, worth = np.zeros(len(degree), bool), degree.copy()
    left[rows] = True
    for row in rows:
        if not left[row]:
            continue
        there = np.sort(np.append(closest(near, row, worth), row))
        some = [row]
        for other in there[left[there]].tolist():
            if other != row:
                known = int(np.isin(near[other], there, assume_unique=True).sum())
                if known >= TOGETHER * min(int(degree[other]), MOST):
                    some.append(other)
        left[some] = False
        worth[some] += len(degree)
        inside = set(some)
        yield some, [other for other in there.tolist() if other not in inside]


def comparable(name: str) -> bool:
    """Whether a name is worth looking up: it has letters, and is not a text."""
    return bool(name) and len(name) <= LONGEST
