"""Documents by topic, so that what is chosen on some topics can be judged on others."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, GoldDocument
from pboh.linker import Linker
from pboh.text.hashing import Array

ROUNDS = 20


def by_topic(linker: Linker, dataset: Dataset, groups: int) -> list[Dataset]:
    """The documents of a dataset in groups of one topic each, the largest first; empty groups are left out.

    A document is the mean of the vectors of its entities; groups are those of spherical k-means, begun with
    documents that are far from each other. Parts of one text (``whole``) stay together.
    """
    if "vector_entity" not in linker.model:
        raise InputError("topics are told by vectors, and the model has none", todo="Build it with vectors")
    texts: dict[str, list[int]] = {}
    for number, document in enumerate(dataset):
        texts.setdefault(document.origin, []).append(number)
    parts = [[dataset.documents[k] for k in numbers] for numbers in texts.values()]
    chosen = clusters(np.stack([_direction(linker, part) for part in parts]), groups)
    found = []
    for group in range(groups):
        mine = [numbers for numbers, own in zip(texts.values(), chosen.tolist(), strict=True) if own == group]
        some = sorted(chain.from_iterable(mine))
        if some:
            documents = tuple(dataset.documents[k] for k in some)
            found.append(replace(dataset, name=f"{dataset.name}, topic {group + 1}", documents=documents))
    return sorted(found, key=lambda part: -part.mentions)


def _direction(linker: Linker, documents: list[GoldDocument]) -> Array:
    vectors = linker.model["vector_entity"]
    titles = {mention.golds[0] for document in documents for mention in document.linked}
    known = [entity.index for entity in map(linker.entity, sorted(titles)) if entity is not None]
    rows = vectors[[e for e in known if e < len(vectors)]].astype(np.float64)
    return _unit(_unit(rows).sum(axis=0))


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12))


def clusters(rows: Array, groups: int) -> Array:
    """The group of every row of length one or zero, by k-means over cosines."""
    centres = rows[:1]
    while len(centres) < min(groups, len(rows)):  # the row that is farthest from all so far
        centres = np.vstack([centres, rows[(rows @ centres.T).max(axis=1).argmin()]])
    chosen = (rows @ centres.T).argmax(axis=1)
    for _ in range(ROUNDS):
        centres = _unit(np.stack([rows[chosen == group].sum(axis=0) for group in range(len(centres))]))
        moved = (rows @ centres.T).argmax(axis=1)
        if (moved == chosen).all():
            break
        chosen = moved
    return np.asarray(chosen)
