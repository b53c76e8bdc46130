"""Small dumps written on the spot, and corpora compared."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow.parquet as pq

DATA = Path(__file__).parent.parent / "data"


@cache
def world() -> ModuleType:
    """The script that wrote ``world.xml``."""
    spec = importlib.util.spec_from_file_location("make_world", DATA / "make_world.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def prose(seed: int, size: int) -> bytes:
    """Something that compresses about as well as prose."""
    chance = random.Random(seed)
    known = [bytes(chance.choices(b"etaoinshrdlu", k=chance.randrange(2, 9))) for _ in range(3000)]
    return b" ".join(chance.choices(known, k=size // 6))


def page(title: str, text: str, redirect: str | None = None, namespace: int = 0) -> str:
    """One ``<page>`` element."""
    target = f"<redirect title={quoteattr(redirect)} />" if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title><ns>{namespace}</ns><id>7</id>{target}\n"
        f'    <revision><text xml:space="preserve">{escape(text)}</text></revision>\n  </page>\n'
    )


def dump(path: Path, *pages: str, head: str | None = None) -> Path:
    """A dump of these pages."""
    path.write_text((head or world().HEAD) + "".join(pages) + "</mediawiki>\n", encoding="utf-8")
    return path


def small(folder: Path) -> Path:
    """A dump of two pages."""
    return dump(folder / "small.xml", page("A", "text about [[B]]"), page("B", "more about [[A]]"))


def rows(corpus: Path, table: str) -> list[dict[str, Any]]:
    """All rows of a table, file after file."""
    return [
        row for file in sorted((corpus / table).glob("*.parquet")) for row in pq.read_table(file).to_pylist()
    ]


def same_corpus(one: Path, other: Path, tables: Iterable[str]) -> None:
    """Assert that the tables hold the same rows in the same order."""
    for table in tables:
        assert rows(one, table) == rows(other, table), table
