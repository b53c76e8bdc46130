"""Every regular expression that sees what users write takes time in proportion to it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from contextlib import suppress

import pytest

import pboh
from pboh.errors import PbohError
from pboh.formats.turtle import parse_turtle
from pboh.inference.candidates import longer_mentions, variants
from pboh.integrations import mcp
from pboh.model.names import derived_names
from pboh.service.protocols.spotlight import read_annotation
from pboh.text.folding import fold, squeeze

SIZE = 1_000_000
SECONDS = 4.0  # a quadratic one takes hours
ROOMS = (
    "document",
    "formats",
    "inference",
    "detection",
    "integrations",
    "linker",
    "model.names",
    "service",
    "text",
)
PIECES = [
    " ",
    ",",
    "'",
    "’s",
    "(",
    ")",
    "()",
    " (",
    "\\",
    '"',
    "a",
    "1",
    "1.",
    ".",
    "_",
    "-",
    "#",
    "<",
    "x, ",
    "é",
]


def patterns():
    """Every compiled expression at the top of a module in the rooms that see texts of users."""
    for found in pkgutil.walk_packages(pboh.__path__, "pboh."):
        room = found.name.removeprefix("pboh.")
        if any(room == name or room.startswith(f"{name}.") for name in ROOMS):
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    yield pytest.param(value, id=f"{room}.{name}")


def took(work, *arguments):
    began = time.perf_counter()
    with suppress(PbohError):
        work(*arguments)
    return time.perf_counter() - began


@pytest.mark.parametrize("pattern", list(patterns()))
def test_expressions_are_linear(pattern):
    """Long runs of everything an expression may like to repeat, with an end that it does not like."""
    pieces = {*PIECES, *(c for c in pattern.pattern if c.isprintable())}
    work = pattern.match if pattern.flags & re.VERBOSE else pattern.search  # tokens are matched in place
    for piece in pieces:
        text = piece * (SIZE // 10 // len(piece)) + "\0!"
        assert took(work, text) < SECONDS / 10, (piece, pattern.pattern)


WORST = {
    "a mention of commas": (variants, "," * SIZE + "x"),
    "a mention of blanks": (variants, "Inc" + " " * SIZE + "x"),
    "a mention of apostrophes": (variants, "'" * SIZE + "x"),
    "a title of blanks": (derived_names, " " * SIZE + "x"),
    "a title of parentheses": (derived_names, "(" * SIZE),
    "a title that never ends its parentheses": (derived_names, " (" * (SIZE // 2)),
    "a title of empty parentheses": (derived_names, "() " * (SIZE // 3) + "x"),
    "a name to fold": (fold, " \t" * (SIZE // 2)),
    "a name to squeeze": (squeeze, " \u3000" * (SIZE // 2)),
    "mentions of many words": (longer_mentions, ["a " * 250 for _ in range(SIZE // 500)]),
    "turtle: an open long string": (
        lambda text: list(parse_turtle(text)),
        '<a:a> <a:b> """' + 'x"' * (SIZE // 2),
    ),
    "turtle: escaped quotes": (
        lambda text: list(parse_turtle(text)),
        "<a:a> <a:b> '''" + r"\'''" * (SIZE // 4),
    ),
    "turtle: digits": (lambda text: list(parse_turtle(text)), "<a:a> <a:b> " + "1" * SIZE + "x"),
    "turtle: a fraction": (lambda text: list(parse_turtle(text)), "<a:a> <a:b> 1." + "1" * SIZE + "x"),
    "turtle: full stops": (lambda text: list(parse_turtle(text)), "@prefix a: <b:c> . a:" + "." * SIZE),
    "turtle: names of full stops": (
        lambda text: list(parse_turtle(text)),
        "@prefix a: <b:c> . a:x a:y a:z" + ".a" * (SIZE // 2),
    ),
    "turtle: hyphens": (
        lambda text: list(parse_turtle(text)),
        '<a:a> <a:b> "x"@en' + "-a" * (SIZE // 2) + "-",
    ),
    "turtle: an open IRI": (lambda text: list(parse_turtle(text)), "<" * SIZE),
    "turtle: scheme": (lambda text: list(parse_turtle(text)), "@base <b:c> . <" + "a" * SIZE + "> <b> <c> ."),
    "turtle: dots up": (
        lambda text: list(parse_turtle(text)),
        "@base <b:c> . <" + "../" * (SIZE // 3) + "> <b> <c> .",
    ),
    "turtle: comments": (lambda text: list(parse_turtle(text)), "#\n" * (SIZE // 2)),
    "xml: attributes": (
        read_annotation,
        "<annotation " + " ".join(f'a{i}=""' for i in range(SIZE // 10)) + ' text="x"/>',
    ),
    "xml: elements": (read_annotation, '<annotation text="x">' + "<a>" * (SIZE // 3)),
    "mcp: a name in a text": (lambda text: mcp._find(text, text[: SIZE // 2] + "b", 1), "a" * SIZE),
    "mcp: part of words": (lambda text: mcp._find(text, text[: SIZE // 2], 3), "a" * SIZE),
}


@pytest.mark.parametrize("name", WORST)
def test_what_uses_them_is_linear(name):
    work, text = WORST[name]
    assert took(work, text) < SECONDS
