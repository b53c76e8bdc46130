"""The whole extraction: what stands in the tables, whatever the input's form and however it is cut."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard
from corpus_helpers import DATA, dump, page, rows, same_corpus, small, world

from pboh.corpus.extract import TABLES, Options, extract
from pboh.corpus.tables import ordered
from pboh.corpus.tables.first_pass import COUNTED
from pboh.text.words import words


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("world") / "corpus"
    return out, extract([DATA / "world.xml"], out, workers=1)


def test_the_world_is_what_its_script_writes() -> None:
    assert (DATA / "world.xml").read_text(encoding="utf-8") == world().world_xml()


def test_statistics_and_manifest(corpus: tuple[Path, dict[str, Any]]) -> None:
    out, figures = corpus
    names = "pages redirects disambiguations links distinct_targets seconds megabytes peak_memory_megabytes"
    assert set(names.split()) <= set(figures)
    assert figures["pages"] == 192
    assert figures["redirects"] == len(world().REDIRECTS)
    assert figures["disambiguations"] == len(world().DISAMBIGUATIONS)
    manifest = json.loads((out / "corpus.json").read_text())
    assert (manifest["format"], manifest["version"], manifest["language"]) == ("pboh-corpus", 1, "en")
    assert manifest["statistics"]["links"] == len(rows(out, "links"))
    assert sorted(path.name for path in out.iterdir()) == sorted([*TABLES, "corpus.json"])


def test_entities_are_dense_and_sorted(corpus: tuple[Path, dict[str, Any]]) -> None:
    entities = rows(corpus[0], "entities")
    assert [each["entity"] for each in entities] == list(range(len(entities)))
    titles = [each["title"] for each in entities]
    assert titles == sorted(set(titles))
    assert {"Georgia (country)", "Thomas Müller", "Stockholm"} <= set(titles)
    assert not {"Georgia", "Müller", "List of planets", "BVB", "Circular one", "Template:Infobox"} & set(
        titles
    )
    red = {each["title"] for each in entities if each["page"] is None}
    assert red == {*world().RED, "List"}


def test_words_are_dense_and_sorted_and_counted(corpus: tuple[Path, dict[str, Any]]) -> None:
    counted = rows(corpus[0], "words")
    texts = [each["text"] for each in counted]
    assert [each["word"] for each in counted] == list(range(len(counted)))
    assert texts == sorted(set(texts))
    pages = {each["page"]: each["kind"] for each in rows(corpus[0], "pages")}
    expected: dict[str, int] = {}
    for row in rows(corpus[0], "texts"):
        if pages[row["page"]] in ("article", "list"):
            for _, _, word in words(row["text"]):
                expected[word] = expected.get(word, 0) + 1
    assert {each["text"]: each["count"] for each in counted} == expected


def test_pages_follow_redirects(corpus: tuple[Path, dict[str, Any]]) -> None:
    pages = {each["title"]: each for each in rows(corpus[0], "pages")}
    assert [each["page"] for each in pages.values()] == list(range(192))
    assert pages["FCB"]["target"] == "FC Bayern Munich"
    assert pages["Republic of Georgia"]["target"] == "Georgia (country)"
    assert pages["Lost city"]["target"] == "Atlantis"
    assert pages["Circular one"]["target"] is None
    assert pages["Me myself"]["target"] is None
    assert pages["Category:Football"]["kind"] == "other"
    entities = {each["title"]: each["entity"] for each in rows(corpus[0], "entities")}
    for title, each in pages.items():
        assert each["entity"] == (entities[title] if each["kind"] == "article" else None)


def test_links_stand_in_the_text(corpus: tuple[Path, dict[str, Any]]) -> None:
    texts = {each["page"]: each["text"] for each in rows(corpus[0], "texts")}
    links = rows(corpus[0], "links")
    assert links == sorted(links, key=lambda each: (each["page"], each["start"]))
    for link in links:
        assert texts[link["page"]][link["start"] : link["end"]] == link["anchor"]


def test_a_link_is_followed_if_a_content_word_begins_one_blank_behind_it(tmp_path: Path) -> None:
    text = "French shares, French and Dutch, French-speaking Dutch\nbonds. Dutch 12, French 1996 French"
    places = [m.span() for m in re.finditer("French|Dutch", text)]
    links = [[start, end, text[start:end]] for start, end in places]
    (tmp_path / "pages.jsonl").write_text(json.dumps({"title": "A", "text": text, "links": links}))
    extract([tmp_path / "pages.jsonl"], tmp_path / "corpus", workers=1)
    found = [text[each["end"] :][:7] for each in rows(tmp_path / "corpus", "links") if each["followed"]]
    assert found == [" shares", " 1996 F"]


def test_what_follows_links_is_what_content_words_say(corpus: tuple[Path, dict[str, Any]]) -> None:
    texts = {each["page"]: each["text"] for each in rows(corpus[0], "texts")}
    kinds = {each["page"]: each["kind"] for each in rows(corpus[0], "pages")}
    starts = {page: {start for start, _, _ in words(text)} for page, text in texts.items()}
    links = rows(corpus[0], "links")
    for link in links:
        blank = texts[link["page"]][link["end"] :][:1] == " "
        follows = blank and link["end"] + 1 in starts[link["page"]] and kinds[link["page"]] in COUNTED
        assert link["followed"] == follows
    assert {link["followed"] for link in links} == {True, False}


def test_context_words_are_those_around_the_links(corpus: tuple[Path, dict[str, Any]]) -> None:
    """The five-line definition of N(w,e), beside the kernel."""
    out = corpus[0]
    texts = {each["page"]: each["text"] for each in rows(out, "texts")}
    kinds = {each["page"]: each["kind"] for each in rows(out, "pages")}
    number = {each["text"]: each["word"] for each in rows(out, "words")}
    expected: dict[tuple[int, int], int] = {}
    for link in rows(out, "links"):
        if kinds[link["page"]] == "disambiguation":
            continue
        found = words(texts[link["page"]])
        before = [word for _, end, word in found if end <= link["start"]][-50:]
        after = [word for start, _, word in found if start >= link["end"]][:50]
        for word in before + after:
            key = (link["entity"], number[word])
            expected[key] = expected.get(key, 0) + 1
    got = rows(out, "context_words")
    assert {(each["entity"], each["word"]): each["count"] for each in got} == expected
    assert len(got) == len(expected)


def test_schemas(corpus: tuple[Path, dict[str, Any]]) -> None:
    expected = {
        "pages": "page:int32 id:int64 title:string kind:string target:string entity:int32 held:bool",
        "entities": "entity:int32 title:string page:int32 held:bool",
        "links": "page:int32 start:int32 end:int32 anchor:string entity:int32 followed:bool",
        "context_words": "entity:int32 word:int32 count:int32",
        "words": "word:int32 text:string count:int64",
        "texts": "page:int32 text:string",
    }
    for name, columns in expected.items():
        schema = pq.read_schema(next((corpus[0] / name).glob("*.parquet")))
        assert " ".join(f"{field.name}:{field.type}" for field in schema) == columns


@pytest.mark.parametrize("form", ["bz2", "multistream", "pbzip2", "gz", "zst", "zst frames"])
def test_compressed_inputs_give_the_same(
    form: str, corpus: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    xml = (DATA / "world.xml").read_bytes()
    pieces = [xml[at : at + 30_000] for at in range(0, len(xml), 30_000)]
    pages = [
        part if part.startswith(b"<mediawiki") else b"  <page>" + part for part in xml.split(b"  <page>")
    ]
    packed = {
        "bz2": lambda: bz2.compress(xml),
        "multistream": lambda: b"".join(bz2.compress(part) for part in pages),
        "pbzip2": lambda: b"".join(bz2.compress(part) for part in pieces),
        "gz": lambda: gzip.compress(xml),
        "zst": lambda: zstandard.compress(xml),
        "zst frames": lambda: b"".join(zstandard.compress(part) for part in pieces),
    }[form]()
    path = tmp_path / "world.xml.packed"  # what counts is what is inside
    path.write_bytes(packed)
    extract([path], tmp_path / "out", workers=1)
    same_corpus(tmp_path / "out", corpus[0], TABLES)


@pytest.mark.parametrize("form", ["xml", "bz2", "gz"])
@pytest.mark.parametrize("size", [7_001, 90_000])
def test_chunks_only_change_how_context_rows_are_grouped(
    form: str,
    size: int,
    corpus: tuple[Path, dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ordered, "ROW", 3_000_000)  # some hundred titles and words at a time
    xml = (DATA / "world.xml").read_bytes()
    path = tmp_path / "world"
    path.write_bytes(
        {"xml": lambda: xml, "bz2": lambda: bz2.compress(xml, 1), "gz": lambda: gzip.compress(xml)}[form]()
    )
    extract([path], tmp_path / "out", Options(chunk_size=size), workers=1)
    assert form != "xml" or len(list((tmp_path / "out" / "links").iterdir())) == -(-len(xml) // size)
    same_corpus(tmp_path / "out", corpus[0], [name for name in TABLES if not name.endswith("_words")])
    assert summed(tmp_path / "out") == summed(corpus[0])


def summed(corpus: Path) -> dict[tuple[int, int], int]:
    totals: dict[tuple[int, int], int] = {}
    for each in rows(corpus, "context_words"):
        key = (each["entity"], each["word"])
        totals[key] = totals.get(key, 0) + each["count"]
    return totals


def test_parts_refer_to_each_other(tmp_path: Path) -> None:
    first = dump(
        tmp_path / "1.xml", page("A", "[[B]] and [[C|see]] x"), page("Old", "#REDIRECT [[Older]]", "Older")
    )
    second = dump(tmp_path / "2.xml", page("B", "[[Old]] [[A]]"), page("Older", "#REDIRECT [[A]]", "A"))
    figures = extract([first, second], tmp_path / "out", workers=1)
    entities = {each["entity"]: each["title"] for each in rows(tmp_path / "out", "entities")}
    links = [
        (each["page"], each["anchor"], entities[each["entity"]]) for each in rows(tmp_path / "out", "links")
    ]
    assert links == [(0, "B", "B"), (0, "see", "C"), (2, "Old", "A"), (2, "A", "A")]
    assert figures["distinct_targets"] == 3


def test_red_links_may_be_dropped(tmp_path: Path) -> None:
    source = dump(
        tmp_path / "d.xml", page("A", "[[B]] [[C]] [[Gone]]"), page("B", "text"), page("Gone", "", "Nowhere")
    )
    extract([source], tmp_path / "out", Options(red_links="drop"), workers=1)
    assert [each["title"] for each in rows(tmp_path / "out", "entities")] == ["A", "B"]
    assert [each["anchor"] for each in rows(tmp_path / "out", "links")] == ["B"]


def test_links_to_lists_and_disambiguations_are_dropped_but_not_those_on_them(tmp_path: Path) -> None:
    source = dump(
        tmp_path / "d.xml",
        page("A", "[[List of things]] [[B (disambiguation)]] [[Many]] [[Two]] [[B]]"),
        page("Many", "{{disambig}} [[A]] or [[B]]"),
        page("Two", "", "Many"),
    )
    extract([source], tmp_path / "out", workers=1)
    links = [(each["page"], each["anchor"]) for each in rows(tmp_path / "out", "links")]
    assert links == [(0, "B"), (1, "A"), (1, "B")]


def test_a_page_given_twice_counts_as_one_entity(tmp_path: Path) -> None:
    source = dump(tmp_path / "d.xml", page("A", "one [[A]]"), page("A", "two"), page("a", "three"))
    extract([source], tmp_path / "out", workers=1)
    assert [(each["title"], each["page"]) for each in rows(tmp_path / "out", "entities")] == [("A", 0)]
    assert [each["entity"] for each in rows(tmp_path / "out", "pages")] == [0, 0, 0]


def test_the_last_revision_counts(tmp_path: Path) -> None:
    old = "<revision><text>old [[X]]</text></revision>"
    source = dump(tmp_path / "d.xml", page("A", "new [[Y]]").replace("<revision>", old + "<revision>", 1))
    extract([source], tmp_path / "out", workers=1)
    assert [each["text"] for each in rows(tmp_path / "out", "texts")] == ["new Y"]


def test_texts_may_be_left_out(tmp_path: Path) -> None:
    extract([DATA / "world.xml"], tmp_path / "out", Options(texts=False, window=3), workers=1)
    assert not (tmp_path / "out" / "texts").exists()
    assert json.loads((tmp_path / "out" / "corpus.json").read_text())["options"]["window"] == 3


def test_language_and_namespaces_come_from_the_dump(tmp_path: Path) -> None:
    head = world().HEAD.replace('xml:lang="en"', 'xml:lang="de"').replace(">Category<", ">Kategorie<")
    text = "[[Kategorie:Stadt]] [[Hamburg]] und {{Begriffsklärung}}"
    source = dump(
        tmp_path / "d.xml", page("Köln", "Der Rhein und der [[Dom]]"), page("Halle", text), head=head
    )
    extract([source], tmp_path / "out", workers=1)
    assert [each["kind"] for each in rows(tmp_path / "out", "pages")] == ["article", "disambiguation"]
    assert [each["text"] for each in rows(tmp_path / "out", "words")] == ["dom", "rhein"]
    assert json.loads((tmp_path / "out" / "corpus.json").read_text())["language"] == "de"


@pytest.mark.slow
def test_workers_do_not_change_a_byte(corpus: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    options = Options(chunk_size=40_000)
    for count in (1, 2):
        extract([DATA / "world.xml"], tmp_path / str(count), options, workers=count)
    for one in sorted((tmp_path / "1").rglob("*")):
        other = tmp_path / "2" / one.relative_to(tmp_path / "1")
        assert one.is_dir() or one.read_bytes() == other.read_bytes(), one


def test_command_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "extract", str(small(tmp_path))]
    command += ["--out", str(tmp_path / "out"), "--workers", "1", "--json", str(tmp_path / "figures.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "links" in done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["pages"] == 2
    assert figures["peak_memory_megabytes"] > 10


@pytest.mark.shared
@pytest.mark.slow
def test_counts_of_the_small_real_dump(real_corpus: Path) -> None:
    figures = json.loads(real_corpus.with_suffix(".json").read_text())
    assert figures["pages"] == 2020
    assert figures["redirects"] == 300
    assert figures["peak_memory_megabytes"] < 2000
    assert importlib.util.find_spec("pboh")
