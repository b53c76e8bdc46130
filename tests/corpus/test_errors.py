"""Bad input: one sentence with what, where and what to do; nothing resolved, nothing lost."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard
from corpus_helpers import DATA, dump, page, rows, same_corpus, small, world

import pboh.corpus.tables.first_pass as scanning
from pboh.corpus.extract import TABLES, Options, extract
from pboh.errors import CorpusError, InputError, OutputError, PbohError

pytestmark = pytest.mark.slow

XML = (DATA / "world.xml").read_bytes()
CHUNKS = Options(chunk_size=30_000)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def complaint(source: Path, tmp_path: Path, options: Options = CHUNKS) -> PbohError:
    with pytest.raises(PbohError) as caught:
        extract([source], tmp_path / "out", options, workers=1)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert not (tmp_path / "out" / "corpus.json").exists()
    return caught.value


def finished(tmp_path: Path) -> int:
    return len(list((tmp_path / "out" / ".work" / "scan").glob("0*")))


@pytest.mark.parametrize("keep", [0.3, 0.9, 0.999])
def test_truncated_bz2(keep: float, tmp_path: Path) -> None:
    packed = b"".join(bz2.compress(XML[at : at + 20_000]) for at in range(0, len(XML), 20_000))
    error = complaint(written(tmp_path / "d.xml.bz2", packed[: int(keep * len(packed))]), tmp_path)
    assert re.search(r"d\.xml\.bz2, byte \d+: the bz2 data is damaged or cut off\. Download", str(error))
    assert finished(tmp_path) >= (keep > 0.5)


def test_damaged_bz2_is_named_by_its_byte_and_continues_when_replaced(tmp_path: Path) -> None:
    packed = b"".join(bz2.compress(XML[at : at + 20_000]) for at in range(0, len(XML), 20_000))
    middle = len(packed) // 2
    broken = packed[:middle] + bytes([packed[middle] ^ 0xFF]) + packed[middle + 1 :]
    path = written(tmp_path / "d.xml.bz2", broken)
    error = complaint(path, tmp_path)
    where = int(re.search(r"byte (\d+)", str(error))[1])  # type: ignore[index]
    assert middle - 5_000 < where <= middle
    assert finished(tmp_path) >= 1
    path.write_bytes(packed)
    extract([path], tmp_path / "out", CHUNKS, workers=1)
    extract([DATA / "world.xml"], tmp_path / "whole", workers=1)
    same_corpus(tmp_path / "out", tmp_path / "whole", ["pages", "links", "entities", "words"])


def test_damaged_and_truncated_gz_and_zst(tmp_path: Path) -> None:
    for name, packed in (("d.gz", gzip.compress(XML)), ("d.zst", zstandard.compress(XML))):
        error = complaint(written(tmp_path / name, packed[: len(packed) // 2]), tmp_path)
        assert re.search(rf"{name}, byte \d+: the {name[2:]} data is damaged or cut off", str(error))


def test_xml_cut_in_a_page(tmp_path: Path) -> None:
    cut = XML.index(b"</page>", len(XML) // 2) - 20
    error = complaint(written(tmp_path / "d.xml", XML[:cut]), tmp_path)
    title = re.findall(rb"<title>(.*?)</title>", XML[:cut])[-1].decode()
    assert "the dump ends in the middle of a page" in str(error)
    assert f'page "{title}", byte ' in str(error)
    assert finished(tmp_path) >= 3


def test_xml_cut_between_pages(tmp_path: Path) -> None:
    cut = XML.index(b"</page>", len(XML) // 2) + len(b"</page>\n")
    assert "ends before </mediawiki>" in str(complaint(written(tmp_path / "d.xml", XML[:cut]), tmp_path))


def test_page_that_is_not_xml(tmp_path: Path) -> None:
    source = dump(
        tmp_path / "d.xml", page("Fine", "text"), page("Bad", "text").replace("</title>", "</titel>")
    )
    error = complaint(source, tmp_path)
    assert "not well-formed XML" in str(error) and ", byte " in str(error)
    source = dump(tmp_path / "d.xml", page("Fine", "text"), page("Bad", "text").replace("<ns>0", "<ns>zero"))
    assert 'page "Bad"' in str(complaint(source, tmp_path))


def test_wrong_encoding(tmp_path: Path) -> None:
    latin = world().HEAD + page("Köln", "Städte") + "</mediawiki>"
    error = complaint(written(tmp_path / "d.xml", latin.encode("latin-1")), tmp_path)
    assert "not UTF-8 (byte 0xf6" in str(error)
    error = complaint(written(tmp_path / "d.xml", latin.encode("utf-16")), tmp_path)
    assert "UTF-16" in str(error) and "iconv" in str(error)
    declared = b'<?xml version="1.0" encoding="ISO-8859-1"?>\n' + latin.encode("latin-1")
    assert "ISO-8859-1" in str(complaint(written(tmp_path / "d.xml", declared), tmp_path))


BOMB = """<!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>\n"""
OUTSIDE = """<!DOCTYPE mediawiki [<!ENTITY secret SYSTEM "file://{}">]>\n"""


@pytest.mark.parametrize("doctype", [BOMB, OUTSIDE, '<!DOCTYPE mediawiki SYSTEM "http://localhost:1/x.dtd">'])
def test_document_types_are_refused(doctype: str, tmp_path: Path) -> None:
    secret = written(tmp_path / "secret", b"do not read")
    text = world().HEAD + page("A", "see B").replace("see", "&b; &secret;") + "</mediawiki>"
    error = complaint(written(tmp_path / "d.xml", (doctype.format(secret) + text).encode()), tmp_path)
    assert isinstance(error, InputError)
    assert "document type or entities" in str(error)
    assert "do not read" not in str(error)


@pytest.mark.parametrize("place", ["between pages", "inside a page"])
def test_entities_are_not_resolved_wherever_they_are_declared(place: str, tmp_path: Path) -> None:
    secret = written(tmp_path / "secret", b"do not read")
    declared = f'<!DOCTYPE page [<!ENTITY secret SYSTEM "file://{secret}">]>'
    bad = page("A", "see B").replace("see", "&secret;")
    bad = declared + bad if place == "between pages" else bad.replace("<title>", declared + "<title>")
    error = complaint(dump(tmp_path / "d.xml", page("First", "text"), bad), tmp_path)
    assert "not well-formed" in str(error) or "document type" in str(error)
    assert not [
        path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"do not" in path.read_bytes()
    ]


def test_empty_dumps(tmp_path: Path) -> None:
    assert "the file is empty" in str(complaint(written(tmp_path / "d.xml", b""), tmp_path))
    assert "it has no pages" in str(complaint(dump(tmp_path / "d.xml"), tmp_path))
    assert "none of the pages has text" in str(complaint(dump(tmp_path / "d.xml", page("A", "")), tmp_path))
    assert "not a MediaWiki dump" in str(complaint(written(tmp_path / "d.bz2", bz2.compress(b"")), tmp_path))


OTHERS = {
    "an SQL dump": b"-- MySQL dump 10.19\nCREATE TABLE `page` (",
    "an HTML page": b"<!DOCTYPE html>\n<html><body>404</body></html>",
    "a dump of abstracts": b"<feed>\n<doc><title>Wikipedia: A</title></doc></feed>",
    "a zip archive": b"PK\x03\x04" + bytes(100),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c" + bytes(100),
    "a JSON array": b'[{"title": "A"}]',
    "not a MediaWiki dump": b"name,count\nA,3\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_dumps_of_another_format(name: str, tmp_path: Path) -> None:
    for packed in (OTHERS[name], bz2.compress(OTHERS[name]), gzip.compress(OTHERS[name])):
        error = complaint(written(tmp_path / "d", packed), tmp_path)
        assert name in str(error) and "Give a dump" in str(error)
    assert not (tmp_path / "out").exists()


def test_folders_and_missing_files(tmp_path: Path) -> None:
    assert "not a folder written by pboh download" in str(complaint(tmp_path, tmp_path))
    assert "no such file" in str(complaint(tmp_path / "none.xml", tmp_path))


def test_json_that_is_not_ours(tmp_path: Path) -> None:
    error = complaint(
        written(tmp_path / "d.jsonl", b'{"title": "A", "text": "b"}\n{"name": "A"}\n'), tmp_path
    )
    assert "byte 28: the line is not a page" in str(error) and '"links": [[start' in str(error)
    bad = b'{"title": "A", "text": "abc", "links": [[1, 9, "B"]]}\n'
    assert 'page "A" has a link [1, 9, "B"]' in str(complaint(written(tmp_path / "d.jsonl", bad), tmp_path))


@pytest.mark.parametrize("number", [1 << 63, 10**30, -(1 << 63) - 1])
def test_ids_beyond_64_bits_are_left_out_and_all_pages_stay(number: int, tmp_path: Path) -> None:
    pages = [page("A", "text [[B]]").replace("<id>7<", f"<id>{number}<"), page("B", "text")]
    lines = [{"title": "A", "text": "text", "id": number}, {"title": "B", "text": "text", "id": 7}]
    mine = written(tmp_path / "d.jsonl", "\n".join(map(json.dumps, lines)).encode())
    for name, source in (("xml", dump(tmp_path / "d.xml", *pages)), ("jsonl", mine)):
        figures = extract([source], tmp_path / name, workers=1)
        assert figures["problems"] == ['the id of page "A" has more than 64 bits: it is left out']
        assert [(each["title"], each["id"]) for each in rows(tmp_path / name, "pages")] == [
            ("A", None),
            ("B", 7),
        ]


def test_the_largest_id_is_kept(tmp_path: Path) -> None:
    source = dump(tmp_path / "d.xml", page("A", "text").replace("<id>7<", f"<id>{(1 << 63) - 1}<"))
    assert "problems" not in extract([source], tmp_path / "out", workers=1)
    assert rows(tmp_path / "out", "pages")[0]["id"] == (1 << 63) - 1


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_a_line_nested_200_000_deep_is_left_out_and_the_others_stay(opened: str, tmp_path: Path) -> None:
    deep = '{"title": "Deep", "more": ' + opened * 200_000 + "\n"
    good = '{"title": "%s", "text": "text"}\n'
    source = written(tmp_path / "d.jsonl", (good % "A" + deep + good % "B").encode())
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "extract", str(source)]
    command += ["--out", str(tmp_path / "out"), "--workers", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "d.jsonl, byte 31: the line is nested too deeply and was left out" in done.stderr + done.stdout
    assert [each["title"] for each in rows(tmp_path / "out", "pages")] == ["A", "B"]


def test_many_problems_are_told_in_short(tmp_path: Path) -> None:
    lines = [{"title": f"T{k}", "text": "text", "id": 1 << 64} for k in range(50)]
    source = written(tmp_path / "d.jsonl", "\n".join(map(json.dumps, lines)).encode())
    problems = extract([source], tmp_path / "out", workers=1)["problems"]
    assert len(problems) == 21 and problems[-1] == "and 30 more of the kind"


def test_siteinfo_that_cannot_be_read(tmp_path: Path) -> None:
    for damaged in ("<namespace key='x'>A</namespace>", "<namespace key='1'>A"):
        head = f"<mediawiki><siteinfo>{damaged}</siteinfo>"
        source = dump(tmp_path / "d.xml", page("A", "text"), head=head)
        assert "the <siteinfo> of the dump cannot be read" in str(complaint(source, tmp_path))


def test_damaged_records_of_earlier_runs_are_one_sentence(tmp_path: Path) -> None:
    extract([small(tmp_path)], tmp_path / "out", workers=1)
    for damage in (b"{", b"[" * 200_000):
        written(tmp_path / "out" / "corpus.json", damage)
        with pytest.raises(OutputError, match="the corpus manifest cannot be read"):
            extract([small(tmp_path)], tmp_path / "out", workers=1)


def test_output_folder_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    written(tmp_path / "out" / "letter.txt", b"dear")
    error = complaint(small(tmp_path), tmp_path)
    assert isinstance(error, OutputError) and "something other than a corpus" in str(error)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["letter.txt"]
    with pytest.raises(OutputError, match="in the way"):
        extract([small(tmp_path)], tmp_path / "out" / "letter.txt", workers=1)


def test_full_disk_keeps_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, left = scanning._feather, [25]  # five files a chunk

    def failing(path: Path, columns: dict[str, pa.Array], *compression: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(path, columns, *compression)

    with monkeypatch.context() as patch:
        patch.setattr(scanning, "_feather", failing)
        error = complaint(DATA / "world.xml", tmp_path)
    assert isinstance(error, OutputError)
    assert "no space is left on the disk. Free some space and run the same command again" in str(error)
    assert finished(tmp_path) == 5
    extract([DATA / "world.xml"], tmp_path / "out", CHUNKS, workers=1)
    extract([DATA / "world.xml"], tmp_path / "whole", CHUNKS, workers=1)
    same_corpus(tmp_path / "out", tmp_path / "whole", TABLES)


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk"
)
def test_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(OutputError, match="no space is left"):
            extract([DATA / "world.xml"], disk / "out", CHUNKS, workers=1)
        assert list((disk / "out" / ".work" / "scan").glob("0*"))
        subprocess.run(["mount", "-o", "remount,size=50m", str(disk)], check=True)
        extract([DATA / "world.xml"], disk / "out", CHUNKS, workers=1)
        extract([DATA / "world.xml"], tmp_path / "whole", CHUNKS, workers=1)
        same_corpus(disk / "out", tmp_path / "whole", TABLES)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_page_of_fifty_megabytes(tmp_path: Path) -> None:
    sentence = "The [[river]] flows through the city and [[sea|into the sea]], says [[Anna]]. "
    big = page("Big", sentence * (50_000_000 // len(sentence)))
    source = dump(tmp_path / "d.xml", page("A", "text"), big, page("B", "[[A]]"))
    # in a process of its own: what the tests before have left in this one is not the extraction's
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "extract", str(source)]
    command += ["--out", str(tmp_path / "out"), "--workers", "2", "--json", str(tmp_path / "figures.json")]
    subprocess.run(command, check=True, capture_output=True)
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["pages"] == 3
    assert figures["links"] == 3 * (50_000_000 // len(sentence)) + 1
    assert figures["peak_memory_megabytes"] < 1536
    assert rows(tmp_path / "out", "pages")[2]["title"] == "B"


def test_command_line_prints_one_sentence(tmp_path: Path) -> None:
    source = written(tmp_path / "d.xml", b"<html>")
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "extract", str(source)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "this is an HTML page" in done.stderr.replace("\n", " ")


def test_errors_of_workers_arrive_whole(tmp_path: Path) -> None:
    source = dump(tmp_path / "d.xml", page("Bad", "text").replace("</title>", "</titel>"))
    with pytest.raises(CorpusError, match="well-formed"):
        extract([source], tmp_path / "out", workers=2)
