"""The service's own JSON under `/v1`: link, disambiguate, batch, graph, explain, and look-ups."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

import pboh
from pboh.document import Document, Entity, Explanation
from pboh.errors import PbohError
from pboh.service import schemas
from pboh.service.engine import Engine
from pboh.service.errors import NotFoundError, TooLargeError, UnprocessableError, status_of
from pboh.service.graph import graph
from pboh.service.wire import clean, json_response

PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Problem, "description": description}
    for status, description in {
        400: "The body cannot be read.",
        408: "The request was sent too slowly.",
        413: "More bytes, mentions or documents than the limits allow.",
        415: "The body is not application/json.",
        422: "A value is wrong; the sentence says which.",
        503: "The model is still loading, or too many requests are waiting.",
    }.items()
}
Name = Annotated[str, Query(min_length=1, max_length=500, description="A name, as it stands in a text.")]
_PUBLIC = ("pboh", "created", "corpus", "totals", "licence", "note")
_OF_CORPUS = ("wiki", "language", "date")


def router(engine: Engine) -> APIRouter:
    """The addresses under `/v1`."""
    api = APIRouter(prefix="/v1", tags=["linking"], responses=PROBLEMS)

    @api.post("/link", response_model=schemas.DocumentAnswer)
    async def link(request: Request, given: schemas.LinkRequest) -> Response:
        """Find the mentions of a text and resolve them together."""
        document = await engine.run(lambda: engine.link(given.text, threshold=given.threshold))
        note(request, document)
        return json_response(plain(document, given.candidates))

    @api.post("/disambiguate", response_model=schemas.DocumentAnswer)
    async def disambiguate(request: Request, given: schemas.DisambiguateRequest) -> Response:
        """Resolve given mentions together. A mention with an entity is clamped to it."""
        document = await engine.run(
            lambda: engine.disambiguate(given.text, spans(given.mentions), overlapping=given.overlapping)
        )
        note(request, document)
        return json_response(plain(document, given.candidates))

    @api.post("/batch", response_model=schemas.BatchAnswer)
    async def batch(given: schemas.BatchRequest) -> Response:
        """Resolve several documents; one that cannot be answered does not stop the others."""
        check_count(engine, len(given.documents))
        answers = [
            await engine.run(_one, engine, document, given.overlapping, given.candidates)
            for document in given.documents
        ]
        return json_response({"documents": answers})

    @api.post("/graph", response_model=schemas.GraphAnswer)
    async def factor_graph(request: Request, given: schemas.GraphRequest) -> Response:
        """The document's factor graph and the beliefs of every round: what the page draws."""
        document, value = await engine.run(_graph, engine, given)
        note(request, document)
        return json_response(value)

    @api.post("/explain", response_model=schemas.ExplainAnswer)
    async def explain(given: schemas.ExplainRequest) -> Response:
        """The terms of the score of every candidate of one mention."""
        return json_response({"explanations": await engine.run(_explain, engine, given)})

    _look_ups(api, engine)
    return api


def _look_ups(api: APIRouter, engine: Engine) -> None:
    """Addresses that answer about the model itself."""
    missing: dict[int | str, dict[str, Any]] = {
        404: {"model": schemas.Problem, "description": "No such entity."}
    }

    @api.get("/entities/{title:path}", response_model=schemas.EntityAnswer, responses=missing, tags=["model"])
    async def entity(title: str) -> Response:
        """An entity by its title or a redirect to it; blanks may be written as underscores."""
        found = engine.linker.entity(title)
        if found is None:
            raise NotFoundError(f"the model knows no entity {clean(title)!r}")
        return json_response(_entity(engine, found))

    @api.get("/search", response_model=schemas.SearchAnswer, tags=["model"])
    async def search(name: Name) -> Response:
        """Entities a name may mean, likeliest first; an entity of that very title stands in front."""
        return json_response(
            {"entities": [_entity(engine, e) for e in await engine.run(named, engine, name)]}
        )

    @api.get("/info", response_model=schemas.InfoAnswer, tags=["model"])
    async def info() -> Response:
        """What answers here: program, model, settings and limits."""
        linker = engine.linker
        return json_response(
            {
                "version": pboh.__version__,
                "language": linker.model.info.get("language"),
                "entities": linker.model.entities,
                "model": _described(linker.model.info),
                "settings": asdict(linker.settings),
                "limits": msgspec.structs.asdict(engine.limits),
            }
        )


