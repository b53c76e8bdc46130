"""LightRAG's knowledge graph: merged as it is inserted, and as it is stored."""

from __future__ import annotations

import pytest

from pboh.errors import InputError
from pboh.integrations.lightrag import merge_knowledge_graph, merges

GRAPH = {
    "chunks": [{"content": "…", "source_id": "doc-1"}],
    "entities": [
        {"entity_name": "Bayern", "entity_type": "organization", "description": "A football club.",
         "source_id": "c1<SEP>c2", "file_path": "a.txt"},
        {"entity_name": "FC Bayern Munich", "entity_type": "organization", "description": "From Munich.",
         "source_id": "c2<SEP>c3", "file_path": "b.txt"},
        {"entity_name": "Zorblax", "entity_type": "organization", "description": "?", "source_id": "c1"},
    ],
    "relationships": [
        {"src_id": "Bayern", "tgt_id": "Zorblax", "description": "x", "keywords": "money,football",
         "weight": 1.0, "source_id": "c1"},
        {"src_id": "FC Bayern Munich", "tgt_id": "Zorblax", "description": "y", "keywords": "money",
         "weight": 2.0, "source_id": "c3"},
        {"src_id": "Bayern", "tgt_id": "FC Bayern Munich", "description": "z", "keywords": "", "weight": 1.0},
        {"src_id": "Bayern", "tgt_id": "somebody else", "description": "w", "keywords": "", "weight": 1.0},
    ],
}  # fmt: skip


def test_what_is_inserted(linker):
    merged, groups = merge_knowledge_graph(linker, GRAPH)
    assert merged["chunks"] == GRAPH["chunks"] and len(groups) == 2
    assert merged["entities"][0] == {
        "entity_name": "FC Bayern Munich", "entity_type": "organization",
        "description": "A football club.<SEP>From Munich.", "source_id": "c1<SEP>c2<SEP>c3",
        "file_path": "a.txt<SEP>b.txt",
    }  # fmt: skip
    ends = [(r["src_id"], r["tgt_id"], r["weight"]) for r in merged["relationships"]]
    assert ends == [("FC Bayern Munich", "Zorblax", 3.0), ("FC Bayern Munich", "somebody else", 1.0)]
    assert merged["relationships"][0]["keywords"] == "money,football"


def test_what_is_stored(linker):
    assert merges(linker, GRAPH) == [(["Bayern", "FC Bayern Munich"], "FC Bayern Munich")]
    assert merges(linker, {}) == []


@pytest.mark.parametrize(
    ("graph", "what"),
    [
        ({"entities": [{"name": "x"}]}, "entity 0 has no entity_name"),
        ({"entities": ["x"]}, "entity 0 has no entity_name"),
        ({"relationships": [{"src_id": "x"}]}, "relationship 0 has no tgt_id"),
    ],
)
def test_other_graphs_are_one_sentence(linker, graph, what):
    with pytest.raises(InputError, match=what):
        merge_knowledge_graph(linker, graph)
