"""What a job may use is checked before, and what it used is known afterwards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest

from pboh.errors import InputError, OutputError
from pboh.files.usage import Usage, check_disk, check_memory, gigabytes


def test_a_disk_that_is_too_small_is_refused_in_one_sentence(tmp_path: Path) -> None:
    free = check_disk(tmp_path / "not" / "there" / "yet", 1)
    assert 0 < free <= psutil.disk_usage(str(tmp_path)).total
    with pytest.raises(OutputError, match=r"needs about 1,000,000\.0 GB of disk space, and .* GB are free"):
        check_disk(tmp_path / "model", 10**15)


def test_more_memory_than_there_is_is_refused() -> None:
    check_memory(1 << 20)
    with pytest.raises(InputError, match="more memory than this machine has") as refused:
        check_memory(1 << 50)
    assert "--memory" in str(refused.value)


def test_sizes_are_readable() -> None:
    assert [gigabytes(size) for size in (0, 64 << 20, 2_500_000_000)] == ["0 MB", "67 MB", "2.5 GB"]


def test_peaks_belong_to_their_stages(tmp_path: Path) -> None:
    code = "import time; data = b'x' * 300_000_000; print(1, flush=True); time.sleep(20)"
    with Usage([tmp_path], 1 << 32) as usage:
        with usage.stage("small"):
            (tmp_path / "file").write_bytes(bytes(1_000))
        with usage.stage("large"):
            (tmp_path / "file").write_bytes(bytes(5_000_000))
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
            assert process.stdout and process.stdout.readline()
            while usage.stages["large"].memory < usage.stages["small"].memory + 250e6:
                assert process.poll() is None, "it was never seen"
            process.kill()
            process.wait()
            process.stdout.close()
        with usage.stage("small"):
            (tmp_path / "file").unlink()
    figures = usage.figures()
    assert list(figures) == ["small", "large"]
    assert figures["large"]["disk_megabytes"] == 5.0 and figures["large"]["memory_megabytes"] > 250
    assert np.isclose(figures["small"]["disk_megabytes"], 5.0)  # the file was there when it began again
    assert all(stage["seconds"] >= 0 for stage in figures.values())
