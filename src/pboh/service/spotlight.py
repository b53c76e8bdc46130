"""DBpedia Spotlight's endpoints: its clients work unchanged with annotate, disambiguate, candidates, spot."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response
from lxml import etree

from pboh.document import Document, Mention
from pboh.formats.identifiers import dbpedia, escaped
from pboh.service.api import PROBLEMS, note
from pboh.service.engine import Engine
from pboh.service.errors import ServiceError, UnprocessableError
from pboh.service.wire import accepted, clean, fields, json_response, number

JSON, HTML = "application/json", "text/html"
_FILTERS = ("types", "sparql")
_PARAMETERS = {
    "text": "The text; for `disambiguate`, Spotlight's XML with the surface forms.",
    "confidence": "Leave out answers less probable than this (0 to 1).",
    "support": "Leave out entities with fewer links than this.",
    "policy": "Accepted; it only matters together with a filter by type, which there is none.",
}


class _Question:
    """The parameters of a call, checked."""

    def __init__(self, given: dict[str, str]) -> None:
        if not given.get("text", ""):
            if given.get("url"):
                raise ServiceError("this service fetches nothing", todo="Pass the text instead of its url")
            raise ServiceError("the parameter text is missing")
        for name in _FILTERS:
            if given.get(name, "").strip():
                raise ServiceError(f"entities have no types here, so {name} cannot filter them")
        self.text = given["text"]
        self.confidence = number(given, "confidence", 0.0, 0.0, 1.0)
        self.support = int(number(given, "support", 0, 0, 2**53))
        self.policy = given.get("policy", "whitelist")
        if self.policy not in ("whitelist", "blacklist", ""):
            raise ServiceError(f"policy is {clean(self.policy)!r}, not whitelist or blacklist")


Answer = Callable[[Engine, _Question, str], tuple[Document, Response]]


def router(engine: Engine) -> APIRouter:
    """`/rest/annotate`, `/rest/disambiguate`, `/rest/candidates` and `/rest/spot`, GET and POST."""
    api = APIRouter(prefix="/rest", tags=["DBpedia Spotlight"], responses=PROBLEMS)
    for name, answer in {
        "annotate": _annotate,
        "disambiguate": _disambiguate,
        "candidates": _candidates,
        "spot": _spot,
    }.items():
        _route(api, engine, name, answer)
    return api


def _route(api: APIRouter, engine: Engine, name: str, answer: Answer) -> None:
    html = name in ("annotate", "disambiguate")
    kinds = (HTML, JSON) if html else (JSON,)

    async def call(request: Request) -> Response:
        kind = accepted(request, kinds)
        question = _Question(await fields(request))
        document, response = await engine.run(answer, engine, question, kind)
        note(request, document)
        return response

    schema = {"type": "string"}
    listed = [
        {"name": key, "in": "query", "description": text, "schema": schema}
        for key, text in _PARAMETERS.items()
    ]
    form = {"type": "object", "properties": dict.fromkeys(_PARAMETERS, schema), "required": ["text"]}
    body = {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": form}}}
    content: dict[str, Any] = {JSON: {"schema": {"type": "object"}}}
    if html:
        content[HTML] = {"schema": schema}
    answers: dict[int | str, dict[str, Any]] = {200: {"description": "As Spotlight.", "content": content}}
    answers[406] = {**PROBLEMS[400], "description": "None of the accepted formats is available."}
    for method, extra in (("GET", {"parameters": listed}), ("POST", {"requestBody": body})):
        api.add_api_route(
            f"/{name}",
            call,
            methods=[method],
            name=f"spotlight_{name}_{method.lower()}",
            summary=f"Spotlight's {name}",
            description=(answer.__doc__ or "").strip(),
            response_class=Response,
            responses=answers,
            openapi_extra=extra,
        )


# -- the four processes ---------------------------------------------------------------------------


def _annotate(engine: Engine, question: _Question, kind: str) -> tuple[Document, Response]:
    """Find and resolve the mentions of a text."""
    document = engine.link(question.text)
    return document, _resources(engine, question, document, kind)


def _disambiguate(engine: Engine, question: _Question, kind: str) -> tuple[Document, Response]:
    """Resolve the surface forms given in Spotlight's XML."""
    question.text, spans = read_annotation(question.text)
    document = engine.disambiguate(question.text, spans, overlapping=True)
    return document, _resources(engine, question, document, kind)


def _candidates(engine: Engine, question: _Question, _: str) -> tuple[Document, Response]:
    """Find the mentions of a text and show the candidates of each."""
    document = engine.link(question.text)
    forms = []
    for mention in document:
        resources = [
            resource
            for resource in _ranked(engine, mention)
            if float(resource["@finalScore"]) >= question.confidence
            and int(resource["@support"]) >= question.support
        ]
        if resources:
            forms.append({**_form(mention), "resource": _collapsed(resources)})
    return document, _annotation(question.text, forms)


def _spot(engine: Engine, question: _Question, _: str) -> tuple[Document, Response]:
    """Find the mentions of a text."""
    document = engine.link(question.text)
    return document, _annotation(question.text, [_form(mention) for mention in document])


