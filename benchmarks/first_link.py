"""The very first ``pboh link`` on a machine: nothing compiled, the starter model not yet unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, save, table

TEXT = "Jordan won the NBA finals with Scottie Pippen and the Chicago Bulls."
COUNT = """
from numba.core import event
from pboh.cli import main
with event.install_recorder("numba:compile") as compiled:
    try:
        main()
    finally:
        print(len(compiled.buffer) // 2)
"""


def link(cache: Path) -> tuple[float, int]:
    """Processor seconds of one link with the caches in a folder, and how many functions it compiled."""
    paths = {"NUMBA_CACHE_DIR": str(cache / "kernels"), "XDG_CACHE_HOME": str(cache / "home")}
    environment = os.environ | paths | {"PYTHONPATH": str(ROOT / "src")}
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-c", COUNT, "link", TEXT],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used, int(done.stdout.split()[-1])


def main() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        first, compiled = link(Path(cache))
        second, again = link(Path(cache))
    assert again == 0, f"the second link compiled {again} functions"
    results = {"first_processor_seconds": first, "second_processor_seconds": second, "compiled": compiled}
    title = "The first link on a machine, and the second"
    table(title, list(results), [list(results.values())])
    return save("first_link", results)


if __name__ == "__main__":
    main()
