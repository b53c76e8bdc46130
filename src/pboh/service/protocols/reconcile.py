"""OpenRefine's reconciliation API, version 0.2: the cells of a column are linked jointly."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import msgspec
from starlette.responses import Response

from pboh.document import Entity, Mention
from pboh.files.writing import NOT_JSON
from pboh.formats.identifiers import dbpedia, resource, underscored
from pboh.formats.types import TYPES, check_types
from pboh.service.address import JSON, STRING, Address, form, parameter
from pboh.service.call import Call, json_response, number
from pboh.service.errors import RequestError, clean, too_many

_ANY_TYPE = {"id": "entity", "name": "Entity"}
_TYPES = {name: {"id": name, "name": name.capitalize()} for name in TYPES if name != "unknown"}
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
    found = call.named(prefix) if prefix.strip() else []
    rows = [{**_named(entity), "notable": _types(entity)} for entity in found]
    return _open({"result": rows[_skipped(given) :]}, given)


def suggest_type(call: Call) -> Response:
    """Types whose name begins with `prefix`."""
    given = call.fields()
    prefix = given.get("prefix", "").strip().casefold()
    rows = [row for row in _offered(call) if row["name"].casefold().startswith(prefix)]
    return _open({"result": rows[_skipped(given) :]}, given)


def _skipped(given: dict[str, str]) -> int:
    return int(number(given, "cursor", 0, 0, 10_000, whole=True))


def preview(call: Call) -> Response:
    """A few words about an entity, as HTML."""
    entity = call.entity(call.fields().get("id", ""))
    title, address = escape(entity.title), escape(entity.url or resource(entity))
    known = [kind["name"] for kind in _types(entity) if kind is not _ANY_TYPE]
    page = (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'></head><body>"
        f"<a href='{address}' rel='noreferrer' target='_blank'>{title}</a>"
        f"<p>{escape(entity.description or '')}</p>"
        f"<p>{' · '.join([*known, f'{call.links(entity):,} links'])}</p></body></html>"
    )
    framed = "default-src 'none'; frame-ancestors *"
    return Response(page, media_type="text/html", headers={**_OPEN, "content-security-policy": framed})


def manifest(call: Call, address: str) -> dict[str, Any]:
    """What the service can do, for OpenRefine."""
    space = dbpedia(call.linker.model.info.get("language") or "en")
    return {
        "versions": ["0.1", "0.2"],
        "name": "pboh entity linking",
        "identifierSpace": space,
        "schemaSpace": "http://www.w3.org/2004/02/skos/core#",
        "defaultTypes": [_ANY_TYPE, *_offered(call)],
        "batchSize": call.limits.documents,
        "view": {"url": space + "{{id}}"},
        "preview": {"url": f"{address}/reconcile/preview?id={{{{id}}}}", "width": 320, "height": 100},
        "suggest": {
            kind: {"service_url": address, "service_path": f"/reconcile/suggest/{kind}"}
            for kind in ("entity", "type")
        },
    }


def _offered(call: Call) -> list[dict[str, str]]:
    """The types that cells can be restricted to."""
    return list(_TYPES.values()) if call.linker.model.has_types else []


def _types(entity: Entity) -> list[dict[str, str]]:
    """The types of an entity."""
    return [_TYPES.get(entity.type or "", _ANY_TYPE)]


def _named(entity: Entity) -> dict[str, str]:
    """Identifier, name and, if there is one, description of an entity."""
    told = {"description": entity.description} if entity.description else {}
    return {"id": underscored(entity.title), "name": entity.title, **told}


def read(call: Call, text: str) -> dict[str, Query]:
    """The queries of a batch, by key."""
    try:
        queries = msgspec.json.decode(text, type=dict[str, Query])
    except NOT_JSON as reason:
        raise RequestError(400, f"queries cannot be read ({clean(str(reason), 160)})") from None
    if len(queries) > call.limits.documents:
        raise too_many(len(queries), "queries", call.limits.documents)
    return queries


def wanted(query: Query) -> tuple[str, ...] | None:
    """The types that a cell is restricted to; None where it may be anything."""
    given = query.type if isinstance(query.type, list) else [query.type]
    ids = [one.get("id") if isinstance(one, dict) else one for one in given]
    named = tuple(sorted({str(id) for id in ids if id not in (None, "", _ANY_TYPE["id"])}))
    return check_types(named) if named and query.type_strict != "should" else None


def answers(call: Call, queries: dict[str, Query]) -> dict[str, Any]:
    """Candidates of every cell; cells restricted to the same types are resolved together."""
    groups: dict[tuple[str, ...] | None, dict[str, Query]] = {}
    for key, query in queries.items():
        groups.setdefault(wanted(query), {})[key] = query
    found: dict[str, Mention] = {}
    for types, group in groups.items():
        found |= _resolved(call, group, types)
    return {key: {"result": _rows(found.get(key), query.limit)} for key, query in queries.items()}


def _resolved(call: Call, queries: dict[str, Query], types: tuple[str, ...] | None) -> dict[str, Mention]:
    """The cells that have a name; together they are one document, its lines their rows."""
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
    return dict(zip(keys, call.resolve("\n".join(lines), spans, types=types), strict=True))


def _rows(mention: Mention | None, limit: int) -> list[dict[str, Any]]:
    if mention is None:
        return []
    ranked = sorted(mention.candidates, key=lambda c: (c.entity != mention.entity, -c.probability))
    return [
        {
            **_named(candidate.entity),
            "score": round(100 * candidate.probability, 2),
            "match": candidate.entity == mention.entity and candidate.probability >= _SURE,
            "type": _types(candidate.entity),
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
_OF_TYPE = parameter("prefix", "The beginning of a type's name.")
_ID = parameter("id", "An identifier this service gave.")
ADDRESSES = [
    Address("GET", "/reconcile", reconcile, "OpenRefine", gives=_ANY, parameters=(_QUERIES,)),
    Address("POST", "/reconcile", reconcile, "OpenRefine", takes=form(_QUERIES), gives=_ANY, bodiless=True),
    Address("GET", "/reconcile/suggest/entity", suggest, "OpenRefine", gives=_ANY, parameters=(_PREFIX,)),
    Address("GET", "/reconcile/suggest/type", suggest_type, "OpenRefine", gives=_ANY, parameters=(_OF_TYPE,)),
    Address(
        "GET", "/reconcile/preview", preview, "OpenRefine",
        gives={"text/html": STRING}, parameters=(_ID,), refuses={404: "No such entity."},
    ),
]  # fmt: skip
