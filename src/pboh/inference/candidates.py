"""From a mention's text to the entities it may mean, with p(e|m) (section "Candidate Selection")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pboh.deadline import checkpoint
from pboh.errors import ModelError
from pboh.inference.candidate_kernels import SLOTS, add_inherited, gather
from pboh.inference.entities import Restriction
from pboh.inference.settings import Settings
from pboh.model import fuzzy
from pboh.model.names import LAYERS
from pboh.model.overlays.opening import LINKS, Overlay
from pboh.model.store import Model
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, look_up, string_at

LONGEST_NAME = 500  # characters of a name that is worth a search for others like it


class Shares(NamedTuple):
    """Candidates of names, best first: ``size[i]`` entities of name i share its ``total[i]`` links."""

    entity: Array
    prior: Array
    size: Array
    total: Array

    def row(self, i: int) -> dict[int, float]:
        """p(e|m) of the candidates of name i."""
        k = self.size[i]
        return dict(zip(self.entity[i, :k].tolist(), self.prior[i, :k].tolist(), strict=True))

    def put(self, i: int, links: dict[int, float]) -> None:
        """Make the entities with most ``links`` the candidates of name i."""
        best = sorted(links.items(), key=lambda item: (-item[1], item[0]))[: self.entity.shape[1]]
        self.total[i], self.size[i] = sum(value for _, value in best), len(best)
        self.entity[i, : len(best)] = [e for e, _ in best]
        self.prior[i, : len(best)] = [value / self.total[i] for _, value in best]


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
        self, surfaces: list[str], only: Restriction | None = None, *, alone: bool = False,
        followed: Sequence[bool] = (),
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """Entities, p(e|m) and number of candidates, one row per surface form.

        ``alone`` looks at every name for itself: nothing is inherited from a longer one. ``followed`` says
        of the first names whether a word comes right after them, which changes what they mean.
        """
        s = self.settings
        flags = [*followed, *[False] * (len(surfaces) - len(followed))]
        asked = list(zip(surfaces, flags, strict=True))
        position = {name: i for i, name in enumerate(dict.fromkeys(asked))}
        unique = [surface for surface, _ in position]
        top = s.top if only is None else SLOTS // 2
        shares = self._gather(unique, top, [flag for _, flag in position])
        self._rescue(unique, shares)
        if s.coreference > 0.0 and not alone:
            inherit(unique, shares, s.coreference)
        found, prior, size, _ = shares
        if only is not None:
            found, prior = restrict(found, prior, size, only, s.top)
        rows = np.asarray([position[name] for name in asked], np.int64)
        return found[rows], prior[rows], size[rows]

    def _gather(self, surfaces: list[str], top: int, followed: Sequence[bool] = ()) -> Shares:
        model = self.model
        flags = np.asarray(followed or [False] * len(surfaces), bool)
        cased = [squeeze(s) for s in surfaces]
        lower = [s.lower() for s in cased]
        folded = [fold(s) for s in cased]
        positions = look_up(model["name_hash"], model["name_buckets"], cased + lower + folded)
        counts = model["learned_count" if self.settings.learned else "name_count"]
        shares = Shares(
            *gather(
                np.ascontiguousarray(positions.reshape(3, -1).T),
                model["name_offsets"], model["name_entity"], model["name_layer"], counts,
                model["entity_occurrences"], self.weights, self.settings.popularity,
                flags, self.settings.followed, top,
            )
        )  # fmt: skip
        if model.overlays:
            add_named(model.overlays, folded, shares)
        return shares

    def _rescue(self, surfaces: list[str], shares: Shares) -> None:
        """Give unknown names the candidates of a variant spelling or of the closest known name.

        So do companies whose legal form hardly anybody writes, and an initial must be that of the title.
        """
        unknown = np.flatnonzero(shares.size == 0).tolist()
        tries = [(i, other) for i in unknown for other in self._others(surfaces[i])]
        rare = (
            np.flatnonzero((shares.size > 0) & (shares.total < 1)).tolist() if self.settings.variants else []
        )
        tries += [(i, bare) for i in rare if (bare := _SUFFIX.sub("", surfaces[i])) != surfaces[i]]
        if not tries:
            return
        found = self._gather([other for _, other in tries], shares.entity.shape[1])
        for k in reversed(np.flatnonzero(found.size).tolist()):  # so the first that is known remains
            i = tries[k][0]
            for mine, theirs in zip(shares, found, strict=True):
                mine[i] = theirs[k]
            if initial := _INITIALS.match(surfaces[i]):
                self._keep_initial(i, initial[0][0], shares)

    def _keep_initial(self, i: int, initial: str, shares: Shares) -> None:
        """Leave the candidates of name i whose title begins with a letter, as probable as they were."""
        links, model = shares.row(i), self.model
        kept = {
            e: p
            for e, p in links.items()
            if e < model.entities and string_at(model["title_blob"], model["title_offsets"], e)[:1] == initial
        }
        shares.put(i, kept)
        shares.prior[i, : len(kept)] *= sum(kept.values())

    def _others(self, surface: str) -> list[str]:
        """Names to try for an unknown one."""
        checkpoint()
        if len(surface) > LONGEST_NAME:
            return []
        tries = variants(surface) if self.settings.variants else []
        if self.settings.fuzzy and "rescue_blob" in self.model:
            tries += filter(None, [self.closest_name(surface)])
        return tries

    def closest_name(self, surface: str) -> str | None:
        """The known name at the smallest trigram Jaccard distance below the limit, if any."""
        blob, offsets = self.model["rescue_blob"], self.model["rescue_offsets"]
        index = {name: self.model[f"rescue_{name}"] for name in fuzzy.INDEX}
        hit = fuzzy.closest(index, blob, offsets, squeeze(surface).lower())
        if hit is None or hit[1] >= self.settings.fuzzy_distance:
            return None
        return string_at(blob, offsets, hit[0])


_POSSESSIVE = re.compile(r"['’]s?$")
_SUFFIX = re.compile(  # begins where the commas begin and never goes back, so that many of them cost one pass
    r"(?<![\s,])[\s,]++(?:inc|corp|co|ltd|plc|llc|ag|sa|nv|gmbh|corporation|company|group|holdings)\.?$", re.I
)
_INITIALS = re.compile(r"^(?:[^\W\d_]\.[ -]?){1,4}(?=[^\W\d_]{2})")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")
_OF_WORDS = ((_JOINED, " "),)
_OF_NAMES = ((_POSSESSIVE, ""), (_SUFFIX, ""), *_OF_WORDS, (_INITIALS, ""))  # none is of letters alone
_UMLAUTS = (("ae", "ä"), ("oe", "ö"), ("ue", "ü"))


def variants(surface: str) -> list[str]:
    """Other spellings to try for an unknown name: without possessive, plural, legal form or initials, with
    blanks (LaLiga) or umlauts."""
    patterns = _OF_WORDS if surface.isalpha() else _OF_NAMES
    tries = [pattern.sub(other, surface) for pattern, other in patterns]
    if len(surface) > 4 and surface.endswith("ies"):
        tries.append(surface[:-3] + "y")
    if len(surface) > 3 and surface.endswith("s"):
        tries.append(surface[:-1])
    tries += [surface.replace(plain, umlaut) for plain, umlaut in _UMLAUTS]
    return [t for t in dict.fromkeys(tries) if t and t != surface]


_TOKENS = re.compile(r"\w+")


def longer_mentions(surfaces: Iterable[str]) -> list[list[int]]:
    """For every surface form the longer ones of the document that begin or end with all its words."""
    return _longer_mentions(tuple(surfaces))


@lru_cache(maxsize=4)  # candidates and the decision ask for the names of the same text
def _longer_mentions(surfaces: tuple[str, ...]) -> list[list[int]]:
    tokens = [tuple(_TOKENS.findall(s.lower())) for s in surfaces]
    longer: dict[tuple[str, ...], list[int]] = {words: [] for words in tokens}
    lengths = sorted({len(words) for words in longer} - {0})
    for i, words in enumerate(tokens):
        checkpoint()
        for k in lengths:
            if k >= len(words):
                break
            for part in {words[:k], words[-k:]}:
                if part in longer:
                    longer[part].append(i)
    return [longer[words] for words in tokens]


def inherit(surfaces: list[str], shares: Shares, weight: float) -> None:
    """Add to every mention the candidates of longer mentions it is part of: "Clinton" after "Bill Clinton".

    The longer mentions together count as ``weight`` more links of the name, shared out by their p(e|m):
    much for a rare surname, nothing for "London" beside "London Stock Exchange".
    """
    rows: dict[str, list[int]] = {}  # a name has two if words follow only some of its mentions
    for i, surface in enumerate(surfaces):
        rows.setdefault(surface, []).append(i)
    names, parts, givers, ends = list(rows), [], [], [0]
    for name, longer in zip(names, longer_mentions(names), strict=True):
        for part in rows[name] if longer else ():
            parts.append(part)
            givers += sorted(i for k in longer for i in rows[names[k]])
            ends.append(len(givers))
    if parts:
        add_inherited(np.asarray(parts), np.asarray(givers), np.asarray(ends), weight, *shares)


def add_named(overlays: tuple[Overlay, ...], folded: list[str], shares: Shares) -> None:
    """Add what overlays say of the names: odds × the links the name has without them, at least a few."""
    rows: dict[int, dict[int, float]] = {}
    for overlay in overlays:
        for i, entities, odds in overlay.named(folded):
            total = float(shares.total[i])
            links = rows.setdefault(i, {e: p * total for e, p in shares.row(i).items()})
            for entity, odd in zip(entities.tolist(), odds.tolist(), strict=True):
                links[entity] = links.get(entity, 0.0) + odd * max(total, float(LINKS))
    for i, links in rows.items():
        shares.put(i, links)


def restrict(found: Array, prior: Array, size: Array, only: Restriction, top: int) -> tuple[Array, Array]:
    """Leave only candidates of a set, the ``top`` best; changes ``size``.

    p(e|m) is shared between the rivals: these candidates, or whatever the name can mean beside them.
    """
    known = np.arange(found.shape[1]) < size[:, None]
    inside = only.holds(found) & known
    kept = inside & (np.cumsum(inside, axis=1) <= top)
    rivals = only.rivals(found) & known & (kept | ~inside)
    total = np.where(rivals, prior, 0.0).sum(axis=1, keepdims=True)
    order = np.argsort(~kept, axis=1, kind="stable")[:, :top]
    entities = np.take_along_axis(found, order, 1)
    shares = np.take_along_axis(np.where(kept, prior, 0.0), order, 1)
    size[:] = kept.sum(axis=1)
    return entities, shares / np.maximum(total, 1e-300)
