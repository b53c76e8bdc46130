"""The table of types: names of others lead back to ours, wrong names are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from pboh.errors import InputError
from pboh.formats.types import (
    BY_NAME,
    DBPEDIA_ONTOLOGY,
    SCHEMA_ORG,
    TABLE,
    THING,
    TYPES,
    check_types,
    of_class,
)


def test_codes_stay_what_they_are():
    assert TYPES == (
        "unknown", "person", "organisation", "place", "work", "event", "product", "species", "other",
    )  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=TYPES)
def test_names_of_others_lead_back(row):
    for name in row.dbpedia:
        assert of_class(f"DBpedia:{name}") == of_class(DBPEDIA_ONTOLOGY + name) == row.name
    for name in row.schema:
        assert of_class(f"Schema:{name}") == of_class(SCHEMA_ORG + name) == row.name
        assert of_class(f"https://schema.org/{name}") == row.name


def test_every_type_has_a_class():
    assert BY_NAME["person"].uri == "http://dbpedia.org/ontology/Person"
    assert BY_NAME["product"].uri == "http://schema.org/Product"
    assert BY_NAME["unknown"].uri == THING
    assert of_class(THING) == of_class("owl:Thing") == "other"
    assert of_class("DBpedia:SoccerPlayer") is None and of_class("Person") is None


def test_wrong_names_are_refused_with_the_right_ones():
    assert check_types(["person", "place", "person"]) == ("person", "place")
    assert check_types("person") == ("person",)
    with pytest.raises(InputError, match=r"'persons' is not a type.* person, organisation, place"):
        check_types(["place", "persons"])


def test_the_reference_shows_the_table():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "types.md").read_text("utf-8")
    for row in TABLE:
        conll = () if row.name == "unknown" else (row.conll,)
        names = (
            ", ".join(f"`{name}`" for name in found) or "–"
            for found in (row.spacy, row.dbpedia, row.schema, conll)
        )
        assert " | ".join([f"| `{row.name}` | {row.meaning}", *names]) + " |" in page
