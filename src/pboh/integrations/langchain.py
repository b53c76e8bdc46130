"""LangChain: a document transformer that links texts, and a step that merges the nodes of graph documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from pboh.canonical.graph import facts
from pboh.errors import MissingExtraError
from pboh.integrations.graphs import Node, merge
from pboh.linker import Linker, load

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError:
    raise MissingExtraError.of("langchain-core", "langchain") from None

T = TypeVar("T")


class EntityLinker(BaseDocumentTransformer):
    """Adds ``metadata["entities"]`` to documents: what every name in the text means.

    ``options`` are those of :meth:`pboh.linker.Linker.link`.
    """

    def __init__(self, linker: Linker | None = None, **options: Any) -> None:
        self.linker = linker or load()
        self.options = options

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Copies of the documents with their entities; their texts are unchanged."""
        linked = []
        for document in documents:
            found = self.linker.link(document.page_content, **self.options)
            entities = [mention.to_dict(candidates=0) for mention in found]
            metadata = {**document.metadata, "entities": entities}
            linked.append(document.model_copy(update={"metadata": metadata}))
        return linked


def merge_graph_documents(
    documents: Sequence[T], linker: Linker | None = None, threshold: float | None = None
) -> list[T]:
    """Graph documents whose nodes of one meaning have one id, across all documents.

    Works with the ``GraphDocument`` of any package, as long as it has ``nodes``, ``relationships`` and
    ``source``. The text of the source is the context of the names. Relationships lead to the merged nodes;
    those within a group, and repeated ones, disappear.
    """
    nodes, edges = list[Node](), list[tuple[Any, Any]]()
    for number, one in enumerate(cast(Sequence[Any], documents)):
        text = one.source.page_content if getattr(one, "source", None) is not None else None
        for node in one.nodes:
            kind = None if node.type == "Node" else node.type
            nodes.append(Node((number, node.id), str(node.id), text, kind))
        edges += [((number, r.source.id), (number, r.target.id)) for r in one.relationships]
    merged = merge(linker or load(), nodes, edges, threshold)

    def moved(number: int, node: Any) -> Any:
        at = merged.rows.get((number, node.id))
        if at is None:
            return node
        group = merged.groups.of(at)
        properties = {**node.properties, **facts(group)}
        kind = group.type if group.type and node.type == "Node" else node.type
        return node.model_copy(update={"id": merged.key(at), "type": kind, "properties": properties})

    return [_moved(one, number, moved) for number, one in enumerate(documents)]


def _moved(document: Any, number: int, moved: Any) -> Any:
    """A graph document with other nodes, each once, and the relationships between them."""
    nodes: dict[Any, Any] = {}
    for old in document.nodes:
        new = moved(number, old)
        nodes.setdefault(new.id, new)
    relations: dict[tuple[Any, ...], Any] = {}
    for old in document.relationships:
        source, target = (moved(number, end) for end in (old.source, old.target))
        if source.id != target.id or old.source.id == old.target.id:
            new = old.model_copy(
                update={"source": nodes.get(source.id, source), "target": nodes.get(target.id, target)}
            )
            relations.setdefault((source.id, old.type, target.id), new)
    update = {"nodes": list(nodes.values()), "relationships": list(relations.values())}
    return document.model_copy(update=update)
