"""Twins: entities that may be one under two titles, as in a wiki, or a sample of one, that lacks redirects.

"Napoleon" and "Napoleon I of France" are called by the same names and keep the same company, but a page
that links one of them seldom links the other. What is called alike and linked together is not one thing,
but two that belong together. Where the title of the rarer one is nothing but a name of the other, they can be
merged: names and title then lead to the other, as if there were a redirect.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from pboh.errors import InputError
from pboh.model.names import Layer
from pboh.model.store import Model, open_model, read_manifest
from pboh.model.tables import run_sizes, run_starts
from pboh.model.writing import changing, put_arrays
from pboh.text.folding import fold
from pboh.text.hashing import Array, look_up

LEAST_SHARE = 0.1  # of a name's links, or of its own, that an entity has to have to be called by the name
MOST_CALLED = 5  # entities of a name that are compared, most linked first
LEAST_LINKS = 3
LEAST_CALLED = 2  # links that make a name more than a slip
LEAST_SHARE_CALLED = 0.3  # of the links that say a title lead to its twin, if they are surely one


class Twins(NamedTuple):
    """Two entities, the one linked more often first, and what speaks for their being one."""

    first: int
    second: int
    cosine: float  # of their vectors
    names: float  # share of the links of either, the smaller one, by names that both are called by
    together: float  # share of the documents that link the rarer one and link the other too


def find_twins(
    model: Model, *, cosine: float = 0.9, names: float = 0.3, together: float = 0.25
) -> list[Twins]:
    """Pairs whose cosine and shared names are at least, and documents in common at most, what is given.

    One of both has to be called mostly (60 %) by names of the other. Most linked pairs come first.
    """
    if "vector_entity" not in model:
        raise InputError("twins are told by vectors, and the model has none", todo="Build it with vectors")
    first, second, shared, most = _called_alike(model)
    some = (shared >= names) & (most >= 0.6)
    first, second, shared = first[some], second[some], shared[some]
    alike = _cosines(model["vector_entity"], first, second)
    found = []
    for a, b, share, value in zip(
        first.tolist(), second.tolist(), shared.tolist(), alike.tolist(), strict=True
    ):
        if value >= cosine and (common := _together(model, a, b)) <= together:
            pair = (a, b) if model.links(a) >= model.links(b) else (b, a)
            found.append(Twins(*pair, value, share, common))
    return sorted(found, key=lambda twins: (-model.links(twins.second), twins.first, twins.second))


def _called_alike(model: Model) -> tuple[Array, Array, Array, Array]:
    """Pairs with names in common, and how much of the links of either has such names: less and more.

    Names are folded: a hyphen or a capital makes no other name, though often another title.
    """
    folded = model["name_layer"] == Layer.FOLDED
    sizes: Array = np.diff(model["name_offsets"].astype(np.int64))
    name = np.repeat(np.arange(sizes.size), sizes)[folded]
    entity, links = (
        model["name_entity"][folded].astype(np.int64),
        model["name_count"][folded].astype(np.float64),
    )
    total = np.bincount(entity, links, model.entities)
    of_name = links >= LEAST_SHARE * np.bincount(name, links, sizes.size)[name]
    # "PhD" mostly means the doctorate, and yet is what a rare entity of that title is called
    keep = of_name | ((links >= LEAST_SHARE * total[entity]) & (links >= LEAST_CALLED))
    name, entity, links = name[keep], entity[keep], links[keep]
    order = np.lexsort((-links, name))
    name, entity, links = name[order], entity[order], links[order]
    starts = run_starts(name)
    called = run_sizes(starts, name.size)
    rows = []
    for i in range(MOST_CALLED):
        for j in range(i + 1, MOST_CALLED):
            at = starts[called > j]
            rows.append(np.stack([entity[at + i], entity[at + j], links[at + i], links[at + j]]))
    one, other, mine, yours = np.concatenate(rows, axis=1)
    swap = one > other
    low, high = np.where(swap, other, one).astype(np.int64), np.where(swap, one, other).astype(np.int64)
    pairs, inverse = np.unique(low * model.entities + high, return_inverse=True)
    low, high = pairs // model.entities, pairs % model.entities
    shares = np.stack([
        np.bincount(inverse, np.where(swap, yours, mine)) / np.maximum(total[low], 1),
        np.bincount(inverse, np.where(swap, mine, yours)) / np.maximum(total[high], 1),
    ])  # fmt: skip
    some = np.minimum(total[low], total[high]) >= LEAST_LINKS
    return low[some], high[some], shares.min(0)[some], shares.max(0)[some]


def _cosines(vectors: Array, first: Array, second: Array) -> Array:
    """Cosine of every pair; 0 where one has no vector."""
    out = np.zeros(first.size)
    for start in range(0, first.size, 1 << 16):
        part = slice(start, start + (1 << 16))
        x, y = vectors[first[part]].astype(np.float64), vectors[second[part]].astype(np.float64)
        length = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
        out[part] = np.einsum("rd,rd->r", x, y) / np.maximum(length, 1e-9)
    return out


def _together(model: Model, first: int, second: int) -> float:
    offsets, documents = model["posting_offsets"], model["posting_document"]
    one, other = (documents[offsets[e] : offsets[e + 1]] for e in (first, second))
    return float(np.isin(one, other).sum() / max(min(one.size, other.size), 1))


def is_sure(model: Model, twins: Twins) -> bool:
    """Whether the second is only another title of the first.

    No page has that title, and of the links that say it, a good part lead to the first: what a redirect does.
    """
    pages = model.arrays.get("entity_page")
    if pages is not None and pages[twins.second]:
        return False
    at = int(look_up(model["name_hash"], model["name_buckets"], [fold(model.title(twins.second))])[0])
    rows = slice(*model["name_offsets"][at : at + 2].tolist()) if at >= 0 else slice(0, 0)
    links = np.where(model["name_layer"][rows] == Layer.FOLDED, model["name_count"][rows], 0.0)
    called = links[model["name_entity"][rows] == twins.first].sum()
    return bool(called >= max(LEAST_CALLED, LEAST_SHARE_CALLED * links.sum()))


def merge_twins(folder: Path) -> int:
    """Let names and titles of twins that are sure lead to the more linked one; returns how many there were.

    Words and documents of the rarer one are not added to the other's, which has more of both.
    """
    model = open_model(folder)
    into = np.arange(model.entities, dtype=np.uint32)
    for twins in find_twins(model):
        if is_sure(model, twins):
            into[twins.second] = twins.first
    merged = int((into != np.arange(model.entities)).sum())
    while (into[into] != into).any():  # every twin is linked less than what it is merged into: no circles
        into = into[into]
    arrays = {name: into[model[name]] for name in ("title_entity", "name_entity")}
    links = np.bincount(into, model["entity_occurrences"], model.entities)
    with changing(folder):
        put_arrays(folder, read_manifest(folder), {**arrays, "entity_occurrences": links.astype(np.uint32)})
    return merged
