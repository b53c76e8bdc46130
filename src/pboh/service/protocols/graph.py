"""The factor graph of a document as plain values: its variables, its strongest factors, its rounds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from pboh.document import Document, Mention, Part

MOST_EDGES = 2_000


def graph(document: Document) -> dict[str, Any]:
    """Everything the page draws, from the solutions the document keeps."""
    parts: dict[int, tuple[Part, dict[int, int]]] = {id(part): (part, {}) for part in document.parts}
    order = []
    for place, mention in enumerate(document):
        part, places = parts[id(mention.part)]
        places[mention.row] = place
        row = part.solution.unary.entity[mention.row].tolist()
        order.append([row.index(candidate.entity.index) for candidate in mention.candidates])
    edges = [edge for part, places in parts.values() for edge in _edges(part.solution, places, order)]
    edges.sort(key=lambda edge: (-edge["value"], edge["a"], edge["x"], edge["b"], edge["y"]))
    return {
        "mentions": [_variable(mention) for mention in document],
        "edges": edges[:MOST_EDGES],
        "unseen": document.parts[0].solution.pairs.unseen if document.parts else 0.0,
        "rounds": _rounds(document, order),
        "converged": document.converged,
        "milliseconds": round(sum(document.timings.values()) * 1000, 3),
    }


def _variable(mention: Mention) -> dict[str, Any]:
    """A mention with the local terms of its candidates and the place of its answer."""
    places = (k for k, candidate in enumerate(mention.candidates) if candidate.entity == mention.entity)
    return {**mention.to_dict(terms=True), "answer": next(places, None)}


def _rounds(document: Document, order: list[list[int]]) -> list[list[list[float]]]:
    """exp(belief), summing to one per mention, before the first round and after each.

    A part that needed fewer rounds than another keeps its last beliefs.
    """
    shares: list[list[list[float]]] = []
    for mention, columns in zip(document, order, strict=True):
        if not mention.part or not columns:
            shares.append([])
            continue
        beliefs = mention.part.solution.beliefs.history[:, mention.row, columns].astype(np.float64)
        weight = np.exp(beliefs - beliefs.max(axis=1, keepdims=True))
        shares.append((weight / weight.sum(axis=1, keepdims=True)).round(4).tolist())
    longest = max((len(history) for history in shares), default=0)
    return [
        [history[min(k, len(history) - 1)] if len(history) else [] for history in shares]
        for k in range(longest)
    ]


def _edges(solution: Any, places: dict[int, int], order: list[list[int]]) -> list[dict[str, Any]]:
    """Factors between candidates that were best in some round; ``places`` are the mentions by row."""
    label, (start, other, value) = solution.pairs.label, solution.pairs.couplings
    where = {place: int(solution.near.where[row]) for row, place in places.items()}
    held: dict[int, list[tuple[int, int]]] = defaultdict(list)  # label: mentions and places that chose it
    for row, place in places.items():
        best = solution.beliefs.history[:, row].argmax(axis=1) if solution.unary.size[row] else np.empty(0)
        for column in set(best.tolist()):
            held[int(label[row, column])].append((place, order[place].index(column)))
    return [
        {"a": a, "x": x, "b": b, "y": y, "value": float(value[k])}
        for u, holders in held.items()
        for k in range(start[u], start[u + 1])
        for a, x in holders
        for b, y in held.get(int(other[k]), ())
        if a < b and 0 < where[b] - where[a] <= solution.near.reach
    ]
