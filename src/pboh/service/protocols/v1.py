"""The service's own JSON under `/v1`: link, disambiguate, batch, graph, explain, and look-ups."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

import pboh
from pboh.detection.decision import Decision
from pboh.document import Document, Entity
from pboh.errors import PbohError
from pboh.formats.types import TYPES
from pboh.service.address import JSON, Address, parameter
from pboh.service.call import Call
from pboh.service.errors import RequestError, status_of, too_many
from pboh.service.protocols import v1_schemas as schemas
from pboh.service.protocols.graph import graph

_PUBLIC = ("pboh", "created", "corpus", "totals", "licence", "note")
_OF_CORPUS = ("wiki", "language", "date")


# -- documents ------------------------------------------------------------------------------------------


def link(call: Call) -> Any:
    """Find the mentions of a text and resolve them together."""
    given = call.json(schemas.LinkRequest)
    found = call.resolve(
        given.text, threshold=given.threshold, mentions=given.find, nil=given.nil, types=given.types
    )
    return found.to_dict(given.candidates)


def disambiguate(call: Call) -> Any:
    """Resolve given mentions together. A mention with an entity is clamped to it."""
    given = call.json(schemas.DisambiguateRequest)
    return _resolved(call, given, given.overlapping, types=given.types).to_dict(given.candidates)


def batch(call: Call) -> Any:
    """Resolve several documents; one that cannot be answered does not stop the others."""
    given = call.json(schemas.BatchRequest)
    if len(given.documents) > call.limits.documents:
        raise too_many(len(given.documents), "documents", call.limits.documents)
    call.check_types(given.types)
    call.check_total(sum(len(document.mentions or ()) for document in given.documents))
    return {"documents": [_one(call, document, given) for document in given.documents]}


def _one(call: Call, document: schemas.BatchDocument, given: schemas.BatchRequest) -> dict[str, Any]:
    """One document of a batch, or its error."""
    try:
        asked = {"mentions": given.find, "nil": given.nil, "types": given.types}
        resolved = _resolved(call, document, given.overlapping, **asked)
    except PbohError as error:
        call.check_total(call.mentions)
        if status_of(error) >= 500:  # nothing that this document can help
            raise
        return {"error": str(error)}
    return {**resolved.to_dict(given.candidates), "id": document.id}


def factor_graph(call: Call) -> Any:
    """The document's factor graph and the beliefs of every round: what the page draws."""
    document = _drawn(call, call.json(schemas.GraphRequest))
    if len(document) > call.limits.mentions:
        raise too_many(len(document), "mentions", call.limits.mentions)
    return graph(document)


def explain(call: Call) -> Any:
    """The terms of the score of every candidate of one mention."""
    given = call.json(schemas.ExplainRequest)
    document = _drawn(call, given)
    if given.mention >= len(document):
        raise RequestError(422, f"there is no mention {given.mention}: the document has {len(document)}")
    mention = document.mentions[given.mention]
    explained = (mention.explain(candidate.entity) for candidate in mention.candidates)
    return {"explanations": [{**e.to_dict(), "url": e.entity.url} for e in explained if e is not None]}


def _drawn(call: Call, given: schemas.GraphRequest) -> Document:
    """The document that is drawn or explained: the one that linking or disambiguating answers."""
    asked = {"threshold": given.threshold, "mentions": given.find, "types": given.types}
    return _resolved(call, given, given.overlapping, **asked)


def _resolved(call: Call, given: Any, overlapping: bool, **options: Any) -> Document:
    """A document with the given mentions, or with those that are found."""
    spans = None if given.mentions is None else [(m.start, m.end, m.entity) for m in given.mentions]
    return call.resolve(given.text, spans, overlapping=overlapping, **options)


# -- look-ups -------------------------------------------------------------------------------------------


def entity(call: Call) -> Any:
    """An entity by its title or a redirect to it; blanks may be written as underscores."""
    return _described(call, call.entity(call.request.path_params["title"]))


