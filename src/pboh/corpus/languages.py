"""What differs from one Wikipedia to the next: names of templates and namespaces, link trails, list titles.

The defaults are data, in ``languages.toml`` beside this file: the ten largest Wikipedias and some more.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from pboh.errors import InputError

NAMESPACES: Mapping[str, int] = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4, "project talk": 5,
    "wikipedia": 4, "wikipedia talk": 5, "file": 6, "file talk": 7, "image": 6, "image talk": 7,
    "mediawiki": 8, "mediawiki talk": 9, "template": 10, "template talk": 11, "help": 12, "help talk": 13,
    "category": 14, "category talk": 15, "portal": 100, "portal talk": 101, "draft": 118, "draft talk": 119,
    "timedtext": 710, "timedtext talk": 711, "module": 828, "module talk": 829,
}  # fmt: skip
"""Names a Wikipedia understands whatever its language."""

_EVERYWHERE: Mapping[str, frozenset[str]] = {
    "disambiguation_templates": frozenset({"disambiguation", "disambig"}),
    "disambiguation_titles": frozenset({"disambiguation"}),
    "redirect_words": frozenset({"redirect"}),
    "image_options": frozenset(
        {"thumb", "thumbnail", "frame", "framed", "frameless", "border", "left", "right", "center", "centre"}
        | {"none", "baseline", "sub", "super", "sup", "top", "text-top", "middle", "bottom", "text-bottom"}
        | {"upright", "alt", "link", "page", "lang", "class", "manualthumb"}
    ),
}


@dataclass(frozen=True, kw_only=True)
class Conventions:
    """The habits of one language's Wikipedia, as far as reading its pages depends on them.

    ``languages.toml`` says what each field is. Names are compared without regard to case.
    """

    trail: str = "a-z"
    namespaces: dict[str, int] = field(default_factory=dict, hash=False)
    disambiguation_templates: frozenset[str] = frozenset()
    disambiguation_categories: frozenset[str] = frozenset()
    disambiguation_titles: frozenset[str] = frozenset()
    list_titles: tuple[str, ...] = ()
    list_namespaces: frozenset[int] = frozenset()
    redirect_words: frozenset[str] = frozenset()
    image_options: frozenset[str] = frozenset()
    variants: bool = False

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Conventions:
        """Conventions from a table of the data file: what all Wikipedias share is added here."""
        read = msgspec.convert(dict(table), cls)
        if read.trail:
            re.compile(f"[{read.trail}]")
        given = {item.name: getattr(read, item.name) for item in fields(cls)}
        for name, value in given.items():
            if isinstance(value, frozenset) and name != "list_namespaces":
                given[name] = frozenset(map(str.lower, value)) | _EVERYWHERE.get(name, frozenset())
        given["namespaces"] = {**NAMESPACES, **{name.lower(): key for name, key in read.namespaces.items()}}
        return cls(**given)


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("pboh.corpus").joinpath("languages.toml").read_text("utf-8"))


def _table(language: str) -> dict[str, Any]:
    """A code may carry a script or region (``zh-yue``); Simple English has the habits of English."""
    code = "en" if language.lower() == "simple" else language.lower()
    tables = _tables()
    return tables.get(code) or tables.get(code.partition("-")[0]) or tables["other"]


@cache
def conventions(language: str) -> Conventions:
    """The default conventions of ``language``, a Wikipedia's code."""
    return Conventions.of(_table(language))


@cache
def interwiki_prefixes(kind: str) -> frozenset[str]:
    """Prefixes that lead elsewhere: ``languages`` to another Wikipedia, ``sites`` to any other site."""
    return frozenset(_tables()["interwiki"][kind].split())


def read_conventions(path: Path, language: str) -> Conventions:
    """The defaults of ``language`` with every key that the TOML file names replaced by its value."""
    names = [item.name for item in fields(Conventions)]
    todo = f"Write a TOML file with some of these keys: {', '.join(names)}"
    try:
        given = tomllib.loads(path.read_text("utf-8"))
        if unknown := sorted(set(given) - set(names)):
            raise InputError(f"unknown key {unknown[0]!r} in the conventions", where=path, todo=todo)
        return Conventions.of(_table(language) | given)
    except OSError as error:
        raise InputError("the file cannot be read", where=path, todo="Check its name") from error
    except (ValueError, RecursionError, re.error, msgspec.ValidationError) as error:
        raise InputError(f"the conventions are not as expected ({error})", where=path, todo=todo) from error
