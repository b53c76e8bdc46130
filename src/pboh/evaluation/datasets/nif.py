"""NIF Turtle (KORE50, DBpedia Spotlight, N3, OKE …): contexts, phrases in them, and what the phrases mean.

Properties are known by their local name, so NIF 1.0, 2.0 and 2.1 read alike; offsets come from ``beginIndex``
and ``endIndex`` or, where these are missing, from the phrase's URI (``#char=3,8`` and ``#offset_3_8``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, GoldDocument, Problem, build_document, read_text
from pboh.formats.identifiers import is_opaque, title_of
from pboh.formats.turtle import IRI, Literal, Term, TurtleError, parse_turtle

_TEXT = ("isString", "sourceString")
_CONTEXT = ("referenceContext", "subString", "sourceFragment")
_MEANS = ("taIdentRef", "oen", "means")
_SAME = ("sameAs", "exactMatch")
_READ = frozenset((*_TEXT, *_CONTEXT, *_MEANS, *_SAME, "anchorOf", "beginIndex", "endIndex"))
_OFFSETS = re.compile(r"(?:char=|offset_)(\d+)[,_](\d+)")

Properties = dict[str, list[Term]]
Graph = dict[str, Properties]


def read_nif(path: Path, problems: list[Problem]) -> list[GoldDocument]:
    """The documents of a NIF file, one per context that has a text."""
    try:
        graph = nif_graph(read_text(path, problems))
    except TurtleError as reason:
        raise InputError(reason.what, where=f"{path}, {reason.where}") from None
    documents = nif_documents(graph, problems)
    if not documents:
        raise InputError("the file has no nif:Context with a nif:isString", where=path)
    return documents


def nif_graph(text: str) -> Graph:
    """The properties NIF needs, by subject and local name, in file order."""
    graph: Graph = defaultdict(lambda: defaultdict(list))
    for subject, predicate, value in parse_turtle(text):
        name = re.split(r"[#/]", predicate)[-1]
        if name in _READ:
            graph[subject][name].append(value)
    return graph


def nif_documents(graph: Graph, problems: list[Problem]) -> list[GoldDocument]:
    """The documents of a graph, each with its phrases."""
    texts = {subject: _first(properties, _TEXT) for subject, properties in graph.items()}
    contexts = {subject: str(text) for subject, text in texts.items() if isinstance(text, Literal)}
    phrases: dict[str, list[Annotation]] = {subject: [] for subject in contexts}
    for subject, properties in graph.items():
        context = _first(properties, _CONTEXT)
        if context is None or str(context) == subject or _first(properties, _MEANS) is None:
            continue  # a sentence, a context, or a phrase nobody linked
        annotation = _annotation(graph, subject, problems)
        if annotation is None:
            problems.append(Problem("lost", subject, "the phrase has no offsets"))
        elif str(context) not in contexts:
            problems.append(Problem("lost", subject, f"its context {context} has no text"))
        else:
            phrases[str(context)].append(annotation)
    return [build_document(id, text, phrases[id], problems, id) for id, text in contexts.items()]


def _first(properties: Properties, names: tuple[str, ...]) -> Term | None:
    return next((properties[name][0] for name in names if name in properties), None)


def _annotation(graph: Graph, subject: str, problems: list[Problem]) -> Annotation | None:
    """The span, surface form and titles of one phrase; None without offsets."""
    properties = graph[subject]
    begin, end = _first(properties, ("beginIndex",)), _first(properties, ("endIndex",))
    written = _OFFSETS.findall(subject)
    try:
        start, stop = (int(str(begin)), int(str(end))) if begin and end else map(int, written[-1])
    except (ValueError, IndexError):
        return None
    uris = _meanings(graph, properties)
    titles = tuple(dict.fromkeys(title for title in map(title_of, uris) if title))
    if not titles and any(map(is_opaque, uris)):
        problems.append(Problem("unmapped", subject, f"{uris[0]} has no title; counted as NIL"))
    surface = _first(properties, ("anchorOf",))
    return Annotation(start, stop, None if surface is None else str(surface), titles, next(iter(uris), None))


def _meanings(graph: Graph, properties: Properties) -> list[str]:
    """The identifiers of a phrase: what it points to and, from there, everything said to be the same."""
    uris = [str(value) for name in _MEANS for value in properties.get(name, ())]
    seen = dict.fromkeys(uris)
    while uris:
        node = graph.get(uris.pop(), {})
        found = [str(value) for name in _SAME for value in node.get(name, ()) if isinstance(value, IRI)]
        uris.extend(uri for uri in found if uri not in seen)
        seen.update(dict.fromkeys(found))
    return list(seen)
