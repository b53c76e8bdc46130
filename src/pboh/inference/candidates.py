"""From a mention's text to the entities it may mean, with p(e|m) (section "Candidate Selection")."""

from __future__ import annotations

import re

import numpy as np
from numba import njit

from pboh.inference.settings import Settings
from pboh.model import fuzzy
from pboh.model.hashing import Array, look_up
from pboh.model.names import LAYERS, Layer, fold, squeeze
from pboh.model.store import Model

_SLOTS = 2048  # more than all layers of one name can hold together


@njit(cache=True, nogil=True)
def gather(
    positions: Array,
    offsets: Array,
    entity: Array,
    layer: Array,
    count: Array,
    popularity: Array,
    weights: Array,
    exponent: float,
    top: int,
) -> tuple[Array, Array, Array]:
    """Candidates of every mention: p(e|m) ∝ Σ_layer weight · c_layer(m, e), the ``top`` best, normalised.

    ``positions[i]`` are the places of mention i's cased, lower and folded form in the name table (−1 =
    absent). Layers made from titles carry no counts of use; theirs is popularity(e)^exponent.
    """
    n = positions.shape[0]
    found = np.zeros((n, top), np.int32)
    prior = np.zeros((n, top), np.float64)
    size = np.zeros(n, np.int32)
    slot_entity = np.full(_SLOTS, -1, np.int64)
    slot_value = np.zeros(_SLOTS, np.float64)
    used = np.empty(_SLOTS, np.int64)
    for i in range(n):
        filled = 0
        for form in range(3):
            at = positions[i, form]
            if at < 0:
                continue
            for k in range(offsets[at], offsets[at + 1]):
                weight = weights[layer[k]]
                if weight == 0.0 or min(layer[k], 2) != form:
                    continue
                value = weight * count[k]
                if layer[k] >= 3 and exponent != 0.0:
                    value *= (popularity[entity[k]] + 1.0) ** exponent
                slot = (entity[k] * 2654435761) % _SLOTS
                while slot_entity[slot] >= 0 and slot_entity[slot] != entity[k]:
                    slot = (slot + 1) % _SLOTS
                if slot_entity[slot] < 0:
                    slot_entity[slot] = entity[k]
                    used[filled] = slot
                    filled += 1
                slot_value[slot] += value
        size[i] = _best(slot_entity, slot_value, used[:filled], found[i], prior[i])
        for f in range(filled):
            slot_entity[used[f]] = -1
            slot_value[used[f]] = 0.0
    return found, prior, size


@njit(cache=True, nogil=True)
def _best(slot_entity: Array, slot_value: Array, used: Array, found: Array, prior: Array) -> int:
    """Copy the best entries (ties: lower entity number) into ``found``, normalised into ``prior``."""
    used = used[np.argsort(slot_entity[used])]
    order = np.argsort(-slot_value[used], kind="mergesort")
    size = min(order.size, found.size)
    total = 0.0
    for k in range(size):
        found[k] = slot_entity[used[order[k]]]
        prior[k] = slot_value[used[order[k]]]
        total += prior[k]
    for k in range(size):
        prior[k] /= total
    return size


