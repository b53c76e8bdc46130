"""Wikidata ids out of Wikimedia's tables: read exactly, matched by page number or title, removable."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.counts.count import count
from pboh.errors import InputError, ModelError
from pboh.linker import load
from pboh.model import ids
from pboh.model.ids import add_ids, read_items, read_pages, remove_ids
from pboh.model.overlays.adding import add_entities
from pboh.model.small.prune import prune_to
from pboh.model.store import open_model, read_manifest, verify
from pboh.model.writing import write_manifest

HEAD = "-- MariaDB dump\nDROP TABLE `{0}`;\nCREATE TABLE `{0}` (\n  `x` int\n);\nINSERT INTO `{0}` VALUES "


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def properties(
    path: Path, items: dict[int, str], extra: str = "(7,'defaultsort','It\\'s (8,',NULL),"
) -> Path:
    rows = ",".join(f"({page},'wikibase_item','{item}',NULL)" for page, item in items.items())
    return written(path, HEAD.format("page_props") + extra + rows + ";\n")


def pages(path: Path, rows: list[tuple[int, int, str]]) -> Path:
    values = ",".join(
        f"({n},{space},{quoted(title)},0,0,0.25,'20240101000000',NULL,9,7,'wikitext',NULL)"
        for n, space, title in rows
    )
    return written(path, HEAD.format("page") + values + ";\n")


def written(path: Path, text: str) -> Path:
    data = text.encode()
    packers = {".gz": gzip.compress, ".bz2": bz2.compress}
    path.write_bytes(packers.get(path.suffix, bytes)(data))
    return path


@pytest.fixture
def model(world_model, tmp_path):
    return shutil.copytree(world_model, tmp_path / "model")


def numbers(model: Path) -> dict[str, int]:
    opened = open_model(model)
    known = opened["entity_page"]
    return {opened.title(e): int(known[e]) for e in np.flatnonzero(known).tolist()}


def test_a_model_carries_the_numbers_of_pages(world_corpus, model):
    import pyarrow.parquet as pq

    table = pq.read_table(world_corpus / "pages").to_pylist()
    own = {row["title"]: row["id"] for row in table if row["entity"] is not None}
    assert numbers(model) == own


def test_answers_carry_ids(model, tmp_path):
    known = numbers(model)
    titles = sorted(known)[:40]
    table = properties(tmp_path / "p.sql.gz", {known[t]: f"Q{100 + k}" for k, t in enumerate(titles)})
    before = load(model).link("Müller scored for Bayern in Paris.")
    figures = add_ids(model, table)
    assert figures["entities_with_an_id"] == 40 and figures["pages_with_an_item"] == 40
    verify(model)
    linker = load(model)
    for k, title in enumerate(titles):
        assert linker.entity(title).id == f"Q{100 + k}"
    after = linker.link("Müller scored for Bayern in Paris.")
    assert [m.probability for m in after] == [m.probability for m in before]
    for mention in after:
        expected = f"Q{100 + titles.index(mention.entity.title)}" if mention.entity.title in titles else None
        assert mention.to_dict()["id"] == mention.entity.id == expected
    add_ids(model, properties(tmp_path / "q.sql", {known[titles[0]]: "Q7"}))
    again = open_model(model)
    assert again.id(linker.entity(titles[0]).index) == "Q7" and (again["entity_id"] > 0).sum() == 1


def test_removing_restores_every_byte(model, tmp_path):
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    add_ids(model, properties(tmp_path / "p.sql", dict.fromkeys(numbers(model).values(), "Q1")))
    remove_ids(model)
    assert {path.name: path.read_bytes() for path in model.iterdir()} == files
    with pytest.raises(ModelError, match="no ids were added"):
        remove_ids(model)


def test_small_models_keep_numbers_and_ids(model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    known = numbers(model)
    add_ids(model, properties(tmp_path / "p.sql", {n: f"Q{n}" for n in list(known.values())[::2]}))
    large = open_model(model)
    linker = load(model)
    prune_to(large, linker.settings.record(), tmp_path / "small", 1.0)
    small = open_model(tmp_path / "small")
    assert np.array_equal(small["entity_page"], large["entity_page"])
    assert np.array_equal(small["entity_id"], large["entity_id"])
    # and ids are added to small models like to others
    add_ids(tmp_path / "small", properties(tmp_path / "p.sql", {n: f"Q{2 * n}" for n in known.values()}))
    verify(tmp_path / "small")
    entity = load(tmp_path / "small").entity(next(iter(known)))
    assert entity.id == f"Q{2 * known[entity.title]}"


def test_ids_go_into_a_folder_that_borrows(model, tmp_path):
    known, before = numbers(model), (model / "model.json").read_bytes()
    table = properties(tmp_path / "p.sql", {n: f"Q{n}" for n in known.values()})
    add_ids(model, table, out=tmp_path / "mine")
    (tmp_path / "kb.jsonl").write_text('{"title": "Zorblax", "id": "Z1"}')
    add_entities(model, tmp_path / "kb.jsonl", out=tmp_path / "mine")
    verify(tmp_path / "mine")
    linker = load(tmp_path / "mine")
    assert (linker.entity("Zorblax").id, linker.entity("Paris").id) == ("Z1", f"Q{known['Paris']}")
    assert (model / "model.json").read_bytes() == before
    remove_ids(tmp_path / "mine")
    linker = load(tmp_path / "mine")
    assert (linker.entity("Zorblax").id, linker.entity("Paris").id) == ("Z1", None)


def test_titles_stand_in_for_numbers(model, tmp_path):
    known = numbers(model)
    info = read_manifest(model)
    del info["arrays"]["entity_page"]
    write_manifest(model / "model.json", info)
    table = properties(
        tmp_path / "p.sql.bz2", {n: f"Q{n}" for n in known.values()} | {990: "Q990", 991: "Q991"}
    )
    with pytest.raises(ModelError, match="--pages"):
        add_ids(model, table)
    redirect = next(t for t in ("Gerd Muller", "Air Jordan", "UK") if load(model).resolve(t) not in (None, t))
    rows = [(n, 0, title.replace(" ", "_")) for title, n in known.items()]
    rows += [(990, 1, rows[0][2]), (991, 0, redirect.replace(" ", "_"))]
    figures = add_ids(model, table, pages(tmp_path / "page.sql.gz", rows))
    assert figures["entities_with_an_id"] == len(known)
    opened = open_model(model)
    assert {opened.title(e): opened["entity_id"][e] for e in np.flatnonzero(opened["entity_id"])} == known


def test_merged_counts_keep_page_numbers(world_corpus, world_counts, tmp_path):
    """Also when one of them is older and does not know them."""
    import pyarrow.parquet as pq

    count([world_counts], tmp_path / "again")
    one, two = (pq.read_table(folder / "entities") for folder in (world_counts, tmp_path / "again"))
    assert one.column("id").to_pylist() == two.column("id").to_pylist()
    old = shutil.copytree(world_counts, tmp_path / "old")
    info = json.loads((old / "counts.json").read_text())
    del info["page_ids"]
    (old / "counts.json").write_text(json.dumps(info))
    pq.write_table(one.drop_columns("id"), next((old / "entities").glob("*.parquet")))
    count([old], tmp_path / "from-old")
    assert pq.read_table(tmp_path / "from-old/entities").column("id").null_count == one.num_rows
    count([old, world_corpus], tmp_path / "both")
    assert pq.read_table(tmp_path / "both/entities").column("id").to_pylist() == one.column("id").to_pylist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD.format("page") + "(1,0,'A',0);", "this is the table page, not page_props"),
        (HEAD.format("page_props") + "(1,'defaultsort','A',NULL);", "no rows about Wikidata"),
        ("hello", "not a Wikimedia table"),
        ("", "not a Wikimedia table"),
        (HEAD.format("page_props") + "(999999,'wikibase_item','Q1',NULL);", "none of its 1 pages"),
    ],
)
def test_wrong_tables_are_named(model, tmp_path, content, message):
    file = written(tmp_path / "table.sql", content)
    before = (model / "model.json").read_bytes()
    with pytest.raises(InputError, match=message):
        add_ids(model, file)
    assert (model / "model.json").read_bytes() == before


def test_files_that_cannot_be_read_are_named(model, tmp_path):
    whole = properties(tmp_path / "p.sql.gz", dict.fromkeys(range(5000), "Q1")).read_bytes()
    (tmp_path / "cut.sql.gz").write_bytes(whole[: len(whole) // 2])
    for name, what in {
        "cut.sql.gz": "the file cannot be read",
        "none.sql.gz": "there is no such file",
    }.items():
        with pytest.raises(InputError, match=f"{name}: {what}"):
            add_ids(model, tmp_path / name)


titles = st.text(st.sampled_from("ab'\\(),0_é\"; "), min_size=1, max_size=12)


@given(
    st.lists(st.tuples(st.integers(1, 10**9), st.integers(-1, 1), titles), max_size=12), st.integers(40, 200)
)
def test_every_page_is_read_whatever_its_title(tmp_path_factory, rows, chunk):
    path = tmp_path_factory.mktemp("sql") / "page.sql"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "CHUNK", chunk)
        patch.setattr(ids, "LONGEST_ROW", 100)
        read = [
            pair
            for found, names in read_pages(pages(path, rows))
            for pair in zip(found.tolist(), names, strict=True)
        ]
    assert read == [(n, title.replace("_", " ")) for n, space, title in rows if space == 0]


values = st.text(st.sampled_from("ab'\\(),0129_QwikbaseitmN"), max_size=20)


@given(
    st.lists(st.tuples(st.integers(1, 10**8), st.booleans(), values, st.integers(1, 10**8)), max_size=12),
    st.integers(30, 200),
)
def test_items_are_told_from_other_properties(tmp_path_factory, rows, chunk):
    """Values that look like rows are none."""
    text = HEAD.format("page_props") + ",".join(
        f"({n},'wikibase_item','Q{q}',NULL)" if item else f"({n},'displaytitle',{quoted(value)},NULL)"
        for n, item, value, q in [*rows, (5, False, "(6,'wikibase_item','Q8'", 0), (10**9, True, "", 9)]
    )
    path = written(tmp_path_factory.mktemp("sql") / "p.sql", text + ";")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ids, "CHUNK", chunk)
        patch.setattr(ids, "LONGEST_ROW", 100)
        number, item = read_items(path)
    expected = {n: q for n, is_item, _, q in reversed(rows) if is_item} | {10**9: 9}
    assert dict(zip(number.tolist(), item.tolist(), strict=True)) == expected
