"""The types of entities, and how others name them: spaCy's labels, DBpedia's and schema.org's classes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pboh.errors import InputError

DBPEDIA_ONTOLOGY = "http://dbpedia.org/ontology/"
SCHEMA_ORG = "http://schema.org/"
THING = "http://www.w3.org/2002/07/owl#Thing"


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type: its name, what belongs to it, and the names others have for it.

    Of several names of others the first is the one we write; all of them are read. Others may have none.
    """

    name: str
    meaning: str
    spacy: tuple[str, ...] = ()
    dbpedia: tuple[str, ...] = ()
    schema: tuple[str, ...] = ()
    conll: str = "MISC"  # in CoNLL-2003 and what follows it: REL, WikiNER, spaCy's smaller languages

    @property
    def classes(self) -> tuple[str, ...]:
        """Its classes as DBpedia Spotlight writes them."""
        known = (("Schema", self.schema), ("DBpedia", self.dbpedia))
        return tuple(f"{prefix}:{names[0]}" for prefix, names in known if names)

    @property
    def uri(self) -> str:
        """The class for linked data: DBpedia's, else schema.org's, else that of all things."""
        if self.dbpedia:
            return DBPEDIA_ONTOLOGY + self.dbpedia[0]
        return SCHEMA_ORG + self.schema[0] if self.schema else THING


# The place of a type in this table is its code in models: add new ones at the end.
TABLE = (
    EntityType("unknown", "nothing is known about it"),
    EntityType(
        "person", "a human being, real or fictional, a god or another figure of myths",
        spacy=("PERSON", "PER"), dbpedia=("Person",), schema=("Person",), conll="PER",
    ),
    EntityType(
        "organisation", "a company, party, club, band, school, authority, army, family",
        spacy=("ORG", "NORP"), dbpedia=("Organisation",), schema=("Organization",), conll="ORG",
    ),
    EntityType(
        "place", "a country, town, river, mountain, building, planet",
        spacy=("GPE", "LOC", "FAC"), dbpedia=("Place", "Location"), schema=("Place",), conll="LOC",
    ),
    EntityType(
        "work", "a book, film, song, album, newspaper, programme, law, work of art",
        spacy=("WORK_OF_ART", "LAW"), dbpedia=("Work",), schema=("CreativeWork",),
    ),
    EntityType(
        "event", "a war, election, tournament, season, disaster, festival",
        spacy=("EVENT",), dbpedia=("Event", "SocietalEvent"), schema=("Event",),
    ),
    EntityType(
        "product", "a vehicle, ship, weapon, device, instrument, drug, food, brand",
        spacy=("PRODUCT",), schema=("Product",),  # DBpedia has a class for each kind of product only
    ),
    EntityType(
        "species", "a species or another group of living things",
        dbpedia=("Species",), schema=("Taxon",),
    ),
    EntityType(
        "other", "a concept, language, people, disease, substance, award, office, or anything else",
        schema=("Thing",),
    ),
)  # fmt: skip
TYPES = tuple(row.name for row in TABLE)
"""Names of the types; the place of each is its code."""
BY_NAME = {row.name: row for row in TABLE}

_READ = {
    "dbpedia": {name: row.name for row in TABLE for name in row.dbpedia},
    "schema": {name: row.name for row in TABLE for name in row.schema},
}


def check_types(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once; raises for one that is not a type, and for a single string."""
    given = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in given:
        if name not in BY_NAME:
            raise InputError(f"{name[:40]!r} is not a type of entities", todo=f"There are {', '.join(TYPES)}")
    return given


def of_class(name: str) -> str | None:
    """The type that a class means: ``DBpedia:Person``, ``Schema:Person``, or an address of either."""
    for prefix, read in _PREFIXES:
        if name.casefold().startswith(prefix):
            return _READ[read].get(name[len(prefix) :])
    return "other" if name in (THING, "owl:Thing") else None


_PREFIXES = (
    ("dbpedia:", "dbpedia"),
    ("dbo:", "dbpedia"),
    (DBPEDIA_ONTOLOGY, "dbpedia"),
    ("schema:", "schema"),
    (SCHEMA_ORG, "schema"),
    ("https://schema.org/", "schema"),
)
