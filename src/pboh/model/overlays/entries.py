"""Entities people write down, one JSON object a line: checked, then laid out as the arrays of an overlay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from pboh.errors import InputError
from pboh.files.writing import NOT_JSON
from pboh.formats.jsonlines import read_lines
from pboh.formats.types import TYPES, check_types
from pboh.model.link_probability import UNKNOWN, encode
from pboh.model.names import strip_title
from pboh.model.overlays.opening import clean_title, find_titles
from pboh.model.store import Model
from pboh.model.tables import Arrays, context_table, offsets_of, offsets_of_sizes, word_table
from pboh.model.types import SURE
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import (
    Array,
    bucket_index,
    find_hashes,
    hash_strings,
    hash_words,
    look_up,
    string_blob,
)
from pboh.text.matcher import beginnings, make_filter
from pboh.text.words import words

PRIOR = 0.2  # share of a known name's uses that mean the new entity, unless the entry says otherwise
LINK = 0.9  # how likely a name of an overlay is a mention where it occurs in a text, in the same way
RARE = 1e-6  # p(w) of a word that the model does not know
LONGEST = 120  # characters that are shown of a description
SHOWN = 5  # bad lines that an error spells out


class EntityLine(msgspec.Struct, forbid_unknown_fields=True):
    """An entity as people write it down."""

    title: str
    names: list[str] = []
    description: str | list[str] = ""
    links: list[str] = []
    id: str | int | None = None
    type: str | None = None
    prior: float = PRIOR
    link: float = LINK


class Compiled(NamedTuple):
    """The arrays of an overlay, and what was found on the way."""

    arrays: Arrays
    figures: dict[str, int]
    unknown: list[str]  # links that lead to no entity


# -- reading ----------------------------------------------------------------------------------------


def read_entries(path: Path, skip_bad: bool = False) -> tuple[list[EntityLine], list[str]]:
    """The entries of a file, and what is wrong with the lines that are none.

    Unless they may be skipped, bad lines are an error that names all of them, the first few with a reason.
    """
    good: dict[str, EntityLine] = {}
    lines: dict[str, int] = {}
    bad = []
    for number, line, _ in read_lines(path):
        try:
            entry = _checked(msgspec.json.decode(line, type=EntityLine))
            if entry.title in good:
                raise InputError(f"the title {entry.title!r} is already in line {lines[entry.title]}")
            good[entry.title], lines[entry.title] = entry, number
        except (*NOT_JSON, InputError) as reason:
            bad.append(f"line {number}: {str(reason).rstrip('.')}")
    if bad and not skip_bad:
        rest = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        todo = "Correct them, or leave them out with --skip-bad; nothing was written"
        raise InputError("; ".join(bad[:SHOWN]) + rest, where=path, todo=todo)
    if not good:
        raise InputError("the file has no entities", where=path)
    return list(good.values()), bad


def _checked(entry: EntityLine) -> EntityLine:
    """The entry with its names in order, or an error that says what cannot be."""
    entry.title = clean_title(entry.title)
    entry.names = [squeeze(name) for name in entry.names]
    entry.links = [clean_title(link) for link in entry.links]
    if not entry.title:
        raise InputError("the title is empty")
    if not all(entry.names):
        raise InputError("a name is empty")
    if not all(entry.links):
        raise InputError("a link is empty")
    for name in ("prior", "link"):
        if not 0 < getattr(entry, name) < 1:
            raise InputError(f"{name} is {getattr(entry, name):g}, not between 0 and 1")
    if isinstance(entry.id, str) and not entry.id.strip():
        raise InputError("the id is empty")
    if entry.type is not None:
        check_types(entry.type)
    return entry


# -- laying out -------------------------------------------------------------------------------------


def compile_entries(model: Model, lines: list[EntityLine]) -> Compiled:
    """The arrays of an overlay on ``model``; what is known already only gets more names."""
    known = find_titles(model, [entry.title for entry in lines], exact=True).tolist()
    fresh = [entry for entry, at in zip(lines, known, strict=True) if at < 0]
    references = _References(model, [entry.title for entry in fresh])
    owners = [
        references.to(at) if at >= 0 else references.own[entry.title]
        for entry, at in zip(lines, known, strict=True)
    ]
    pages, unknown = _pages(model, fresh, references)
    names, words = _names(lines, owners), _words(model, fresh)
    others = {"other_hash": hash_strings(references.others)}
    arrays = _titles(fresh) | _facts(fresh) | names | pages | words | others
    figures = {
        "entities": len(fresh),
        "known_before": len(lines) - len(fresh),
        "names": names["name_target"].size,
        "links": pages["page_target"].size - len(fresh),
        "unknown_links": len(unknown),
        "words": words["context_word"].size,
    }
    return Compiled(arrays, figures, sorted(set(unknown)))


class _References:
    """Numbers that stay right when other overlays go: see :mod:`pboh.model.overlays.opening`."""

    def __init__(self, model: Model, own: list[str]) -> None:
        self.model = model
        self.own = {title: -1 - i for i, title in enumerate(own)}
        self.others: list[str] = []
        self._other: dict[int, int] = {}

    def to(self, entity: int) -> int:
        """The reference to an entity of the model or of an overlay below."""
        if entity < self.model.entities:
            return entity
        if entity not in self._other:
            self._other[entity] = -1 - len(self.own) - len(self.others)
            self.others.append(self.model.title(entity))
        return self._other[entity]


def _titles(fresh: list[EntityLine]) -> Arrays:
    titles = [entry.title for entry in fresh]
    arrays = {"title_hash": hash_strings(titles)}
    ids = ["" if entry.id is None else str(entry.id) for entry in fresh]
    for name, strings in (("title", titles), ("id", ids)):
        arrays[f"{name}_blob"], arrays[f"{name}_offsets"] = string_blob(strings)
    return arrays


def _facts(fresh: list[EntityLine]) -> Arrays:
    """Types, if there are any, and descriptions, as in :mod:`pboh.model.types`."""
    told = [short(entry.description) if isinstance(entry.description, str) else "" for entry in fresh]
    arrays: Arrays = dict(zip(("description_blob", "description_offsets"), string_blob(told), strict=True))
    if any(entry.type for entry in fresh):
        codes = np.asarray([TYPES.index(entry.type or "unknown") for entry in fresh], np.uint8)
        arrays |= {"entity_type": codes, "entity_type_sure": np.where(codes > 0, SURE, 0).astype(np.uint8)}
    return arrays


def short(description: str) -> str:
    """What is shown of a description: all of it, or the whole sentences, or words, at its beginning."""
    text = " ".join(description.split())
    if len(text) <= LONGEST:
        return text
    ends = [end.end() for end in re.finditer(r"[.!?](?= )|。", text[: LONGEST + 1])]
    if ends and ends[-1] <= LONGEST:
        return text[: ends[-1]]
    return (text[: LONGEST - 1].rpartition(" ")[0] or text[: LONGEST - 1]).rstrip(",;: ") + "…"


def _names(lines: list[EntityLine], owners: list[int]) -> Arrays:
    """The table of names: entities by folded name, link probability of names as written and folded."""
    rows: dict[tuple[str, int], float] = {}
    link: dict[str, float] = {}
    for entry, owner in zip(lines, owners, strict=True):
        for name in dict.fromkeys([entry.title, squeeze(strip_title(entry.title)), *entry.names]):
            rows[fold(name), owner] = entry.prior / (1 - entry.prior)
            link[name] = max(link.get(name, 0.0), entry.link)
    written, folded = list(link), [fold(name) for name in link]
    hashes = np.unique(hash_strings([*written, *folded]))
    buckets = bucket_index(hashes)
    key = look_up(hashes, buckets, [name for name, _ in rows])
    order = np.argsort(key, kind="stable")
    codes = encode(np.asarray(list(link.values())))
    return {
        "name_hash": hashes,
        "name_buckets": buckets,
        "name_filter": make_filter(hashes, beginnings([*written, *folded])),
        "name_offsets": offsets_of(key[order], hashes.size),
        "name_target": np.asarray([owner for _, owner in rows], np.int64)[order],
        "name_odds": np.asarray(list(rows.values()), np.float64)[order],
        "name_link_written": _largest(look_up(hashes, buckets, written), codes, hashes.size),
        "name_link_folded": _largest(look_up(hashes, buckets, folded), codes, hashes.size),
    }


def _largest(places: Array, codes: Array, size: int) -> Array:
    out = np.full(size, UNKNOWN, np.uint8)
    np.maximum.at(out, places, codes)
    return out


def _pages(model: Model, fresh: list[EntityLine], references: _References) -> tuple[Arrays, list[str]]:
    """One document per entity, with it and what it links; and the links that lead nowhere."""
    wanted = list(dict.fromkeys(link for entry in fresh for link in entry.links))
    found = dict(zip(wanted, find_titles(model, wanted).tolist(), strict=True))
    members: list[int] = []
    sizes, unknown = [], []
    for entry in fresh:
        page = {references.own[entry.title]: None}
        for link in entry.links:
            own = references.own.get(link) or references.own.get(link[:1].upper() + link[1:])
            if own is not None:
                page[own] = None
            elif found[link] >= 0:
                page[references.to(found[link])] = None
            else:
                unknown.append(link)
        members += page
        sizes.append(len(page))
    target = np.asarray(members, np.int64)
    return {"page_target": target, "page_offsets": offsets_of_sizes(np.asarray(sizes, np.int64))}, unknown


def _words(model: Model, fresh: list[EntityLine]) -> Arrays:
    """N(w,e) of the descriptions over a vocabulary of their own, with the model's p(w)."""
    texts = [e.description if isinstance(e.description, str) else " ".join(e.description) for e in fresh]
    owner, found = _content_words(texts, model.info.get("language") or "en")
    place = {word: k for k, word in enumerate(dict.fromkeys(found))}
    number = np.asarray([place[word] for word in found], np.int64)
    (owners, rows), count = np.unique(np.stack([owner, number]), axis=1, return_counts=True)
    contexts = context_table(owners, rows, count, np.bincount(owner, minlength=len(fresh)), least=(0,))
    del contexts["context_mass"]  # all words are kept, so it is the total
    contexts["context_types"] = contexts["context_types"][0]
    vocabulary = word_table(hash_words(list(place)))
    return vocabulary | {"word_background": _background(model, list(place))} | contexts


def _content_words(texts: Iterable[str], language: str) -> tuple[Array, list[str]]:
    """Content words of all texts in a row, and the text of each (all at once: one by one would take long)."""
    texts = [text.replace("\n", " ") for text in texts]
    breaks = np.cumsum([len(text) + 1 for text in texts])
    found = words("\n".join(texts), language)
    owner = np.searchsorted(breaks, [start for start, _, _ in found], side="right")
    return owner.astype(np.int64), [word for _, _, word in found]


def _background(model: Model, vocabulary: list[str]) -> Array:
    at = find_hashes(model["word_hash"], model["word_buckets"], hash_words(vocabulary))
    out = np.full(at.size, RARE, np.float32)
    out[at >= 0] = model["word_background"][model["word_id"][at[at >= 0]]]
    return out
