"""Lines that are hardly JSON, in every file of JSON lines that is read: a sentence, never a traceback."""

from __future__ import annotations

import json

import pytest

from pboh.annotation.rows import Annotator, Options, annotate_lines
from pboh.canonical.tables import Wanted, read_names
from pboh.errors import InputError, PbohError
from pboh.evaluation.datasets.jsonl import read_jsonl
from pboh.model.ids import read_items
from pboh.model.importing import add_types, read_facts
from pboh.model.overlays.entries import read_entries
from pboh.model.store import open_model

DEEP = b"[" * 200_000 + b"]" * 200_000
LINES = {
    "nested too deeply": b'{"text": "x", "title": "x", "name": "x", "mentions": %s}' % DEEP,
    "nothing but nested": DEEP,
    "not UTF-8": b'{"text": "\xff", "title": "\xff", "name": "\xff"}',
    "half a surrogate": b'{"text": "\\ud800", "title": "\\ud800", "name": "\\ud800"}',
    "cut off": b'{"text": "x", "title": "x", "name": "x',
    "a number": b"1e999",
}
READERS = {
    "gold documents": lambda path: list(read_jsonl(path, [])),
    "own entities": read_entries,
    "names": lambda path: read_names(path, Wanted()),
    "facts": lambda path: list(read_facts(path, "en")),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_not_json_is_told_so(reader, line, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(LINES[line] + b"\n")
    try:
        READERS[reader](path)
    except PbohError as error:
        assert str(path) in str(error)


@pytest.mark.parametrize("line", LINES)
def test_annotation_goes_on_behind_such_a_line(world_model, line):
    lines = [LINES[line], json.dumps({"text": "Bayern met Dortmund."}).encode()]
    answers = annotate_lines(Annotator(str(world_model), Options()), lines).answers
    assert answers[1].error is None and answers[1].mentions


def item(number: int, title: str, more: bytes = b"") -> bytes:
    return b'{"id": "Q%d", "sitelinks": {"enwiki": {"title": %s}}%s}\n' % (
        number,
        json.dumps(title).encode(),
        more,
    )


def test_bad_items_of_wikidata_are_left_out_and_the_others_stay(world_model, tmp_path):
    title = open_model(world_model).title(0)
    bad = [
        item(2**32, title),
        item(9_999_999_999, title),
        item(7, title, b', "claims": {"P31": %s}' % DEEP),
        item(7, title).replace(b"Q7", b"Q\xff"),
    ]
    path = tmp_path / "items.json"
    path.write_bytes(b"".join([*bad, item(42, title), *bad]))
    assert add_types(world_model, [path], out=tmp_path / "model")["ids"] == 1
    assert open_model(tmp_path / "model").id(0) == "Q42"
    path.write_bytes(b"".join(bad))
    with pytest.raises(InputError):
        add_types(world_model, [path], out=tmp_path / "other")


def test_numbers_of_items_have_room(tmp_path):
    rows = ",".join(f"({page},'wikibase_item','Q{item}',NULL)" for page, item in ((1, 42), (2, 2**32 + 1)))
    path = tmp_path / "page_props.sql"
    path.write_text(f"INSERT INTO `page_props` VALUES {rows};\n")
    pages, items = read_items(path)
    assert pages.tolist() == [1] and items.tolist() == [42]
