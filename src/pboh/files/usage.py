"""What a long job needs and uses: disk and memory beforehand, time and peaks of both per stage afterwards."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil

from pboh.errors import InputError, OutputError
from pboh.files.mapped import give_pages_back
from pboh.files.memory import release, together
from pboh.files.writing import folder_size

EVERY = 0.02  # seconds between two looks at the pages of mapped files
MEMORY_EVERY, RARELY = 5, 50  # of these, how many to a look at memory, and at processes and the disk


@dataclass(slots=True)
class Used:
    """What one stage used: the memory of this process and all below it, and the files it keeps meanwhile."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    memory: int = 0
    disk: int = 0


class Usage:
    """Watches memory and disk while it is open; what it sees belongs to the stage of the moment.

    Of a limit of ``memory``, pages of mapped arrays get a quarter; those beyond it are given back.
    """

    def __init__(self, folders: Sequence[Path] = (), memory: int = 1 << 62) -> None:
        self.stages: dict[str, Used] = {}
        self._below: list[int] = []  # processes that this one started
        self._folders, self._pages, self._floor, self._stage = folders, memory // 4, 0, ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What is used in the block is used by this stage; what others left in memory is given back."""
        release()
        give_pages_back()
        self._floor = _pages_of_files()  # libraries
        used, started, worked = self.stages.setdefault(name, Used()), time.monotonic(), _processor_seconds()
        self._look(used, rarely=True)
        self._stage = name
        try:
            yield
        finally:
            self._stage = ""
            self._look(used, rarely=True)
            used.seconds += time.monotonic() - started
            used.processor_seconds += _processor_seconds() - worked

    def figures(self) -> dict[str, dict[str, float]]:
        """Seconds and megabytes, by stage."""
        return {
            name: {
                "seconds": round(used.seconds, 1),
                "processor_seconds": round(used.processor_seconds, 1),
                "memory_megabytes": round(used.memory / 1e6, 1),
                "disk_megabytes": round(used.disk / 1e6, 1),
            }
            for name, used in self.stages.items()
        }

    def _watch(self) -> None:
        looks = 0
        while not self._done.wait(EVERY):
            looks += 1
            if _pages_of_files() > self._floor + self._pages:
                give_pages_back()  # what is left says nothing of libraries: others read on meanwhile
            if looks % MEMORY_EVERY == 0 and (used := self.stages.get(self._stage)):
                self._look(used, rarely=looks % RARELY == 0)

    def _look(self, used: Used, rarely: bool) -> None:
        """Look at the memory of known processes; now and then, look for new ones and at the disk."""
        with suppress(psutil.Error):
            if rarely:  # it takes milliseconds
                self._below = [process.pid for process in psutil.Process().children(recursive=True)]
            used.memory = max(used.memory, together([os.getpid(), *self._below]))
        if rarely:
            with suppress(OSError):  # a file went while we looked
                used.disk = max(used.disk, sum(folder_size(folder) for folder in self._folders))


def _pages_of_files() -> int:
    return int(getattr(psutil.Process().memory_info(), "shared", 0))


def _processor_seconds() -> float:
    """Time that processors worked for this process and for those below it that have ended."""
    return sum(os.times()[:4])


def check_disk(folder: Path, needed: int) -> int:
    """Refuse work that does not fit on the disk of a folder; returns the bytes that are free there."""
    there = next(parent for parent in [folder.absolute(), *folder.absolute().parents] if parent.exists())
    free = shutil.disk_usage(there).free
    if free < needed:
        what = f"this needs about {gigabytes(needed)} of disk space, and {gigabytes(free)} are free"
        raise OutputError(what, where=there, todo="Free some space, or choose a folder on another disk")
    return free


def check_memory(wanted: int) -> None:
    """Refuse a limit that the machine cannot give."""
    there = psutil.virtual_memory().total
    if wanted > there:
        what = f"the limit of {gigabytes(wanted)} is more memory than this machine has ({gigabytes(there)})"
        raise InputError(what, todo=f"Use --memory {max(1, int(0.7 * there) >> 30)}GB")


def gigabytes(size: int) -> str:
    """A number of bytes, to be read."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.0f} MB"
