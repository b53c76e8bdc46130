"""The folders to count: what `pboh extract` wrote, or what an earlier `pboh count` already summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from pboh.counts.engine import Engine
from pboh.errors import CorpusError


class Columns(NamedTuple):
    """Where a relation comes from in one kind of folder: a subfolder and the columns to select there."""

    folder: str
    select: dict[str, str]


def _plain(folder: str, *columns: str) -> Columns:
    return Columns(folder, {column: column for column in columns})


NO_INT = "CAST(NULL AS INT)"
# relation: (types of its columns, source in a corpus folder, source in a counts folder)
RELATIONS: dict[str, tuple[dict[str, str], Columns | None, Columns | None]] = {
    "input_pages": (
        {
            "page": "INT",
            "title": "STRING",
            "kind": "STRING",
            "target": "STRING",
            "entity": "INT",
            "document": "INT",
        },
        Columns(
            "pages",
            {
                "page": "page",
                "title": "title",
                "kind": "kind",
                "target": "target",
                "entity": "entity",
                "document": NO_INT,
            },
        ),
        Columns(
            "sums/pages",
            {
                "page": "page",
                "title": "title",
                "kind": "kind",
                "target": "target",
                "entity": NO_INT,
                "document": "document",
            },
        ),
    ),
    "input_entities": (
        {"entity": "INT", "title": "STRING", "page": "BOOLEAN"},
        Columns("entities", {"entity": "entity", "title": "title", "page": "page IS NOT NULL"}),
        _plain("entities", "entity", "title", "page"),
    ),
    "input_page_ids": (
        {"entity": "INT", "id": "BIGINT"},
        _plain("pages", "entity", "id"),
        _plain("entities", "entity", "id"),
    ),
    "input_links": (
        {"page": "INT", "anchor": "STRING", "entity": "INT"},
        _plain("links", "page", "anchor", "entity"),
        None,
    ),
    "input_context_words": (
        {"entity": "INT", "word": "INT", "count": "INT"},
        _plain("context_words", "entity", "word", "count"),
        _plain("sums/word_entity", "entity", "word", "count"),
    ),
    "input_words": (
        {"word": "INT", "text": "STRING", "count": "BIGINT"},
        _plain("words", "word", "text", "count"),
        _plain("words", "word", "text", "count"),
    ),
    "input_texts": ({"page": "INT", "text": "STRING"}, _plain("texts", "page", "text"), None),
    "counted_anchors": (
        {"name": "STRING", "entity": "INT", "count": "BIGINT"},
        None,
        _plain("sums/anchors", "name", "entity", "count"),
    ),
    "counted_disambiguations": (
        {"title": "STRING", "entity": "INT"},
        None,
        _plain("sums/disambiguations", "title", "entity"),
    ),
    "counted_crosswikis": (
        {"name": "STRING", "title": "STRING", "count": "BIGINT"},
        None,
        _plain("sums/crosswikis", "name", "title", "count"),
    ),
    "counted_incidences": (
        {"entity": "INT", "document": "INT"},
        None,
        _plain("incidences", "entity", "document"),
    ),
}


@dataclass(frozen=True, slots=True)
class Input:
    """One folder to count and what its manifest says."""

    folder: str
    counted: bool
    manifest: dict[str, Any]

    def source(self, relation: str) -> Columns | None:
        """Where ``relation`` is in this folder, None when a folder of this kind has no such rows."""
        _, corpus, counts = RELATIONS[relation]
        if self.counted and relation == "input_page_ids" and not self.manifest.get("page_ids"):
            return None  # counted before entities carried the numbers of their pages
        return counts if self.counted else corpus


def open_input(engine: Engine, folder: str) -> Input:
    """Read the manifest of a corpus or counts folder, or say why it is neither."""
    folder = folder.rstrip("/") or folder
    for name, kind, counted in (("corpus.json", "pboh-corpus", False), ("counts.json", "pboh-counts", True)):
        if (text := engine.read_text(f"{folder}/{name}")) is None:
            continue
        where = f"{folder}/{name}"
        try:
            manifest = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise CorpusError(f"this file is damaged ({error})", where=where) from error
        if not isinstance(manifest, dict) or manifest.get("format") != kind:
            raise CorpusError(f"this is not a {kind} folder", where=where)
        if manifest.get("version") != 1:
            raise CorpusError(f"format version {manifest.get('version')} is not known", where=where)
        if counted and not manifest.get("sums"):
            raise CorpusError(
                "these counts were written with --no-sums and cannot be added to",
                where=folder,
                todo="Count its corpus folder instead, or write the counts again without --no-sums",
            )
        return Input(folder, counted, manifest)
    raise CorpusError(
        "this is no folder written by pboh extract or pboh count (corpus.json or counts.json is missing)",
        where=folder,
        todo="Run pboh extract first, and let it finish",
    )


def check_inputs(engine: Engine, inputs: Sequence[Input], relations: Sequence[str]) -> None:
    """Open every data file that will be needed, so that damage is found before the work begins."""
    for one in inputs:
        for relation in relations:
            if source := one.source(relation):
                columns = [column for column in source.select if source.select[column] != NO_INT]
                engine.check(f"{one.folder}/{source.folder}", columns)


def relation_sql(engine: Engine, inputs: Sequence[Input], relation: str) -> str:
    """The rows of a relation in all inputs, with the number of the input as first column."""
    types = RELATIONS[relation][0]
    empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in types.items())
    parts = [f"SELECT 0 AS input, {empty} WHERE 1 = 0"]
    for number, one in enumerate(inputs):
        if source := one.source(relation):
            columns = ", ".join(f"{sql} AS {name}" for name, sql in source.select.items())
            parts.append(
                f"SELECT {number} AS input, {columns} FROM {engine.scan(f'{one.folder}/{source.folder}')}"
            )
    return "\nUNION ALL\n".join(parts[1:] or parts)


def relation_files(engine: Engine, inputs: Sequence[Input], relation: str) -> list[Any]:
    """What tells whether a relation has changed since: names, sizes and times of its files."""
    return [
        engine.files(f"{one.folder}/{source.folder}") if (source := one.source(relation)) else []
        for one in inputs
    ]
