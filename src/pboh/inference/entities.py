"""The entities of a model: found by title or redirect, known by number, gathered into sets."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pboh.document import Entity
from pboh.model.names import Layer
from pboh.model.overlays.opening import clean_title, find_titles
from pboh.model.store import Model
from pboh.text.folding import fold
from pboh.text.hashing import Array, look_up

REMEMBERED = 50_000  # kept as objects, because documents of one stream share most of them


class EntitySet:
    """Entities that answers are restricted to: made once, used for many documents."""

    def __init__(self, entities: Iterable[int], unknown: Iterable[str] = ()) -> None:
        self.entities = np.unique(np.fromiter(entities, np.int64))
        self.unknown = tuple(unknown)  # titles the model does not know

    def __len__(self) -> int:
        return int(self.entities.size)

    def __repr__(self) -> str:
        unknown = f", {len(self.unknown):,} unknown titles" if self.unknown else ""
        return f"<EntitySet of {len(self):,} entities{unknown}>"

    def holds(self, entities: Array) -> Array:
        """Which of some entities are in the set."""
        if not self.entities.size:
            return np.zeros(entities.shape, bool)
        at = np.minimum(np.searchsorted(self.entities, entities), self.entities.size - 1)
        return np.asarray(self.entities[at] == entities)


class Entities:
    """Titles and numbers of a model turned into :class:`Entity` objects."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._known: dict[int, Entity] = {}

    def __getitem__(self, index: int) -> Entity:
        known = self._known.get(index)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[index] = Entity(self.model.title(index), index, self.model.id(index))
        return known

    def find(self, title: str) -> Entity | None:
        """The entity of a title or redirect; see :meth:`pboh.linker.Linker.entity`."""
        model, title = self.model, clean_title(title)
        exactly = int(find_titles(model, [title])[0])
        if exactly >= 0:
            return self[exactly]
        at = int(look_up(model["name_hash"], model["name_buckets"], [fold(title)])[0])
        rows = slice(*model["name_offsets"][at : at + 2].tolist()) if at >= 0 else slice(0, 0)
        twins = model["name_entity"][rows][model["name_layer"][rows] == Layer.TITLE]
        return self[int(twins[0])] if twins.size else None

    def only(self, entities: EntitySet | Iterable[str | Entity]) -> EntitySet:
        """A set of these entities; titles the model does not know are the set's ``unknown``."""
        if isinstance(entities, EntitySet):
            return entities
        asked = list(entities)
        titles = ["" if isinstance(given, Entity) else clean_title(given) for given in asked]
        known, unknown = [], []
        for given, at in zip(asked, find_titles(self.model, titles).tolist(), strict=True):
            entity = given if isinstance(given, Entity) else None
            if at < 0 and entity is None:
                entity = self.find(str(given))  # it may be written in another way
            if at < 0 and entity is None:
                unknown.append(str(given))
            else:
                known.append(entity.index if entity else at)
        return EntitySet(known, unknown)
