"""Types, descriptions and ids out of DBpedia's and Wikidata's dumps."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError
from pboh.formats.types import TYPES
from pboh.model.importing import LONGEST, add_types, classes, read_facts
from pboh.model.store import open_model, read_manifest, verify
from pboh.model.writing import changing, put_arrays

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DBPEDIA = f"""# started 2026-01-01
<http://dbpedia.org/resource/Paris> <{TYPE}> <http://www.w3.org/2002/07/owl#Thing> .
<http://dbpedia.org/resource/Paris> <{TYPE}> <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/Herta_M%C3%BCller> <{TYPE}> <http://dbpedia.org/ontology/Writer> .
<http://de.dbpedia.org/resource/Ernest_Hemingway> <{TYPE}> <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/Nobody_at_all> <{TYPE}> <http://dbpedia.org/ontology/Person> .
not a triple is skipped in a line that begins like one
""".replace("not a triple", "<not a triple")


def claim(item, rank="normal"):
    return {"mainsnak": {"datavalue": {"value": {"entity-type": "item", "id": item}}}, "rank": rank}


def item(number, title, kinds, description=None, wiki="enwiki"):
    return {
        "type": "item", "id": f"Q{number}",
        "descriptions": {"en": {"language": "en", "value": description}} if description else [],
        "sitelinks": {wiki: {"site": wiki, "title": title}}, "claims": {"P31": kinds},
    }  # fmt: skip


ITEMS = [
    item(90, "Paris", [claim("Q515"), claim("Q5", "deprecated")], "capital  of France"),
    item(7, "Herta Müller", [claim("Q5")], "x" * 60 + " " + "y" * 90),
    item(8, "Ernest Hemingway", [claim("Q5")], wiki="dewiki"),
    item(9, "Borussia Dortmund", [{"mainsnak": {}, "rank": "normal"}, claim("Q476028")]),
]


@pytest.fixture
def model(world_model, tmp_path):
    return shutil.copytree(world_model, tmp_path / "model")


def entity(opened, title):
    return next(e for e in range(opened.entities) if opened.title(e) == title)


def test_types_of_dbpedia(model, tmp_path):
    path = tmp_path / "types.ttl.bz2"
    path.write_bytes(bz2.compress(DBPEDIA.encode()))
    assert add_types(model, [path]) == {
        "entities": open_model(model).entities, "types": 2, "descriptions": 0, "ids": 0,
    }  # fmt: skip
    opened = open_model(model)
    assert opened.facts(entity(opened, "Paris")).type == "place"
    assert opened.facts(entity(opened, "Herta Müller")).type == "person"
    assert opened.facts(entity(opened, "Ernest Hemingway")).type == "unknown"
    assert opened["entity_type_sure"][entity(opened, "Paris")] == 255
    verify(model)


def test_items_of_wikidata_bring_types_descriptions_and_ids(model, tmp_path):
    path = tmp_path / "all.json.gz"
    path.write_bytes(gzip.compress(("[\n" + ",\n".join(map(json.dumps, ITEMS)) + "\n]\n").encode()))
    figures = add_types(model, [path])
    assert (figures["types"], figures["descriptions"], figures["ids"]) == (3, 2, 3)
    opened = open_model(model)
    paris, writer = entity(opened, "Paris"), entity(opened, "Herta Müller")
    assert (opened.facts(paris).type, opened.facts(paris).description, opened.id(paris)) == (
        "place",
        "capital of France",
        "Q90",
    )
    assert (told := opened.facts(writer).description) == "x" * 60 + "…" and len(told) <= LONGEST
    assert opened.facts(entity(opened, "Borussia Dortmund")).type == "organisation"
    more = tmp_path / "more.json"
    more.write_text(json.dumps(item(90, "Paris", [], "city of light")), "utf-8")
    add_types(model, [more])
    opened = open_model(model)
    assert opened.facts(paris).description == "city of light" and opened.facts(paris).type == "place"
    assert opened.facts(writer).description == "x" * 60 + "…"


def test_truthy_triples_are_matched_by_id(model, tmp_path):
    path = tmp_path / "truthy.nt"
    about = "<http://www.wikidata.org/entity/Q90>"
    path.write_text(
        f"{about} <http://www.wikidata.org/prop/direct/P31> <http://www.wikidata.org/entity/Q515> .\n"
        f'{about} <http://schema.org/description> "capitale"@fr .\n'
        f'{about} <http://schema.org/description> "the \\"capital\\" \\u00e9"@en .\n',
        "utf-8",
    )
    with pytest.raises(InputError, match="pboh entities ids"):
        add_types(model, [path])
    opened = open_model(model)
    paris = entity(opened, "Paris")
    ids = np.zeros(opened.entities, np.uint32)
    ids[paris] = 90
    with changing(model):
        put_arrays(model, read_manifest(model), {"entity_id": ids})
    add_types(model, [path])
    opened = open_model(model)
    assert (opened.facts(paris).type, opened.facts(paris).description) == ("place", 'the "capital" é')


def test_a_model_beside_it_stays_as_it_is(model, tmp_path):
    path = tmp_path / "types.nt"
    path.write_text(DBPEDIA, "utf-8")
    add_types(model, [path], out=tmp_path / "mine")
    opened = open_model(tmp_path / "mine")
    assert opened.facts(entity(opened, "Paris")).type == "place"
    assert "entity_type" not in open_model(model)


ITEM, DIRECT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
XSD = "http://www.w3.org/2001/XMLSchema#"
HERTA = {"enwiki": {"site": "enwiki", "title": "Herta Müller", "badges": []}}
NO_VALUE = {"snaktype": "novalue", "property": "P31", "datatype": "wikibase-item"}
PUBLISHED = {
    # instance-types_lang=en_specific.ttl: comments at both ends, IRIs in UTF-8 or escaped, tenures of persons
    "dbpedia.ttl": f"""# started 2022-12-09T05:43:14Z
