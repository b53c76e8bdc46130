"""LlamaIndex's own interfaces: transformations in its pipeline, and its property graph store."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "llama_index.core", reason="llama-index-core is not installed (pip install 'pboh[llamaindex]')"
)

from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    ChunkNode,
    EntityNode,
    Relation,
)
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import MetadataMode, TextNode

from pboh.integrations.llamaindex import EntityLinker, EntityMerger, merge_property_graph

DUET = "Freddie Mercury sang with Kate Bush. Mercury wrote the song for Queen."


def test_nodes_are_linked_in_a_pipeline(world_model):
    pipeline = IngestionPipeline(transformations=[EntityLinker(model=str(world_model), threshold=0.0)])
    (node,) = pipeline.run(nodes=[TextNode(text=DUET)])
    found = {one["text"]: one["entity"] for one in node.metadata["entities"]}
    assert found["Freddie Mercury"] == "Freddie Mercury"
    for mode in (MetadataMode.EMBED, MetadataMode.LLM):
        assert "entities" not in node.get_content(mode)


def test_a_transformation_can_be_stored(world_model):
    stored = EntityLinker(model=str(world_model), threshold=0.4).to_dict()
    again = EntityLinker.from_dict(stored)
    assert (again.model, again.threshold) == (str(world_model), 0.4)
    assert len(again([TextNode(text=DUET)])[0].metadata["entities"]) > 0


def extracted(text, *triples):
    names = dict.fromkeys(name for source, _, target in triples for name in (source, target))
    relations = [Relation(label=kind, source_id=source, target_id=target) for source, kind, target in triples]
    metadata = {KG_NODES_KEY: [EntityNode(name=name) for name in names], KG_RELATIONS_KEY: relations}
    return TextNode(text=text, metadata=metadata)


def test_what_extractors_found_is_merged(world_model):
    nodes = [
        extracted(
            "Bayern won.", ("Bayern", "BEAT", "Zorblax Inc."), ("FC Bayern Munich", "BEAT", "Zorblax Inc.")
        ),
        extracted(
            "Zorblax lost.", ("ZORBLAX", "LOST_TO", "FC Bayern Munich"), ("ZORBLAX", "IS", "Zorblax Inc.")
        ),
        TextNode(text="nothing"),
    ]
    one, two, three = EntityMerger(model=str(world_model))(nodes)
    assert [node.name for node in one.metadata[KG_NODES_KEY]] == ["FC Bayern Munich", "Zorblax Inc."]
    assert [(r.source_id, r.label, r.target_id) for r in one.metadata[KG_RELATIONS_KEY]] == [
        ("FC Bayern Munich", "BEAT", "Zorblax Inc.")
    ]
    assert [(r.source_id, r.label, r.target_id) for r in two.metadata[KG_RELATIONS_KEY]] == [
        ("Zorblax Inc.", "LOST_TO", "FC Bayern Munich")
    ]
    assert one.metadata[KG_NODES_KEY][0].properties["names"] == ["Bayern", "FC Bayern Munich"]
    assert three.metadata == {}


@pytest.fixture
def store():
    store = SimplePropertyGraphStore()
    names = ("Bayern", "FC Bayern Munich", "Zorblax Inc.", "ZORBLAX", "Xyzzy", "Plugh")
    store.upsert_nodes(
        [*(EntityNode(name=name, label="ORG") for name in names), ChunkNode(text="…", id_="c1")]
    )
    store.upsert_relations(
        [
            Relation(label="BEAT", source_id="Bayern", target_id="ZORBLAX"),
            Relation(label="BEAT", source_id="FC Bayern Munich", target_id="Zorblax Inc."),
            Relation(label="IS", source_id="Bayern", target_id="FC Bayern Munich"),
            Relation(label="KNOWS", source_id="Xyzzy", target_id="Plugh"),
            Relation(label="KNOWS", source_id="Bayern", target_id="Xyzzy"),
            Relation(label="MENTIONS", source_id="c1", target_id="Bayern"),
        ]
    )
    return store


def test_nodes_of_a_property_graph_are_merged(linker, store):
    groups = merge_property_graph(store, linker)
    assert len(groups) == 4
    assert {node.id for node in store.get()} == {"FC Bayern Munich", "Zorblax Inc.", "Xyzzy", "Plugh", "c1"}
    triplets = store.get_triplets(ids=[node.id for node in store.get()])
    assert {(a.id, r.label, b.id) for a, r, b in triplets} == {
        ("FC Bayern Munich", "BEAT", "Zorblax Inc."),
        ("Xyzzy", "KNOWS", "Plugh"),
        ("FC Bayern Munich", "KNOWS", "Xyzzy"),
        ("c1", "MENTIONS", "FC Bayern Munich"),
    }
    (bayern,) = store.get(ids=["FC Bayern Munich"])
    assert bayern.properties["names"] == ["Bayern", "FC Bayern Munich"] and bayern.label == "ORG"
    assert SimplePropertyGraphStore.from_dict(store.to_dict()).get(ids=["c1"])[0].text == "…"


def test_a_second_time_changes_nothing(linker, store):
    merge_property_graph(store, linker)
    before = store.to_dict()
    merge_property_graph(store, linker)
    after = store.to_dict()
    assert {k: v for k, v in after.items() if k != "nodes"} == {
        k: v for k, v in before.items() if k != "nodes"
    }
    assert set(after["nodes"]) == set(before["nodes"])


def test_an_empty_store(linker):
    assert len(merge_property_graph(SimplePropertyGraphStore(), linker)) == 0