# -- answers --------------------------------------------------------------------------------------


def _resources(engine: Engine, question: _Question, document: Document, kind: str) -> Response:
    kept = [
        (mention, support)
        for mention in document
        if mention.entity is not None
        and mention.probability >= question.confidence
        and (support := engine.links(mention.entity.title)) >= question.support
    ]
    if kind == HTML:
        return Response(html_page(question.text, [mention for mention, _ in kept]), media_type=HTML)
    answer: dict[str, Any] = {
        "@text": question.text,
        "@confidence": str(question.confidence),
        "@support": str(question.support),
        "@types": "",
        "@sparql": "",
        "@policy": question.policy or "whitelist",
    }
    if kept:  # Spotlight leaves the key out when there is nothing
        answer["Resources"] = [_resource(mention, support) for mention, support in kept]
    return json_response(answer)


def _resource(mention: Mention, support: int) -> dict[str, str]:
    return {
        "@URI": dbpedia(mention.entity.title if mention.entity else ""),
        "@support": str(support),
        "@types": "",
        "@surfaceForm": mention.text,
        "@offset": str(mention.start),
        "@similarityScore": repr(mention.probability),
        "@percentageOfSecondRank": repr(_second(mention)),
    }


def _second(mention: Mention) -> float:
    """The best other candidate's probability relative to the answer's."""
    answer = mention.entity or (mention.candidates[0].entity if mention.candidates else None)
    others = [c.probability for c in mention.candidates if c.entity != answer]
    best = next((c.probability for c in mention.candidates if c.entity == answer), 0.0)
    return max(others, default=0.0) / best if best > 0 else 0.0


def _ranked(engine: Engine, mention: Mention) -> list[dict[str, str]]:
    ranked = mention.candidates
    rows = []
    for place, candidate in enumerate(ranked):
        after = ranked[place + 1].probability if place + 1 < len(ranked) else 0.0
        rows.append(
            {
                "@label": candidate.entity.title,
                "@uri": escaped(candidate.entity.title),
                "@contextualScore": repr(candidate.probability),
                "@percentageOfSecondRank": repr(
                    after / candidate.probability if candidate.probability else 0.0
                ),
                "@support": str(engine.links(candidate.entity.title)),
                "@priorScore": repr(candidate.prior),
                "@finalScore": repr(candidate.probability),
                "@types": "",
            }
        )
    return rows


def _form(mention: Mention) -> dict[str, Any]:
    return {"@name": mention.text, "@offset": str(mention.start)}


def _annotation(text: str, forms: list[dict[str, Any]]) -> Response:
    annotation: dict[str, Any] = {"@text": text}
    if forms:
        annotation["surfaceForm"] = forms
    return json_response({"annotation": annotation})


def _collapsed(rows: list[dict[str, str]]) -> Any:
    """Spotlight's JSON is made from XML: a list of one is written as that one."""
    return rows[0] if len(rows) == 1 else rows


def html_page(text: str, mentions: list[Mention]) -> str:
    """The text with links; everything that came from outside is escaped."""
    parts, at = [], 0
    for mention in sorted(mentions, key=lambda m: (m.start, -m.end)):
        if mention.start < at or mention.entity is None:
            continue
        address = escape(dbpedia(mention.entity.title))
        parts.append(escape(text[at : mention.start]))
        parts.append(f'<a href="{address}" title="{address}" target="_blank" rel="noreferrer">')
        parts.append(f"{escape(mention.text)}</a>")
        at = mention.end
    parts.append(escape(text[at:]))
    body = f"<body><div>{''.join(parts)}</div></body>"
    return f"<!DOCTYPE html><html><head><meta charset='utf-8'></head>{body}</html>"


# -- Spotlight's XML ------------------------------------------------------------------------------


def read_annotation(xml: str) -> tuple[str, list[tuple[int, int]]]:
    """Text and spans of `<annotation text="…"><surfaceForm name="…" offset="…"/></annotation>`."""
    if "<!" in xml:
        raise ServiceError("the annotation may not hold declarations, comments or CDATA")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(xml.encode("utf-8", "surrogatepass"), parser)
    except (etree.XMLSyntaxError, ValueError) as reason:
        raise ServiceError(f"text is not Spotlight's XML ({clean(str(reason), 120)})") from None
    text = root.get("text")
    if root.tag != "annotation" or text is None:
        raise UnprocessableError('text is not Spotlight\'s XML: <annotation text="…"> expected')
    spans = []
    for form in root.iter("surfaceForm"):
        name, offset = form.get("name") or "", form.get("offset") or ""
        if not offset.isascii() or not offset.isdigit() or len(offset) > 12:
            raise UnprocessableError(f"the offset of {clean(name)!r} is {clean(offset)!r}, not a number")
        start = int(offset)
        if text[start : start + len(name)] != name:
            raise UnprocessableError(f"{clean(name)!r} does not stand at offset {start} of the text")
        spans.append((start, start + len(name)))
    return text, spans
