"""Files written whole or not at all, manifests, checksums, sizes: what every stage needs of a disk."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from pboh.errors import InputError, OutputError, PbohError

LOCK = ".lock"
"""File that says that a process is writing to the folder it is in."""
_FULL = "no space is left on the disk"
_FREE = "Free some space and run the same command again"
_FORBIDDEN = ("permission denied", "Choose a folder you may write to")
_IN_THE_WAY = ("a folder of this path is a file", "Choose another place")
_REASONS = {
    errno.ENOSPC: (_FULL, _FREE),
    errno.EFBIG: (_FULL, "Allow larger files and run the same command again"),
    errno.EDQUOT: ("the disk quota is used up", _FREE),
    errno.EACCES: _FORBIDDEN,
    errno.EPERM: _FORBIDDEN,
    errno.EROFS: ("the file system is read-only", "Choose a folder you may write to"),
    errno.ENOTDIR: _IN_THE_WAY,
    errno.EEXIST: _IN_THE_WAY,
    errno.EISDIR: ("this is a folder", "Name a file"),
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@contextmanager
def written_aside(path: Path) -> Iterator[Path]:
    """Yield a temporary sibling of ``path`` and rename it into place when the block succeeds."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _remove_left_over(path)
            yield aside
            if aside.is_file():
                flush_to_disk(aside)
            aside.replace(path)
    finally:
        remove(aside)


def _remove_left_over(path: Path) -> None:
    """Remove what killed processes wrote beside ``path`` and never put in its place."""
    for left_over in path.parent.glob(f".{escape(path.name)}.*.tmp"):
        import psutil  # noqa: PLC0415  (hardly ever needed, and slow to load)

        owner = left_over.name.split(".")[-2]
        if owner.isdecimal() and not psutil.pid_exists(int(owner)):
            remove(left_over)


def remove(path: Path) -> None:
    """Remove a file or folder if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(NotADirectoryError):  # a file is where its folder would be
            path.unlink(missing_ok=True)


def put_in_place(aside: Path, folder: Path) -> None:
    """Rename a folder to its place; an older one steps aside first, and goes last."""
    old = _old(folder)
    remove(old)
    if folder.exists():
        folder.replace(old)
    aside.replace(folder)
    remove(old)


def restore(folder: Path) -> None:
    """Bring an older folder back if a process was killed before it put the new one in its place."""
    if folder.exists() or not _old(folder).is_dir():
        return
    time.sleep(0.1)  # a process that is alive needs less
    if not folder.exists():
        with suppress(FileNotFoundError):  # somebody else restores it
            _old(folder).replace(folder)


def _old(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")


def check_outputs(*paths: Path | None) -> None:
    """Refuse files that cannot be written before any work is done for them."""
    for path in filter(None, paths):
        with disk_errors(path):
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            path.parent.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=path.parent):
                pass


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk, a missing permission or a read-only mount into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno not in _REASONS:
            raise
        what, todo = _REASONS[error.errno]
        raise OutputError(what, where=path, todo=todo) from error


@contextmanager
def claimed(folder: Path, where: Path) -> Iterator[None]:
    """Make ``folder`` and hold it for this process alone; ``where`` is what the user named.

    A folder that is empty in the end is removed.
    """
    lock = FileLock(folder / LOCK, timeout=0)
    with disk_errors(where):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except (NotADirectoryError, FileExistsError):
            what = "a file is in the way of this folder"
            raise OutputError(what, where=where, todo="Choose another --out") from None
        except Timeout:
            what = "another process is writing here"
            raise OutputError(what, where=where, todo="Wait until it has finished") from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no file that is open
            (folder / LOCK).unlink()
        lock.release()
        with suppress(OSError):
            folder.rmdir()


def flush_to_disk(path: Path) -> None:
    """Make sure the bytes of ``path`` survive a power cut before somebody relies on them."""
    with path.open("rb+") as file:  # Windows flushes only what may be written
        os.fsync(file.fileno())


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a small file, whole or not at all."""
    with written_aside(path) as aside:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` as indented JSON, whole or not at all."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


NOT_JSON = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What msgspec raises for bytes that are not JSON, not UTF-8, or nested too deeply."""


def read_json(path: Path, what: str, error: type[PbohError] = InputError) -> Any:
    """Read a JSON file, or say in one sentence why it cannot be read (``what`` names its role)."""
    try:
        return msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise error(f"{what} is missing", where=path) from None
    except (OSError, *NOT_JSON) as reason:
        raise error(f"{what} cannot be read ({reason})", where=path) from reason


def file_state(path: Path) -> dict[str, Any]:
    """What tells whether a file is still the same: its name, size and time of change."""
    about = path.stat()
    return {"name": path.name, "bytes": about.st_size, "modified": about.st_mtime_ns}


def checksum(path: Path) -> str:
    """SHA-256 of a file, as hexadecimal text."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_size(folder: Path) -> int:
    """Bytes of all files below ``folder``."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def parse_size(text: str) -> int:
    """Bytes meant by ``4GB``, ``512M``, ``1.5 GiB`` or a plain number."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", text.upper())
    if not match:
        raise InputError(f"{text!r} is not a size", todo="Write it like 4GB or 512MB")
    return int(float(match[1]) * _UNITS[match[2]])
