"""RDF Turtle (and N-Triples): the triples of a text in order, with a bound on what prefixes expand to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pboh.deadline import checkpoint
from pboh.errors import InputError

if TYPE_CHECKING:
    import pyoxigraph

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
EXPANSION = 20
"""Terms written out in full may be this many times as long as the text; real files stay below five times."""
ALLOWANCE = 1 << 22  # characters that any text may expand to, however short it is


_QUOTING = "statements about statements (RDF 1.2) are not read"
_TOKENS = re.compile(  # what may hide two angle brackets that mean nothing, and those that do
    r"""\\.|\#[^\n\r]*+|<[^<>]*+>|(?P<quoting><<)"""
    r'''|"{3}(?:[^"\\]|\\.|"(?!""))*+"{3,5}+|"(?:[^"\\]|\\.)*+"'''
    r"""|'{3}(?:[^'\\]|\\.|'(?!''))*+'{3,5}+|'(?:[^'\\]|\\.)*+'""",
    re.DOTALL,
)


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
TYPE = IRI(RDF + "type")


def parse_turtle(text: str, base: str | None = None) -> Iterator[Triple]:
    """The triples of a Turtle document, in order; raises :class:`TurtleError` at the first mistake.

    Characters that an IRI may not contain are let through, because real files have them.
    """
    from pyoxigraph import RdfFormat, parse  # noqa: PLC0415  (writing Turtle does not need it)

    if "<<" in text and any(token["quoting"] for token in _TOKENS.finditer(text)):
        raise TurtleError(_QUOTING)  # before the parser, which ends the process when they are nested deeply
    left = ALLOWANCE + EXPANSION * len(text)
    data = text.encode("utf-8", "replace")
    try:
        for quad in parse(data, RdfFormat.TURTLE, base_iri=base, lenient=True):
            triple = _term(quad.subject), IRI(quad.predicate.value), _term(quad.object)
            left -= sum(len(term[0]) if isinstance(term, Literal) else len(term) for term in triple)
            if left < 0:
                raise TurtleError(f"prefixes expand the text to more than {EXPANSION} times its length")
            checkpoint()
            yield triple  # type: ignore[misc]  # the subject is never a literal
    except SyntaxError as mistake:
        where = f"line {mistake.lineno}, column {mistake.offset}"
        raise TurtleError(f"not Turtle: {mistake.msg.partition(': ')[2]}", where=where) from None


def _term(node: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal) -> Term:
    kind = type(node).__name__
    if kind == "Literal":
        return Literal(node.value, node.datatype.value, node.language)  # type: ignore[union-attr]
    if kind == "Triple":
        raise TurtleError(_QUOTING)
    return IRI(node.value) if kind == "NamedNode" else Blank(node.value)


_QUOTED = str.maketrans(
    {chr(c): f"\\u{c:04X}" for c in (*range(32), 127)}
    | {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
)


def quoted(text: str) -> str:
    """A text as a Turtle string on one line."""
    return f'"{text.translate(_QUOTED)}"'
