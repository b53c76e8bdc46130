"""DBpedia Spotlight's endpoints: its clients work unchanged with annotate, disambiguate, candidates, spot."""

from __future__ import annotations

from html import escape
from typing import Any
from xml.parsers import expat

from starlette.responses import Response

from pboh.document import Document, Entity, Mention
from pboh.formats.identifiers import escaped, resource
from pboh.formats.types import BY_NAME, TABLE, TYPES, of_class
from pboh.service.address import FIND, JSON, STRING, Address, form, parameter
from pboh.service.call import Call, choice, json_response, listed, number
from pboh.service.errors import RequestError, clean

HTML = "text/html"


class _Question:
    """The parameters of a call, checked."""

    def __init__(self, given: dict[str, str]) -> None:
        if not given.get("text", ""):
            if given.get("url"):
                raise RequestError(
                    400, "this service fetches nothing", todo="Pass the text instead of its url"
                )
            raise RequestError(400, "the parameter text is missing")
        if given.get("sparql", "").strip():
            raise RequestError(400, "there are no triples here that sparql could ask", todo="Filter by types")
        self.text = given["text"]
        self.confidence = number(given, "confidence", 0.0, 0.0, 1.0)
        self.support = int(number(given, "support", 0, 0, 10**9, whole=True))
        self.policy = choice(given, "policy", "whitelist", "blacklist")
        self.types = given.get("types", "").strip()
        self.options: dict[str, Any] = {"mentions": choice(given, "find", "names", "all")}
        if named := {_type_of(name) for name in listed(given, "types")}:
            wanted = self.policy == "whitelist"
            self.options["types"] = tuple(name for name in TYPES if (name in named) is wanted)


def _type_of(name: str) -> str:
    """The type that is meant by a class of DBpedia or schema.org, or by our own name for it."""
    found = name if name in TYPES else of_class(name)
    if found is None:
        known = [cls for row in TABLE for cls in row.classes]
        what, todo = f"{clean(name)!r} is not a type of entities", f"There are {', '.join(known)}"
        raise RequestError(400, what, todo=todo)
    return found


# -- the four processes ---------------------------------------------------------------------------


def annotate(call: Call) -> Response:
    """Find and resolve the mentions of a text."""
    question = _Question(call.fields())
    return _resources(call, question, call.resolve(question.text, **question.options))


def disambiguate(call: Call) -> Response:
    """Resolve the surface forms given in Spotlight's XML."""
    question = _Question(call.fields())
    question.text, spans = read_annotation(question.text)
    return _resources(call, question, call.resolve(question.text, spans, **question.options))


def candidates(call: Call) -> Response:
    """Find the mentions of a text and show the candidates of each."""
    question = _Question(call.fields())
    document = call.resolve(question.text, **question.options)
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
    question = _Question(call.fields())
    document = call.resolve(question.text, **question.options)
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
        "@types": question.types,
        "@sparql": "",
        "@policy": question.policy,
    }
    if kept:  # Spotlight leaves the key out when there is nothing
        answer["Resources"] = [_resource(*row) for row in kept]
    return json_response(answer)


def _resource(mention: Mention, entity: Entity, support: int) -> dict[str, str]:
    second = max((c.probability for c in mention.candidates if c.entity != entity), default=0.0)
    first = max((c.probability for c in mention.candidates if c.entity == entity), default=0.0)
    return {
        "@URI": resource(entity),
        "@support": str(support),
        "@types": _classes(entity),
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
            "@types": _classes(candidate.entity),
        }
        for candidate, after in zip(mention.candidates, following, strict=False)
    ]


def _classes(entity: Entity) -> str:
    """The classes of an entity, as Spotlight lists them."""
    return ",".join(BY_NAME[entity.type or "unknown"].classes)


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
        address = escape(resource(mention.entity))
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


_EMPTY = {"type": "string", "maxLength": 0}  # as good as left out
_COMMON = (
    parameter(
        "confidence", "Leave out answers less probable than this.",
        anyOf=[{"type": "number", "minimum": 0, "maximum": 1}, _EMPTY],
    ),
    parameter(
        "support", "Leave out entities with fewer links than this.",
        anyOf=[{"type": "integer", "minimum": 0, "maximum": 10**9}, _EMPTY],
    ),
    parameter(
        "types", "Classes such as DBpedia:Person or Schema:Place, with commas between.",
        format="spotlight-types",
    ),
    parameter(
        "policy", "Whether only answers of these types are given, or only others.",
        enum=["whitelist", "blacklist"],
    ),
    FIND,
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
