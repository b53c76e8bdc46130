"""A model as spaCy's KnowledgeBase: our names, priors and context counts under spaCy's own entity linker."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
import numpy as np
from spacy.kb import Candidate, KnowledgeBase
from spacy.tokens import Span
from spacy.vocab import Vocab

from pboh.errors import InputError
from pboh.integrations.projection_kernels import project
from pboh.integrations.spacy import StoredAsBytes, warn_of_another_model
from pboh.integrations.spacy_answers import open_linker
from pboh.model.overlays.opening import Overlay
from pboh.model.store import Model, fingerprint

Array = np.ndarray[Any, Any]
VECTORS_KEPT = 200_000  # entities whose vectors stay in memory


class EntityVectors:
    """Unit vectors of entities: word profiles log(1 + N(w,e)) · max(0, log p(w|e)/p(w)), projected.

    The words are those around links to an entity. An entity without words gets a direction of its own, which
    is as good as at a right angle to every other.
    """

    def __init__(self, model: Model, length: int) -> None:
        self.model, self.length = model, length
        self._known: dict[int, Array] = {}
        self._keys = {part.first: _word_keys(part) for part in model.overlays} | {0: _word_keys(model)}

    def __getitem__(self, entity: int) -> Array:
        known = self._known.get(entity)
        if known is None:
            if len(self._known) >= VECTORS_KEPT:
                self._known.clear()
            known = self._known[entity] = self._vector(entity)
        return known

    def _vector(self, entity: int) -> Array:
        added = entity >= self.model.entities
        first = self.model.overlay(entity).first if added else 0
        tables = self.model.overlay(entity).arrays if added else self.model.arrays
        out = np.zeros(self.length, np.float64)
        project(*self._profile(tables, entity - first, self._keys[first]), out)
        if not out.any():
            project(np.asarray([entity], np.uint64), np.ones(1), out)
        return (out / np.linalg.norm(out)).astype(np.float32)

    def _profile(self, tables: dict[str, Array], row: int, keys: Array) -> tuple[Array, Array]:
        """Words of one entity and their weights."""
        rows = slice(*tables["context_offsets"][row : row + 2].tolist())
        words, counts = tables["context_word"][rows], tables["context_count"][rows].astype(np.float64)
        share = counts / max(float(tables["context_total"][row]), 1.0)
        weight = np.log1p(counts) * np.maximum(np.log(share / tables["word_background"][words]), 0.0)
        return keys[words], weight


def _word_keys(tables: Model | Overlay) -> Array:
    """Hash of every word by its number: overlays number words anew, and hashes are the same everywhere."""
    keys = np.zeros(tables["word_background"].size, np.uint64)
    keys[tables["word_id"]] = tables["word_hash"]
    return keys


class PbohKnowledgeBase(StoredAsBytes, KnowledgeBase):  # type: ignore[misc]
    """Names, candidates with p(e|m), and entity vectors of a model; entities are called by their titles.

    It reads the mapped model and copies nothing, so that a full Wikipedia costs no more than what is used.
    """

    def __init__(
        self,
        vocab: Vocab,
        entity_vector_length: int = 64,
        *,
        model: str | None = None,
        candidates: int = 10,
        settings: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(vocab, entity_vector_length)
        self._open({"model": model, "candidates": candidates, "settings": settings or {}})

    def _open(self, options: dict[str, Any]) -> None:
        self.options = options
        # spaCy asks mention by mention, so longer names of the same document have no say here
        settings = {**options["settings"], "coreference": 0.0, "top": options["candidates"]}
        self.linker = open_linker(options["model"], settings)
        self._vectors = EntityVectors(self.linker.model, self.entity_vector_length)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(PbohKnowledgeBase, **self.options), (self.vocab, self.entity_vector_length)

    def __len__(self) -> int:
        model = self.linker.model
        return model.entities + sum(overlay.size for overlay in model.overlays)

    def is_empty(self) -> bool:
        """Whether there is no entity at all."""
        return len(self) == 0

    def get_size_entities(self) -> int:
        """How many entities there are."""
        return len(self)

    def contains_entity(self, entity: str) -> bool:
        """Whether a title (or redirect) is known."""
        return self.linker.entity(entity) is not None

    def contains_alias(self, alias: str) -> bool:
        """Whether a name has candidates."""
        return bool(self.get_alias_candidates(alias))

    def get_candidates(self, mention: Span) -> list[Candidate]:
        """Candidates of a mention, most probable first."""
        return self.get_alias_candidates(mention.text)

    def get_candidates_batch(self, mentions: Iterable[Span]) -> list[list[Candidate]]:
        """Candidates of several mentions, looked up together."""
        return self._candidates([mention.text for mention in mentions])

    def get_alias_candidates(self, alias: str) -> list[Candidate]:
        """Candidates of a name, most probable first."""
        return self._candidates([alias])[0]

    def get_prior_prob(self, entity: str, alias: str) -> float:
        """p(e|m), 0 for an unknown pair."""
        title = self.linker.resolve(entity)
        return next(
            (float(c.prior_prob) for c in self.get_alias_candidates(alias) if c.entity_ == title), 0.0
        )

    def _candidates(self, names: list[str]) -> list[list[Candidate]]:
        entity, prior, size = self.linker.engine.candidates.find(names)
        rows = zip(names, entity.tolist(), prior.tolist(), size.tolist(), strict=True)
        return [
            [self._candidate(name, e, p) for e, p in zip(entities[:n], priors[:n], strict=True)]
            for name, entities, priors, n in rows
        ]

    def _candidate(self, name: str, entity: int, prior: float) -> Candidate:
        strings = self.vocab.strings
        return Candidate(
            kb=self,
            entity_hash=strings.add(self.linker.engine.entities[entity].title),
            entity_freq=float(self.linker.model.links(entity)),
            entity_vector=self._vectors[entity].tolist(),
            alias_hash=strings.add(name),
            prior_prob=prior,
        )

    def get_vector(self, entity: str) -> Array:
        """Vector of a title; zeros for an unknown one, as in spaCy's own knowledge base."""
        known = self.linker.entity(entity)
        return self._vectors[known.index] if known else np.zeros(self.entity_vector_length, np.float32)

    def get_vectors(self, entities: Iterable[str]) -> list[Array]:
        """Vectors of several titles."""
        return [self.get_vector(entity) for entity in entities]

    def to_bytes(self, **_: Any) -> bytes:
        """Options and a reference to the model; the model itself stays where it is."""
        stored = {
            **self.options,
            "sha256": fingerprint(self.linker.model.folder),
            "entity_vector_length": self.entity_vector_length,
        }
        return msgspec.json.encode(stored)

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> PbohKnowledgeBase:
        """Check what was stored; a model or options this one was made with go before the stored ones."""
        try:
            stored = msgspec.json.decode(bytes_data, type=dict[str, Any])
            length = int(stored["entity_vector_length"])
        except (msgspec.DecodeError, KeyError, ValueError):
            raise InputError("this is not a knowledge base saved by pboh") from None
        if length != self.entity_vector_length:
            raise InputError(
                f"the stored knowledge base has vectors of {length} numbers, this one of"
                f" {self.entity_vector_length}",
                todo=f"Set entity_vector_length = {length}",
            )
        if self.options["model"] is None and stored["model"] is not None:
            self._open({name: stored[name] for name in ("model", "candidates", "settings")})
        warn_of_another_model(self.linker, stored)
        return self
