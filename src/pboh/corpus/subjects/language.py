"""The words by which pages say what they are about: the tables of ``subjects.toml``, compiled."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """A table of ``subjects.toml``, compiled."""

    head: str
    ends: frozenset[str]
    articles: frozenset[str]
    definite: str
    indefinite: tuple[str, ...]
    abstract: frozenset[str]
    fillers: frozenset[str]
    degrees: frozenset[str]
    superlative: Callable[[str], bool]
    adjectives: frozenset[str]
    founded: frozenset[str]
    partitives: frozenset[str]
    of: str
    verbal: Callable[[str], bool]
    plural: str
    firsts: Mapping[str, str]
    side: str
    is_side: Callable[[str], bool]
    dated: re.Pattern[str]
    occasion: re.Pattern[str]
    defines: re.Pattern[str]
    defines_bytes: re.Pattern[bytes]
    clause: re.Pattern[str]
    short_description: re.Pattern[bytes]
    category: re.Pattern[bytes]
    categories: tuple[tuple[str, str], ...]
    before_of: frozenset[str]
    nouns: Mapping[str, str]
    noun: Callable[[str], str]
    partly: str
    infobox_type: Callable[[bytes], str]


@cache
def tables() -> dict[str, dict[str, Any]]:
    """The tables as they are written, by language."""
    return tomllib.loads(resources.files("pboh.corpus.subjects").joinpath("subjects.toml").read_text("utf-8"))


@cache
def language(code: str) -> Language:
    """The table of a language (a Wikipedia's code), or the one for languages that have none."""
    code = "en" if code.lower() == "simple" else code.lower()
    written = tables()
    given = {**written["other"], **(written.get(code) or written.get(code.partition("-")[0]) or {})}
    nouns: dict[str, str] = {}
    for name, words in given["types"].items():
        for word in _words(words):
            nouns.setdefault(word, name)
    whole = {word: name for word, name in nouns.items() if "*" not in word}
    several = {_plural(word, given["plural"]): name for word, name in whole.items()} | whole
    parts = {word: name for word, name in nouns.items() if "*" in word}
    defines = _verbs(given["is"], spaced=given["head"] != "end")
    unspaced = given["head"] == "end"
    noun = _noun_finder(several, parts, given["plural"], unspaced=unspaced)
    boxes = {word: name for name, words in given["infoboxes"].items() for word in _words(words)}
    prefixes = tuple(given["infobox"])
    return Language(
        head=given["head"],
        ends=frozenset(given["ends"]),
        articles=frozenset(given["articles"]),
        definite=given["definite"],
        indefinite=tuple(given["indefinite"]),
        abstract=frozenset(given["abstract"]),
        fillers=frozenset([*given["articles"], *given["fillers"]]),
        degrees=frozenset(given["degrees"]),
        adjectives=frozenset(given["adjectives"]),
        founded=frozenset(given["founded"]),
        superlative=_whole(given["superlative"] or "(?!)"),
        partitives=frozenset(given["partitives"]),
        of=given["of"],
        verbal=_whole(given["verbal"] or "(?!)"),
        plural=given["plural"],
        firsts={word: name for name, words in given["firsts"].items() for word in words},
        side=_side(given["topics"], given["dated"], given["aspect"]),
        is_side=_sides(given["topics"], given["aspect"]),
        dated=re.compile(rf"^(?:{given['dated'] or '(?!)'})$"),
        occasion=re.compile(given["occasion"] or "\\b\\B"),
        defines=defines,
        defines_bytes=re.compile(defines.pattern.encode()),
        clause=_clauses(given["clauses"]),
        short_description=_template([*written["other"]["short_description"], *given["short_description"]]),
        category=re.compile(rb"\[\[[^\[\]|\n:]{4,30}+:([^\[\]|\n]{1,200})"),
        categories=tuple((part, name) for name, parts in given["categories"].items() for part in parts),
        before_of=frozenset(
            noun.partition(f" {given['of']} ")[0].rpartition(" ")[2]
            for noun in several
            if given["of"] and f" {given['of']} " in noun
        ),
        nouns=several,
        noun=noun,
        partly=_partly([*parts, *(f"*{word}" for word in several if unspaced)], given["plural"]),
        infobox_type=_infobox_types(prefixes, boxes, noun, whole if given["bare"] else {}),
    )


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := " ".join(part.split()))]


def _whole(pattern: str) -> Callable[[str], bool]:
    """Whether a word is one that the pattern describes; most words come again."""
    match = re.compile(pattern).fullmatch
    return lru_cache(maxsize=1 << 14)(lambda word: match(word) is not None)


