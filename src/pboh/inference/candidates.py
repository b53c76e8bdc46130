"""From a mention's text to the entities it may mean, with p(e|m) (section "Candidate Selection")."""

from __future__ import annotations

import re

import numpy as np

from pboh.errors import ModelError
from pboh.inference.candidate_kernels import SLOTS, gather
from pboh.inference.entities import EntitySet
from pboh.inference.settings import Settings
from pboh.model import fuzzy
from pboh.model.names import LAYERS
from pboh.model.overlays.opening import LINKS, Overlay
from pboh.model.store import Model
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, look_up


class Candidates:
    """Finds candidates for all mentions of a document under some settings."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        if settings.learned and "learned_count" not in model:
            raise ModelError(
                "the model has no learned parameters", where=model.folder,
                todo="Learn them with: pboh learn --model MODEL --corpus CORPUS",
            )  # fmt: skip
        self.weights = np.asarray([settings.layers[layer] for layer in LAYERS], np.float64)

    def find(
        self, surfaces: list[str], only: EntitySet | None = None, *, alone: bool = False
    ) -> tuple[Array, Array, Array]:
        """Entities, p(e|m) and number of candidates, one row per surface form.

        ``alone`` looks at every name for itself: nothing is inherited from a longer one.
        """
        unique = list(dict.fromkeys(surfaces))
        found, prior, size, total = self._gather(unique, self.settings.top if only is None else SLOTS // 2)
        missing = [i for i in range(len(unique)) if size[i] == 0]
        if missing and (self.settings.variants or self.settings.fuzzy):
            self._rescue(unique, missing, found, prior, size, total)
        if self.settings.coreference > 0.0 and not alone:
            inherit(unique, found, prior, size, total, self.settings.coreference)
        if only is not None:
            found, prior = restrict(found, prior, size, only, self.settings.top)
        position = {surface: i for i, surface in enumerate(unique)}
        rows = [position[surface] for surface in surfaces]
        return found[rows], prior[rows], size[rows]

    def _gather(self, surfaces: list[str], top: int) -> tuple[Array, Array, Array, Array]:
        model = self.model
        cased = [squeeze(s) for s in surfaces]
        lower = [s.lower() for s in cased]
        folded = [fold(s) for s in cased]
        positions = look_up(model["name_hash"], model["name_buckets"], cased + lower + folded)
        table = gather(
            np.ascontiguousarray(positions.reshape(3, -1).T),
            model["name_offsets"],
            model["name_entity"],
            model["name_layer"],
            model["learned_count" if self.settings.learned else "name_count"],
            model["entity_occurrences"],
            self.weights,
            self.settings.popularity,
            top,
        )
        if model.overlays:
            add_named(model.overlays, folded, *table)
        return table

    def _rescue(
        self, surfaces: list[str], missing: list[int], found: Array, prior: Array, size: Array, total: Array
    ) -> None:
        """Give mentions without candidates those of a variant spelling or of the closest known name."""
        for i in missing:
            tries = variants(surfaces[i]) if self.settings.variants else []
            if self.settings.fuzzy and "rescue_blob" in self.model:
                closest = self.closest_name(surfaces[i])
                tries = [*tries, closest] if closest else tries
            if not tries:
                continue
            rows = self._gather(tries, found.shape[1])
            for k in range(len(tries)):
                if rows[2][k]:
                    found[i], prior[i], size[i], total[i] = (column[k] for column in rows)
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
    """For every surface form the longer ones of the document that begin or end with all its words."""
    tokens = [tuple(_TOKENS.findall(s.lower())) for s in surfaces]
    by_edge: dict[str, list[int]] = {}
    for i, words in enumerate(tokens):
        for word in {*words[:1], *words[-1:]}:
            by_edge.setdefault(word, []).append(i)
    result = []
    for words in tokens:
        k = len(words)
        others = {*by_edge.get(words[0], ()), *by_edge.get(words[-1], ())} if words else set()
        result.append(
            [j for j in sorted(others) if len(tokens[j]) > k and words in (tokens[j][:k], tokens[j][-k:])]
        )
    return result


def inherit(
    surfaces: list[str], found: Array, prior: Array, size: Array, total: Array, weight: float
) -> None:
    """Add to every mention the candidates of longer mentions it is part of: "Clinton" after "Bill Clinton".

    The longer mentions together count as ``weight`` more links of the name, shared out by their p(e|m):
    much for a rare surname, nothing for "London" beside "London Stock Exchange".
    """
    own = [
        dict(zip(found[i, :k].tolist(), prior[i, :k].tolist(), strict=True))
        for i, k in enumerate(size.tolist())
    ]
    for i, longer in enumerate(longer_mentions(surfaces)):
        givers = [own[j] for j in longer if own[j]]
        if not givers:
            continue
        merged = {e: p * float(total[i]) for e, p in own[i].items()}
        for giver in givers:
            for e, p in giver.items():
                merged[e] = merged.get(e, 0.0) + weight * p / len(givers)
        _put(i, merged, found, prior, size, total)


def _put(i: int, values: dict[int, float], found: Array, prior: Array, size: Array, total: Array) -> None:
    """Make the best of ``values`` the candidates of row i, normalised."""
    best = sorted(values.items(), key=lambda item: (-item[1], item[0]))[: found.shape[1]]
    total[i] = sum(value for _, value in best)
    size[i] = len(best)
    found[i, : len(best)] = [e for e, _ in best]
    prior[i, : len(best)] = [value / total[i] for _, value in best]


def add_named(
    overlays: tuple[Overlay, ...], folded: list[str], found: Array, prior: Array, size: Array, total: Array
) -> None:
    """Add what overlays say of the names: odds × the links the name has without them, at least a few."""
    rows: dict[int, dict[int, float]] = {}
    for overlay in overlays:
        for i, entities, odds in overlay.named(folded):
            values = rows.setdefault(
                i,
                dict(
                    zip(found[i, : size[i]].tolist(), (prior[i, : size[i]] * total[i]).tolist(), strict=True)
                ),
            )
            links = max(float(total[i]), float(LINKS))
            for entity, odd in zip(entities.tolist(), odds.tolist(), strict=True):
                values[entity] = values.get(entity, 0.0) + odd * links
    for i, values in rows.items():
        _put(i, values, found, prior, size, total)


def restrict(found: Array, prior: Array, size: Array, only: EntitySet, top: int) -> tuple[Array, Array]:
    """Leave only candidates of a set, the ``top`` best, p(e|m) normalised among them; changes ``size``."""
    kept = only.holds(found) & (np.arange(found.shape[1]) < size[:, None])
    kept &= np.cumsum(kept, axis=1) <= top
    order = np.argsort(~kept, axis=1, kind="stable")[:, :top]
    entities = np.take_along_axis(found, order, 1)
    shares = np.take_along_axis(np.where(kept, prior, 0.0), order, 1)
    size[:] = kept.sum(axis=1)
    return entities, shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
