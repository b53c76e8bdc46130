"""OpenRefine's reconciliation API, version 0.2: the cells of a column are linked jointly."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response

from pboh.document import Mention
from pboh.formats.identifiers import DBPEDIA, dbpedia, underscored
from pboh.service.api import PROBLEMS, named
from pboh.service.engine import Engine
from pboh.service.errors import NotFoundError, ServiceError, TooLargeError
from pboh.service.wire import clean, fields, json_response, number

_TYPE = {"id": "entity", "name": "Entity"}
_CALLBACK = re.compile(r"[A-Za-z_$][\w$.]{0,99}", re.ASCII)
_SURE = 0.5  # a best candidate this probable is a match
_OPEN = {"access-control-allow-origin": "*", "cross-origin-resource-policy": "cross-origin"}


class Query(msgspec.Struct):
    """One cell; properties are further cells of its row and serve as context."""

    query: str = ""
    limit: int = 5
    type: Any = None
    type_strict: Any = None
    properties: list[dict[str, Any]] = []


def router(engine: Engine) -> APIRouter:
    """`/reconcile` and the look-ups OpenRefine makes beside it."""
    api = APIRouter(prefix="/reconcile", tags=["OpenRefine"], responses=PROBLEMS)

    async def reconcile(request: Request) -> Response:
        """The service's description or, with `queries`, the candidates of every cell."""
        given = await fields(request)
        if "queries" in given:
            return _open(await engine.run(answers, engine, read(engine, given["queries"])), given)
        return _open(manifest(engine, str(request.base_url).rstrip("/")), given)

    parameter = _parameter("queries", "Queries as JSON, by key.")
    form = {"schema": {"type": "object", "properties": {"queries": {"type": "string"}}}}
    body = {"content": {"application/x-www-form-urlencoded": form}}
    for method, extra in (("GET", parameter), ("POST", {"requestBody": body})):
        api.add_api_route(
            "",
            reconcile,
            methods=[method],
            name=f"reconcile_{method.lower()}",
            response_class=Response,
            openapi_extra=extra,
        )

    @api.get("/suggest/entity", response_class=Response, openapi_extra=_parameter("prefix", "A name."))
    async def suggest(request: Request) -> Response:
        """Entities whose name is `prefix`."""
        given = await fields(request)
        prefix = given.get("prefix", "")[:500]
        skip = int(number(given, "cursor", 0, 0, 10_000))
        found = await engine.run(named, engine, prefix) if prefix.strip() else []
        rows = [{"id": underscored(e.title), "name": e.title, "notable": [_TYPE]} for e in found[skip:]]
        return _open({"result": rows}, given)

    missing: dict[int | str, dict[str, Any]] = {404: {**PROBLEMS[400], "description": "No such entity."}}
    shown = _parameter("id", "An identifier this service gave.")

    @api.get("/preview", response_class=Response, responses=missing, openapi_extra=shown)
    async def preview(request: Request) -> Response:
        """A few words about an entity, as HTML."""
        given = await fields(request)
        entity = engine.linker.entity(given.get("id", ""))
        if entity is None:
            raise NotFoundError(f"the model knows no entity {clean(given.get('id', ''))!r}")
        address, links = escape(dbpedia(entity.title)), engine.links(entity.title)
        page = (
            f"<!DOCTYPE html><html><head><meta charset='utf-8'></head><body>"
            f"<a href='{address}' rel='noreferrer' target='_blank'>{escape(entity.title)}</a>"
            f"<p>{links:,} links</p></body></html>"
        )
        framed = "default-src 'none'; frame-ancestors *"
        return Response(page, media_type="text/html", headers={**_OPEN, "content-security-policy": framed})

    return api


def _parameter(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"parameters": [{"name": name, "in": "query", "description": description, "schema": schema}]}


def manifest(engine: Engine, address: str) -> dict[str, Any]:
    """What the service can do, for OpenRefine."""
    return {
        "versions": ["0.1", "0.2"],
        "name": "pboh entity linking",
        "identifierSpace": DBPEDIA,
        "schemaSpace": "http://www.w3.org/2004/02/skos/core#",
        "defaultTypes": [_TYPE],
        "batchSize": engine.limits.documents,
        "view": {"url": DBPEDIA + "{{id}}"},
        "preview": {"url": f"{address}/reconcile/preview?id={{{{id}}}}", "width": 320, "height": 100},
        "suggest": {"entity": {"service_url": address, "service_path": "/reconcile/suggest/entity"}},
    }


def read(engine: Engine, text: str) -> dict[str, Query]:
    """The queries of a batch, by key."""
    try:
        queries = msgspec.json.decode(text, type=dict[str, Query])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as reason:
        raise ServiceError(f"queries cannot be read ({clean(str(reason), 160)})") from None
    if len(queries) > engine.limits.documents:
        what = f"there are {len(queries):,} queries and the limit is {engine.limits.documents:,}"
        raise TooLargeError(what, todo="Send them in parts")
    return queries


def answers(engine: Engine, queries: dict[str, Query]) -> dict[str, Any]:
    """Candidates of every cell; the cells together are one document, its lines their rows."""
    lines, spans, keys, at = [], [], [], 0
    for key, query in queries.items():
        name = " ".join(query.query.split())
        context = [str(p.get("v", "")) for p in query.properties if isinstance(p.get("v"), str | int | float)]
        line = " , ".join([name, *(" ".join(value.split()) for value in context)])
        if name:
            keys.append(key)
            spans.append((at, at + len(name)))
        lines.append(line)
        at += len(line) + 1
    document = engine.disambiguate("\n".join(lines), spans)
    found = dict(zip(keys, document, strict=True))
    return {key: {"result": _rows(found.get(key), query.limit)} for key, query in queries.items()}


def _rows(mention: Mention | None, limit: int) -> list[dict[str, Any]]:
    if mention is None:
        return []
    ranked = sorted(mention.candidates, key=lambda c: (c.entity != mention.entity, -c.probability))
    return [
        {
            "id": underscored(candidate.entity.title),
            "name": candidate.entity.title,
            "score": round(100 * candidate.probability, 2),
            "match": candidate.entity == mention.entity and candidate.probability >= _SURE,
            "type": [_TYPE],
        }
        for candidate in ranked[: max(0, min(limit, 100))]
    ]


def _open(value: Any, given: dict[str, str]) -> Response:
    """JSON any page may read, or JSONP for those that ask for it."""
    callback = given.get("callback", "")
    if callback and not _CALLBACK.fullmatch(callback):
        raise ServiceError("callback is no name of a function")
    response = json_response(value)
    if callback:
        script = b"/**/" + callback.encode() + b"(" + bytes(response.body) + b");"
        response = Response(script, media_type="text/javascript")
    response.headers.update(_OPEN)
    return response
