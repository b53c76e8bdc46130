"""Downloading from a server on this machine that has the layout of dumps.wikimedia.org, and its bad days."""

from __future__ import annotations

import json
import socket
import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner
from wikimedia_server import (
    BODIES,
    NAMES,
    STATUS,
    Mirror,
    broken,
    instead,
    path_of,
    reset,
    silent_for_a_while,
    status,
)

from pboh.cli.download import download_command
from pboh.corpus.download.folder import MANIFEST, download, dump_files, id_table
from pboh.corpus.download.http import Manners
from pboh.corpus.download.mirror import list_parts
from pboh.errors import CorpusError, DownloadError, InputError, OutputError
from pboh.files.writing import claimed


def get(mirror: Mirror, out: Path, waits: list[float] | None = None, **options: Any) -> Any:
    manners = Manners(
        connections=options.pop("connections", 2),
        timeout=options.pop("timeout", 10.0),
        attempts=options.pop("attempts", 4),
        sleep=(waits if waits is not None else []).append,
    )
    return download("testwiki", out, mirror=mirror.url, manners=manners, **options)


def assert_complete(out: Path, numbers: list[int] | None = None) -> None:
    files = dump_files(out)
    assert [file.name for file in files] == [NAMES[n] for n in numbers or NAMES]
    for file in files:
        assert file.read_bytes() == BODIES[next(n for n in NAMES if NAMES[n] == file.name)]
    names = {file.name for file in out.iterdir()}
    assert not any(name.endswith((".part", ".corrupt", ".tmp")) for name in names)


# --- fetching ----------------------------------------------------------------------------------------


