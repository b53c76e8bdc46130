"""Listing the dumps of a mirror: dates, parts in page order, and dumps that are not finished."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wikimedia_server import BODIES, NAMES, STATUS, Mirror

from pboh.corpus.download.mirror import list_parts, select_parts
from pboh.errors import DownloadError, InputError, PbohError


def test_parts_are_listed_in_page_order_without_index_and_whole(mirror: Mirror) -> None:
    listing = list_parts("testwiki", "20260101", mirror.url)
    assert {part.number: part.name for part in listing.files} == NAMES
    assert [part.size for part in listing.files] == [len(body) for body in BODIES.values()]


def test_small_wiki_has_one_file(mirror: Mirror) -> None:
    name = "testwiki-20260101-pages-articles-multistream.xml.bz2"
    job = {"status": "done", "files": {name: mirror.entry("/testwiki/20260101/", name)}}
    mirror.files[STATUS] = json.dumps({"jobs": {"articlesmultistreamdump": job}}).encode()
    assert [part.name for part in list_parts("testwiki", "20260101", mirror.url).files] == [name]


def test_latest_is_the_newest_finished_dump(mirror: Mirror) -> None:
    mirror.add_dump("20260301", "in-progress")
    mirror.add_dump("20260201", "failed")
    mirror.add_dump("20251201")
    assert list_parts("testwiki", "latest", mirror.url + "/").date == "20260101"


def test_part_without_checksum_means_unfinished(mirror: Mirror) -> None:
    mirror.add_dump("20260201")
    path = STATUS.replace("20260101", "20260201")
    mirror.files[path] = mirror.files[path].replace(b'"sha1"', b'"later"', 1)
    with pytest.raises(DownloadError, match="no size and checksum"):
        list_parts("testwiki", "20260201", mirror.url)
    assert list_parts("testwiki", "latest", mirror.url).date == "20260101"


def test_no_finished_dump_at_all(mirror: Mirror) -> None:
    mirror.add_dump(status="in-progress")
    with pytest.raises(DownloadError, match=r"no dump of testwiki is finished .*still being written"):
        list_parts("testwiki", "latest", mirror.url)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowiki", "latest"), "no wiki called nowiki"),
        (("nope", "20260101"), "no wiki called nope.*nopewiki"),
        (("testwiki", "20260102"), "no dump of 20260102; it has 20260101"),
        (("../etc", "latest"), "not the name of a wiki"),
        (("testwiki", "yesterday"), "not a date"),
    ],
)
def test_wrong_names_and_dates(mirror: Mirror, arguments: tuple[str, str], words: str) -> None:
    with pytest.raises(PbohError, match=words):
        list_parts(*arguments, mirror.url)


@pytest.mark.parametrize(
    "address",
    ["ftp://x", "file:///etc", "127.0.0.1", "http://", "http://a b", "http://a..b", "http://h:port"],
)
def test_wrong_mirror(address: str) -> None:
    with pytest.raises(InputError, match="address"):
        list_parts("testwiki", "latest", address)


def test_login_page_in_place_of_the_status(mirror: Mirror) -> None:
    for answer in (b"<html>please log in</html>", b'{"jobs": ' + b"[" * 200_000):
        mirror.files[STATUS] = answer
        with pytest.raises(DownloadError, match="not a dump's status"):
            list_parts("testwiki", "20260101", mirror.url)


@given(st.text(alphabet="0123456789-, al", max_size=12), st.integers(1, 40))
def test_part_selection_is_sorted_and_inside_or_refused(text: str, available: int) -> None:
    try:
        chosen = select_parts(text, available)
    except InputError:
        return
    assert chosen == sorted(set(chosen))
    assert chosen
    assert set(chosen) <= set(range(1, available + 1))


def test_part_selection() -> None:
    assert select_parts("1-3,7", 9) == [1, 2, 3, 7]
    assert select_parts(None, 3) == select_parts("all", 3) == [1, 2, 3]
    with pytest.raises(InputError, match="parts 1-9"):
        select_parts("8-10", 9)
