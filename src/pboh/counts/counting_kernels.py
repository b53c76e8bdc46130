"""Kernels of the two statistics with far more rows than what they are made of: words and pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array


@njit(cache=True, nogil=True)
def gather(
    tokens: Array, numbers: Array, owners: Array, firsts: Array, lasts: Array, free: Array, gathered: Array
) -> None:
    """Append ``numbers[tokens[first:last]]`` of every stretch to the list of its owner.

    ``free`` says where the next word of every owner goes in ``gathered``.
    """
    for k in range(owners.size):
        owner, here = owners[k], np.uint64(free[owners[k]])
        for at in range(np.uint64(firsts[k]), np.uint64(lasts[k])):
            gathered[here] = numbers[tokens[at]]
            here += np.uint64(1)
        free[owner] = here


@njit(cache=True, nogil=True)
def list_members(entities: Array, documents: Array, free: Array, members: Array) -> None:
    """Append entities to the lists of their documents; ``free`` says where the next of each goes."""
    for k in range(entities.size):
        members[free[documents[k]]] = entities[k]
        free[documents[k]] += 1


@njit(cache=True, nogil=True)
def count_pairs(
    entities: Array, documents: Array, starts: Array, ends: Array, members: Array, seen: Array
) -> int:
    """How many entities e′ > e, not met before, share a document with each entity e.

    Rows are by ascending entity; ``seen[e′]`` is 1 + the last e that e′ was met with. The members of
    document d are ``members[starts[d]:ends[d]]``, ascending.
    """
    pairs = 0
    for k in range(entities.size):
        entity, document = entities[k], documents[k]
        mark = entity + 1
        at = ends[document] - 1
        while at >= starts[document] and members[at] > entity:
            if seen[members[at]] != mark:
                seen[members[at]] = mark
                pairs += 1
            at -= 1
    return pairs
