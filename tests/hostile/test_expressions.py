"""Every regular expression that sees what users write takes time in proportion to it."""

from __future__ import annotations

import ast
import importlib
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

import pboh
from pboh.errors import PbohError
from pboh.evaluation.datasets.core import GoldDocument
from pboh.evaluation.datasets.derived import sentences
from pboh.formats.turtle import parse_turtle
from pboh.inference.candidates import longer_mentions, variants
from pboh.integrations import mcp
from pboh.model.names import derived_names
from pboh.service.protocols.spotlight import read_annotation
from pboh.text.folding import fold, squeeze

SIZE = 1_000_000
SECONDS = 4.0  # a quadratic one takes hours
SOURCE = Path(pboh.__file__).parent
USES = {"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
PIECES = (
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
)
MADE = {
    "corpus.languages": "one class of characters",
    "corpus.wikitext.reader": "timed by the worst cases of tests/corpus",
}
"""Modules whose expressions are all made while they run."""
NEVER = ("counts.plan", "evaluation")
"""Rooms whose expressions read our own SQL, and gold documents: no user of a service gets there."""


def is_use(node, of="re"):
    """Whether this is a call of the module re, or of a compiled expression."""
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in USES
    return call and isinstance(node.func.value, ast.Name) and node.func.value.id == of


def expressions():
    """Every expression of the package: compiled at the top of a module, or written where it is used."""
    for path in sorted(SOURCE.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        calls = [node for node in nodes if is_use(node)]
        module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        room = module.removeprefix("pboh.")
        if not calls or room.startswith(NEVER):
            continue
        known = []
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, re.Pattern):
                known += [(name, value, node.func.attr) for node in nodes if is_use(node, of=name)]
        for call in calls:
            if isinstance(call.args[0], ast.Constant) and call.func.attr != "compile":
                known.append((f"line {call.lineno}", re.compile(call.args[0].value), call.func.attr))
        assert known or room in MADE, f"{module} hides its expressions"
        yield from (pytest.param(value, use, id=f"{room}.{name}.{use}") for name, value, use in known)


def took(work, *arguments):
    began = time.perf_counter()
    with suppress(PbohError):
        work(*arguments)
    return time.perf_counter() - began


@pytest.mark.parametrize(("pattern", "use"), list(expressions()))
def test_expressions_are_linear(pattern, use):
    """Long runs of everything an expression may like to repeat, with an end that it does not like."""
    text = isinstance(pattern.pattern, str)
    written = pattern.pattern if text else pattern.pattern.decode("latin-1")
    work = getattr(pattern, use if use in ("match", "fullmatch") else "search")
    for piece in sorted({*PIECES, *(c for c in written if c.isprintable())}):
        long = piece * (SIZE // len(piece)) + "\0!"
        assert took(work, long if text else long.encode()) < SECONDS, (piece, pattern.pattern)


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
    "a gold document of blanks": (sentences, GoldDocument("1", " " * SIZE + "x", ())),
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
