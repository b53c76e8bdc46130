"""``pboh link``: raw text in, linked entities out."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Literal

import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table
from typer import Argument, Option

from pboh.cli import app, options
from pboh.cli.printing import output
from pboh.document import NO_ENTITY, Document, Facts, Mention
from pboh.files.kernel_cache import compiling_beside
from pboh.files.writing import write_whole

COLUMNS = "start", "end", "probability", "detection", "mention", "entity", "id", "type", "description"
"""Of the table where it is not for a terminal."""
LEAST_SHOWN = 0.03
"""Meanings less probable than this are left out of the table."""
WIDEST = 30
"""Characters of a description that the table shows; other formats have all of it."""


@app.command("link")
def link_command(
    source: Annotated[
        str, Argument(metavar="TEXT|FILE|-", help="A text, a text file, or - for standard input.")
    ] = "-",
    model: options.Model = None,
    format: Annotated[
        Literal["table", "json", "html", "nif"], Option("--format", "-f", help="How to write the result.")
    ] = "table",
    out: Annotated[Path | None, options.out("FILE", "Write to this file.", callback=options.writable)] = None,
    mentions: options.Mentions = "names",
    threshold: options.Threshold = None,
    nil: options.Nil = False,
    only: options.Only = None,
    types: options.Types = None,
    paper: options.Paper = False,
    change: options.Change = None,
) -> None:
    """Find the names in a text and say which entities they mean.

    A higher --threshold keeps fewer and surer mentions; 0 keeps every name that has an answer.

    \b
    Examples:
      pboh link "Müller scored for Bayern in Paris."
      pboh link article.txt --model model --format html --out article.html
      curl -s https://example.org/news.txt | pboh link - --format json
    """
    from pboh.cli.reading import read_only, read_text

    text, name = read_text(source)
    with compiling_beside("pboh.detection.rehearsal"):
        linker = options.load_linker(model, paper, change)
        document = linker.link(
            text, mentions=mentions, threshold=threshold, nil=nil, id=name,
            entities=read_only(linker, only), types=options.listed(types),
        )  # fmt: skip
    if format == "table" and out is None and output().is_terminal:
        output().print(_table(document) if len(document) else "no mention was found", markup=False)
        return
    written = _written(document, format, name).encode("utf-8", "replace")
    if out is None:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    else:
        write_whole(out, written)


def _written(document: Document, format: str, name: str | None) -> str:
    if format == "html":
        from pboh.formats.html import to_html

        return to_html(document, name or "Linked text")
    if format == "nif":
        from pboh.formats.nif import to_nif

        return to_nif(document)
    if format == "json":
        return msgspec.json.encode(document.to_dict()).decode() + "\n"
    return "".join("\t".join(cells) + "\n" for cells in [COLUMNS, *map(_cells, document)])


def _cells(mention: Mention) -> tuple[str, ...]:
    about = mention.entity.to_dict() if mention.entity else NO_ENTITY
    numbers = f"{mention.probability:.3f}", f"{mention.detection:.3f}"
    texts = (mention.text, *(about[name] or "" for name in ("entity", "id", "type", "description")))
    return str(mention.start), str(mention.end), *numbers, *map(_one_line, texts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _table(document: Document) -> Table:
    """The mentions for a terminal, with what else they may mean."""
    table = Table("mention", "entity", box=SIMPLE_HEAD)
    told = [_told(mention) for mention in document]
    if any(told):
        table.add_column("which is", no_wrap=True)
    table.add_column("sure", justify="right")
    table.add_column("or")
    table.add_column("worth a link", justify="right")
    for mention, what in zip(document, told, strict=True):
        others = ", ".join(f"{title} {share:.0%}" for title, share in _others(mention))
        right = mention.probability if mention.entity else mention.nil
        sure, worth = f"{right:.0%}", f"{mention.detection:.0%}"
        which = [what] if any(told) else []
        answer = _one_line(mention.text), str(mention.entity or "–"), *which
        table.add_row(*answer, sure, others or None, worth)
    return table


def _told(mention: Mention) -> str:
    """What an answer is: the beginning of its description, or at least its type."""
    facts = mention.entity.facts if mention.entity else Facts()
    if facts.description:
        return shorten(facts.description, WIDEST, placeholder=" …")
    return facts.type if facts.type not in (None, "unknown", "other") else ""


def _others(mention: Mention, most: int = 2) -> list[tuple[str, float]]:
    """The next best meanings of a mention, and that the model does not know what it means."""
    others = [(str(c.entity), c.probability) for c in mention.candidates if c.entity != mention.entity]
    ranked = sorted([*others, ("unknown", mention.nil)], key=lambda other: -other[1])
    return [other for other in ranked[:most] if other[1] >= LEAST_SHOWN]