<http://dbpedia.org/resource/Herta_Müller> <{TYPE}> <http://dbpedia.org/ontology/Writer> .
<http://dbpedia.org/resource/Herta_Müller__Tenure__1> <{TYPE}> <http://dbpedia.org/ontology/PersonFunction> .
<http://dbpedia.org/resource/100%25_(song)> <{TYPE}> <http://dbpedia.org/ontology/Song> .
<http://dbpedia.org/resource/K\\u00F6ln> <{TYPE}> <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/AC/DC> <{TYPE}> <http://dbpedia.org/ontology/Band> .
# completed 2022-12-09T06:01:59Z
""",
    # latest-truthy.nt: nodes without a name, values nobody knows, many languages, all escapes
    "truthy.nt": rf"""
<https://en.wikipedia.org/wiki/Paris> <http://schema.org/about> <{ITEM}Q90> .
<{ITEM}Q90> <{DIRECT}P31> _:genid1 .
_:genid1 <{TYPE}> <http://www.w3.org/2002/07/owl#Restriction> .
<{ITEM}Q90> <{DIRECT}P31> <{ITEM}Q515> .
<{ITEM}Q90> <{DIRECT}P1082> "+2165423"^^<{XSD}decimal> .
<{ITEM}Q90> <http://schema.org/description> "capital city of France"@en-gb .
<{ITEM}Q90> <http://schema.org/description> "a \"city\"\tC:\\U0001F600 \U0001F600\u00e9"@en .
<{ITEM}P31> <http://schema.org/description> "that class of which"@en .
""",
    # latest-all.json: a list with an item a line, tables that are empty lists, values that are missing
    "all.json": "[\n" + ",\n".join(json.dumps(each, ensure_ascii=False) for each in [
        {"type": "item", "id": "Q1", "labels": {}, "descriptions": [], "claims": [], "sitelinks": []},
        {"type": "property", "datatype": "string", "id": "P31", "descriptions": {}, "claims": {}},
        {"type": "item", "id": "Q42", "sitelinks": HERTA,
         "descriptions": {"de": {"language": "de", "value": "Autorin"}}, "lastrevid": 1,
         "claims": {"P31": [
             {"mainsnak": NO_VALUE, "rank": "normal"},
             {"mainsnak": {"snaktype": "somevalue", "property": "P31"}, "rank": "preferred"},
             {"mainsnak": {"snaktype": "value", "property": "P31", "datavalue": {
                 "value": {"entity-type": "item", "numeric-id": 5, "id": "Q5"}, "type": "wikibase-entityid"}},
              "type": "statement", "id": "q42$F078E5B3", "rank": "normal", "references": []}]}},
    ]) + "\n]\n",
}  # fmt: skip
READ = {
    "dbpedia.ttl": [("Herta Müller", 0, "person", ""), ("Herta Müller  Tenure  1", 0, "other", ""),
                    ("100% (song)", 0, "work", ""),
                    ("Köln", 0, "place", ""), ("AC/DC", 0, "organisation", "")],
    "truthy.nt": [(None, 90, "place", ""), (None, 90, "unknown", 'a "city" C:\\U0001F600 😀é')],
    "all.json": [("Herta Müller", 42, "person", "")],
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("streams", [1, 3])
def test_files_as_they_are_published(tmp_path, name, streams):
    """In one stream or, as parallel packers write them, in several."""
    data, path = PUBLISHED[name].encode(), tmp_path / f"{name}.bz2"
    cuts = [len(data) * k // streams for k in range(streams + 1)]
    path.write_bytes(b"".join(bz2.compress(data[start:end]) for start, end in pairwise(cuts)))
    facts = list(read_facts(path, "en"))
    assert [(f.title, f.id, TYPES[f.type], f.description) for f in facts] == READ[name]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_facts(path, "en"))


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\x1f\x8b broken", b"<a> <b> <c> .\n", b"# nothing\n"])
def test_other_files_are_refused(model, tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError):
        add_types(model, [path])
    assert "entity_type" not in open_model(model)


def test_every_class_has_one_type():
    for source in ("dbpedia", "wikidata"):
        assert set(classes(source).values()) == set(range(1, len(TYPES)))
        assert all("/" not in name for name in classes(source))


PIECES = [
    "<http://dbpedia.org/resource/", "Paris", "> <",
    TYPE, '"', "\\", "@en", "{", "}", "\n", '"enwiki":', "[", ",",
    "Q5", '{"id":"Q1","sitelinks":{"enwiki":', " ",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_damaged_lines_are_skipped_or_refused(parts):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_text("".join(parts), "utf-8")
        try:
            facts = list(read_facts(path, "en"))
        except InputError:
            return
        assert all(0 <= fact.type < len(TYPES) for fact in facts)


def test_rdflib_reads_the_same_triples(tmp_path):
    lines = [line for line in DBPEDIA.splitlines() if line.startswith("<http")]
    graph = rdflib.Graph().parse(data="\n".join(lines), format="nt")
    said = {
        (str(s).rpartition("/")[2], str(o).rpartition("/")[2])
        for s, _, o in graph
        if "//dbpedia.org" in str(s)
    }
    known = {(s, classes("dbpedia")[o]) for s, o in said if o in classes("dbpedia")}
    path = tmp_path / "types.nt"
    path.write_text("\n".join(lines), "utf-8")
    facts = {(fact.title.replace(" ", "_"), fact.type) for fact in read_facts(path, "en")}
    assert {title.replace("%C3%BC", "ü") for title, _ in known} == {title for title, _ in facts}
    assert {code for _, code in known} == {code for _, code in facts}
