"""OpenRefine's reconciliation API, version 0.2: the cells of a column are linked jointly."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import msgspec
from starlette.responses import Response

from pboh.document import Mention
from pboh.formats.identifiers import DBPEDIA, dbpedia, underscored
from pboh.service.address import JSON, STRING, Address, form, parameter
from pboh.service.call import Call, json_response, number
from pboh.service.errors import RequestError, clean, too_many

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


def reconcile(call: Call) -> Response:
    """The service's description or, with `queries`, the candidates of every cell."""
    given = call.fields()
    if "queries" in given:
        return _open(answers(call, read(call, given["queries"])), given)
    return _open(manifest(call, str(call.request.base_url).rstrip("/")), given)


def suggest(call: Call) -> Response:
    """Entities whose name is `prefix`."""
    given = call.fields()
    prefix = given.get("prefix", "")
    skip = int(number(given, "cursor", 0, 0, 10_000, whole=True))
    found = call.named(prefix) if prefix.strip() else []
    rows = [{"id": underscored(e.title), "name": e.title, "notable": [_TYPE]} for e in found[skip:]]
    return _open({"result": rows}, given)


def preview(call: Call) -> Response:
    """A few words about an entity, as HTML."""
    entity = call.entity(call.fields().get("id", ""))
    title = escape(entity.title)
    page = (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'></head><body>"
        f"<a href='{escape(dbpedia(entity.title))}' rel='noreferrer' target='_blank'>{title}</a>"
        f"<p>{call.links(entity):,} links</p></body></html>"
    )
    framed = "default-src 'none'; frame-ancestors *"
    return Response(page, media_type="text/html", headers={**_OPEN, "content-security-policy": framed})


def manifest(call: Call, address: str) -> dict[str, Any]:
    """What the service can do, for OpenRefine."""
    return {
        "versions": ["0.1", "0.2"],
        "name": "pboh entity linking",
        "identifierSpace": DBPEDIA,
        "schemaSpace": "http://www.w3.org/2004/02/skos/core#",
        "defaultTypes": [_TYPE],
        "batchSize": call.limits.documents,
        "view": {"url": DBPEDIA + "{{id}}"},
        "preview": {"url": f"{address}/reconcile/preview?id={{{{id}}}}", "width": 320, "height": 100},
        "suggest": {"entity": {"service_url": address, "service_path": "/reconcile/suggest/entity"}},
    }


def read(call: Call, text: str) -> dict[str, Query]:
    """The queries of a batch, by key."""
    try:
        queries = msgspec.json.decode(text, type=dict[str, Query])
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as reason:
        raise RequestError(400, f"queries cannot be read ({clean(str(reason), 160)})") from None
    if len(queries) > call.limits.documents:
        raise too_many(len(queries), "queries", call.limits.documents)
    return queries


def answers(call: Call, queries: dict[str, Query]) -> dict[str, Any]:
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
    document = call.resolve("\n".join(lines), spans)
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
        raise RequestError(400, "callback is not the name of a function")
    response = json_response(value)
    if callback:
        script = b"/**/" + callback.encode() + b"(" + bytes(response.body) + b");"
        response = Response(script, media_type="text/javascript")
    response.headers.update(_OPEN)
    return response


_ANY = {JSON: {"type": "object"}}
_QUERIES = parameter("queries", "Queries as JSON, by key.", format="reconciliation-queries")
_PREFIX = parameter("prefix", "A name.")
_ID = parameter("id", "An identifier this service gave.")
ADDRESSES = [
    Address("GET", "/reconcile", reconcile, "OpenRefine", gives=_ANY, parameters=(_QUERIES,)),
    Address("POST", "/reconcile", reconcile, "OpenRefine", takes=form(_QUERIES), gives=_ANY, bodiless=True),
    Address("GET", "/reconcile/suggest/entity", suggest, "OpenRefine", gives=_ANY, parameters=(_PREFIX,)),
    Address(
        "GET", "/reconcile/preview", preview, "OpenRefine",
        gives={"text/html": STRING}, parameters=(_ID,), refuses={404: "No such entity."},
    ),
]  # fmt: skip
