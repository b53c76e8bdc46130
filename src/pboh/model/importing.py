"""Types, descriptions and ids that others know: DBpedia's types, Wikidata's dumps (``pboh entities types``).

Files are read as streams, packed or plain: N-Triples (also the line-by-line Turtle that DBpedia publishes),
or Wikidata's JSON, one item a line. Items are matched by title; those of Wikidata's triples, which have no
titles, by the ids of the model.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from pboh.errors import InputError
from pboh.files.compression import unpacked
from pboh.files.progress import Report, silent
from pboh.files.writing import NOT_JSON
from pboh.formats.types import TYPES
from pboh.model.derived import changing_or_deriving
from pboh.model.ids import ARRAY as ID
from pboh.model.store import Model
from pboh.model.tables import offsets_of_sizes
from pboh.model.types import SURE
from pboh.model.writing import put_arrays
from pboh.text.hashing import Array

LONGEST = 120  # characters of a description
_BATCH = 1 << 14
_LONGEST_LINE = 1 << 26  # bytes: the longest items of Wikidata have some MB
_OTHER = TYPES.index("other")


class Fact(NamedTuple):
    """What a line says about an entity, which it knows by its title or by its id (a Q-number)."""

    title: str | None
    id: int
    type: int = 0
    description: str = ""


@cache
def classes(source: str) -> dict[str, int]:
    """The type of every class that a source has."""
    tables = tomllib.loads(resources.files("pboh.model").joinpath("classes.toml").read_text("utf-8"))
    return {
        word.strip(): TYPES.index(name) for name, words in tables[source].items() for word in words.split(",")
    }


# -- reading ----------------------------------------------------------------------------------------

_TRIPLE = re.compile(
    rb"<http://([^<>\s]{1,2000})>\s*+<([^<>\s]{1,500})>\s*+(?:<([^<>\s]{1,2000})>|\"((?:[^\"\\]|\\.)*+)\"@([\w-]++))"
)
_RESOURCE = re.compile(r"(?:(?P<language>[a-z-]{2,12})\.)?dbpedia\.org/resource/(?P<title>.+)")
_NUMBER = re.compile(r"Q([0-9]{1,9})")  # has room in 32 bits
_ITEM = re.compile(r"www\.wikidata\.org/entity/" + _NUMBER.pattern)
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_INSTANCE_OF = "http://www.wikidata.org/prop/direct/P31"
_DESCRIPTION = "http://schema.org/description"


def read_facts(path: Path, language: str, report: Report = silent) -> Iterator[Fact]:
    """What a file says about entities of a language's Wikipedia."""
    seen = 0
    for line in _lines(path, report):
        start = line.lstrip()[:1]
        if start == b"<":
            fact = _triple(line, language)
        elif start == b"{":
            fact = _item(line, f"{language}wiki", language)
        elif start in (b"", b"#", b"@", b"[", b"]", b"_"):  # a node without a name begins with _
            continue
        else:
            what = "this is neither N-Triples nor Wikidata's JSON"
            raise InputError(
                what, where=path, todo="Use instance-types_lang=en_specific.ttl.bz2 or latest-all.json.bz2"
            )
        seen += 1
        if fact:
            yield fact
    if not seen:
        raise InputError("the file has no facts", where=path, todo="Check which file it is")


def _lines(path: Path, report: Report) -> Iterator[bytes]:
    with unpacked(path) as (file, reader):
        size, number = max(path.stat().st_size, 1), 0
        while line := reader.readline(_LONGEST_LINE):
            number += 1
            if number % _BATCH == 0:
                report(file.tell() / size, 1.0, f"{number:,} lines of {path.name}")
            yield line


