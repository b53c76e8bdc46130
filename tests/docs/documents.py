"""The documents that pages take for granted: a text, rows to annotate, and gold of the small world."""

from __future__ import annotations

import json
from pathlib import Path

WORLD = Path(__file__).parents[1] / "data"
TTL = ("gold", "kore50", "kore50-nif", "dbpedia-spotlight-nif", "RSS-500", "Reuters-128")
CONTEXT = """<http://example.org/{id}#char=0,{length}> a nif:Context, nif:RFC5147String ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ; nif:endIndex "{length}"^^xsd:nonNegativeInteger ;
    nif:isString {text} .
"""
PHRASE = """<http://example.org/{id}#char={start},{end}> a nif:Phrase, nif:RFC5147String ;
    nif:anchorOf {text} ; nif:referenceContext <http://example.org/{id}#char=0,{length}> ;
    nif:beginIndex "{start}"^^xsd:nonNegativeInteger ; nif:endIndex "{end}"^^xsd:nonNegativeInteger ;
    itsrdf:taIdentRef <http://dbpedia.org/resource/{entity}> .
"""
PREFIXES = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def write_documents(folder: Path) -> list[dict]:
    """Write the files that pages name; returns the documents with their answers."""
    documents = [json.loads(line) for line in (WORLD / "world.jsonl").read_text().splitlines()]
    (folder / "article.txt").write_text(documents[0]["text"] + "\n")
    (folder / "documents.jsonl").write_text("".join(json.dumps(given(one)) + "\n" for one in documents))
    for name in TTL:
        (folder / f"{name}.ttl").write_text(turtle(retold(documents)))
    return documents


def given(document: dict) -> dict:
    """A document without its answers."""
    return document | {"mentions": [{"start": m["start"], "end": m["end"]} for m in document["mentions"]]}


def retold(documents: list[dict]) -> list[dict]:
    """The same stories in other texts: a model must not be judged by the documents it was tuned on."""
    return [one | {"text": one["text"] + " Nobody doubted it."} for one in documents]


def turtle(documents: list[dict]) -> str:
    """Documents as NIF, the format of the published gold standards."""
    parts = [PREFIXES]
    for one in documents:
        common = {"id": one["id"], "length": len(one["text"])}
        parts.append(CONTEXT.format(text=json.dumps(one["text"], ensure_ascii=False), **common))
        for mention in one["mentions"]:
            text = json.dumps(one["text"][mention["start"] : mention["end"]], ensure_ascii=False)
            entity = (mention["gold"] or "").replace(" ", "_")
            fields = {"start": mention["start"], "end": mention["end"], "text": text, "entity": entity}
            parts.append(PHRASE.format(**fields, **common))
    return "\n".join(parts)