def _described(info: dict[str, Any]) -> dict[str, Any]:
    """What a model says of itself, without the paths of the machine that built it."""
    shown = {name: info[name] for name in _PUBLIC if name in info}
    if isinstance(shown.get("corpus"), list):
        parts = [part for part in shown["corpus"] if isinstance(part, dict)]
        shown["corpus"] = [{name: part.get(name) for name in _OF_CORPUS} for part in parts]
    return shown


def spans(mentions: list[schemas.GivenMention]) -> list[tuple[int, int, str | None]]:
    """Mentions as the linker takes them."""
    return [(mention.start, mention.end, mention.entity) for mention in mentions]


def plain(document: Document, candidates: int) -> dict[str, Any]:
    """A document as JSON values, with so many candidates per mention."""
    value = document.to_dict()
    for row, mention in zip(value["mentions"], document, strict=True):
        row["clamped"], row["detection"] = mention.clamped, mention.detection
        del row["candidates"][candidates:]
    return value


def note(request: Request, document: Document) -> None:
    """Leave for the log what was computed."""
    unlinked = sum(mention.entity is None for mention in document)
    request.state.facts.update(mentions=len(document), unlinked=unlinked, rounds=document.rounds)


def named(engine: Engine, name: str) -> list[Entity]:
    """Entities a name may mean, likeliest first."""
    exact = engine.linker.entity(name)
    mentions = engine.linker.disambiguate(name, [(0, len(name))]).mentions
    found = sorted(mentions[0].candidates, key=lambda candidate: -candidate.prior)
    entities = ([] if exact is None else [exact]) + [candidate.entity for candidate in found]
    return list(dict.fromkeys(entities))


def check_count(engine: Engine, count: int) -> None:
    """Refuse batches that are too long."""
    if count > engine.limits.documents:
        what = f"the batch has {count:,} documents and the limit is {engine.limits.documents:,}"
        raise TooLargeError(what, todo="Send it in parts")


def _one(engine: Engine, given: schemas.BatchDocument, overlapping: bool, candidates: int) -> dict[str, Any]:
    """One document of a batch, or its error."""
    try:
        if given.mentions is None:
            document = engine.link(given.text)
        else:
            document = engine.disambiguate(given.text, spans(given.mentions), overlapping=overlapping)
    except PbohError as error:
        if status_of(error) in (500, 503):
            raise
        return {"error": str(error)}
    return {**plain(document, candidates), "id": given.id}


def _graph(engine: Engine, given: schemas.GraphRequest) -> tuple[Document, dict[str, Any]]:
    if given.mentions is None:
        found = engine.link(given.text, threshold=given.threshold)
        wanted: list[Any] = [(mention.start, mention.end) for mention in found]
    else:
        wanted = spans(given.mentions)
    checked, solution = engine.solve(given.text, wanted, given.overlapping)
    document = engine.disambiguate(given.text, checked, overlapping=True)
    return document, graph(document, solution)


def _explain(engine: Engine, given: schemas.ExplainRequest) -> list[dict[str, Any]]:
    if given.mention >= len(given.mentions):
        raise UnprocessableError(
            f"there is no mention {given.mention}: the document has {len(given.mentions)}"
        )
    document = engine.disambiguate(given.text, spans(given.mentions), overlapping=given.overlapping)
    mention = document.mentions[given.mention]
    explained = (mention.explain(candidate.entity) for candidate in mention.candidates)
    return [_terms(explanation) for explanation in explained if explanation is not None]


def _terms(explanation: Explanation) -> dict[str, Any]:
    return {**asdict(explanation), "entity": explanation.entity.title}


def _entity(engine: Engine, entity: Entity) -> dict[str, Any]:
    model = engine.linker.model
    counts = {"links": model.links(entity.index), "documents": model.documents(entity.index)}
    return {"title": entity.title, "id": entity.id, **counts}
