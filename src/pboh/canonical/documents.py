"""Names, their contexts and their graph turned into small documents, each resolved as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np

from pboh.canonical.forms import LONGEST
from pboh.canonical.kinds import code_of
from pboh.canonical.neighbours import Neighbours
from pboh.inference.spans import Span
from pboh.text.hashing import Array

AROUND = 500  # characters of a context on each side of the name
MOST = 64  # names of a document: neighbours beyond them add little
BESIDE = 8  # neighbours of a name in a text that others share, which says more than they do
TOGETHER = 0.5  # a name is answered with another one if the document has this share of its neighbours
ALONE = 256  # names without any context that are looked up at once


class Kind(Enum):
    """What a document is made of, which decides how it is resolved."""

    TEXT = "a context, in which other names may occur"
    NEIGHBOURS = "neighbours in the graph, each in its context if it has one"
    STRANGERS = "names that have nothing to do with each other"


class Task(NamedTuple):
    """A text to resolve; the answers of its first spans are those of ``rows``, the others only help."""

    text: str
    spans: list[Span]
    rows: list[int]
    types: list[int]  # codes of the types of ``rows``, 0 where none was given
    kind: Kind


def tasks(
    names: Sequence[str],
    contexts: Sequence[str | None],
    types: Sequence[str | None],
    near: Neighbours | None,
    rows: Sequence[int],
) -> Iterator[Task]:
    """Documents that together answer ``rows``.

    Names that share a context are a document. Other names are resolved among their neighbours in the graph,
    each in its own context; those without neighbours in their context, and those without either alone.
    """
    for some, others, kind in _together(contexts, near, rows):
        codes = [code_of(types[row]) for row in some] if types else [0] * len(some)
        yield Task(*_text(names, contexts, some, others), some, codes, kind)


def _together(
    contexts: Sequence[str | None], near: Neighbours | None, rows: Sequence[int]
) -> Iterator[tuple[list[int], list[int], Kind]]:
    """Rows of one document, and others that help."""
    by_context: dict[str, list[int]] = {}
    for row in rows if contexts else ():
        context = contexts[row]
        if context and context.strip():
            by_context.setdefault(context, []).append(row)
    degree = near.degree if near is not None else np.zeros(1 + max(rows, default=-1), int)
    inside = set[int]()
    for sharing in by_context.values():
        if len(sharing) > 1 or not degree[sharing[0]]:
            inside.update(sharing)
            for first in range(0, len(sharing), MOST):
                some = sharing[first : first + MOST]
                yield some, _others(near, some, degree), Kind.TEXT
    free = [row for row in rows if row not in inside]
    if near is not None:
        for some, others in _neighbourhoods(near, [row for row in free if degree[row]]):
            yield some, others, Kind.NEIGHBOURS
    single = [row for row in free if not degree[row]]
    for first in range(0, len(single), ALONE):
        yield single[first : first + ALONE], [], Kind.STRANGERS


def _text(
    names: Sequence[str], contexts: Sequence[str | None], rows: list[int], others: list[int]
) -> tuple[str, list[Span]]:
    """The different contexts of ``rows``; names that are not found there are lines of their own."""
    lines, spans, end, begins = list[str](), list[Span](), 0, dict[str, int]()
    for row in (*rows, *others):
        name = names[row]
        context, at = _around(name, contexts[row]) if contexts and len(spans) < len(rows) else ("", -1)
        if context and context not in begins:
            begins[context] = end
            lines.append(context)
            end += len(context) + 1
        if at < 0:
            at = end
            lines.append(name)
            end += len(name) + 1
        else:
            at += begins[context]
        spans.append(Span(at, at + len(name)))
    return "\n".join(lines), spans


def _around(name: str, context: str | None) -> tuple[str, int]:
    """What a context says near a name, and where the name is in it, −1 if it is not."""
    if not context or not context.strip():
        return "", -1
    at = context.find(name)
    if len(context) <= 2 * AROUND:
        return context, at
    first = max(0, at - AROUND)
    return context[first : first + 2 * AROUND + len(name)], at - first if at >= 0 else -1


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
    left, inside, worth = np.zeros(len(degree), bool), np.zeros(len(degree), bool), degree.copy()
    left[rows] = True
    for row in rows:
        if not left[row]:
            continue
        there = np.sort(np.append(closest(near, row, worth), row))
        inside[there] = True
        known = ((other, inside[near[other]].sum()) for other in there[left[there]].tolist() if other != row)
        some = [row, *(other for other, n in known if n >= TOGETHER * min(int(degree[other]), MOST))]
        inside[there] = False
        left[some] = False
        worth[some] += len(degree)
        asked = set(some)
        yield some, [other for other in there.tolist() if other not in asked]


def comparable(name: str) -> bool:
    """Whether a name is worth looking up: it has letters, and is not a text."""
    return bool(name) and len(name) <= LONGEST
