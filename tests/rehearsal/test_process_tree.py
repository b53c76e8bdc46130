"""What a command and its children use is seen, by stage, and adds up over runs."""

import subprocess
import sys

import pytest
from benchmarks.process_tree import Watch

BUSY = """
import subprocess, sys, time
from pathlib import Path
out = Path(sys.argv[1])
child = subprocess.Popen([sys.executable, "-c", "import time; x = bytearray(150_000_000); time.sleep(1.5)"])
(out / "stage").write_text("first")
(out / "disk" / "a").write_bytes(bytes(5_000_000))
end = time.process_time() + 0.6
while time.process_time() < end: pass
time.sleep(0.5)
(out / "stage").write_text("second")
child.wait()
print("done")
"""


def test_time_memory_and_disk_of_the_stages(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "stage").write_text("")
    saved = {}
    watch = Watch([tmp_path / "disk"], lambda: (tmp_path / "stage").read_text() or "start", saved.update)
    command = [sys.executable, "-c", BUSY, str(tmp_path)]
    assert watch.run(command, tmp_path) == b"done\n"
    first = watch.used["first"]
    assert first.processor_seconds >= 0.3
    assert first.seconds >= 0.5
    assert first.peak_memory_megabytes > 150
    assert first.peak_disk_megabytes >= 5
    assert saved["first"]["seconds"] == first.seconds
    before = first.seconds
    watch.known(saved)
    watch.run(command, tmp_path)
    assert watch.used["first"].seconds > before


def test_a_command_that_fails_is_an_error(tmp_path):
    watch = Watch([], lambda: "only", dict)
    with pytest.raises(subprocess.CalledProcessError):
        watch.run([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
