"""The folder in which the pages of the documentation are followed: a small model and the files pages name."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import Reader, reading

from pboh.cli import program

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


@pytest.fixture(scope="session")
def prepared(
    world_corpus: Path, world_counts: Path, world_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the pages take for granted, made once: dumps, tables, a model, texts and gold standards."""
    folder = tmp_path_factory.mktemp("prepared")
    for name, source in (("corpus", world_corpus), ("counts", world_counts), ("model", world_model)):
        shutil.copytree(source, folder / name)
    for name in ("old-model", "new-model"):
        shutil.copytree(world_model, folder / name)
    shutil.copy(WORLD / "world.xml", folder / "world.xml")
    documents = [json.loads(line) for line in (WORLD / "world.jsonl").read_text().splitlines()]
    (folder / "article.txt").write_text(documents[0]["text"] + "\n")
    (folder / "documents.jsonl").write_text("".join(json.dumps(given(one)) + "\n" for one in documents))
    for name in TTL:
        (folder / f"{name}.ttl").write_text(turtle(retold(documents)))
    shutil.copy(WORLD.parent / "evaluation" / "data" / "aida.tsv", folder / "AIDA-YAGO2-dataset.tsv")
    with gzip.open(folder / "validation.jsonl.gz", "wt") as file:
        for i in range(170):
            file.write(json.dumps(documents[i % len(documents)] | {"id": str(i)}) + "\n")
    return folder


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


@pytest.fixture
def reader(prepared: Path, tmp_path: Path) -> Iterator[Reader]:
    """Somebody who follows one page in a copy of the prepared folder."""
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    environment = dict(os.environ) | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }
    with reading(folder, environment) as one:
        yield one


@pytest.fixture(scope="session")
def commands() -> dict[str, Any]:
    """Every command of the program with its parameters."""
    return dict(program().commands)
