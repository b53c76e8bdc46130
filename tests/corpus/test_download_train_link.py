"""The way of a newcomer: download a dump, train on its folder, link a text; and what goes wrong on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_helpers import DATA
from wikimedia_server import running_mirror

import pboh
from pboh.corpus.download import download
from pboh.corpus.extract import extract
from pboh.errors import CorpusError, PbohError
from pboh.train import train

NAME = "testwiki-20260101-pages-articles-multistream.xml.bz2"


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small world, fetched from a server."""
    folder = tmp_path_factory.mktemp("download") / "dumps"
    with pytest.MonkeyPatch.context() as patch, running_mirror() as mirror:
        patch.setenv("no_proxy", "*")
        mirror.add_wiki("testwiki", (DATA / "world.xml").read_bytes())
        download("testwiki", folder, mirror=mirror.url)
    return folder


def test_download_train_and_link(dumps: Path, tmp_path: Path) -> None:
    train([dumps], tmp_path / "model", workers=1)
    title = pboh.load(tmp_path / "model").disambiguate("Paris", [(0, 5)]).mentions[0].entity
    assert title is not None


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
