"""The folders to count: what `pboh extract` wrote, or what an earlier `pboh count` already summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from pboh.counts.engine import WRITE_AGAIN, Engine
from pboh.errors import CorpusError
from pboh.files.writing import NOT_JSON


class Relation(NamedTuple):
    """Rows that steps read: their columns, and the table they are in, by kind of folder."""

    columns: str
    corpus: str | None = None
    counts: str | None = None


RELATIONS = {
    "input_pages": Relation(
        "page INT, title STRING, kind STRING, target STRING, entity INT, document INT, held BOOLEAN",
        "pages",
        "sums/pages",
    ),
    "input_entities": Relation(
        "entity INT, title STRING, page BOOLEAN, held BOOLEAN", "entities", "entities"
    ),
    "input_page_ids": Relation("entity INT, id BIGINT", "pages", "entities"),
    "input_links": Relation("page INT, anchor STRING, entity INT, followed BOOLEAN", "links"),
    "input_context_words": Relation("entity INT, word INT, count INT", "context_words", "sums/word_entity"),
    "input_tokens": Relation("page INT, words ARRAY<INT>", "tokens"),
    "input_placed_links": Relation("page INT, entity INT, before INT, after INT", "links"),
    "input_words": Relation("word INT, text STRING, count BIGINT", "words", "words"),
    "input_texts": Relation("page INT, text STRING", "texts"),
    "input_subjects": Relation(
        "entity INT, description STRING, type STRING, evidence STRING, hint STRING", "subjects", "subjects"
    ),
    "counted_anchors": Relation(
        "name STRING, entity INT, count BIGINT, followed BIGINT", counts="sums/anchors"
    ),
    "counted_disambiguations": Relation("title STRING, entity INT", counts="sums/disambiguations"),
    "counted_crosswikis": Relation("name STRING, title STRING, count BIGINT", counts="sums/crosswikis"),
    "counted_incidences": Relation("entity INT, document INT", counts="incidences"),
}
TOKENS = "input_tokens"
NO_INT, NO = "CAST(NULL AS INT)", "FALSE"
# (relation, whether in a counts folder, column): what to select where the table has no such column
COMPUTED = {
    ("input_pages", False, "document"): NO_INT,
    ("input_pages", True, "entity"): NO_INT,
    ("input_pages", True, "held"): "document IS NULL",
    ("input_entities", False, "page"): "page IS NOT NULL",
    ("input_entities", True, "held"): NO,
}


class SpentError(CorpusError):
    """A corpus whose words were counted and removed has to be counted again."""


@dataclass(frozen=True, slots=True)
class Input:
    """One folder to count and what its manifest says."""

    folder: str
    counted: bool
    manifest: dict[str, Any]

    @property
    def has_tokens(self) -> bool:
        """Whether it is a corpus with the words of its pages, instead of those around links."""
        return not self.counted and bool(self.manifest.get("options", {}).get("tokens"))

    def table(self, relation: str) -> str | None:
        """The folder with the rows of ``relation``, None when an input of this kind has no such rows."""
        if self.counted and relation == "input_page_ids" and not self.manifest.get("page_ids"):
            return None  # counted before entities carried the numbers of their pages
        if relation == "input_subjects" and not self._knows_subjects():
            return None  # written before pages said what they are about
        if relation in (TOKENS, "input_placed_links") and not self.has_tokens:
            return None
        table = RELATIONS[relation].counts if self.counted else RELATIONS[relation].corpus
        return table and f"{self.folder}/{table}"

    def _knows_subjects(self) -> bool:
        return bool(self.manifest.get("subjects") or "subjects" in self.manifest.get("statistics", {}))

    def columns(self, relation: str) -> dict[str, str]:
        """Columns of ``relation``, and what to select for each."""
        names = [column.split()[0] for column in RELATIONS[relation].columns.split(", ")]
        select = {name: COMPUTED.get((relation, self.counted, name), name) for name in names}
        if "held" in select and not self.counted and "hold_out" not in self.manifest.get("options", {}):
            select["held"] = NO  # extracted before pages could be set aside
        return select


def read_json(engine: Engine, path: str) -> Any:
    """Content of a JSON file, None when there is none."""
    text = engine.read_text(path)
    try:
        return None if text is None else msgspec.json.decode(text)
    except NOT_JSON as error:
        raise CorpusError(f"this file is damaged ({error})", where=path, todo=WRITE_AGAIN) from error


def open_input(engine: Engine, folder: str) -> Input:
    """Read the manifest of a corpus or counts folder, or say why it is neither."""
    folder = folder.rstrip("/") or folder
    for name, kind, counted in (("corpus.json", "pboh-corpus", False), ("counts.json", "pboh-counts", True)):
        where = f"{folder}/{name}"
        if (manifest := read_json(engine, where)) is None:
            continue
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
        "this folder was not written by pboh extract or pboh count (corpus.json or counts.json is missing)",
        where=folder,
        todo="Run pboh extract first, and let it finish",
    )


def check_inputs(engine: Engine, inputs: Sequence[Input], relations: Sequence[str]) -> None:
    """Open every data file that will be needed, so that damage is found before the work begins."""
    for one in inputs:
        for relation in relations:
            if table := one.table(relation):
                columns = [column for column, sql in one.columns(relation).items() if column in sql.split()]
                engine.check(table, columns)


def relation_sql(engine: Engine, inputs: Sequence[Input], relation: str) -> str:
    """The rows of a relation in all inputs, with the number of the input as first column."""
    columns = (column.split() for column in RELATIONS[relation].columns.split(", "))
    empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in columns)
    parts = [f"SELECT 0 AS input, {empty} WHERE 1 = 0"]
    for number, one in enumerate(inputs):
        if table := one.table(relation):
            selected = ", ".join(f"{sql} AS {name}" for name, sql in one.columns(relation).items())
            parts.append(f"SELECT {number} AS input, {selected} FROM {engine.scan(table)}")
    return "\nUNION ALL\n".join(parts[1:] or parts)


def relation_files(engine: Engine, inputs: Sequence[Input], relation: str) -> list[Any]:
    """What tells whether a relation has changed since: names, sizes and times of its files."""
    return [engine.files(table) if (table := one.table(relation)) else [] for one in inputs]
