"""Wikidata ids for the entities of a model, out of Wikimedia's own tables (``pboh entities ids``).

``page_props`` says which item of Wikidata a page is about. It knows pages by the wiki's numbers, which a
model carries if it was trained from a dump that has them; for others the table ``page`` gives their titles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pboh.errors import InputError, ModelError
from pboh.files.compression import unpacked
from pboh.files.progress import Report, silent
from pboh.model.derived import changing_or_deriving
from pboh.model.store import Model, read_manifest
from pboh.model.writing import changing, put_arrays
from pboh.text.hashing import Array

CHUNK = 1 << 22
LONGEST_ROW = 1024  # a row that may be cut at the end of a chunk; titles have at most 255 bytes
ARRAY = "entity_id"

# A quote inside a value is escaped, so these can match nothing but the beginning of a row.
_ITEM = re.compile(rb"\( ?(\d{1,10}), ?'wikibase_item', ?'[Qq](\d{1,9})'")
_PAGE = re.compile(rb"\( ?(\d{1,10}), ?(-?\d+), ?'([^'\\]*(?:(?:\\.|'')[^'\\]*)*)',", re.DOTALL)
_TABLE = re.compile(rb"(?:INSERT INTO|CREATE TABLE(?: IF NOT EXISTS)?) +[`\"]?(\w+)[`\" (]", re.IGNORECASE)
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)


def add_ids(
    folder: Path,
    properties: Path,
    pages: Path | None = None,
    *,
    out: Path | None = None,
    report: Report = silent,
) -> dict[str, int]:
    """Store the Wikidata id of every entity that has one; returns how many were found.

    With ``out`` the model stays as it is and ``out`` becomes a model that borrows from it.
    """
    number, item = read_items(properties, report)
    with changing_or_deriving(folder, out) as (model, target, info):
        ids = _matched(model, pages, number, item, report)
        matched = int((ids > 0).sum())
        if not matched:
            raise InputError(
                f"none of its {number.size:,} pages is an entity of this model", where=properties,
                todo="Use the tables of the wiki the model was trained on",
            )  # fmt: skip
        put_arrays(target, info, {ARRAY: ids})
    return {
        "entities": model.entities,
        "pages_with_an_item": int(number.size),
        "entities_with_an_id": matched,
    }


def _matched(model: Model, pages: Path | None, number: Array, item: Array, report: Report) -> Array:
    """The item of every entity, by the number of its page or by its title; 0 for none."""
    if pages is None and "entity_page" not in model:
        raise ModelError(
            "the model does not know the numbers of its pages", where=model.folder,
            todo="Pass the wiki's table of pages too: --pages page.sql.gz",
        )  # fmt: skip

    def known(numbers: Array) -> tuple[Array, Array]:
        """Which pages have an item, and the items."""
        at = np.minimum(np.searchsorted(number, numbers), number.size - 1)
        have = np.flatnonzero((numbers > 0) & (number[at] == numbers))
        return have, item[at[have]]

    ids = np.zeros(model.entities, np.uint32)
    if pages is None:
        entities, items = known(model["entity_page"])
        ids[entities] = items
        return ids
    for numbers, titles in read_pages(pages, report):
        rows, items = known(numbers)
        entities = model.titled([titles[k] for k in rows.tolist()])
        ids[entities[entities >= 0]] = items[entities >= 0]
    return ids


def remove_ids(folder: Path) -> None:
    """Take the ids of a model away again."""
    read_manifest(folder)
    with changing(folder):
        info = read_manifest(folder)
        if ARRAY not in info["arrays"]:
            raise ModelError("no ids were added to the model", where=folder)
        put_arrays(folder, info, {}, gone=[ARRAY])


# -- Wikimedia's tables -----------------------------------------------------------------------------


def read_items(path: Path, report: Report = silent) -> tuple[Array, Array]:
    """Page numbers (ascending) and Q-numbers of the rows ``wikibase_item`` of ``page_props``."""
    rows = (
        np.asarray([m.groups() for m in matches], "S10").reshape(-1, 2).astype(np.int64)
        for matches in _rows(path, "page_props", _ITEM, report)
    )
    table = np.concatenate([np.empty((0, 2), np.int64), *rows])
    if not len(table):
        todo = "Use the file …-page_props.sql.gz of a wiki that is connected to Wikidata"
        raise InputError("the table has no rows about Wikidata (wikibase_item)", where=path, todo=todo)
    number, first = np.unique(table[:, 0], return_index=True)
    return number, table[first, 1]


def read_pages(path: Path, report: Report = silent) -> Iterator[tuple[Array, list[str]]]:
    """Numbers and titles of the pages of the main namespace, from the table ``page``."""
    for matches in _rows(path, "page", _PAGE, report):
        rows = [(int(m[1]), _title(m[3])) for m in matches if m[2] == b"0"]
        yield np.asarray([n for n, _ in rows], np.int64), [title for _, title in rows]


def _title(value: bytes) -> str:
    if b"\\" in value or b"''" in value:
        value = _ESCAPE.sub(lambda m: m[1] or b"'", value)
    return value.decode("utf-8", "replace").replace("_", " ")


def _rows(
    path: Path, table: str, pattern: re.Pattern[bytes], report: Report
) -> Iterator[list[re.Match[bytes]]]:
    """Rows of a table's dump that match a pattern, some thousands at a time."""
    rest, seen = b"", False
    for chunk in _chunks(path, table, report):
        data = rest + chunk
        if not seen and (named := _TABLE.search(data)):
            seen = True
            if named[1].decode() != table:
                what = f"this is the table {named[1].decode()}, not {table}"
                raise InputError(what, where=path, todo=f"Use the file …-{table}.sql.gz")
        matches = list(pattern.finditer(data))
        rest = data[max(matches[-1].end() if matches else 0, len(data) - LONGEST_ROW) :]
        yield matches
    if not seen:
        raise InputError("this is not a Wikimedia table", where=path, todo=f"Use the file …-{table}.sql.gz")


def _chunks(path: Path, table: str, report: Report) -> Iterator[bytes]:
    """The text of a file, packed or plain, a few MB at a time."""
    with unpacked(path) as (file, reader):
        size = max(path.stat().st_size, 1)
        while chunk := reader.read(CHUNK):
            report(file.tell() / size, 1.0, f"reading {table}")
            yield chunk
