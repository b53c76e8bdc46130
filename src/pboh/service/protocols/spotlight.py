"""DBpedia Spotlight's endpoints: its clients work unchanged with annotate, disambiguate, candidates, spot."""

from __future__ import annotations

from html import escape
from typing import Any
from xml.parsers import expat

from starlette.responses import Response

from pboh.document import Document, Entity, Mention
from pboh.formats.identifiers import dbpedia, escaped
from pboh.service.address import JSON, STRING, Address, form, parameter
from pboh.service.call import Call, json_response, number
from pboh.service.errors import RequestError, clean

HTML = "text/html"
_FILTERS = ("types", "sparql")


class _Question:
    """The parameters of a call, checked."""

    def __init__(self, given: dict[str, str]) -> None:
        if not given.get("text", ""):
            if given.get("url"):
                raise RequestError(
                    400, "this service fetches nothing", todo="Pass the text instead of its url"
                )
            raise RequestError(400, "the parameter text is missing")
        for name in _FILTERS:
            if given.get(name, "").strip():
                raise RequestError(400, f"entities have no types here, so {name} cannot filter them")
        self.text = given["text"]
        self.confidence = number(given, "confidence", 0.0, 0.0, 1.0)
        self.support = int(number(given, "support", 0, 0, 10**9, whole=True))
        self.policy = given.get("policy", "whitelist")
        if self.policy not in ("whitelist", "blacklist", ""):
            raise RequestError(400, f"policy is {clean(self.policy)!r}, not whitelist or blacklist")


# -- the four processes ---------------------------------------------------------------------------


def annotate(call: Call) -> Response:
    """Find and resolve the mentions of a text."""
    question = _Question(call.fields())
    return _resources(call, question, call.resolve(question.text))


def disambiguate(call: Call) -> Response:
    """Resolve the surface forms given in Spotlight's XML."""
    question = _Question(call.fields())
    question.text, spans = read_annotation(question.text)
    return _resources(call, question, call.resolve(question.text, spans))


def candidates(call: Call) -> Response:
    """Find the mentions of a text and show the candidates of each."""
    question = _Question(call.fields())
    document = call.resolve(question.text)
    forms = []
    for mention in document:
        resources = [
            resource
            for resource in _ranked(call, mention)
            if float(resource["@finalScore"]) >= question.confidence
            and int(resource["@support"]) >= question.support
        ]
        if resources:
            # Spotlight's JSON is made from XML: a list of one is written as that one.
            forms.append({**_form(mention), "resource": resources if len(resources) > 1 else resources[0]})
    return _annotation(call, document, forms)


def spot(call: Call) -> Response:
    """Find the mentions of a text."""
    document = call.resolve(_Question(call.fields()).text)
    return _annotation(call, document, [_form(mention) for mention in document])


# -- answers --------------------------------------------------------------------------------------


def _resources(call: Call, question: _Question, document: Document) -> Response:
    kind = call.accepted(HTML, JSON)
    kept = [
        (mention, mention.entity, support)
        for mention in document
        if mention.entity is not None
        and mention.probability >= question.confidence
        and (support := call.links(mention.entity)) >= question.support
    ]
    if kind == HTML:
        return Response(html_page(question.text, [mention for mention, *_ in kept]), media_type=HTML)
    answer: dict[str, Any] = {
        "@text": question.text,
        "@confidence": str(question.confidence),
        "@support": str(question.support),
        "@types": "",
        "@sparql": "",
        "@policy": question.policy or "whitelist",
    }
    if kept:  # Spotlight leaves the key out when there is nothing
        answer["Resources"] = [_resource(*row) for row in kept]
    return json_response(answer)


def _resource(mention: Mention, entity: Entity, support: int) -> dict[str, str]:
    second = max((c.probability for c in mention.candidates if c.entity != entity), default=0.0)
    first = max((c.probability for c in mention.candidates if c.entity == entity), default=0.0)
    return {
        "@URI": dbpedia(entity.title),
        "@support": str(support),
        "@types": "",
        "@surfaceForm": mention.text,
        "@offset": str(mention.start),
        "@similarityScore": repr(mention.probability),
        "@percentageOfSecondRank": repr(_share(second, first)),
    }


