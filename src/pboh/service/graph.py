"""The factor graph of a document as plain values: its variables, its strongest factors, its rounds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from pboh.document import Document
from pboh.inference.engine import Solution
from pboh.text.hashing import Array

MOST_EDGES = 2_000


def graph(document: Document, solution: Solution) -> dict[str, Any]:
    """Everything the page draws."""
    order = _order(document, solution)
    shares = _shares(solution, order)
    return {
        "mentions": _mentions(document, solution, order),
        "edges": _edges(solution, order),
        "unseen": solution.pairs.unseen,
        "rounds": shares,
        "converged": document.converged,
        "milliseconds": round(sum(document.timings.values()) * 1000, 3),
    }


def _order(document: Document, solution: Solution) -> list[list[int]]:
    """For every mention, the column of each candidate in the order the document shows them."""
    columns = []
    for i, mention in enumerate(document):
        row = solution.unary.entity[i, : solution.unary.size[i]].tolist()
        columns.append([row.index(candidate.entity.index) for candidate in mention.candidates])
    return columns


def _mentions(document: Document, solution: Solution, order: list[list[int]]) -> list[dict[str, Any]]:
    """Mentions with the local terms of their candidates and the place of their answer."""
    plain = []
    unary = solution.unary
    for i, mention in enumerate(document):
        best = int(solution.answer[i])
        row = {**mention.to_dict(), "clamped": mention.clamped, "detection": mention.detection}
        row["answer"] = order[i].index(best) if best >= 0 and mention.entity is not None else None
        for column, candidate in zip(order[i], row["candidates"], strict=True):
            local = float(unary.local[i, column])
            candidate["local"] = local
            candidate["context"] = local - float(np.log(unary.prior[i, column]))
        plain.append(row)
    return plain


def _shares(solution: Solution, order: list[list[int]]) -> list[list[list[float]]]:
    """exp(belief), summing to one per mention, before the first round and after each."""
    history = solution.beliefs.history
    if history is None:
        return []
    return [
        [
            _softmax(beliefs[i, columns]).round(4).tolist() if columns else []
            for i, columns in enumerate(order)
        ]
        for beliefs in history
    ]


def _softmax(belief: Array) -> Array:
    weight = np.exp(belief.astype(np.float64) - belief.max())
    return np.asarray(weight / weight.sum())


def _edges(solution: Solution, order: list[list[int]]) -> list[dict[str, Any]]:
    """Factors between candidates that were best in some round, strongest first."""
    label, (start, other, value) = solution.pairs.label, solution.pairs.couplings
    held: dict[int, list[tuple[int, int]]] = defaultdict(list)  # label: mentions and columns that chose it
    for i, columns in enumerate(_chosen(solution)):
        for column in columns:
            held[int(label[i, column])].append((i, column))
    found = []
    for u, holders in held.items():
        for k in range(start[u], start[u + 1]):
            for i, x in holders:
                found += [(float(value[k]), i, x, j, y) for j, y in held.get(int(other[k]), ()) if i < j]
    found.sort(key=lambda edge: (-edge[0], *edge[1:]))
    return [
        {"a": i, "x": order[i].index(x), "b": j, "y": order[j].index(y), "value": strength}
        for strength, i, x, j, y in found[:MOST_EDGES]
    ]


def _chosen(solution: Solution) -> list[set[int]]:
    """The columns that were best in some round, for every mention."""
    chosen: list[set[int]] = [set() for _ in range(len(solution.answer))]
    history = solution.beliefs.history
    for beliefs in () if history is None or not history.size else history:
        for i, best in enumerate(beliefs.argmax(axis=1).tolist()):
            if solution.unary.size[i] > 0:
                chosen[i].add(best)
    return chosen
