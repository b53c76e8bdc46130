"""Twins: entities that may be one under two titles, as in a wiki, or a sample of one, that lacks redirects.

"Napoleon" and "Napoleon I of France" are called by the same names and keep the same company, but a page
that links one of them seldom links the other. What is called alike and linked together is not one thing,
but two that belong together. Most is said by titles: links that say the title of one and lead to the other
do what a redirect would. How probable it is that both are one was fitted on pairs judged by hand
(``tests/data/twins.tsv``). Those that surely are can be merged: names and title then lead to the one that is
linked more often, as if there were a redirect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
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
LEAST_NAMES, LEAST_COSINE = 0.1, 0.5  # of pairs that are looked at: names in common, and likeness of vectors
PROBABLE, SURE = 0.5, 0.85  # twins that are listed, and those that are merged
NEVER = 0.02  # added to shares of links before their logarithm is taken
WEIGHTS = {
    "bias": 2.48, "called": 0.70, "calling": 0.43, "pages": -1.70, "cosine": 1.51, "together": -1.27,
}  # fmt: skip
"""Log-odds of being one: of the logarithms of ``called`` and ``calling``, and of the others as they are."""


class Twins(NamedTuple):
    """Two entities, the one linked more often first, and what speaks for their being one."""

    first: int
    second: int
    called: float  # share of the links that say the title of the second and lead to the first
    calling: float  # share of the links that say the title of the first and lead to the second
    pages: bool  # whether both have a page
    cosine: float  # of their vectors
    together: float  # share of the documents that link the rarer one and link the other too

    @property
    def probability(self) -> float:
        """How probable it is that they are one."""
        given = {**self._asdict(), "bias": 1.0}
        for share in ("called", "calling"):
            given[share] = math.log(given[share] + NEVER)
        return 1 / (1 + math.exp(-sum(weight * given[name] for name, weight in WEIGHTS.items())))


def find_twins(model: Model, least: float = PROBABLE) -> list[Twins]:
    """Pairs that are one with a probability of at least ``least``, most linked ones first."""
    if "vector_entity" not in model:
        raise InputError("twins are told by vectors, and the model has none", todo="Build it with vectors")
    found = [twins for twins in _candidates(model) if twins.probability >= least]
    return sorted(found, key=lambda twins: (-model.links(twins.second), twins.first, twins.second))


def _candidates(model: Model) -> Iterator[Twins]:
    """Pairs with names in common and vectors that are not unlike, and all that is known of them."""
    one, other, shared = _called_alike(model)
    cosine = _cosines(model["vector_entity"], one, other)
    some = (shared >= LEAST_NAMES) & (cosine >= LEAST_COSINE)
    one, other, cosine = one[some], other[some], cosine[some]
    links, pages = model["entity_occurrences"], model.arrays.get("entity_page")
    swap = links[other] > links[one]
    first, second = np.where(swap, other, one), np.where(swap, one, other)
    paged = np.zeros(first.size, bool) if pages is None else (pages[first] > 0) & (pages[second] > 0)
    called, calling = _title_shares(model, second, first), _title_shares(model, first, second)
    columns = (first, second, called, calling, paged, cosine)
    for known in zip(*(column.tolist() for column in columns), strict=True):
        yield Twins._make((*known, _together(model, *known[:2])))


def _title_shares(model: Model, titled: Array, meant: Array) -> Array:
    """Of the links that say the title of one entity, the share that leads to another: a smoothed one."""
    entities, place = np.unique(titled, return_inverse=True)
    titles = [fold(model.title(entity)) for entity in entities.tolist()]
    at = look_up(model["name_hash"], model["name_buckets"], titles)
    shares = np.zeros(titled.size)
    offsets, layer = model["name_offsets"], model["name_layer"]
    for pair, (name, entity) in enumerate(zip(at[place].tolist(), meant.tolist(), strict=True)):
        if name >= 0:
            rows = slice(*offsets[name : name + 2].tolist())
            links = np.where(layer[rows] == Layer.FOLDED, model["name_count"][rows], 0.0)
            shares[pair] = links[model["name_entity"][rows] == entity].sum() / (links.sum() + 1)
    return shares


def _called_alike(model: Model) -> tuple[Array, Array, Array]:
    """Pairs with names in common, and the share of the links of either, the smaller one, by such names.

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
    return low[some], high[some], shares.min(0)[some]


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


def merge_twins(folder: Path) -> int:
    """Let names and titles of twins that are sure lead to the more linked one; returns how many there were.

    Words and documents of the rarer one are not added to the other's, which has more of both.
    """
    model = open_model(folder)
    into = np.arange(model.entities, dtype=np.uint32)
    for twins in find_twins(model, SURE):
        into[twins.second] = twins.first
    merged = int((into != np.arange(model.entities)).sum())
    while (into[into] != into).any():  # every twin is linked less than what it is merged into: no circles
        into = into[into]
    arrays = {name: into[model[name]] for name in ("title_entity", "name_entity")}
    links = np.bincount(into, model["entity_occurrences"], model.entities)
    with changing(folder):
        put_arrays(folder, read_manifest(folder), {**arrays, "entity_occurrences": links.astype(np.uint32)})
    return merged