def test_everything_is_fetched_verified_and_recorded(mirror: Mirror, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    seen: list[tuple[float, float | None, str]] = []
    result = get(mirror, out, report=lambda done, total=None, detail="": seen.append((done, total, detail)))
    assert_complete(out)
    total = sum(map(len, BODIES.values()))
    assert (result.verified, result.bytes_fetched, result.retries) == (4, total, 0)
    assert seen[-1][:2] == (total, total)
    assert "/s" in seen[-1][2] and "4/4 files" in seen[-1][2]
    manifest = json.loads((out / MANIFEST).read_bytes())
    assert (manifest["format"], manifest["wiki"], manifest["date"]) == (
        "pboh-download",
        "testwiki",
        "20260101",
    )


def test_finished_download_needs_no_network(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path)
    mirror.requests.clear()
    assert get(mirror, tmp_path).verified == 0
    assert mirror.requests == []


def test_parts_add_up_over_several_calls(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path, parts="2")
    assert_complete(tmp_path, [2])
    get(mirror, tmp_path, parts="1")
    assert_complete(tmp_path, [1, 2])
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert len(mirror.gets(path_of(2))) == 1


def test_polite_client_says_who_it_is_and_keeps_to_its_connections(mirror: Mirror, tmp_path: Path) -> None:
    manners = Manners(connections=2, contact="me@example.org\n(x)")
    download("testwiki", tmp_path, mirror=mirror.url, manners=manners)
    agents = {headers["User-Agent"] for _, _, headers in mirror.requests}
    assert len(agents) == 1
    assert next(iter(agents)).startswith("pboh/")
    assert "me@example.orgx;" in next(iter(agents))
    assert mirror.busiest <= 2


@pytest.mark.parametrize("how", [broken, reset])
def test_broken_connection_is_continued_from_where_it_broke(mirror: Mirror, tmp_path: Path, how: Any) -> None:
    mirror.bad_days[path_of(1)] = [how(mirror, 20_000), broken(mirror, 10_000), status(502)]
    waits: list[float] = []
    result = get(mirror, tmp_path, waits)
    assert_complete(tmp_path)
    asked = mirror.gets(path_of(1))
    assert len(asked) == 4
    assert "Range" not in asked[0]
    assert all(headers["Range"].startswith("bytes=") and headers["If-Range"] for headers in asked[2:])
    if how is broken:  # a reset may also lose bytes that had arrived
        assert [headers["Range"] for headers in asked[1:]] == ["bytes=20000-", "bytes=30000-", "bytes=30000-"]
    assert result.retries == 3
    assert all(wait > 0 for wait in waits)


def test_part_file_of_an_earlier_run_is_continued(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(1)] = [broken(mirror, 30_000), status(403)]
    with pytest.raises(DownloadError, match=r"refuses access \(403\)"):
        get(mirror, tmp_path, connections=1)
    with pytest.raises(CorpusError, match="not fetched"):
        dump_files(tmp_path)
    assert (tmp_path / f"{NAMES[1]}.part").stat().st_size == 30_000
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert mirror.gets(path_of(1))[-1]["Range"] == "bytes=30000-"


def test_server_without_ranges_starts_anew(mirror: Mirror, tmp_path: Path) -> None:
    mirror.ranges = False
    mirror.bad_days[path_of(3)] = [broken(mirror, 20_000)]
    get(mirror, tmp_path)
    assert_complete(tmp_path)


def test_server_that_always_breaks_ends_in_an_error(mirror: Mirror, tmp_path: Path) -> None:
    mirror.ranges = False
    mirror.bad_days[path_of(3)] = [broken(mirror, 20_000)] * 50
    with pytest.raises(DownloadError, match=r"body ended at byte 20,000 of 63,000 \(4 attempts\).*continues"):
        get(mirror, tmp_path)
    assert len(mirror.gets(path_of(3))) <= 5


def test_file_replaced_between_two_ranges(mirror: Mirror, tmp_path: Path) -> None:
    def other_version(handler: Any, body: bytes) -> None:
        mirror.send(handler, bytes(len(body)), 20_000)

    mirror.bad_days[path_of(1)] = [other_version]
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert mirror.gets(path_of(1))[1]["If-Range"]


def test_range_from_the_wrong_place_is_not_appended(mirror: Mirror, tmp_path: Path) -> None:
    wrong = status(206, Content_Range=f"bytes 5-9/{len(BODIES[1])}")
    mirror.bad_days[path_of(1)] = [broken(mirror, 20_000), wrong]
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert ["Range" in headers for headers in mirror.gets(path_of(1))] == [False, True, False]


def test_unsatisfiable_range_starts_anew(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(1)] = [broken(mirror, 20_000), status(416)]
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert ["Range" in headers for headers in mirror.gets(path_of(1))] == [False, True, False]


def test_wrong_bytes_are_fetched_once_more(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(2)] = [instead(bytes(len(BODIES[2])))]
    get(mirror, tmp_path)
    assert_complete(tmp_path)


def test_wrong_bytes_twice_are_an_error_and_kept_aside(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(2)] = [instead(bytes(len(BODIES[2])))] * 2
    with pytest.raises(DownloadError, match="sha1 checksum is wrong twice"):
        get(mirror, tmp_path)
    assert not (tmp_path / NAMES[2]).exists()
    assert (tmp_path / f"{NAMES[2]}.corrupt").is_file()
    get(mirror, tmp_path)
    assert_complete(tmp_path)


def test_vanished_part(mirror: Mirror, tmp_path: Path) -> None:
    del mirror.files[path_of(3)]
    with pytest.raises(DownloadError, match=r"part 3 has vanished from the server \(404\)"):
        get(mirror, tmp_path, connections=1)
    assert (tmp_path / NAMES[1]).read_bytes() == BODIES[1]


def test_file_of_another_size_than_announced(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files[path_of(3)] += b"x"
    with pytest.raises(DownloadError, match="63,001 bytes, but the dump's status says 63,000"):
        get(mirror, tmp_path)


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("place", [path_of(1), STATUS])
def test_server_says_when_to_come_back(mirror: Mirror, tmp_path: Path, code: int, place: str) -> None:
    mirror.bad_days[place] = [status(code, Retry_After="7")]
    waits: list[float] = []
    get(mirror, tmp_path, waits)
    assert waits == [7.0]
    assert_complete(tmp_path)


def test_retry_after_may_be_a_date_or_too_long(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[STATUS] = [status(429, Retry_After=formatdate(time.time() + 90, usegmt=True))]
    waits: list[float] = []
    get(mirror, tmp_path / "a", waits)
    assert 60 < waits[0] <= 90
    mirror.bad_days[STATUS] = [status(429, Retry_After="7200")]
    with pytest.raises(DownloadError, match="come back in 120 minutes"):
        get(mirror, tmp_path / "b")


def test_waits_double_and_end(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(1)] = [status(503)] * 9
    waits: list[float] = []
    with pytest.raises(DownloadError, match=r"overloaded \(503\) \(4 attempts\)"):
        get(mirror, tmp_path, waits, parts="1")
    assert waits == [1.0, 2.0, 4.0]


def test_silent_server_is_given_up_after_the_timeout_and_continued(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(1)] = [silent_for_a_while]
    get(mirror, tmp_path, timeout=0.2)
    assert_complete(tmp_path)
    assert mirror.gets(path_of(1))[1]["Range"] == "bytes=100-"


def test_timeout_error_names_the_option(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[path_of(1)] = [silent_for_a_while] * 3
    with pytest.raises(DownloadError, match=r"no byte came for 0.2 s"):
        get(mirror, tmp_path, timeout=0.2, attempts=1, parts="1")


def test_refused_and_unknown_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(DownloadError, match="refuses connections"):
        list_parts("testwiki", "latest", f"http://127.0.0.1:{port}")

    def no_such_name(*_: Any, **__: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    with pytest.raises(DownloadError, match=r"the name dumps\.example cannot be resolved"):
        list_parts("testwiki", "latest", "http://dumps.example")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("in-progress", "still being written"),
        ("waiting", "still being written"),
        ("failed", "failed"),
        ("skipped", "skipped"),
    ],
)
def test_unfinished_dump_asked_for_by_date(mirror: Mirror, tmp_path: Path, state: str, words: str) -> None:
    mirror.add_dump(status=state)
    with pytest.raises(DownloadError, match=words):
        get(mirror, tmp_path / "out", date="20260101")
    assert not (tmp_path / "out").exists()


def test_truncated_status_is_asked_for_again(mirror: Mirror, tmp_path: Path) -> None:
    mirror.bad_days[STATUS] = [broken(mirror, 50)]
    get(mirror, tmp_path)
    assert_complete(tmp_path)


# --- tables -------------------------------------------------------------------------------------------

TABLE = "testwiki-20260101-page_props.sql.gz"


def with_table(mirror: Mirror, state: str = "done") -> bytes:
    """Let the dump have the table page_props too."""
    path, body = f"/testwiki/20260101/{TABLE}", bytes(range(256)) * 40
    mirror.files[path] = body
    status = json.loads(mirror.files[STATUS])
    files = {TABLE: mirror.entry("/testwiki/20260101/", TABLE)} if state == "done" else 0
    status["jobs"]["pagepropstable"] = {"status": state, "files": files}
    mirror.files[STATUS] = json.dumps(status).encode()
    return body


def test_the_table_of_ids_comes_with_the_parts(mirror: Mirror, tmp_path: Path) -> None:
    body = with_table(mirror)
    result = get(mirror, tmp_path, parts="1")
    assert_complete(tmp_path, [1])
    assert (tmp_path / TABLE).read_bytes() == body
    assert id_table(dump_files(tmp_path)) == tmp_path / TABLE
    assert result.verified == 2
    mirror.requests.clear()
    assert get(mirror, tmp_path, parts="1").verified == 0
    assert mirror.requests == []


def test_a_table_is_continued_and_verified_like_a_part(mirror: Mirror, tmp_path: Path) -> None:
    body, path = with_table(mirror), f"/testwiki/20260101/{TABLE}"
    mirror.bad_days[path] = [broken(mirror, 3_000), status(403)]
    with pytest.raises(DownloadError, match=r"403"):
        get(mirror, tmp_path, connections=1)
    assert id_table(dump_files(tmp_path)) is None
    get(mirror, tmp_path)
    assert mirror.gets(path)[-1]["Range"] == "bytes=3000-"
    assert (tmp_path / TABLE).read_bytes() == body
    (tmp_path / TABLE).write_bytes(bytes(len(body)))
    assert get(mirror, tmp_path, verify=True).bytes_fetched == len(body)
    assert (tmp_path / TABLE).read_bytes() == body


def test_a_table_can_be_left_out_and_fetched_later(mirror: Mirror, tmp_path: Path) -> None:
    body = with_table(mirror)
    get(mirror, tmp_path, tables=False)
    assert not (tmp_path / TABLE).exists()
    get(mirror, tmp_path)
    assert (tmp_path / TABLE).read_bytes() == body
    get(mirror, tmp_path, tables=False)
    assert_complete(tmp_path)
    assert (tmp_path / TABLE).read_bytes() == body


def test_a_folder_of_an_older_version_gets_the_table(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path)
    manifest = json.loads((tmp_path / MANIFEST).read_bytes())
    del manifest["tables"]
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with_table(mirror)
    result = get(mirror, tmp_path)
    assert result.verified == 1
    assert (tmp_path / TABLE).is_file()


@pytest.mark.parametrize("state", ["waiting", "in-progress", "failed"])
def test_an_unfinished_table_does_not_hold_up_the_articles(
    mirror: Mirror, tmp_path: Path, state: str
) -> None:
    with_table(mirror, state)
    assert get(mirror, tmp_path).manifest.tables == []
    assert_complete(tmp_path)


def test_a_vanished_table_is_named(mirror: Mirror, tmp_path: Path) -> None:
    with_table(mirror)
    del mirror.files[f"/testwiki/20260101/{TABLE}"]
    with pytest.raises(DownloadError, match=rf"{TABLE} has vanished from the server \(404\)"):
        get(mirror, tmp_path)


# --- the folder --------------------------------------------------------------------------------------


def test_interrupted_download_is_kept_and_continued(mirror: Mirror, tmp_path: Path) -> None:
    go_on = threading.Event()

    def half(handler: Any, body: bytes) -> None:
        mirror.send(handler, body, 25_000)
        handler.wfile.flush()
        go_on.wait(5)

    def interrupt(done: float, total: float | None = None, detail: str = "") -> None:
        if done >= 25_000:
            go_on.set()
            raise KeyboardInterrupt

    mirror.bad_days[path_of(1)] = [half]
    with pytest.raises(KeyboardInterrupt):
        get(mirror, tmp_path, connections=1, report=interrupt)
    assert (tmp_path / f"{NAMES[1]}.part").stat().st_size == 25_000
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert mirror.gets(path_of(1))[-1]["Range"] == "bytes=25000-"


def test_latest_stays_with_the_folders_dump(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path, parts="1")
    mirror.add_dump("20260201")
    assert get(mirror, tmp_path).manifest.date == "20260101"
    with pytest.raises(OutputError, match="the folder is for testwiki 20260101"):
        get(mirror, tmp_path, date="20260201")


def test_folder_that_is_not_ours(mirror: Mirror, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match="not part of a download"):
        get(mirror, tmp_path)
    with pytest.raises(OutputError, match="a file is in the way"):
        get(mirror, tmp_path / "thesis.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_folder_in_use(mirror: Mirror, tmp_path: Path) -> None:
    with claimed(tmp_path, tmp_path), pytest.raises(OutputError, match="another process"):
        get(mirror, tmp_path)


def test_too_little_space(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("usage", (), {"free": 1000})
    monkeypatch.setattr("pboh.corpus.download.folder.shutil.disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match=r"250.0 kB are needed and 1.0 kB are free"):
        get(mirror, tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_disk_that_fills_up_on_the_way(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path, parts="1")
    (tmp_path / f"{NAMES[2]}.part").symlink_to("/dev/full")
    with pytest.raises(OutputError, match="no space is left"):
        get(mirror, tmp_path)
    (tmp_path / f"{NAMES[2]}.part").unlink()
    get(mirror, tmp_path)
    assert_complete(tmp_path)


def test_verify_finds_and_mends_a_flipped_byte(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path)
    (tmp_path / NAMES[3]).write_bytes(bytes(len(BODIES[3])))
    assert get(mirror, tmp_path).verified == 0
    assert get(mirror, tmp_path, verify=True).bytes_fetched == len(BODIES[3])
    assert_complete(tmp_path)


def test_lost_or_cut_part_is_fetched_again(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path)
    (tmp_path / NAMES[1]).unlink()
    (tmp_path / NAMES[2]).write_bytes(BODIES[2][:1000])
    with pytest.raises(CorpusError, match=r"part 1 .* not fetched, or was altered"):
        dump_files(tmp_path)
    get(mirror, tmp_path)
    assert_complete(tmp_path)


def test_part_of_a_remade_dump_is_not_mixed_with_the_old_one(mirror: Mirror, tmp_path: Path) -> None:
    real = mirror.files[path_of(1)]
    mirror.files[path_of(1)] = bytes(len(real))
    mirror.add_status()
    mirror.bad_days[path_of(1)] = [broken(mirror, 30_000), status(403)]
    with pytest.raises(DownloadError, match="403"):
        get(mirror, tmp_path, connections=1)
    mirror.files[path_of(1)] = real
    mirror.add_status()
    get(mirror, tmp_path)
    assert_complete(tmp_path)
    assert "Range" not in mirror.gets(path_of(1))[-1]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other"}', '{"wiki": 1}'])
def test_manifest_that_is_not_one(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(CorpusError, match="manifest"):
        dump_files(tmp_path)


def test_manifest_cannot_point_outside_its_folder(mirror: Mirror, tmp_path: Path) -> None:
    get(mirror, tmp_path)
    manifest = tmp_path / MANIFEST
    manifest.write_text(manifest.read_text().replace(NAMES[1], "../" + NAMES[1]))
    with pytest.raises(CorpusError, match="manifest"):
        dump_files(tmp_path)


def test_folder_without_manifest(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="not a folder written by pboh download"):
        dump_files(tmp_path)


# --- the command -------------------------------------------------------------------------------------


def run(*arguments: str) -> Any:
    command = typer.Typer()
    command.command()(download_command)
    return CliRunner().invoke(command, list(arguments))


def test_command_lists_downloads_and_says_when_there_is_nothing_to_do(mirror: Mirror, tmp_path: Path) -> None:
    listed = run("testwiki", "--mirror", mirror.url, "--list", "--parts", "2-3")
    assert listed.exit_code == 0
    assert listed.stdout.splitlines()[0] == "testwiki 20260101: 2 parts, 125.0 kB"
    assert NAMES[3] in listed.stdout and NAMES[1] not in listed.stdout
    figures = tmp_path / "figures.json"
    options = ("--mirror", mirror.url, "--out", str(tmp_path / "out"), "--json", str(figures))
    for fetched in (0.25, 0.0):
        result = run("testwiki", *options)
        assert result.exit_code == 0, result.output
        written = json.loads(figures.read_bytes())
        assert (written["parts"], written["date"]) == (4, "20260101")
        assert written["megabytes_fetched"] == pytest.approx(fetched)
    assert_complete(tmp_path / "out")
    assert isinstance(run("testwiki", "--mirror", mirror.url).exception, InputError)
