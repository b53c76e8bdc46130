"""What a command and its children use is seen, by stage, and adds up over runs."""

import subprocess
import sys

import pytest
from benchmarks.process_tree import Watch

pytestmark = pytest.mark.slow

LEAST = {"processor_seconds": 0.3, "peak_memory_megabytes": 150, "peak_disk_megabytes": 5}
BUSY = """
import subprocess, sys, time
from pathlib import Path
out = Path(sys.argv[1])
child = subprocess.Popen([sys.executable, "-c", "x = bytearray(150_000_000); input()"], stdin=subprocess.PIPE)
(out / "disk" / "a").write_bytes(bytes(5_000_000))
(out / "stage").write_text("first")
while not (out / "seen").exists(): pass
(out / "stage").write_text("second")
child.communicate(b"end")
print("done")
"""


def test_time_memory_and_disk_of_the_stages(tmp_path):
    """The command works in its first stage until all that it uses there was seen."""
    (tmp_path / "disk").mkdir()
    saved = {}

    def save(used):
        saved.update(used)
        first = used.get("first", dict.fromkeys(LEAST, 0))
        if all(first[name] >= least for name, least in LEAST.items()):
            (tmp_path / "seen").touch()

    def stage():
        return (tmp_path / "stage").read_text() if (tmp_path / "stage").exists() else "start"

    watch = Watch([tmp_path / "disk"], stage, save)
    command = [sys.executable, "-c", BUSY, str(tmp_path)]
    assert watch.run(command, tmp_path) == b"done\n"
    assert saved["first"]["seconds"] > 0
    before = sum(stage.seconds for stage in watch.used.values())
    watch.known(saved)
    watch.run(command, tmp_path)
    assert sum(stage.seconds for stage in watch.used.values()) > before


def test_a_command_that_fails_is_an_error(tmp_path):
    watch = Watch([], lambda: "only", dict)
    with pytest.raises(subprocess.CalledProcessError):
        watch.run([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
