"""GERBIL's protocol: a NIF document in Turtle comes in, the same document with linked phrases goes out.

With phrases, they are resolved (D2KB); without, they are found (A2KB). Triples are read one after the other,
only what NIF needs is kept, and the answer is written directly: no graph is built on the way.

Offsets count code points, as NIF says. Java clients (GERBIL itself) count UTF-16 units: where the end of the
context or the surface forms of its phrases show that, offsets are read and written that way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import accumulate

from starlette.responses import Response

from pboh.document import Document
from pboh.formats.nif import HEAD, NIF, context_turtle, phrase_turtle
from pboh.formats.turtle import IRI, TYPE, Literal, TurtleError, parse_turtle
from pboh.service.address import FIND, STRING, TYPED, Address
from pboh.service.call import Call, choice, listed
from pboh.service.errors import RequestError, clean, too_many
from pboh.service.options import Limits

MEDIA_TYPES = ("application/x-turtle", "text/turtle")
_FIELDS = {
    NIF + "isString": "text",
    NIF + "beginIndex": "begin",
    NIF + "endIndex": "end",
    NIF + "anchorOf": "anchor",
    NIF + "referenceContext": "context",
}
_CONTAINERS = frozenset(NIF + name for name in ("Sentence", "Paragraph", "Title", "Structure", "Page"))
_FRAGMENT = re.compile(r"(?:char=|offset_)(\d{1,10})[,_](\d{1,10})$")
_NO_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_RESOURCES_PER_MENTION = 10  # phrases, sentences, and whatever else is said of them


@dataclass(slots=True)
class Phrase:
    """A given mention: its address and its span, in the units the client counts in."""

    uri: str
    start: int
    end: int
    anchor: str | None = None


@dataclass(slots=True)
class Context:
    """A document: its address, its text, its phrases, and whether offsets count UTF-16 units."""

    uri: str
    text: str
    phrases: list[Phrase] = field(default_factory=list)
    utf16: bool = False


def annotate(call: Call) -> Response:
    """Link a NIF document: its phrases if it has some (D2KB), otherwise those found (A2KB)."""
    contexts, given = read(call.text(*MEDIA_TYPES), call.limits), call.parameters()
    types, find = listed(given, "types") or None, choice(given, "find", "names", "all")
    parts = [
        write(c, call.resolve(c.text, _code_points(c) or None, mentions=find, types=types)) for c in contexts
    ]
    kind = "text/turtle" if "text/turtle" in call.request.headers.get("accept", "") else MEDIA_TYPES[0]
    return Response("".join([HEAD, *parts]).encode(), headers={"content-type": f"{kind}; charset=utf-8"})


def read(turtle: str, limits: Limits = Limits()) -> list[Context]:  # noqa: B008  (it is frozen)
    """The contexts of a NIF document with their phrases, in the order written."""
    found: dict[str, dict[str, str]] = {}  # what was said of each subject
    most = _RESOURCES_PER_MENTION * limits.total_mentions
    try:
        for subject, predicate, value in parse_turtle(turtle):
            name = _FIELDS.get(predicate, "")
            if predicate == TYPE:
                kinds = found.setdefault(subject, {})
                if str(value) in _CONTAINERS:
                    kinds["container"] = str(value)
            elif name == "context" or (name and isinstance(value, Literal)):
                found.setdefault(subject, {})[name] = str(value)
            if len(found) > most:
                raise too_many(len(found), "resources", most)
    except TurtleError as reason:
        raise RequestError(400, reason.what, where=reason.where) from None
    contexts = _contexts(found)
    if len(contexts) > limits.documents:
        raise too_many(len(contexts), "contexts", limits.documents)
    for address, said in found.items():
        context = contexts.get(said.get("context", ""))
        phrase = _phrase(address, said) if context and not said.keys() & {"text", "container"} else None
        if context and phrase:
            context.phrases.append(phrase)
    for context in contexts.values():
        context.utf16 = _counts_utf16(context, found[context.uri].get("end"))
    return list(contexts.values())


def _contexts(found: dict[str, dict[str, str]]) -> dict[str, Context]:
    contexts = {
        subject: Context(str(subject), said["text"]) for subject, said in found.items() if "text" in said
    }
    if not contexts:
        raise RequestError(422, "there is no nif:Context with a nif:isString")
    if not all(isinstance(subject, IRI) and subject and not _NO_IRI.search(subject) for subject in contexts):
        todo = "Give it an absolute IRI"
        raise RequestError(422, "the nif:Context has no address of its own", todo=todo)
    return contexts


def _phrase(subject: str, said: dict[str, str]) -> Phrase | None:
    """A phrase with its offsets, from its properties or its address; None for something without any."""
    written = _FRAGMENT.search(subject)
    begin, end = (said.get(name, written and written[k]) for k, name in ((1, "begin"), (2, "end")))
    if begin is None or end is None:
        return None
    try:
        # int() of very long digit strings is slow and then refused; no text is that long anyway.
        start, stop = int(begin[:12]), int(end[:12])
    except ValueError:
        raise RequestError(422, f"the phrase {clean(subject)} has offsets that are not integers") from None
    uri = "" if not isinstance(subject, IRI) or _NO_IRI.search(subject) else str(subject)
    return Phrase(uri, start, stop, said.get("anchor"))


def _counts_utf16(context: Context, end: str | None) -> bool:
    """Whether the client counts UTF-16 units; without a character beyond 16 bits there is no difference."""
    text = context.text
    if not text or max(text) <= "\uffff":
        return False
    if end is not None and end.isdigit() and len(end) < 12:
        if int(end) == len(text):
            return False
        if int(end) == len(text.encode("utf-16-le")) // 2:
            return True
    units = text.encode("utf-16-le")
    told = [p for p in context.phrases if p.anchor and p.start >= 0]
    as_points = sum(text[p.start : p.end] == p.anchor for p in told)
    as_units = sum(
        units[2 * p.start : 2 * p.end] == (p.anchor or "").encode("utf-16-le", "surrogatepass") for p in told
    )
    return as_units > as_points


def _positions(text: str) -> list[int]:
    """The UTF-16 position of every code point, and of the end."""
    return list(accumulate((1 + (c > "\uffff") for c in text), initial=0))


def _code_points(context: Context) -> list[tuple[int, int]]:
    """Spans of the phrases in code points."""
    if not context.utf16:
        return [(phrase.start, phrase.end) for phrase in context.phrases]
    point = {unit: at for at, unit in enumerate(_positions(context.text))}
    spans = []
    for phrase in context.phrases:
        if phrase.start not in point or phrase.end not in point:
            what = f"the phrase [{phrase.start}, {phrase.end}) is not inside the text, or splits a character"
            raise RequestError(422, what)
        spans.append((point[phrase.start], point[phrase.end]))
    return spans


def write(context: Context, document: Document) -> str:
    """The context and its linked phrases as Turtle."""
    position = _positions(context.text) if context.utf16 else range(len(context.text) + 1)
    given: list[Phrase | None] = [*context.phrases] or [None] * len(document)
    parts = [context_turtle(context.uri, position[len(context.text)], context.text)]
    base = context.uri.partition("#")[0]
    for phrase, mention in zip(given, document, strict=True):
        start, end = position[mention.start], position[mention.end]
        uri = phrase.uri if phrase and phrase.uri else f"{base}#char={start},{end}"
        parts.append(phrase_turtle(uri, start, end, context.uri, mention.text, mention))
    return "".join(parts)


_TURTLE = {kind: {**STRING, "format": "nif"} for kind in MEDIA_TYPES}
ADDRESSES = [
    Address("POST", "/nif", annotate, "GERBIL", takes=_TURTLE, gives=_TURTLE, parameters=(FIND, TYPED))
]
