"""Folders held by one process at a time, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pboh.errors import OutputError
from pboh.files.writing import claimed, flush_to_disk, written_aside

HIDDEN = """
import sys
sys.modules["fcntl"] = sys.modules["resource"] = None
import pboh
from pathlib import Path
from pboh.files.writing import claimed
with claimed(Path(sys.argv[1]), Path(sys.argv[1])):
    assert pboh.load().link("Ray Charles sang about Georgia.").mentions
"""


def test_a_folder_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with (
        claimed(folder, tmp_path),
        pytest.raises(OutputError, match="another process"),
        claimed(folder, tmp_path),
    ):
        pass
    assert not folder.exists()
    with claimed(folder, tmp_path):
        (folder / "result").write_text("kept")
    assert [path.name for path in folder.iterdir()] == ["result"]


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OutputError, match="in the way"), claimed(folder, folder):
            pass


def test_links_where_unix_modules_are_missing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HIDDEN, str(tmp_path / "folder")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_is_flushed_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows flushes no file that is open for reading only."""
    monkeypatch.setattr(os, "fsync", lambda file: os.write(file, b""))
    (tmp_path / "file").write_text("kept")
    flush_to_disk(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


def test_what_a_killed_process_left_beside_a_file_goes_with_the_next_writing(tmp_path):
    killed = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    dead, alive = int(killed.stdout), os.getppid()
    for owner in (dead, alive):
        (tmp_path / f".report[1].html.{owner}.tmp").write_text("half")
    (tmp_path / f".other.html.{dead}.tmp").write_text("not ours")
    with written_aside(tmp_path / "report[1].html") as aside:
        aside.write_text("whole")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"report[1].html", f".report[1].html.{alive}.tmp", f".other.html.{dead}.tmp"}