class Candidates:
    """Finds candidates for all mentions of a document under some settings."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        self.weights = np.asarray([settings.layers[layer] for layer in LAYERS], np.float64)

    def find(self, surfaces: list[str]) -> tuple[Array, Array, Array]:
        """Entities, p(e|m) and number of candidates, one row per surface form."""
        unique = list(dict.fromkeys(surfaces))
        rows = [unique.index(s) for s in surfaces] if len(unique) < 8 else _rows(unique, surfaces)
        found, prior, size = self._gather(unique)
        missing = [i for i in range(len(unique)) if size[i] == 0]
        if missing and (self.settings.variants or self.settings.fuzzy):
            self._rescue(unique, missing, found, prior, size)
        if self.settings.coreference > 0.0:
            found, prior, size = inherit(unique, found, prior, size, self.settings.coreference)
        return found[rows], prior[rows], size[rows]

    def _gather(self, surfaces: list[str]) -> tuple[Array, Array, Array]:
        model = self.model
        cased = [squeeze(s) for s in surfaces]
        lower = [s.lower() for s in cased]
        folded = [fold(s) for s in cased]
        positions = look_up(model["name_hash"], model["name_buckets"], cased + lower + folded)
        return gather(
            np.ascontiguousarray(positions.reshape(3, -1).T),
            model["name_offsets"],
            model["name_entity"],
            model["name_layer"],
            model["name_count"],
            model["entity_occurrences"],
            self.weights,
            self.settings.popularity,
            self.settings.top,
        )

    def _rescue(
        self, surfaces: list[str], missing: list[int], found: Array, prior: Array, size: Array
    ) -> None:
        """Give mentions without candidates those of a variant spelling or of the closest known name."""
        for i in missing:
            tries = variants(surfaces[i]) if self.settings.variants else []
            if self.settings.fuzzy and "rescue_blob" in self.model:
                closest = self.closest_name(surfaces[i])
                tries = [*tries, closest] if closest else tries
            if not tries:
                continue
            other, other_prior, other_size = self._gather(tries)
            for k in range(len(tries)):
                if other_size[k]:
                    found[i], prior[i], size[i] = other[k], other_prior[k], other_size[k]
                    break

    def closest_name(self, surface: str) -> str | None:
        """The known name at the smallest trigram Jaccard distance below the limit, if any."""
        model = self.model
        arrays = {
            name.removeprefix("rescue_"): a for name, a in model.arrays.items() if name.startswith("rescue_")
        }
        blob, offsets = arrays.pop("blob"), arrays.pop("offsets")
        hit = fuzzy.closest(arrays, blob, offsets, squeeze(surface).lower())
        if hit is None or hit[1] >= self.settings.fuzzy_distance:
            return None
        return blob[offsets[hit[0]] : offsets[hit[0] + 1]].tobytes().decode("utf-8")


def _rows(unique: list[str], surfaces: list[str]) -> list[int]:
    position = {surface: i for i, surface in enumerate(unique)}
    return [position[surface] for surface in surfaces]


_SUFFIX = re.compile(
    r"[\s,]+(?:inc|corp|co|ltd|plc|llc|ag|sa|nv|gmbh|corporation|company|group|holdings)\.?$", re.I
)
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))


def variants(surface: str) -> list[str]:
    """Other spellings to try for an unknown name: without possessive, plural or legal form; umlauts."""
    tries = []
    bare = re.sub(r"['’]s?$", "", surface)
    tries.append(bare)
    tries.append(_SUFFIX.sub("", surface))
    if len(surface) > 4 and surface.endswith("ies"):
        tries.append(surface[:-3] + "y")
    if len(surface) > 3 and surface.endswith("s"):
        tries.append(surface[:-1])
    for plain, umlaut in _UMLAUTS:
        if plain in surface:
            tries.append(surface.replace(plain, umlaut))
    return [t for t in dict.fromkeys(tries) if t and t != surface]


_TOKENS = re.compile(r"\w+")


def longer_mentions(surfaces: list[str]) -> list[list[int]]:
    """For every surface form the longer ones of the document that contain all its words in a row."""
    tokens = [tuple(_TOKENS.findall(s.lower())) for s in surfaces]
    by_word: dict[str, list[int]] = {}
    for i, words in enumerate(tokens):
        for word in set(words):
            by_word.setdefault(word, []).append(i)
    result = []
    for i, words in enumerate(tokens):
        others = by_word.get(words[0], []) if words else []
        result.append(
            [j for j in others if j != i and len(tokens[j]) > len(words) and _inside(words, tokens[j])]
        )
    return result


def _inside(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    k = len(short)
    return any(long[i : i + k] == short for i in range(len(long) - k + 1))


def inherit(
    surfaces: list[str], found: Array, prior: Array, size: Array, weight: float
) -> tuple[Array, Array, Array]:
    """Add to every mention the candidates of longer mentions that contain it: "Clinton" after "Bill Clinton".

    p(e|m) becomes proportional to p(e|m) + weight · Σ p(e|longer).
    """
    longer = longer_mentions(surfaces)
    result, shares, sizes = found.copy(), prior.copy(), size.copy()
    for i, others in enumerate(longer):
        if not any(size[j] for j in others):
            continue
        merged: dict[int, float] = dict(
            zip(found[i, : size[i]].tolist(), prior[i, : size[i]].tolist(), strict=True)
        )
        for j in others:
            for e, p in zip(found[j, : size[j]].tolist(), prior[j, : size[j]].tolist(), strict=True):
                merged[e] = merged.get(e, 0.0) + weight * p
        best = sorted(merged.items(), key=lambda item: (-item[1], item[0]))[: found.shape[1]]
        total = sum(p for _, p in best)
        sizes[i] = len(best)
        result[i, : len(best)] = [e for e, _ in best]
        shares[i, : len(best)] = [p / total for _, p in best]
    return result, shares, sizes


__all__ = ["Candidates", "Layer", "gather", "inherit", "longer_mentions", "variants"]
