"""LangChain's own interfaces: a transformer of documents, and its graph documents."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip(
    "langchain_core", reason="langchain-core is not installed (pip install 'pboh[langchain]')"
)

from langchain_core.documents import BaseDocumentTransformer, Document

from pboh.integrations.langchain import EntityLinker, merge_graph_documents

DUET = "Freddie Mercury sang with Kate Bush. Mercury wrote the song for Queen."
ORBIT = "A probe of NASA photographed craters on Mercury near the Sun and Venus."


def test_documents_are_linked(linker):
    transformer = EntityLinker(linker, threshold=0.0)
    assert isinstance(transformer, BaseDocumentTransformer)
    given = [Document(page_content=DUET, metadata={"source": "a"}), Document(page_content="")]
    for linked in (
        transformer.transform_documents(given),
        asyncio.run(transformer.atransform_documents(given)),
    ):
        assert linked[0].metadata["source"] == "a" and linked[0].page_content == DUET
        found = {one["text"]: one["entity"] for one in linked[0].metadata["entities"]}
        assert found["Freddie Mercury"] == "Freddie Mercury"
        assert linked[1].metadata["entities"] == []
    assert given[0].metadata == {"source": "a"}


@pytest.fixture
def graph_documents():
    return pytest.importorskip(
        "langchain_community.graphs.graph_document", reason="langchain-community is not installed"
    )


def made(documents, text, *triples):
    nodes = {name: documents.Node(id=name) for source, _, target in triples for name in (source, target)}
    relations = [
        documents.Relationship(source=nodes[source], target=nodes[target], type=kind)
        for source, kind, target in triples
    ]
    return documents.GraphDocument(
        nodes=list(nodes.values()), relationships=relations, source=Document(page_content=text)
    )


def test_nodes_of_graph_documents_are_merged_across_documents(linker, graph_documents):
    duet = made(
        graph_documents, DUET, ("Freddie Mercury", "SANG_WITH", "Kate Bush"),
        ("Mercury", "SANG_WITH", "Kate Bush"), ("Mercury", "IS", "Freddie Mercury"),
        ("Mercury", "MEMBER", "Queen"),
    )  # fmt: skip
    orbit = made(graph_documents, ORBIT, ("Mercury", "NEAR", "Sun"))
    one, two = merge_graph_documents([duet, orbit], linker)
    assert type(one) is graph_documents.GraphDocument
    assert [node.id for node in one.nodes] == ["Freddie Mercury", "Kate Bush", "Queen (band)"]
    triples = [(r.source.id, r.type, r.target.id) for r in one.relationships]
    assert triples == [
        ("Freddie Mercury", "SANG_WITH", "Kate Bush"), ("Freddie Mercury", "MEMBER", "Queen (band)"),
    ]  # fmt: skip
    assert set(one.nodes[0].properties["names"]) == {"Freddie Mercury", "Mercury"}
    assert [node.id for node in two.nodes] == ["Mercury (planet)", "Sun"]
    assert duet.nodes[0].properties == {}


def test_ids_that_are_numbers_and_loops(linker, graph_documents):
    node = graph_documents.Node(id=7, type="Room")
    loop = graph_documents.Relationship(source=node, target=node, type="IN")
    given = graph_documents.GraphDocument(
        nodes=[node], relationships=[loop], source=Document(page_content="")
    )
    (merged,) = merge_graph_documents([given], linker)
    assert [(n.id, n.type) for n in merged.nodes] == [("7", "Room")]
    assert len(merged.relationships) == 1
    assert merge_graph_documents([], linker) == []
