"""Overlays: entities of your own on top of a model whose arrays stay as they are.

Entities of an overlay have the numbers after those of the model and of the overlays below. An overlay brings
its own small tables of names, words and links, so whatever concerns only the model's own entities is computed
as before, from the same arrays. What it refers to is an entity of the model (its number), one of its own, or
one of an overlay below (known by the hash of its title, because numbers move when an overlay is removed).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pboh.document import Facts
from pboh.model import types
from pboh.text.hashing import Array, hash_strings, look_up, string_at
from pboh.text.matcher import Lexicon

if TYPE_CHECKING:
    from pboh.model.store import Model

FOLDER = "overlays"
LINKS = 10  # a name or entity of an overlay counts like one with this many links


@dataclass(frozen=True)
class Overlay:
    """One opened overlay: its place in the stack, its description, its arrays."""

    name: str
    first: int  # number of its first entity
    info: dict[str, Any]
    arrays: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    @property
    def size(self) -> int:
        """How many entities it adds."""
        return len(self.arrays["title_offsets"]) - 1

    def title(self, entity: int) -> str:
        """Title of one of its entities."""
        return string_at(self["title_blob"], self["title_offsets"], entity - self.first)

    def id(self, entity: int) -> str | None:
        """The id that was given with one of its entities."""
        return string_at(self["id_blob"], self["id_offsets"], entity - self.first) or None

    def facts(self, entity: int) -> Facts:
        """The type and the beginning of the description that were given with one of its entities."""
        return types.facts_at(self.arrays, entity - self.first)

    def find(self, titles: list[str]) -> Array:
        """Numbers of the entities with these titles, −1 where there is none."""
        return self.find_hashes(hash_strings(titles))

    def find_hashes(self, keys: Array) -> Array:
        """The same for hashes of titles."""
        hashes = self["title_hash"]
        if not hashes.size:
            return np.full(keys.size, -1, np.int64)
        order = self._by_hash
        at = order[np.minimum(np.searchsorted(hashes, keys, sorter=order), hashes.size - 1)]
        return np.where(hashes[at] == keys, self.first + at, -1)

    @cached_property
    def _by_hash(self) -> Array:
        return np.argsort(self["title_hash"])

    @cached_property
    def lexicon(self) -> Lexicon:
        """Its names, ready to be found in texts."""
        return Lexicon(self["name_hash"], self["name_buckets"], self["name_filter"])

    def named(self, folded: list[str]) -> list[tuple[int, Array, Array]]:
        """For every folded name it knows: its place in the list, the entities, and the odds of each."""
        at = look_up(self["name_hash"], self["name_buckets"], folded)
        found = []
        for i in np.flatnonzero(at >= 0).tolist():
            rows = slice(*self["name_offsets"][at[i] : at[i] + 2].tolist())
            known = self["name_entity"][rows] >= 0
            if known.any():
                found.append((i, self["name_entity"][rows][known], self["name_odds"][rows][known]))
        return found

    # -- documents: the page of every entity, with it and the entities it links ------

    @cached_property
    def _postings(self) -> tuple[Array, Array, Array]:
        """Members of all documents in ascending order, the document of each, and Σ (n_d − 1) before it."""
        sizes = np.diff(self["page_offsets"])
        document = np.repeat(np.arange(sizes.size), sizes)
        order = np.argsort(self["page_entity"], kind="stable")
        before = np.concatenate([[0], np.cumsum(np.repeat(sizes - 1, sizes)[order])])
        return self["page_entity"][order], document[order], before

    def marginals(self, entities: Array) -> Array:
        """c_e = Σ over the overlay's documents with e of (n_d − 1)."""
        members, _, before = self._postings
        first, last = (np.searchsorted(members, entities, side=side) for side in ("left", "right"))
        return np.asarray(before[last] - before[first])

    def together(self, entities: Array, since: int) -> Array:
        """N(e,e′) of ascending ``entities`` on the overlay's documents that hold one from ``since`` on.

        A dense table; it is only asked for the candidates of a document that has some of an overlay.
        """
        members, documents, _ = self._postings
        spans = [np.searchsorted(members, entities[since:], side=side) for side in ("left", "right")]
        mine = [documents[a:b] for a, b in zip(*spans, strict=True)]
        pages = np.unique(np.concatenate(mine)) if mine else np.empty(0, np.int64)
        offsets, sizes = self["page_offsets"], np.diff(self["page_offsets"])[pages]
        rows = np.repeat(offsets[pages] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        page, member = np.repeat(np.arange(pages.size), sizes), self["page_entity"][rows]
        at = np.minimum(np.searchsorted(entities, member), max(entities.size - 1, 0))
        known = entities[at] == member
        page, at = page[known], at[known]
        several = np.flatnonzero(np.bincount(page, minlength=pages.size) > 1)  # most documents hold one
        table = np.zeros((pages.size, entities.size), np.float32)
        table[page, at] = 1.0
        table = table[several]
        counts = table.T @ table
        np.fill_diagonal(counts, 0.0)
        return counts


def clean_title(title: str) -> str:
    """A title as it is compared: white space collapsed, underscores read as spaces."""
    return " ".join(title.replace("_", " ").split())


def find_titles(model: Model, titles: list[str], exact: bool = False) -> Array:
    """Number of the entity of every title or redirect, −1 for none; ``exact`` leaves redirects out.

    Overlays come first, the last one before the others, because their titles may be redirects of the model.
    """
    out = np.full(len(titles), -1, np.int64)
    for tries in (titles, [title[:1].upper() + title[1:] for title in titles]):
        for overlay in reversed(model.overlays):
            out = np.where(out < 0, overlay.find(tries), out)
        if exact:
            out = np.where(out < 0, model.titled(tries), out)
            continue
        at = look_up(model["title_hash"], model["title_buckets"], tries)
        hits = np.flatnonzero((out < 0) & (at >= 0))
        out[hits] = model["title_entity"][at[hits]]
    return out


def stacked(
    info: dict[str, Any], arrays: dict[str, Array], below: tuple[Overlay, ...], entities: int
) -> Overlay:
    """An overlay on top of others and of a model with this many ``entities``.

    References become numbers of entities: −1 for what is gone, which leaves its document.
    """
    first = entities + sum(overlay.size for overlay in below)
    own = first + np.arange(len(arrays["title_offsets"]) - 1)
    others = np.full(arrays["other_hash"].size, -1, np.int64)
    for overlay in below:
        at = overlay.find_hashes(arrays["other_hash"])
        others = np.where(at >= 0, at, others)
    added = np.concatenate([own, others, [-1]])

    def numbers(references: Array) -> Array:
        return np.where(references >= 0, references, added[np.maximum(-1 - references, 0)])

    members = numbers(arrays["page_target"])
    sizes = np.diff(arrays["page_offsets"])
    owner = np.repeat(np.arange(sizes.size), sizes)[members >= 0]
    arrays = arrays | {
        "name_entity": numbers(arrays["name_target"]),
        "page_entity": members[members >= 0],
        "page_offsets": np.searchsorted(owner, np.arange(sizes.size + 1)),
    }
    return Overlay(info["name"], first, info, arrays)
