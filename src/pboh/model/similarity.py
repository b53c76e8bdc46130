"""Entities that are alike: nearest neighbours by the cosine of their vectors."""

from __future__ import annotations

import numpy as np

from pboh.deadline import checkpoint
from pboh.errors import InputError
from pboh.model.store import Model
from pboh.model.vector_kernels import cosines
from pboh.text.hashing import Array

_AT_A_TIME = 1 << 17


def nearest(model: Model, entity: int, k: int, links: int) -> tuple[Array, Array]:
    """The ``k`` entities with at least ``links`` links that are nearest to another one, and their cosines.

    Ties go to the entity that is linked more often. An entity without a vector has no neighbours.
    """
    if "vector_entity" not in model:
        todo = "Build it with vectors: pboh build COUNTS --out MODEL"
        raise InputError("the model has no vectors", todo=todo)
    vectors, times = model["vector_entity"], model["entity_occurrences"]
    if entity >= len(vectors):
        return np.empty(0, np.int64), np.empty(0)
    cosine = np.zeros(len(vectors))
    for first in range(0, len(vectors), _AT_A_TIME):
        checkpoint()
        cosines(vectors, entity, first, min(first + _AT_A_TIME, len(vectors)), cosine)
    cosine[times < links] = 0.0
    cosine[entity] = 0.0
    k = min(k, len(cosine))
    least = np.partition(cosine, len(cosine) - k)[len(cosine) - k] if k else np.inf
    found = np.flatnonzero((cosine >= least) & (cosine > 0.0))
    found = found[np.lexsort((found, -times[found].astype(np.int64), -cosine[found]))][:k]
    return found, cosine[found]
