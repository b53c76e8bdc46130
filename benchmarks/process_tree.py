"""What the processes of a command use, stage by stage: time, processor time, memory of all together, disk."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from pboh.files.writing import folder_size


@dataclass
class Usage:
    """What a stage used."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    peak_memory_megabytes: float = 0.0
    peak_disk_megabytes: float = 0.0


class Watch:
    """Looks at the processes of a command four times a second and at folders every other second.

    Memory is what the processes hold together: their own pages, and pages they may share counted once.
    ``stage`` says what they are doing; what each stage used adds up over several runs.
    """

    def __init__(
        self, folders: Sequence[Path], stage: Callable[[], str], save: Callable[[dict[str, Any]], None]
    ) -> None:
        self._folders, self._stage, self._save = folders, stage, save
        self.used: dict[str, Usage] = {}

    def known(self, used: dict[str, Any]) -> None:
        """Go on from what was used before."""
        self.used = {stage: Usage(**usage) for stage, usage in used.items()}

    def run(self, command: Sequence[str], cwd: Path) -> bytes:
        """Run a command to its end; returns what it printed."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=cwd) as process:
            done = threading.Event()
            watcher = threading.Thread(target=self._watch, args=(psutil.Process(process.pid), done))
            watcher.start()
            try:
                assert process.stdout
                printed = process.stdout.read()
            except BaseException:
                process.terminate()
                raise
            finally:
                done.set()
                watcher.join()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        return printed

    def _watch(self, root: psutil.Process, done: threading.Event) -> None:
        before, spent, looks, known = time.monotonic(), 0.0, 0, ""
        while True:
            last, stage = done.wait(0.25), self._stage()
            changed, known = stage != known, stage
            usage = self.used.setdefault(stage, Usage())
            now = time.monotonic()
            usage.seconds += now - before
            before = now
            processor, memory = _tree(root)
            usage.processor_seconds += max(processor - spent, 0.0)
            spent = max(processor, spent)
            usage.peak_memory_megabytes = max(usage.peak_memory_megabytes, memory)
            if last or changed or looks % 8 == 0:
                usage.peak_disk_megabytes = max(usage.peak_disk_megabytes, self._disk())
                self._save({stage: asdict(one) for stage, one in self.used.items()})
            if last:
                return
            looks += 1

    def _disk(self) -> float:
        total = 0
        for folder in self._folders:
            try:
                total += folder_size(folder) if folder.exists() else 0
            except OSError:
                continue  # a file vanished while we looked
        return total / 1e6


def _tree(root: psutil.Process) -> tuple[float, float]:
    """Processor seconds of a process and all that it ever started, and megabytes of those that run."""
    processor, own, shared = 0.0, 0, 0
    try:
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0.0, 0.0
    for process in processes:
        try:
            times, memory = process.cpu_times(), process.memory_info()
        except psutil.Error:
            continue  # it has just ended
        processor += times.user + times.system + times.children_user + times.children_system
        own += memory.rss - memory.shared
        shared = max(shared, memory.shared)
    return processor, (own + shared) / 1e6
