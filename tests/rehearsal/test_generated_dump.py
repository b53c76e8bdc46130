"""The generated dump is one as Wikimedia makes them, in proportion, and the same however it is made."""

import bz2
from collections import Counter

import pytest
from benchmarks import generated_dump
from benchmarks.generated_dump import STATE, generate
from benchmarks.generated_pages import IDS, World, word
from lxml import etree

from pboh.corpus.download.folder import dump_files
from pboh.files.writing import read_json, write_json
from pboh.model.ids import read_items

SCALE = 0.0001
XML = "{http://www.mediawiki.org/xml/export-0.11/}"


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """A dump in three parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generated_dump, "PART", 8)
        folder = tmp_path_factory.mktemp("dump")
        made = generate(folder, SCALE, workers=1)
    return folder, made


def pages(folder):
    for path in dump_files(folder):
        yield from etree.fromstring(bz2.decompress(path.read_bytes())).iter(f"{XML}page")


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_is_xml_with_every_title_once_and_ascending_ids(dump):
    folder, made = dump
    found = list(pages(folder))
    titles = Counter(page.findtext(f"{XML}title") for page in found)
    ids = [int(page.findtext(f"{XML}id")) for page in found]
    assert len(found) == made["pages"]
    assert titles.most_common(1)[0][1] == 1
    assert ids == sorted(set(ids))
    texts = [page.find(f"{XML}revision/{XML}text") for page in found]
    assert all(int(text.get("bytes")) == len(text.text.encode()) for text in texts)


def test_has_the_proportions_of_english_wikipedia(dump):
    folder, made = dump
    found = list(pages(folder))
    redirects = sum(page.find(f"{XML}redirect") is not None for page in found)
    disambiguations = sum("{{disambiguation" in "".join(page.itertext()) for page in found)
    assert made["articles"] == 700
    assert 12_000 < made["xml_bytes"] / made["articles"] < 17_000  # 100 GB
    assert 25 < made["links"] / made["articles"] < 35  # 200 million
    assert 1.2 < redirects / made["articles"] < 1.8  # 11 million
    assert 0.03 < disambiguations / made["articles"] < 0.07  # 350,000
    assert 3 < made["xml_bytes"] / made["bytes"] < 5


def test_index_leads_to_the_streams(dump):
    folder, _ = dump
    for path in dump_files(folder):
        index = folder / path.name.replace("multistream", "multistream-index").replace(".xml-", ".txt-")
        rows = [line.split(":", 2) for line in bz2.decompress(index.read_bytes()).decode().splitlines()]
        offset, page, title = rows[len(rows) // 2]
        stream = bz2.BZ2Decompressor().decompress(path.read_bytes()[int(offset) :]).decode()
        assert f"<title>{title}</title>" in stream
        assert f"    <id>{page}</id>\n" in stream


def test_page_props_name_the_items_of_all_articles(dump):
    folder, made = dump
    number, item = read_items(next(folder.glob("*-page_props.sql.gz")))
    world = World.of(SCALE)
    assert number.tolist() == [(place + 1) * IDS for place in range(made["articles"])]
    assert item.tolist() == [world.entity(place) + 1 for place in range(made["articles"])]


def test_is_the_same_when_continued_and_on_several_processes(dump, tmp_path, monkeypatch):
    folder, _ = dump
    monkeypatch.setattr(generated_dump, "PART", 8)
    whole = generated_dump._part

    def stopped(folder, world, number, streams):
        if number == 1:
            raise KeyboardInterrupt
        return whole(folder, world, number, streams)

    monkeypatch.setattr(generated_dump, "_part", stopped)
    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path, SCALE, workers=1)
    monkeypatch.setattr(generated_dump, "_part", whole)
    assert len(read_json(tmp_path / STATE, "state")["parts"]) == 1
    generate(tmp_path, SCALE, workers=2)
    assert contents(tmp_path) == contents(folder)


def test_another_seed_is_another_dump(tmp_path):
    write_json(tmp_path / STATE, {"scale": SCALE, "seed": 2, "parts": []})
    with pytest.raises(ValueError, match="another dump"):
        generate(tmp_path, SCALE, seed=1)


def test_every_article_has_one_place():
    world = World.of(0.001)
    assert {world.entity(place) for place in range(world.articles)} == set(range(world.articles))


def test_words_differ():
    assert len({word(number) for number in range(100_000)}) == 100_000