def _triple(line: bytes, language: str) -> Fact | None:
    found = _TRIPLE.match(line.lstrip())
    if not found:
        return None
    subject, verb = _unescaped(found[1]), found[2].decode(errors="replace")
    if item := _ITEM.fullmatch(subject):
        number = int(item[1])
        if verb == _INSTANCE_OF and found[3]:
            code = classes("wikidata").get(found[3].decode(errors="replace").rpartition("/")[2], 0)
            return Fact(None, number, code) if code else None
        if verb == _DESCRIPTION and found[5] == language.encode():
            return Fact(None, number, description=_unescaped(found[4]))
        return None
    resource = _RESOURCE.fullmatch(subject)
    if not resource or (resource["language"] or "en") != language or verb != _TYPE or not found[3]:
        return None
    code = classes("dbpedia").get(found[3].decode(errors="replace").rpartition("/")[2], 0)
    return Fact(unquote(resource["title"]).replace("_", " "), 0, code) if code else None


def _unescaped(text: bytes) -> str:
    """A literal or an address of N-Triples; control characters become blanks."""
    return _ESCAPE.sub(_letter, text.decode(errors="replace"))


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


def _letter(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2]:
        return chr(min(int(code, 16), 0x10FFFF))
    return " " if escape[3] in "nrtbf" else escape[3]


class _Value(msgspec.Struct):
    value: msgspec.Raw = msgspec.Raw()


class _Snak(msgspec.Struct):
    datavalue: _Value | None = None


class _Claim(msgspec.Struct):
    mainsnak: _Snak
    rank: str = "normal"


class _Text(msgspec.Struct):
    value: str


class _Link(msgspec.Struct):
    title: str


class _Wikidata(msgspec.Struct):
    """An item, as far as it is of use; empty tables are written as empty lists there."""

    id: str
    descriptions: dict[str, _Text] | list[None] = {}
    sitelinks: dict[str, _Link] | list[None] = {}
    claims: dict[str, msgspec.Raw] | list[None] = {}


class _Id(msgspec.Struct):
    id: str = ""


_DECODER = msgspec.json.Decoder(_Wikidata)


def _item(line: bytes, wiki: str, language: str) -> Fact | None:
    """An item that has a page in the wiki."""
    if f'"{wiki}"'.encode() not in line:
        return None
    try:
        item = _DECODER.decode(line.strip().rstrip(b","))
        link = item.sitelinks.get(wiki) if isinstance(item.sitelinks, dict) else None
        number = _NUMBER.fullmatch(item.id)
        if link is None or not number:
            return None
        text = item.descriptions.get(language) if isinstance(item.descriptions, dict) else None
        kinds = item.claims.get("P31") if isinstance(item.claims, dict) else None
        code = _best(kinds) if kinds else 0
    except NOT_JSON:
        return None
    return Fact(link.title, int(number[1]), code, text.value if text else "")


def _best(kinds: msgspec.Raw) -> int:
    """The type that the statements "instance of" tell, one that is not ``other`` first."""
    known = classes("wikidata")
    claims = msgspec.json.decode(kinds, type=list[_Claim])
    values = (claim.mainsnak.datavalue for claim in claims if claim.rank != "deprecated")
    told = (known.get(msgspec.json.decode(value.value, type=_Id).id, 0) for value in values if value)
    return min((code for code in told if code), default=0)  # other comes last


# -- adding to a model ------------------------------------------------------------------------------


class _Known:
    """What was read so far about the entities of a model."""

    def __init__(self, model: Model, letters: IO[bytes]) -> None:
        self._model, self._letters = model, letters
        self.types = np.zeros(model.entities, np.uint8)
        self.ids = np.zeros(model.entities, np.uint32)
        self.starts, self.sizes = np.zeros(model.entities, np.int64), np.zeros(model.entities, np.int32)
        numbers = np.asarray(model[ID]) if ID in model else np.empty(0, np.uint32)
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def add(self, facts: list[Fact]) -> None:
        """Take in facts about entities of the model; later ones replace earlier ones, but for ``other``."""
        for fact, entity in zip(facts, self._entities(facts).tolist(), strict=True):
            if entity < 0:
                continue
            if fact.type and (fact.type != _OTHER or not self.types[entity]):
                self.types[entity] = fact.type
            if fact.title is not None and fact.id:
                self.ids[entity] = fact.id
            if data := _one_line(fact.description):
                self.starts[entity], self.sizes[entity] = self._letters.tell(), len(data)
                self._letters.write(data)

    def _entities(self, facts: list[Fact]) -> Array:
        found = np.full(len(facts), -1, np.int64)
        named = [k for k, fact in enumerate(facts) if fact.title is not None]
        found[named] = self._model.titled([str(facts[k].title) for k in named])
        numbered = np.asarray([k for k, fact in enumerate(facts) if fact.title is None], np.int64)
        if numbered.size and self._sorted.size:
            wanted = np.asarray([facts[k].id for k in numbered.tolist()])
            at = np.minimum(np.searchsorted(self._sorted, wanted), self._sorted.size - 1)
            found[numbered] = np.where(self._sorted[at] == wanted, self._order[at], -1)
        return found