def _ranked(call: Call, mention: Mention) -> list[dict[str, str]]:
    following = [candidate.probability for candidate in mention.candidates[1:]] + [0.0]
    return [
        {
            "@label": candidate.entity.title,
            "@uri": escaped(candidate.entity.title),
            "@contextualScore": repr(candidate.probability),
            "@percentageOfSecondRank": repr(_share(after, candidate.probability)),
            "@support": str(call.links(candidate.entity)),
            "@priorScore": repr(candidate.prior),
            "@finalScore": repr(candidate.probability),
            "@types": "",
        }
        for candidate, after in zip(mention.candidates, following, strict=False)
    ]


def _share(second: float, first: float) -> float:
    return second / first if first > 0 else 0.0


def _form(mention: Mention) -> dict[str, Any]:
    return {"@name": mention.text, "@offset": str(mention.start)}


def _annotation(call: Call, document: Document, forms: list[dict[str, Any]]) -> Response:
    call.accepted(JSON)
    return json_response({"annotation": {"@text": document.text} | ({"surfaceForm": forms} if forms else {})})


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
        raise RequestError(400, "the annotation may not hold declarations, comments or CDATA")
    elements: list[tuple[str, dict[str, str]]] = []

    def keep(tag: str, attributes: dict[str, str]) -> None:
        if not elements or tag == "surfaceForm":
            elements.append((tag, attributes))

    parser = expat.ParserCreate("utf-8")
    parser.XmlDeclHandler = _declared
    parser.StartElementHandler = keep
    try:
        parser.Parse(xml.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as reason:
        raise RequestError(400, f"text is not Spotlight's XML ({clean(str(reason), 120)})") from None
    root, attributes = elements[0]
    text = attributes.get("text")
    if root != "annotation" or text is None:
        raise RequestError(422, 'text is not Spotlight\'s XML: <annotation text="…"> expected')
    spans = []
    for _, given in elements[1:]:
        name, offset = given.get("name", ""), given.get("offset", "")
        if not offset.isascii() or not offset.isdigit() or len(offset) > 12:
            raise RequestError(422, f"the offset of {clean(name)!r} is {clean(offset)!r}, not a number")
        start = int(offset)
        if text[start : start + len(name)] != name:
            raise RequestError(422, f"{clean(name)!r} is not at offset {start} of the text")
        spans.append((start, start + len(name)))
    return text, spans


def _declared(version: str, encoding: str | None, standalone: int) -> None:
    if encoding and encoding.lower() != "utf-8":
        raise RequestError(400, f"the annotation is in UTF-8, not {clean(encoding)}")


_COMMON = (
    parameter(
        "confidence", "Leave out answers less probable than this.", type="number", minimum=0, maximum=1
    ),
    parameter(
        "support", "Leave out entities with fewer links than this.", type="integer", minimum=0, maximum=10**9
    ),
    parameter(
        "policy", "Accepted; it would only matter together with filters, and there are none.",
        enum=["whitelist", "blacklist"],
    ),
)  # fmt: skip
_TEXT = parameter("text", "The text.", required=True, minLength=1)
_XML = parameter("text", "Spotlight's XML with the surface forms.", required=True, format="spotlight-xml")


_JSON: dict[str, Any] = {JSON: {"type": "object"}}
_PAGE: dict[str, Any] = {**_JSON, HTML: STRING}
ADDRESSES = [
    Address(
        method, f"/rest/{answer.__name__}", answer, "DBpedia Spotlight",
        gives=gives, refuses={406: "None of the accepted formats is available."}, **asked,
    )
    for answer, text, gives in (
        (annotate, _TEXT, _PAGE),
        (disambiguate, _XML, _PAGE),
        (candidates, _TEXT, _JSON),
        (spot, _TEXT, _JSON),
    )
    for method, asked in (
        ("GET", {"parameters": (text, *_COMMON)}),
        ("POST", {"takes": form(text, *_COMMON)}),
    )
]  # fmt: skip
