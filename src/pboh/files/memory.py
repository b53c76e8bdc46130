"""How much memory this process and its workers use, and how many processors they may use."""

from __future__ import annotations

import ctypes
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil


def processors() -> int:
    """How many processors this process may use."""
    with suppress(AttributeError):  # not every system can bind a process to some of them
        return len(psutil.Process().cpu_affinity())
    return os.cpu_count() or 1


def peak_memory_megabytes() -> float:
    """The most memory this process ever held, in MB; its present size where the system does not tell."""
    info = psutil.Process().memory_info()
    peak = getattr(info, "peak_wset", info.rss)
    with suppress(OSError, IndexError):
        peak = int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) << 10
    return float(peak / (1 << 20))


def release() -> None:
    """Give memory back to the system that nobody uses, but libraries keep for later."""
    gc.collect()
    if arrow := sys.modules.get("pyarrow"):
        for name in arrow.supported_memory_backends():
            getattr(arrow, f"{name}_memory_pool")().release_unused()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def together(processes: Sequence[int]) -> int:
    """Bytes of memory that processes hold, shared pages counted once.

    Pages of files (libraries, mostly) are taken to be the same ones in all processes: asking the system which
    are would cost far more.
    """
    held = [_resident(process) for process in processes]
    return sum(own for own, _ in held) + max(of_files for _, of_files in held)


def _resident(process: int) -> tuple[int, int]:
    """Bytes of memory of its own, and bytes that others may share."""
    try:
        info = psutil.Process(process).memory_info()
    except psutil.Error:  # it has just ended
        return 0, 0
    shared = getattr(info, "shared", 0)
    return info.rss - shared, shared
