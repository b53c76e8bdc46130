"""A reader of RDF Turtle (and so of N-Triples): triples in file order, in linear time, without recursion.

It reads what NIF documents and services are written in: directives in both spellings, predicate and object
lists, all four kinds of quotes, language tags and datatypes, numbers, booleans, nested blank nodes and
collections. It is lenient where real files are wrong (characters that an IRI may not contain) and strict
about structure: whatever it cannot place is a :class:`TurtleError` that names line and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple
from urllib.parse import urljoin

from pboh.errors import InputError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"


class TurtleError(InputError, ValueError):
    """The text is not Turtle; says in which line and column."""


class IRI(str):
    """An absolute identifier (relative ones are resolved against the base)."""

    __slots__ = ()


class Blank(str):
    """A node without a name of its own; the string is its label inside this document."""

    __slots__ = ()


class Literal(NamedTuple):
    """A value: its text, its datatype, and its language tag if it has one."""

    text: str
    datatype: str = XSD + "string"
    language: str | None = None

    def __str__(self) -> str:
        return self.text


Node = IRI | Blank
Term = IRI | Blank | Literal
Triple = tuple[Node, IRI, Term]

FIRST, REST, NIL, TYPE = IRI(RDF + "first"), IRI(RDF + "rest"), IRI(RDF + "nil"), IRI(RDF + "type")

# Possessive quantifiers: what was matched is never tried again, so a missing end costs one pass.
_TOKEN = re.compile(
    r"""(?P<skip>(?:[ \t\r\n]++|\#[^\r\n]*+)++)
      | (?P<long>\"{3}(?:[^"\\]|\\.|"(?!""))*+\"{3} | '{3}(?:[^'\\]|\\.|'(?!''))*+'{3})
      | (?P<short>"(?:[^"\\\r\n]|\\.)*+" | '(?:[^'\\\r\n]|\\.)*+')
      | (?P<iri><[^<>\r\n]*+>)
      | (?P<blank>_:[\w][\w.\-·]*+)
      | (?P<number>[+-]?(?:[0-9]+\.[0-9]*[eE][+-]?[0-9]+ | \.?[0-9]+[eE][+-]?[0-9]+ | [0-9]*\.[0-9]+ | [0-9]+)
                   (?![\w:]))
      | (?P<directive>@prefix\b | @base\b)
      | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*+)
      | (?P<name>(?:[^\W\d_][\w.\-·]*+)?:(?:[\w:.\-·]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*+)
      | (?P<word>[A-Za-z]+)
      | (?P<mark>\^\^|[\[\]();,.])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


class _Expect(Enum):
    SUBJECT = auto()
    VERB = auto()
    OBJECT = auto()
    SEPARATOR = auto()


@dataclass(slots=True)
class _Frame:
    """A statement, a ``[…]`` or a ``(…)`` that is still open."""

    opener: str
    node: Node | None = None
    verb: IRI | None = None
    expect: _Expect = _Expect.VERB
    may_end: bool = False  # where a verb is optional: after ";", in "[]", after "[…]" as a subject
    tail: Blank | None = None


def parse_turtle(text: str, base: str = "") -> Iterator[Triple]:
    """The triples of a Turtle document, in order; raises :class:`TurtleError` at the first mistake."""
    return _Parser(text, base).triples()


@dataclass(slots=True)
class _Parser:
    text: str
    base: str
    position: int = 0
    prefixes: dict[str, str] = field(default_factory=dict)
    frames: list[_Frame] = field(default_factory=list)
    found: list[Triple] = field(default_factory=list)
    blanks: int = 0

    def __post_init__(self) -> None:
        self.position = 1 if self.text.startswith("\ufeff") else 0

    def triples(self) -> Iterator[Triple]:
        """Read token by token; statements are handed out as they end."""
        while (token := self.next_token()) is not None:
            kind, value, at = token
            if not self.frames and self.directive(kind, value, at):
                continue
            if not self.frames:
                self.frames.append(_Frame(".", expect=_Expect.SUBJECT))
            if kind == "mark":
                self.mark(value, at)
            else:
                self.deliver(self.term(kind, value, at), at)
            if not self.frames:
                yield from self.found
                self.found.clear()
        if self.frames:
            raise self.error("the text ends inside a statement", len(self.text))

    # Tokens

    def next_token(self) -> tuple[str, str, int] | None:
        """Kind, text and position of the next token; None at the end."""
        while self.position < len(self.text):
            at = self.position
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self.error(f"{self.text[at : at + 20]!r} cannot be read", at)
            kind, value = str(match.lastgroup), match[0]
            if kind in {"name", "blank"} and value.endswith("."):
                # A full stop at the end of a name ends the statement, unless it is escaped.
                bare = value.rstrip(".")
                value = bare + "." if bare.endswith("\\") else bare
            self.position = at + len(value)
            if kind != "skip":
                return kind, value, at
        return None

    def expected(self, *kinds: str) -> tuple[str, str, int]:
        """The next token, which must be of one of these kinds."""
        token = self.next_token()
        if token is None or token[0] not in kinds:
            raise self.error(f"{' or '.join(kinds)} expected", token[2] if token else len(self.text))
        return token

    def error(self, what: str, at: int) -> TurtleError:
        """The mistake, with its line and column."""
        line = self.text.count("\n", 0, at) + 1
        column = at - self.text.rfind("\n", 0, at)
        return TurtleError(f"not Turtle: {what}", where=f"line {line}, column {column}")

    # Directives and terms

    def directive(self, kind: str, value: str, at: int) -> bool:
        """Carry out ``@prefix``, ``@base``, ``PREFIX`` or ``BASE``; False when the token is none of them."""
        word = value.lower().lstrip("@")
        if kind not in {"directive", "word"} or word not in {"prefix", "base"}:
            return False
        name = self.expected("name")[1] if word == "prefix" else ""
        target = self.iri(*self.expected("iri")[1:])
        if word == "base":
            self.base = target
        elif not name.endswith(":") or name.count(":") != 1:
            raise self.error("a prefix ends with a colon", at)
        else:
            self.prefixes[name[:-1]] = target
        if kind == "directive" and self.expected("mark")[1] != ".":
            raise self.error("a full stop is missing after the directive", self.position - 1)
        return True

    def term(self, kind: str, value: str, at: int) -> Term:
        """The term a token stands for."""
        if kind == "iri":
            return self.iri(value, at)
        if kind == "name":
            return self.name(value, at)
        if kind == "blank":
            return Blank(value[2:])
        if kind == "short":
            return self.literal(value[1:-1], at)
        if kind == "long":
            return self.literal(value[3:-3], at)
        if kind == "number":
            numeric = "double" if "e" in value.lower() else "decimal" if "." in value else "integer"
            return Literal(value, XSD + numeric)
        if value in {"true", "false"}:
            return Literal(value, XSD + "boolean")
        if value == "a" and self.frames[-1].expect is _Expect.VERB:
            return TYPE
        raise self.error(f"{value!r} is no term", at)

    def iri(self, token: str, at: int) -> IRI:
        """``<…>`` with its escapes undone, resolved against the base."""
        value = self.unescaped(token[1:-1], at)
        return IRI(value if not self.base or _ABSOLUTE.match(value) else urljoin(self.base, value))

    def name(self, value: str, at: int) -> IRI:
        """``prefix:local`` in full."""
        prefix, _, local = value.partition(":")
        if prefix not in self.prefixes:
            raise self.error(f"the prefix {prefix!r} is not declared", at)
        return IRI(self.prefixes[prefix] + re.sub(r"\\(.)", r"\1", local))

    def literal(self, body: str, at: int) -> Literal:
        """A quoted text with the language tag or datatype behind it, if there is one."""
        text = self.unescaped(body, at)
        back = self.position
        token = self.next_token()
        if token is not None and token[0] == "language":
            return Literal(text, RDF + "langString", token[1][1:])
        if token is not None and token[1] == "^^":
            kind, value, where = self.expected("iri", "name")
            return Literal(text, str(self.iri(value, where) if kind == "iri" else self.name(value, where)))
        self.position = back
        return Literal(text)

    def unescaped(self, body: str, at: int) -> str:
        """Undo ``\\n``, ``\\u00e9``, ``\\U0001F600`` and escaped surrogate pairs."""
        if "\\" not in body:
            return body
        try:
            return _SURROGATES.sub(_joined, _ESCAPE.sub(_escaped, body))
        except ValueError as reason:
            raise self.error(str(reason), at) from None

    # Structure

    def mark(self, mark: str, at: int) -> None:
        """Open, close or separate according to a punctuation mark."""
        frame = self.frames[-1]
        if mark in "[(":
            if frame.expect in {_Expect.VERB, _Expect.SEPARATOR}:
                raise self.error(f"{mark!r} cannot stand here", at)
            node = self.new_blank() if mark == "[" else None
            inside = _Expect.VERB if mark == "[" else _Expect.OBJECT
            self.frames.append(_Frame(mark, node, expect=inside, may_end=True))
        elif mark == ";" and (frame.expect is _Expect.SEPARATOR or (frame.verb and frame.may_end)):
            frame.expect, frame.may_end = _Expect.VERB, True
        elif mark == "," and frame.expect is _Expect.SEPARATOR:
            frame.expect = _Expect.OBJECT
        elif mark in ".])" and self.can_close(frame, mark):
            self.frames.pop()
            if mark == "]" and frame.node is not None:
                self.deliver(frame.node, at, bare=True)
            elif mark == ")":
                self.close_collection(frame, at)
        else:
            raise self.error(f"{mark!r} cannot stand here", at)

    def can_close(self, frame: _Frame, mark: str) -> bool:
        """Whether ``mark`` closes what is open."""
        if frame.opener != {".": ".", "]": "[", ")": "("}[mark]:
            return False
        return frame.opener == "(" or frame.expect is _Expect.SEPARATOR or frame.may_end

    def close_collection(self, frame: _Frame, at: int) -> None:
        """End the linked list and hand its head on."""
        if frame.tail is not None:
            self.found.append((frame.tail, REST, NIL))
        self.deliver(frame.node or NIL, at)

    def deliver(self, term: Term, at: int, bare: bool = False) -> None:
        """Give a finished term to the innermost open statement; ``bare`` when it was a ``[…]``."""
        frame = self.frames[-1]
        if frame.opener == "(":
            self.append_item(frame, term)
        elif frame.expect is _Expect.OBJECT and frame.node is not None and frame.verb is not None:
            self.found.append((frame.node, frame.verb, term))
            frame.expect, frame.may_end = _Expect.SEPARATOR, False
        elif frame.expect is _Expect.SUBJECT and not isinstance(term, Literal):
            frame.node, frame.expect, frame.may_end = term, _Expect.VERB, bare
        elif frame.expect is _Expect.VERB and isinstance(term, IRI):
            frame.verb, frame.expect, frame.may_end = term, _Expect.OBJECT, False
        else:
            raise self.error(f"a term cannot stand here ({frame.expect.name.lower()} expected)", at)

    def append_item(self, frame: _Frame, term: Term) -> None:
        """One more cell of a collection."""
        cell = self.new_blank()
        if frame.tail is None:
            frame.node = cell
        else:
            self.found.append((frame.tail, REST, cell))
        self.found.append((cell, FIRST, term))
        frame.tail = cell

    def new_blank(self) -> Blank:
        """A blank node whose label no ``_:label`` of the document can have."""
        self.blanks += 1
        return Blank(f" {self.blanks}")


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        if int(code, 16) > 0x10FFFF:
            raise ValueError(f"\\U{code} is no character")
        return chr(int(code, 16))
    if match[3] not in _SIMPLE:
        raise ValueError(f"\\{match[3]} is no escape")
    return _SIMPLE[match[3]]


def _joined(pair: re.Match[str]) -> str:
    """One character out of a surrogate pair; half a pair is no character."""
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_QUOTED = str.maketrans(
    {chr(c): f"\\u{c:04X}" for c in (*range(32), 127)}
    | {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def quoted(text: str) -> str:
    """A text as a Turtle string on one line."""
    return f'"{text.translate(_QUOTED)}"'
