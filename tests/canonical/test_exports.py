"""Graphs for databases: Turtle as rdflib reads it, Cypher and CSV as Neo4j's documentation wants them."""

from __future__ import annotations

import csv
import re

import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.canonical.exports import RELATED, SEPARATOR, to_cypher, to_turtle, write_import_csv
from pboh.canonical.tables import write_groups

NAMES = ["Bayern", "FC Bayern Munich", "Zorblax Inc.", "ZORBLAX", "Quo\"te \\ it's\n`"]
EDGES = [(0, 2), (1, 3), (0, 1), (2, 4, "owns `it`"), (3, 4, "owns `it`")]
DBPEDIA = rdflib.Namespace("http://dbpedia.org/resource/")


@pytest.fixture(scope="module")
def groups(typed_linker):
    return typed_linker.canonical(NAMES)


def parsed(groups, *more):
    return rdflib.Graph().parse(data="\n".join(to_turtle(groups, *more)), format="turtle")


def test_names_are_the_same_as_their_entity(groups):
    graph = parsed(groups, EDGES, list("abcde"))
    bayern, name = DBPEDIA["FC_Bayern_Munich"], rdflib.Namespace("urn:pboh:name/")
    same = set(graph.subject_objects(rdflib.OWL.sameAs))
    assert same == {(name["a"], bayern), (name["b"], bayern), (name["d"], name["c"])}
    assert graph.value(bayern, rdflib.RDFS.label) == rdflib.Literal("FC Bayern Munich")
    assert graph.value(bayern, rdflib.RDF.type) == rdflib.URIRef("http://dbpedia.org/ontology/Organisation")
    assert set(graph.subject_objects(rdflib.SKOS.related)) == {(bayern, name["c"])}
    assert str(graph.value(name["e"], rdflib.RDFS.label)) == " ".join(NAMES[4].split())
    (kind,) = {p for _, p, o in graph if o == name["e"]}
    assert str(kind) == "urn:pboh:relation/owns_%60it%60"


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=5))
def test_any_names_are_turtle(linker, names):
    groups = linker.canonical(names)
    labels = {str(label) for label in parsed(groups).objects(None, rdflib.RDFS.label)}
    assert {group.label for group in groups} <= labels


LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'")


def unquoted(text):
    """A literal of Cypher as its grammar reads it."""
    return re.sub(r"\\(u[0-9A-F]{4}|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "u" else m[1], text)


def test_cypher(groups):
    first, *lines = to_cypher(groups, EDGES)
    assert first.startswith("CREATE CONSTRAINT")
    nodes = [line for line in lines if line.startswith("MERGE (n:Entity")]
    assert len(nodes) == len(groups) == 3
    assert "n.names = ['Bayern', 'FC Bayern Munich']" in nodes[0] and "n.type = 'organisation'" in nodes[0]
    ends = "MATCH (a:Entity {key: 'FC Bayern Munich'}), (b:Entity {key: 'Zorblax Inc.'})"
    assert lines[3] == f"{ends} MERGE (a)-[:`{RELATED}`]->(b);"
    assert lines[4].endswith("MERGE (a)-[:`owns ``it```]->(b);")


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_is_one_line_of_cypher(linker, name):
    _, line = to_cypher(linker.canonical([name]))
    assert len(line.splitlines()) == 1
    rest = LITERAL.sub("?", line)
    told = r"n\.label = \?, (n\.\w+ = \?, )*n\.probability = [\d.]+, n\.names = \[\?\]"
    assert re.fullmatch(rf"MERGE \(n:Entity \{{key: \?\}}\) SET {told};", rest)
    assert unquoted(LITERAL.findall(line)[-1]) == name


def test_csv_for_the_bulk_import(groups, tmp_path):
    write_import_csv(tmp_path, groups, EDGES)
    with (tmp_path / "nodes.csv").open(newline="") as file:
        nodes = list(csv.DictReader(file))
    assert [node["key:ID"] for node in nodes] == [group.label for group in groups]
    assert nodes[0]["names:string[]"].split(SEPARATOR) == ["Bayern", "FC Bayern Munich"]
    assert {node[":LABEL"] for node in nodes} == {"Entity"}
    with (tmp_path / "relationships.csv").open(newline="") as file:
        relations = list(csv.DictReader(file))
    known = {node["key:ID"] for node in nodes}
    assert all({one[":START_ID"], one[":END_ID"]} <= known for one in relations)
    assert [one[":TYPE"] for one in relations] == [RELATED, "owns `it`"]


@pytest.mark.parametrize("kind", ["ttl", "cypher"])
def test_files(groups, tmp_path, kind):
    out = tmp_path / f"out.{kind}"
    write_groups(groups, [], out, edges=EDGES)
    lines = to_turtle(groups, EDGES) if kind == "ttl" else to_cypher(groups, EDGES)
    assert out.read_text() == "".join(f"{line}\n" for line in lines)
