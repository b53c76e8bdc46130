"""The entities of a model: found by title or redirect, known by number, gathered into sets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pboh.document import Entity, Facts
from pboh.errors import InputError
from pboh.formats.identifiers import wikipedia
from pboh.formats.types import check_types
from pboh.model.names import Layer
from pboh.model.overlays.opening import clean_title, find_titles
from pboh.model.store import Model, shared_model
from pboh.model.types import fact_reader, wanted_codes
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

    def rivals(self, entities: Array) -> Array:
        """Which of some entities a name may mean at all: the same."""
        return self.holds(entities)


class TypedSet:
    """Entities of some types, of all there are or ``among`` those of a set; nothing is gathered for it.

    ``certain``: every mention means one of them. Where that is not known, a name keeps its other meanings as
    rivals: what usually means a country does not become a person because only persons are asked for.
    """

    def __init__(
        self, model: Model, types: Iterable[str], among: EntitySet | None = None, certain: bool = True
    ) -> None:
        self.types, self.among, self.certain = check_types(types), among, certain
        self._model = model
        if not model.has_types:
            raise InputError(
                "the model does not know the types of its entities", where=model.folder,
                todo="Train it anew, or leave out the restriction to types",
            )  # fmt: skip
        self._wanted = wanted_codes(self.types)

    def __repr__(self) -> str:
        among = f" among {self.among!r}" if self.among is not None else ""
        return f"<TypedSet of {', '.join(self.types)}{among}>"

    def holds(self, entities: Array) -> Array:
        """Which of some entities are in the set."""
        found = self._wanted[self._model.type_codes(entities)]
        return np.asarray(found if self.among is None else found & self.among.holds(entities))

    def rivals(self, entities: Array) -> Array:
        """Which of some entities a name may mean at all."""
        if self.certain:
            return self.holds(entities)
        return np.ones(entities.shape, bool) if self.among is None else self.among.holds(entities)


Restriction = EntitySet | TypedSet
"""What answers may be restricted to."""


class ModelFacts:
    """What a model knows about its entities, read when it is shown; pickled as the model's folder."""

    def __init__(self, folder: Path, model: Model | None = None) -> None:
        self._folder, self._model = folder, model
        self._own, self._read = 0, fact_reader({})  # of the model itself, once it has been asked

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelFacts, (self._folder,)

    @property
    def model(self) -> Model:
        """The model, opened if it was not yet."""
        if self._model is None:
            self._model = shared_model(self._folder)
        return self._model

    def facts(self, entity: Entity) -> Facts:
        """What is known about an entity."""
        if entity.index < self._own:  # asked of thousands of entities a second
            return self._read(entity.index)
        if not self._own:
            self._own, self._read = self.model.entities, fact_reader(self.model.arrays)
        return self.model.facts(entity.index)

    def url(self, entity: Entity) -> str | None:
        """The article in the Wikipedia of the model's language; of an added entity, its id if that is one."""
        if entity.index < self.model.entities:
            return wikipedia(entity.title, self.model.info.get("language") or "en")
        return entity.id if entity.id and entity.id.startswith(("https://", "http://")) else None


class Entities:
    """Titles and numbers of a model turned into :class:`Entity` objects."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._facts = ModelFacts(model.folder, model)
        self._known: dict[int, Entity] = {}

    def __getitem__(self, index: int) -> Entity:
        known = self._known.get(index)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            title, id = self.model.title(index), self.model.id(index)
            known = self._known[index] = Entity(title, index, id, self._facts)
        return known

    def some(self, numbers: Iterable[int]) -> list[Entity]:
        """The entities with some numbers."""
        known = self._known
        return [known.get(number) or self[number] for number in numbers]

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
