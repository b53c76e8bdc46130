"""Stopped at any moment and started again, extraction gives what an undisturbed run gives."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from corpus_helpers import DATA, same_corpus, small

import pboh.corpus.extract as module
from pboh.corpus.extract import TABLES, Options, extract
from pboh.errors import OutputError
from pboh.files.progress import progress
from pboh.files.workers import Workers

OPTIONS = Options(chunk_size=30_000)
SCRIPT = """
import sys
from pboh.corpus.extract import Options, extract
extract([sys.argv[1]], sys.argv[2], Options(chunk_size=30_000), workers=int(sys.argv[3]))
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "corpus"
    extract([DATA / "world.xml"], out, OPTIONS, workers=1)
    return out


@contextmanager
def started(out: Path, workers: int) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", SCRIPT, str(DATA / "world.xml"), str(out), str(workers)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        yield process
        if process.poll() is None:
            process.kill()


def files(folder: Path) -> set[str]:
    """Finished files and folders; those still written begin with a dot."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.name.startswith(".")}


def assert_identical(one: Path, other: Path) -> None:
    same_corpus(one, other, TABLES)
    assert files(one) == files(other)
    for path in files(one):
        if (one / path).is_file() and path != "corpus.json":
            assert (one / path).read_bytes() == (other / path).read_bytes(), path
    ours, theirs = (json.loads((each / "corpus.json").read_text()) for each in (one, other))
    assert ours == theirs


class Stop(BaseException):
    """Like a kill: nothing on the way catches it."""


@pytest.mark.slow
def test_stopped_after_every_step(undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task of both passes is the last one of some run."""
    out = tmp_path / "corpus"
    original = Workers.run

    def one_task(self: Workers, tasks: Any) -> Iterator[Any]:
        for result in original(self, tasks):
            yield result
            raise Stop

    monkeypatch.setattr(Workers, "run", one_task)
    runs = 0
    while runs < 100:
        runs += 1
        try:
            extract([DATA / "world.xml"], out, OPTIONS, workers=1)
            break
        except Stop:
            assert not (out / "corpus.json").exists()
            assert {path.name for path in out.iterdir()} == {".work"}
    assert runs == 2 * 9 + 1
    assert_identical(out, undisturbed)


@pytest.mark.parametrize("step", ["_resolve", "_write", "_publish"])
def test_stopped_between_steps(
    step: str, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(module._Run, step, stop)
        with pytest.raises(Stop):
            extract([DATA / "world.xml"], tmp_path / "corpus", OPTIONS, workers=1)
    extract([DATA / "world.xml"], tmp_path / "corpus", OPTIONS, workers=1)
    assert_identical(tmp_path / "corpus", undisturbed)


@pytest.mark.parametrize("moves", [1, 3, 5])
def test_stopped_while_tables_are_moved(
    moves: int, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, left = Path.rename, [moves]

    def limited(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Stop
        left[0] -= 1
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", limited)
        with pytest.raises(Stop):
            extract([DATA / "world.xml"], tmp_path / "corpus", OPTIONS, workers=1)
    extract([DATA / "world.xml"], tmp_path / "corpus", OPTIONS, workers=1)
    assert_identical(tmp_path / "corpus", undisturbed)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_killed_for_real(workers: int, undisturbed: Path, tmp_path: Path) -> None:
    """SIGKILL at random moments, until a run gets through; a corpus that says it is there is whole."""
    out, moment, interrupted = tmp_path / "corpus", random.Random(workers), 0
    for _ in range(8):
        with started(out, workers) as process:
            watched = time.monotonic() + 20
            scan = out / ".work" / "scan"
            enough = moment.randrange(1, 9)
            while time.monotonic() < watched and process.poll() is None:
                if scan.is_dir() and len(list(scan.glob("0*"))) >= enough:
                    break
                time.sleep(0.01)
            time.sleep(moment.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        if (out / "corpus.json").exists():
            assert_identical(out, undisturbed)
            break
        interrupted += 1
    assert interrupted
    extract([DATA / "world.xml"], out, OPTIONS, workers=workers)
    assert_identical(out, undisturbed)


def workers_of(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in children]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_a_killed_worker_is_reported_and_the_rest_is_kept(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    with started(out, 2) as process:
        while process.poll() is None and not list(out.glob(".work/scan/0*")):
            time.sleep(0.01)
        children = workers_of(process.pid)
        for child in children[:1]:
            os.kill(child, signal.SIGKILL)
        process.wait(60)
    extract([DATA / "world.xml"], out, OPTIONS, workers=2)
    assert_identical(out, undisturbed)


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    with started(tmp_path / "corpus", 2) as process:
        children: list[int] = []
        while process.poll() is None and len(children) < 2:
            children = workers_of(process.pid)
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert len(children) == 2
    limit = time.monotonic() + 20
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{child}").exists() for child in children)


@pytest.mark.slow
def test_interrupt_leaves_no_half_written_table(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    with started(out, 2) as process:
        while process.poll() is None and not list(out.glob(".work/scan/0*")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    if not (out / "corpus.json").exists():
        assert {path.name for path in out.iterdir()} == {".work"}
    extract([DATA / "world.xml"], out, OPTIONS, workers=1)
    assert_identical(out, undisturbed)


def test_who_stops_work_that_continues_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    for continues in (True, False):
        with pytest.raises(KeyboardInterrupt), progress("work", continues=continues):
            raise KeyboardInterrupt
        told = "the same command continues from here" in capsys.readouterr().err
        assert told == continues


def test_a_finished_corpus_is_left_alone(tmp_path: Path) -> None:
    out, source = tmp_path / "corpus", small(tmp_path)
    first = extract([source], out, workers=1)
    times = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    again = extract([source], out, workers=1)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")} == times
    assert {key: first[key] for key in ("pages", "links")} == {key: again[key] for key in ("pages", "links")}
    assert not (out / ".work").exists()


def test_another_option_or_input_starts_again(undisturbed: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    extract([small(tmp_path)], out, workers=1)
    extract([DATA / "world.xml"], out, Options(chunk_size=30_000, window=5), workers=1)
    extract([DATA / "world.xml"], out, OPTIONS, workers=1)
    assert_identical(out, undisturbed)


def test_a_changed_window_keeps_the_first_pass(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "corpus"

    def stop(*_: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(module._Run, "_write", stop)
        with pytest.raises(Stop):
            extract([DATA / "world.xml"], out, Options(chunk_size=30_000, window=5), workers=1)
    monkeypatch.setattr(module, "scan", None)  # must not be called again
    extract([DATA / "world.xml"], out, OPTIONS, workers=1)
    assert_identical(out, undisturbed)


@pytest.mark.parametrize("tokens", [False, True])
def test_options_changed_after_the_first_pass_was_spent(
    undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tokens: bool
) -> None:
    """What the second pass has used up is read again."""
    out, write, left = tmp_path / "corpus", module.write_chunk, [4]

    def some(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Stop
        return write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_chunk", some)
        with pytest.raises(Stop):
            extract([DATA / "world.xml"], out, Options(chunk_size=30_000, window=5, tokens=tokens), workers=1)
    scanned = [path for path in (out / ".work" / "scan").glob("*") if (path / "links.arrow").exists()]
    assert len(scanned) == 9 - 4
    extract([DATA / "world.xml"], out, OPTIONS, workers=1)
    assert_identical(out, undisturbed)


def test_two_runs_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with module._ours(tmp_path / "corpus"), pytest.raises(OutputError, match="another process"):
        extract([small(tmp_path)], tmp_path / "corpus", workers=1)
