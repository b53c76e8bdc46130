"""Every regular expression that sees what users write takes time in proportion to it."""

from __future__ import annotations

import ast
import importlib
import re
import time
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path

import pytest

import pboh
from pboh.corpus.subjects.language import language, tables
from pboh.errors import PbohError
from pboh.evaluation.datasets.core import GoldDocument
from pboh.evaluation.datasets.derived import sentences
from pboh.formats.turtle import parse_turtle
from pboh.inference.candidates import longer_mentions, variants
from pboh.integrations import mcp
from pboh.model.names import derived_names
from pboh.service.protocols.spotlight import read_annotation
from pboh.text.folding import fold, squeeze

pytestmark = pytest.mark.slow

SIZES = (15_000, 120_000)  # a quadratic one fails on the first
TIMES = 5  # a machine that has other things to do is slow now and then, a quadratic expression always
MOST = 150  # times the processor time of a loop over as many characters
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
    "corpus.subjects.language": "timed with every table below",
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


def took(work, argument):
    """Processor seconds of a call; what it refuses counts too."""
    began = time.thread_time()
    with suppress(PbohError):
        work(argument)
    return time.thread_time() - began


def loop(text):
    for _ in text:
        pass


def check_linear(work, *worst):
    """Compare the time of ``work`` with that of a plain loop, on longer and longer inputs of every kind."""
    for size in (100, *SIZES):
        reference = min(took(loop, "a" * size) for _ in range(3))
        for number, kind in enumerate(worst):
            text, seconds = kind(size), float("inf")
            for _ in range(TIMES if size in SIZES else 1):  # the first call may import or compile something
                if seconds >= MOST * reference:
                    seconds = min(seconds, took(work, text))
            assert seconds < MOST * reference or size not in SIZES, (number, size)


def of_tables():
    """The expressions that the tables of languages are compiled to, each once."""
    seen = set()
    for code in (*tables(), "xx"):
        for field in fields(table := language(code)):
            value = getattr(table, field.name)
            if isinstance(value, re.Pattern) and value not in seen:
                seen.add(value)
                yield pytest.param(value, "search", id=f"{code}.{field.name}")


@pytest.mark.parametrize(("pattern", "use"), [*expressions(), *of_tables()])
def test_expressions_are_linear(pattern, use):
    """Long runs of everything an expression may like to repeat, with an end that it does not like."""
    text = isinstance(pattern.pattern, str)
    written = pattern.pattern if text else pattern.pattern.decode("latin-1")
    work = getattr(pattern, use if use in ("match", "fullmatch") else "search")

    def run_of(piece, size):
        long = piece * (size // len(piece)) + "\0!"
        return long if text else long.encode()

    pieces = sorted({*PIECES, *(c for c in written if c.isprintable())})
    check_linear(work, *(partial(run_of, piece) for piece in pieces))


def turtle(text):
    return list(parse_turtle(text))


WORST = {
    "a mention of commas": (variants, lambda n: "," * n + "x"),
    "a mention of blanks": (variants, lambda n: "Inc" + " " * n + "x"),
    "a mention of apostrophes": (variants, lambda n: "'" * n + "x"),
    "a title of blanks": (derived_names, lambda n: " " * n + "x"),
    "a title of parentheses": (derived_names, lambda n: "(" * n),
    "a title that never ends its parentheses": (derived_names, lambda n: " (" * (n // 2)),
    "a title of empty parentheses": (derived_names, lambda n: "() " * (n // 3) + "x"),
    "a name to fold": (fold, lambda n: " \t" * (n // 2)),
    "a name to squeeze": (squeeze, lambda n: " \u3000" * (n // 2)),
    "a gold document of blanks": (sentences, lambda n: GoldDocument("1", " " * n + "x", ())),
    "mentions of many words": (longer_mentions, lambda n: ["a " * 250 for _ in range(n // 500)]),
    "turtle: an open long string": (turtle, lambda n: '<a:a> <a:b> """' + 'x"' * (n // 2)),
    "turtle: escaped quotes": (turtle, lambda n: "<a:a> <a:b> '''" + r"\'''" * (n // 4)),
    "turtle: digits": (turtle, lambda n: "<a:a> <a:b> " + "1" * n + "x"),
    "turtle: a fraction": (turtle, lambda n: "<a:a> <a:b> 1." + "1" * n + "x"),
    "turtle: full stops": (turtle, lambda n: "@prefix a: <b:c> . a:" + "." * n),
    "turtle: names of full stops": (turtle, lambda n: "@prefix a: <b:c> . a:x a:y a:z" + ".a" * (n // 2)),
    "turtle: hyphens": (turtle, lambda n: '<a:a> <a:b> "x"@en' + "-a" * (n // 2) + "-"),
    "turtle: an open IRI": (turtle, lambda n: "<" * n),
    "turtle: scheme": (turtle, lambda n: "@base <b:c> . <" + "a" * n + "> <b> <c> ."),
    "turtle: dots up": (turtle, lambda n: "@base <b:c> . <" + "../" * (n // 3) + "> <b> <c> ."),
    "turtle: comments": (turtle, lambda n: "#\n" * (n // 2)),
    "xml: attributes": (
        read_annotation,
        lambda n: "<annotation " + " ".join(f'a{i}=""' for i in range(n // 10)) + ' text="x"/>',
    ),
    "xml: elements": (read_annotation, lambda n: '<annotation text="x">' + "<a>" * (n // 3)),
    "mcp: a name in a text": (
        lambda text: mcp._find(text, text[: len(text) // 2] + "b", 1),
        lambda n: "a" * n,
    ),
    "mcp: part of words": (lambda text: mcp._find(text, text[: len(text) // 2], 3), lambda n: "a" * n),
}


@pytest.mark.parametrize("name", WORST)
def test_what_uses_them_is_linear(name):
    check_linear(*WORST[name])