def search(call: Call) -> Any:
    """Entities a name may mean, most likely first, after the entity of exactly that title."""
    return {"entities": [_described(call, entity) for entity in call.named(call.fields().get("name", ""))]}


def similar(call: Call) -> Any:
    """Entities most like another one, nearest first, by the vectors of the model."""
    fields = call.fields()
    most = fields.get("most", "10")
    if not most.isascii() or not most.isdigit() or not 1 <= int(most[:4]) <= MOST_SIMILAR:
        raise RequestError(422, f"most is a number from 1 to {MOST_SIMILAR}")
    found = call.linker.similar(call.entity(fields.get("title", "")), int(most))
    return {"entities": [{**_described(call, entity), "similarity": cosine} for entity, cosine in found]}


def info(call: Call) -> Any:
    """The program, model, settings and limits of this service."""
    linker = call.linker
    return {
        "version": pboh.__version__,
        "language": linker.model.info.get("language"),
        "entities": linker.model.entities,
        "model": _shown(linker.model.info),
        "types": TYPES if linker.model.has_types else (),
        "settings": asdict(linker.settings),
        "threshold": Decision.of(linker.model.info).threshold(linker.finder is not None),
        "limits": msgspec.structs.asdict(call.limits),
    }


def _shown(info: dict[str, Any]) -> dict[str, Any]:
    """What a model says of itself, without the paths of the machine that built it."""
    shown = {name: info[name] for name in _PUBLIC if name in info}
    if isinstance(shown.get("corpus"), list):
        parts = [part for part in shown["corpus"] if isinstance(part, dict)]
        shown["corpus"] = [{name: part.get(name) for name in _OF_CORPUS} for part in parts]
    return shown


def _described(call: Call, entity: Entity) -> dict[str, Any]:
    counts = {"links": call.links(entity), "documents": call.linker.model.documents(entity.index)}
    about = entity.to_dict()
    return {"title": about.pop("entity"), **about, **counts}


MOST_SIMILAR = 100
_MOST = parameter("most", "How many entities.", type="integer", minimum=1, maximum=MOST_SIMILAR, default=10)
_LIKE = parameter("title", "A title.", required=True, minLength=1)
_TITLE = parameter("title", "A title.", place="path", required=True)
_NAME = parameter("name", "A name, as it is written in a text.", required=True, minLength=1)
_EXAMPLE = {"text": "Jordan and Pippen won with the Bulls."}
_SPANS = {**_EXAMPLE, "mentions": [{"start": 0, "end": 6}, {"start": 31, "end": 36}]}
ADDRESSES = [
    *(
        Address(
            "POST", f"/v1/{name}", answer, "linking",
            takes={JSON: takes}, gives={JSON: gives}, example=example,
        )
        for name, answer, takes, gives, example in (
            ("link", link, schemas.LinkRequest, schemas.DocumentAnswer, _EXAMPLE),
            ("disambiguate", disambiguate, schemas.DisambiguateRequest, schemas.DocumentAnswer, _SPANS),
            ("batch", batch, schemas.BatchRequest, schemas.BATCH_ANSWER, {"documents": [_EXAMPLE]}),
            ("graph", factor_graph, schemas.GraphRequest, schemas.GraphAnswer, _SPANS),
            ("explain", explain, schemas.ExplainRequest, schemas.ExplainAnswer, {**_SPANS, "mention": 0}),
        )
    ),
    Address(
        "GET", "/v1/entities/{title:path}", entity, "model",
        gives={JSON: schemas.EntityAnswer}, parameters=(_TITLE,), refuses={404: "No such entity."},
    ),
    Address("GET", "/v1/search", search, "model", gives={JSON: schemas.SearchAnswer}, parameters=(_NAME,)),
    Address(
        "GET", "/v1/similar", similar, "model",
        gives={JSON: schemas.SimilarAnswer}, parameters=(_LIKE, _MOST), refuses={404: "No such entity."},
    ),
    Address("GET", "/v1/info", info, "model", gives={JSON: schemas.InfoAnswer}),
]  # fmt: skip