def _one_line(text: str) -> bytes:
    """A description as it is stored, cut at a word if it is too long."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        text = text[: LONGEST - 1].rpartition(" ")[0].rstrip(" ,;:–—-") + "…"
    return text.encode("utf-8", "replace")


def add_types(
    folder: Path, files: list[Path], *, out: Path | None = None, report: Report = silent
) -> dict[str, int]:
    """Store what files know about a model's entities; what they do not know stays as it was.

    With ``out`` the model stays as it is and ``out`` becomes a model that borrows from it.
    """
    with changing_or_deriving(folder, out) as (model, target, info), tempfile.TemporaryFile() as letters:
        known, batch = _Known(model, letters), []
        for path in files:
            for fact in read_facts(path, model.info.get("language") or "en", report):
                batch.append(fact)
                if len(batch) == _BATCH:
                    known.add(batch)
                    batch = []
        known.add(batch)
        figures = {
            "entities": model.entities,
            "types": int((known.types > 0).sum()),
            "descriptions": int((known.sizes > 0).sum()),
            "ids": int((known.ids > 0).sum()),
        }
        if not any(figures[name] for name in ("types", "descriptions", "ids")):
            raise InputError(
                "nothing in it is about an entity of this model", where=files[0],
                todo="Use the files of the model's language; Wikidata's triples need ids: pboh entities ids",
            )  # fmt: skip
        put_arrays(target, info, _merged(model, known, letters))
    return figures


def _merged(model: Model, known: _Known, letters: IO[bytes]) -> dict[str, Array]:
    """The arrays of the model with what is new."""
    own, told, arrays = model.arrays, known.types > 0, {}
    if told.any():
        arrays["entity_type"] = np.where(told, known.types, own.get("entity_type", np.uint8(0)))
        sure = np.where(told, SURE, own.get("entity_type_sure", np.uint8(0)))
        arrays["entity_type_sure"] = sure.astype(np.uint8)
    if known.ids.any():
        arrays[ID] = np.where(known.ids > 0, known.ids, own.get(ID, np.uint32(0)))
    if known.sizes.any():
        arrays |= _descriptions(model, known, letters)
    return arrays


def _descriptions(model: Model, known: _Known, letters: IO[bytes]) -> dict[str, Array]:
    """Descriptions of the model, those that are new in the place of old ones."""
    letters.flush()
    new = np.memmap(letters, np.uint8, "r")
    old = model.arrays.get("description_blob", np.empty(0, np.uint8))
    offsets = model.arrays.get("description_offsets", np.zeros(model.entities + 1, np.int64))
    replaced = known.sizes > 0
    bounds = offsets_of_sizes(np.where(replaced, known.sizes, np.diff(offsets)))
    blob = np.empty(int(bounds[-1]), np.uint8)
    for entity in np.flatnonzero(np.diff(bounds)).tolist():
        source, start = (new, known.starts[entity]) if replaced[entity] else (old, offsets[entity])
        size = bounds[entity + 1] - bounds[entity]
        blob[bounds[entity] : bounds[entity + 1]] = source[start : start + size]
    return {"description_blob": blob, "description_offsets": bounds}
