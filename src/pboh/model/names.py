"""Names and the layers they come in: how a surface form is written, and which entities it has meant.

A layer is one way in which a name can lead to an entity. The paper has one (lower-cased anchor texts);
each further layer has a weight of its own at query time, and weight 0 switches it off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import IntEnum
from pathlib import Path

import numpy as np

from pboh.files.by_hash import ByHash
from pboh.model.tables import Arrays, name_table, place_in_run, run_starts, sums_of_runs
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, hash_strings


class Layer(IntEnum):
    """Where a name–entity entry comes from. Layers from TITLE on are looked up by their folded form."""

    CASED = 0
    LOWER = 1
    FOLDED = 2
    TITLE = 3
    STRIPPED = 4
    REDIRECT = 5
    DISAMBIGUATION = 6
    LAST = 7
    FIRST = 8
    PREFIX = 9
    ACRONYM = 10
    FOLLOWED = 11
    """No layer, but a factor for the names of LOWER, see :func:`followed_factors`."""


LAYERS = tuple(layer.name.lower() for layer in Layer if layer < Layer.FOLLOWED)

_LINKED = 12  # links of a name, of which FOLLOWED has those that a word follows, until there are factors
FEW = 5.0
"""Links of a name to an entity that count as much as all links of the name do."""
_PLAIN = 0.1  # factors that are closer to one say nothing

_PARENTHESES = re.compile(r"(?<!\s)\s*+\([^()]*+\)\s*+$")
_PARTICLES = frozenset(
    {"de", "da", "di", "do", "dos", "das", "del", "della", "der", "den", "van", "von", "ter", "ten", "la"}
    | {"le", "el", "al", "bin", "ibn", "ben", "y", "e", "of", "jr", "sr", "jr.", "sr."}
)


def strip_title(title: str) -> str:
    """A title without its qualifier: ``Paris (mythology)`` and ``Paris, Texas`` are both called Paris."""
    bare = _PARENTHESES.sub("", title)
    return bare.split(", ", 1)[0] if ", " in bare else bare


def derived_names(title: str) -> list[tuple[Layer, str]]:
    """Names a title suggests beside itself: without its qualifier, parts of a proper name, initials."""
    bare = strip_title(title)
    names = [(Layer.STRIPPED, bare)] if bare != title else []
    tokens = bare.split()
    if not 2 <= len(tokens) <= 8:
        return names
    proper = [t for t in tokens if t[0].isupper() or t[0].isdigit()]
    all_proper = all(t[0].isupper() or t.lower() in _PARTICLES for t in tokens)
    if all_proper and len(tokens) <= 4:
        last = tokens[-2] if tokens[-1].lower().rstrip(".") in ("jr", "sr", "ii", "iii") else tokens[-1]
        names += [(Layer.LAST, last), (Layer.FIRST, tokens[0])]
    names += [(Layer.PREFIX, " ".join(tokens[:k])) for k in range(2 if all_proper else 1, len(tokens))]
    initials = "".join(t[0] for t in proper)
    if len(initials) >= 2 and initials.isupper():
        names.append((Layer.ACRONYM, initials))
    return names


Rows = tuple[Array, Array, Array, Array]
"""Keys, entities, layers and counts of names."""


def best_entries(
    keys: Array, layers: Array, entities: Array, counts: Array, popularity: Array, cap: int
) -> Rows:
    """Sum counts per (key, layer, entity) and keep the ``cap`` best per key and layer, by ascending key.

    ``keys`` are hashes of name forms. Within a key entries are ordered by layer, then by count (times
    popularity where counts say nothing), then by entity, so that a model does not depend on input order.
    """
    order = np.lexsort((entities, layers, keys))
    keys, layers, entities, counts = keys[order], layers[order], entities[order], counts[order]
    starts = run_starts(keys, layers, entities)
    rows = keys[starts], entities[starts], layers[starts], sums_of_runs(counts, starts)
    keys, entities, layers, summed = followed_factors(*rows)
    rank = summed * np.where(layers >= Layer.TITLE, popularity[entities] + 1.0, 1.0)
    order = np.lexsort((entities, -rank, layers, keys))
    order = order[place_in_run(run_starts(keys[order], layers[order]), order.size) < cap]
    return keys[order], entities[order], layers[order], summed[order]


def followed_factors(keys: Array, entities: Array, layers: Array, counts: Array) -> Rows:
    """The same rows with a factor in each row of FOLLOWED, and without those it was computed of.

    If a word follows a name at once, as in *French shares*, the name means an entity that many times as
    often: p(followed|m,e) / p(followed|m), of all links of the name in whatever case.
    """
    of_links = layers == _LINKED
    names, name = np.unique(keys[of_links], return_inverse=True)
    place = name.astype(np.int64) << 32 | entities[of_links].astype(np.int64)
    links, followed = counts[of_links].astype(np.float64), np.zeros(place.size)
    some = layers == Layer.FOLLOWED
    own = np.searchsorted(names, keys[some]).astype(np.int64) << 32 | entities[some].astype(np.int64)
    followed[np.searchsorted(place, own)] = counts[some]
    every = np.maximum(np.bincount(name, links, names.size), 1.0)
    share = (np.bincount(name, followed, names.size) / every)[name]
    factor = (followed + FEW * share) / ((links + FEW) * np.maximum(share, 1e-9))
    tells = (share > 0) & (np.abs(np.log(np.maximum(factor, 1e-9))) >= _PLAIN)
    kept = ~(of_links | some)
    columns = (
        (keys[kept], keys[of_links][tells]),
        (entities[kept], entities[of_links][tells]),
        (layers[kept], np.full(int(tells.sum()), Layer.FOLLOWED, layers.dtype)),
        (counts[kept], factor[tells].astype(counts.dtype)),
    )
    return tuple(np.concatenate(column) for column in columns)  # type: ignore[return-value]


class NameCollector:
    """Gathers name–entity entries of all layers as hashes, batch by batch, without keeping any string."""

    def __init__(
        self, seen: Callable[[list[str]], None] | None = None, scratch: Path = Path(), held: int = 1 << 62
    ) -> None:
        """Begin; ``seen`` is shown every name in the forms that texts are searched for.

        What is more than ``held`` bytes waits in the folder ``scratch``.
        """
        self._entries = ByHash(scratch, held, layer="u1", entity="<u4", count="<f4")
        self._seen = seen

    def add(self, layer: Layer, names: list[str], entities: Array, counts: Array | float = 1.0) -> None:
        """Add entries of one layer; ``names`` are already in the layer's form."""
        keys = hash_strings(names)
        if self._seen is not None and layer != Layer.LOWER:
            self._seen(names)
        self._entries.add(keys, layer=layer, entity=entities, count=counts)

    def add_anchors(self, names: list[str], entities: Array, counts: Array) -> None:
        """Add anchor texts in the three forms they may be looked up by."""
        squeezed = [squeeze(name) for name in names]
        self.add(Layer.CASED, squeezed, entities, counts)
        self.add(Layer.LOWER, [name.lower() for name in squeezed], entities, counts)
        self.add(Layer.FOLDED, [fold(name) for name in squeezed], entities, counts)

    def add_followed(self, names: list[str], entities: Array, counts: Array, links: bool) -> None:
        """Add how many links of anchor texts a word follows at once, or how many ``links`` there are."""
        keys = hash_strings([squeeze(name).lower() for name in names])
        self._entries.add(keys, layer=_LINKED if links else Layer.FOLLOWED, entity=entities, count=counts)

    def add_titles(self, titles: list[str], entities: Array) -> None:
        """Add titles and the names derived from them."""
        self.add(Layer.TITLE, [fold(title) for title in titles], entities)
        derived: dict[Layer, tuple[list[str], list[int]]] = {}
        for title, entity in zip(titles, entities.tolist(), strict=True):
            for layer, name in derived_names(title):
                names, owners = derived.setdefault(layer, ([], []))
                names.append(fold(name))
                owners.append(entity)
        for layer, (names, owners) in derived.items():
            self.add(layer, names, np.asarray(owners, np.uint32))

    def entries(self, popularity: Array, cap: int) -> Iterator[Rows]:
        """The entries of the model's name table in its order, part by part."""
        for *_, rows in self._entries.parts():
            keys, layers, entities, counts = (rows[name] for name in ("key", "layer", "entity", "count"))
            yield best_entries(keys, layers, entities, counts, popularity, cap)

    def table(self, popularity: Array, cap: int) -> Arrays:
        """The arrays of the model's name table."""
        parts = zip(*self.entries(popularity, cap), strict=True)
        return name_table(*(np.concatenate(column) for column in parts))