def _side(topics: Sequence[str], dated: str, aspect: str) -> str:
    """All titles about a side of something, and dates."""
    some = "|".join(map(re.escape, topics))
    return rf"^(?i:{some}) |^(?:{dated}|{aspect})$" if some and dated else "^$"


def _sides(topics: Sequence[str], aspect: str) -> Callable[[str], bool]:
    """Whether a title is about a side of something: *History of …*, *Banking in …*."""
    beginnings = tuple(f"{topic} " for topic in topics)
    first = {topic.partition(" ")[0] for topic in topics}
    is_aspect = re.compile(aspect or "(?!)").fullmatch

    def is_side(title: str) -> bool:
        if title.partition(" ")[0].lower() in first and title.lower().startswith(beginnings):
            return True
        return " in " in title and is_aspect(title) is not None

    return is_side


def _plural(word: str, ending: str) -> str:
    """Films, but cities and churches."""
    if ending == "s" and word.endswith(("y", "ch", "sh", "x")) and not word.endswith(("ay", "ey", "oy")):
        return f"{word[:-1]}ies" if word.endswith("y") else f"{word}es"
    return word + ending


def _verbs(verbs: Sequence[str], *, spaced: bool) -> re.Pattern[str]:
    some = "|".join(map(re.escape, sorted(verbs, key=len, reverse=True)))
    return re.compile(rf"[\s,;)](?:{some})(?=[\s,:])" if spaced and some else f"(?:{some})")


def _clauses(words: Sequence[str]) -> re.Pattern[str]:
    """Where a definition that is too long may end."""
    some = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf",? (?:{some})(?= )|[,;:、，；،](?= |[^\x00-\u02ff])| [–—-] ")


def _template(names: Iterable[str]) -> re.Pattern[bytes]:
    """``{{Short description|…}}`` under any of its names."""
    some = "|".join(re.escape(name).replace(r"\ ", "[ _]") for name in dict.fromkeys(names))
    return re.compile((r"\{\{\s*+(?i:" + some + r")\s*+[|:]\s*+(?:1\s*+=)?+([^{}|\n]{1,400}+)").encode())


def _noun_finder(
    whole: Mapping[str, str], parts: Mapping[str, str], plural: str, *, unspaced: bool
) -> Callable[[str], str]:
    """The type that a word says, by the whole word, its ending (``*ist``) or its beginning (``polit*``)."""
    endings = {word[1:]: name for word, name in parts.items() if word.startswith("*")}
    beginnings = {word[:-1]: name for word, name in parts.items() if word.endswith("*")}
    if unspaced:
        endings |= whole
    longest_first = sorted({len(word) for word in (*endings, *beginnings)}, reverse=True)
    least = longest_first[-1] if longest_first else 0
    tails, heads = {word[-least:] for word in endings}, {word[:least] for word in beginnings}

    @lru_cache(maxsize=1 << 17)
    def in_parts(word: str) -> str:
        possible = word[-least:] in tails or word[:least] in heads
        for length in longest_first if possible else ():
            if found := length <= len(word) and (
                endings.get(word[-length:]) or beginnings.get(word[:length])
            ):
                return found
        return in_parts(word[: -len(plural)]) if plural and word.endswith(plural) else ""

    return lambda word: whole.get(word) or ("" if " " in word else in_parts(word))


def _partly(parts: Iterable[str], plural: str) -> str:
    """Every word that ends or begins as one that says a type may, and a few more."""
    least = min((len(part) - 1 for part in parts), default=0)
    tails = "|".join({re.escape(part[-least:]) for part in parts if part.startswith("*")})
    heads = "|".join({re.escape(part[:least]) for part in parts if part.endswith("*")})
    return f"(?:{tails or '^.'})(?:{re.escape(plural)})*$|^(?:{heads or '.^'})"


def _infobox_types(
    prefixes: tuple[str, ...], boxes: Mapping[str, str], noun: Callable[[str], str], bare: Mapping[str, str]
) -> Callable[[bytes], str]:
    """The type that a template's name says if it is an infobox; some are named by a noun alone (``bare``)."""

    @lru_cache(maxsize=1 << 14)
    def find(name: bytes) -> str:
        text = " ".join(name.decode(errors="ignore").replace("_", " ").replace(":", " ").lower().split())
        if text in boxes:
            return boxes[text]
        inside = next((text[len(p) :].strip() for p in prefixes if text.startswith(p)), None)
        if inside is None:
            return bare.get(text, "").replace("other", "")
        if inside in boxes:
            return boxes[inside]
        words = inside.split()
        several = (" ".join(words[k:]) for k in range(len(words)))
        return next((found for one in several if (found := boxes.get(one) or noun(one))), "")

    return find
