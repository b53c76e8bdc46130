"""Reading parts of files: bz2 blocks anywhere, and pages that begin in one part and end in another."""

from __future__ import annotations

import bz2
import time
from dataclasses import replace
from pathlib import Path

import pytest
from corpus_helpers import dump, page, prose, world
from hypothesis import given
from hypothesis import strategies as st
from worst_cases import assert_linear, worst_cases

from pboh.corpus.readers.chunks import Chunk, Source, chunks, read
from pboh.corpus.readers.dump import open_source, pages, read_header
from pboh.errors import CorpusError, InputError


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6), st.integers(1, 400))
def test_every_page_is_read_once(lengths: list[int], size: int) -> None:
    """However the file is cut: in a tag, between tags, within a page."""
    made = [page(f"Page {number}", "x" * length) for number, length in enumerate(lengths)]
    whole = (world().HEAD + "".join(made) + "</mediawiki>\n").encode()
    source = Source(Path("unused"), "plain", "xml", len(whole))
    found = []
    for part in chunks([source], size):
        own = whole[part.start : part.end]
        rest = iter([whole[at : at + 50] for at in range(part.end, len(whole), 50)])
        # only the last part of a file looks at the file again, for its end: here none is the last
        inside = Chunk(part.number, replace(source, size=len(whole) + 1), part.start, part.end)
        found += [each.title for each in pages(inside, own, rest)]
    assert found == [f"Page {number}" for number in range(len(lengths))]


def test_parts_of_plain_and_bz2_files_make_the_whole(tmp_path: Path) -> None:
    plain = prose(1, 2_500_000)
    for name, content in (("d.xml", plain), ("d.bz2", bz2.compress(plain, 1))):
        path = tmp_path / name
        path.write_bytes(content)
        source = Source(path, "bz2" if name.endswith("bz2") else "plain", "xml", len(content))
        parts = list(chunks([source, source], 300_000))
        assert [part.number for part in parts] == list(range(len(parts)))
        assert b"".join(read(part)[0] for part in parts) == 2 * plain


def test_pages_as_they_stand_in_a_dump(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "d.xml",
        page("A & B", "1 < 2 &amp; \"x\" 'y'"),
        page("C", "", "D", 0),
        page("User:E", "f", None, 2),
    )
    source, header = open_source(path)
    found = [each for part in chunks([source], 1000) for each in pages(part, *read(part))]
    assert [(each.title, each.namespace, each.redirect) for each in found] == [
        ("A & B", 0, None), ("C", 0, "D"), ("User:E", 2, None),
    ]  # fmt: skip
    assert found[0].text == b"1 < 2 &amp; \"x\" 'y'"
    assert (header.language, header.wiki) == ("en", "enwiki")


def test_headers() -> None:
    assert (
        read_header(b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>\n<mediawiki><page>", "d").siteinfo
        == b""
    )
    assert read_header(b"<!-- made by hand -->\n<mediawiki version='0.3'>", "d").language is None
    with pytest.raises(InputError):
        read_header(b"<page>\n<mediawiki>", "d")


FRAGMENTS = [
    "<mediawiki ", "<mediawiki", "<siteinfo>", "</siteinfo>", "<dbname>", "<dbname> a", "</dbname>", "<?xml ",
    "encoding", "encoding =", "xml:lang", "xml:lang = '", "<!", "<", ">", " ", "=", "'", "a", "<page>", "\n",
]  # fmt: skip


@pytest.mark.slow
def test_headers_take_time_in_proportion_to_their_length() -> None:
    beginnings = ["", "<?xml ", "<mediawiki>", "<mediawiki><siteinfo>", "<mediawiki><siteinfo><dbname>"]
    cases = list(worst_cases(FRAGMENTS, beginnings, 300))
    assert_linear(lambda text: read_header(text.encode(), "d"), cases)
    assert_linear(lambda text: read_header(f"{text}</siteinfo>".encode(), "d"), cases)


def test_elements_nested_without_end_are_one_sentence(tmp_path: Path) -> None:
    deep = page("Deep", "x").replace("<revision>", "<revision>" + "<a>" * 200_000)
    source, _ = open_source(dump(tmp_path / "d.xml", deep))
    with pytest.raises(CorpusError, match=r'page "Deep".*not well-formed'):
        [each for part in chunks([source], 1 << 22) for each in pages(part, *read(part))]


@pytest.mark.slow
def test_a_dump_of_very_many_streams_takes_time_in_proportion_to_them(tmp_path: Path) -> None:
    """A stream may hold a single byte, or none: a part of the file then has tens of thousands."""

    def seconds(count: int) -> float:
        path, best = tmp_path / "d.bz2", float("inf")
        path.write_bytes(
            bz2.compress(b"<mediawiki>") + bz2.compress(b"") * count + bz2.compress(b"</siteinfo>")
        )
        for _ in range(2):
            start = time.process_time()
            open_source(path)
            best = min(best, time.process_time() - start)
        return best

    assert seconds(80_000) / 16 < 3 * seconds(5_000)
