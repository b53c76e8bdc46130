"""The way of a newcomer: download a dump, train on its folder, link a text; and what goes wrong on it."""

from __future__ import annotations

import gzip
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from corpus_helpers import DATA
from wikimedia_server import running_mirror

import pboh
from pboh.corpus.download import download
from pboh.corpus.extract import extract
from pboh.errors import CorpusError, PbohError
from pboh.model.store import open_model, read_manifest
from pboh.train import train

pytestmark = pytest.mark.slow

NAME = "testwiki-20260101-pages-articles-multistream.xml.bz2"
TABLE = "testwiki-20260101-page_props.sql.gz"


def page_props() -> bytes:
    """The table of the small world, as Wikimedia writes it: item 1000 + its number for every page."""
    pages = re.findall(r"<id>(\d+)</id>\s*<revision>", (DATA / "world.xml").read_text("utf-8"))
    rows = [
        f"({page},'defaultsort','O\\'Brien, (7,\\\\',NULL),({page},'page_top_level_section_count','3',3),"
        f"({page},'wikibase-badge-Q17437796','1',NULL),({page},'wikibase_item','Q{1000 + int(page)}',NULL)"
        for page in pages
    ]
    half = len(rows) // 2
    inserts = "".join(
        f"INSERT INTO `page_props` VALUES {','.join(some)};\n" for some in (rows[:half], rows[half:])
    )
    return f"""-- MariaDB dump 10.19  Distrib 10.5.23-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: db1206    Database: testwiki
-- ------------------------------------------------------
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;

DROP TABLE IF EXISTS `page_props`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`),
  UNIQUE KEY `pp_propname_page` (`pp_propname`,`pp_page`)
) ENGINE=InnoDB DEFAULT CHARSET=binary ROW_FORMAT=COMPRESSED;

/*!40000 ALTER TABLE `page_props` DISABLE KEYS */;
{inserts}/*!40000 ALTER TABLE `page_props` ENABLE KEYS */;

-- Dump completed on 2026-01-02  1:02:03
""".encode()


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small world, fetched from a server."""
    folder = tmp_path_factory.mktemp("download") / "dumps"
    with pytest.MonkeyPatch.context() as patch, running_mirror() as mirror:
        patch.setenv("no_proxy", "*")
        mirror.add_wiki("testwiki", (DATA / "world.xml").read_bytes(), page_props())
        download("testwiki", folder, mirror=mirror.url)
    return folder


@pytest.mark.slow
def test_download_train_and_link(dumps: Path, tmp_path: Path) -> None:
    made = train([dumps], tmp_path / "model", workers=1)
    entity = pboh.load(tmp_path / "model").disambiguate("Paris", [(0, 5)]).mentions[0].entity
    assert entity is not None
    model = open_model(tmp_path / "model")
    pages = model["entity_page"].astype(int)
    assert np.array_equal(model["entity_id"], np.where(pages > 0, pages + 1000, 0))  # without another command
    assert made["entities_with_an_id"] == (pages > 0).sum()
    assert made["problems"] == []


def without_table(dumps: Path, folder: Path) -> Path:
    """The dump alone, as files are passed by those who fetch them by other means."""
    folder.mkdir()
    return Path(shutil.copy2(dumps / NAME, folder))


def test_a_table_that_comes_later_only_adds_ids(dumps: Path, tmp_path: Path) -> None:
    dump, model = without_table(dumps, tmp_path / "dumps"), tmp_path / "model"
    assert "entities_with_an_id" not in train([dump], model, workers=1, fitting=None, keep_work=False)
    before = read_manifest(model)
    shutil.copy2(dumps / TABLE, dump.parent)
    made = train([dump], model, workers=1, fitting=None, keep_work=False)
    after = read_manifest(model)
    assert made["fresh"]
    assert made["entities_with_an_id"] > 0
    assert after["created"] == before["created"]  # nothing was built again
    assert after["arrays"].keys() - before["arrays"].keys() == {"entity_id"}

    again = train([dump], model, workers=1, fitting=None, keep_work=False)
    assert not again["fresh"]
    assert again["entities_with_an_id"] == made["entities_with_an_id"]
    (dump.parent / TABLE).unlink()  # they stay
    assert not train([dump], model, workers=1, fitting=None, keep_work=False)["fresh"]
    assert "entity_id" in read_manifest(model)["arrays"]


def test_a_table_of_another_wiki_does_not_lose_the_model(dumps: Path, tmp_path: Path) -> None:
    dump = without_table(dumps, tmp_path / "dumps")
    other = b"INSERT INTO `page_props` VALUES (4000000000,'wikibase_item','Q1',NULL);\n"
    (dump.parent / TABLE).write_bytes(gzip.compress(other))
    made = train([dump], tmp_path / "model", workers=1, fitting=None)
    assert made["entities_with_an_id"] == 0
    assert "none of its 1 pages is an entity" in made["problems"][0]
    assert "entity_id" not in open_model(tmp_path / "model")


def test_a_folder_and_files_together(dumps: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text('{"title": "Another", "text": "page"}\n')
    both = extract([dumps, tmp_path / "more.jsonl"], tmp_path / "both", workers=1)
    alone = extract([dumps], tmp_path / "alone", workers=1)
    twice = extract([dumps, dumps / NAME], tmp_path / "twice", workers=1)
    assert both["pages"] == alone["pages"] + 1
    assert twice["pages"] == alone["pages"]


def test_an_unfinished_download_is_refused(dumps: Path, tmp_path: Path) -> None:
    (tmp_path / "download.json").write_bytes((dumps / "download.json").read_bytes())
    with pytest.raises(CorpusError, match=r"not fetched.*pboh download testwiki --date 20260101"):
        train([tmp_path], tmp_path / "model", workers=1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("this is not JSON\n", r"bad\.jsonl, byte 0: the line is not a page \(JSON is malformed"),
        (
            '{"title": "A", "text": "b"}\n{"title": 7}\n',
            r"byte 28: .*Expected `str`, got `int`",
        ),
        ("[1, 2]\n", "Expected `object`, got `array`"),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_bad_lines_are_explained_and_nothing_stays(
    content: str, words: str, workers: int, tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_text(content)
    with pytest.raises(PbohError, match=words):
        train([tmp_path / "bad.jsonl"], tmp_path / "model", workers=workers)
    assert [path.name for path in tmp_path.rglob("*")] == ["bad.jsonl"]
