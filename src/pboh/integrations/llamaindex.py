"""LlamaIndex: a transformation that links nodes, and steps that merge the entities of property graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pboh.canonical.graph import facts
from pboh.canonical.groups import Groups
from pboh.errors import MissingExtraError
from pboh.integrations.graphs import Node, merge
from pboh.linker import Linker, load

try:
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.graph_stores.types import (
        KG_NODES_KEY,
        KG_RELATIONS_KEY,
        EntityNode,
        PropertyGraphStore,
        Relation,
    )
    from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
except ImportError:
    raise MissingExtraError.of("llama-index-core", "llamaindex") from None

AT_A_TIME = 500  # nodes whose triplets are asked for at once


class _WithLinker(TransformComponent):
    """A transformation with a model, which is named by its path so that pipelines can be stored."""

    model: str | None = None
    _linker: Linker | None = PrivateAttr(default=None)

    @property
    def linker(self) -> Linker:
        """The linker of the model, opened when it is first needed."""
        if self._linker is None:
            self._linker = load(self.model)
        return self._linker


class EntityLinker(_WithLinker):
    """Adds ``metadata["entities"]`` to text nodes: what every name in the text means."""

    threshold: float | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name under which pipelines store it."""
        return "PbohEntityLinker"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The nodes themselves, with their entities; neither embeddings nor prompts see them."""
        for node in nodes:
            found = self.linker.link(node.get_content(MetadataMode.NONE), threshold=self.threshold)
            node.metadata["entities"] = [mention.to_dict(candidates=0) for mention in found]
            for excluded in (node.excluded_embed_metadata_keys, node.excluded_llm_metadata_keys):
                if "entities" not in excluded:
                    excluded.append("entities")
        return nodes


class EntityMerger(_WithLinker):
    """Merges what the extractors of a ``PropertyGraphIndex`` found in all nodes; comes after them."""

    threshold: float | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name under which pipelines store it."""
        return "PbohEntityMerger"

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The nodes themselves, with merged entities and relations in their metadata."""
        found: dict[str, tuple[Any, str]] = {}  # a name is one node in the graph, whatever text it is from
        for node in nodes:
            for one in node.metadata.get(KG_NODES_KEY, ()):
                found.setdefault(one.id, (one, node.get_content(MetadataMode.NONE)))
        relations = [r for node in nodes for r in node.metadata.get(KG_RELATIONS_KEY, ())]
        entities, texts = ([pair[k] for pair in found.values()] for k in (0, 1))
        moved = _Moved(entities, relations, texts, self.linker, self.threshold)
        for node in nodes:
            if KG_NODES_KEY in node.metadata:
                node.metadata[KG_NODES_KEY] = _once(map(moved.node, node.metadata[KG_NODES_KEY]))
            if KG_RELATIONS_KEY in node.metadata:
                node.metadata[KG_RELATIONS_KEY] = moved.relations(node.metadata[KG_RELATIONS_KEY])
        return nodes


def merge_property_graph(
    store: PropertyGraphStore, linker: Linker | None = None, threshold: float | None = None
) -> Groups:
    """Merge the entity nodes of a property graph store that mean the same; chunks stay as they are."""
    nodes = [node for node in store.get() if isinstance(node, EntityNode)]
    names = [node.id for node in nodes]
    triplets: dict[tuple[str, str, str], Any] = {}
    for first in range(0, len(names), AT_A_TIME):
        for triplet in store.get_triplets(ids=names[first : first + AT_A_TIME]):
            triplets[triplet[0].id, triplet[1].label, triplet[2].id] = triplet
    relations = [triplet[1] for triplet in triplets.values()]
    moved = _Moved(nodes, relations, [None] * len(nodes), linker or load(), threshold)
    changed = {node.id for node in nodes if moved.node(node).id != node.id or node.id in moved.targets}
    if changed:
        touched = [t for t in triplets.values() if {t[0].id, t[2].id} & changed]
        around = [end for triplet in touched for end in (triplet[0], triplet[2])]
        store.delete(ids=sorted(changed))
        # some stores delete the other ends of relations too
        store.upsert_nodes(_once(map(moved.node, [*(n for n in nodes if n.id in changed), *around])))
        store.upsert_relations(moved.relations(triplet[1] for triplet in touched))
    return moved.groups


class _Moved:
    """Entities and relations, moved to the nodes of their groups."""

    def __init__(
        self, nodes: Sequence[Any], relations: Sequence[Any], contexts: Sequence[str | None], linker: Linker,
        threshold: float | None,
    ) -> None:  # fmt: skip
        given = []
        for node, context in zip(nodes, contexts, strict=True):
            name = node.name if isinstance(node, EntityNode) else node.id
            kind = None if node.label in ("entity", "node") else node.label
            given.append(Node(node.id, name, context, kind))
        merged = merge(linker, given, ((r.source_id, r.target_id) for r in relations), threshold)
        self.groups = merged.groups
        self._new = {node.id: node for node in nodes}
        for node in nodes:
            if isinstance(node, EntityNode):
                properties = {**node.properties, **facts(self.groups.of(merged.rows[node.id]))}
                new = {"name": merged.name(node.id), "properties": properties}
                self._new[node.id] = node.model_copy(update=new)
        # nodes that others are merged into
        self.targets = {new.id for old, new in self._new.items() if old != new.id}

    def node(self, node: Any) -> Any:
        """The node that another one became."""
        return self._new.get(node.id, node)

    def relations(self, relations: Iterable[Relation]) -> list[Relation]:
        """Relations between the new nodes, each once; those within a group are gone."""
        found: dict[tuple[str, str, str], Relation] = {}
        for old in relations:
            ends = (old.source_id, old.target_id)
            source, target = (self._new[end].id if end in self._new else end for end in ends)
            if source != target or old.source_id == old.target_id:
                new = old.model_copy(update={"source_id": source, "target_id": target})
                found.setdefault((source, old.label, target), new)
        return list(found.values())


def _once(nodes: Iterable[Any]) -> list[Any]:
    """Nodes, of those with one id the first."""
    found: dict[str, Any] = {}
    for node in nodes:
        found.setdefault(node.id, node)
    return list(found.values())
