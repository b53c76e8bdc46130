"""The very first ``pboh link`` on a machine: nothing compiled, the starter model not yet unpacked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.common import ROOT, save, table

TEXT = "Jordan won the NBA finals with Scottie Pippen and the Chicago Bulls."
COUNT = """
import json, os
from numba.core import event
from pboh.cli import main
with event.install_recorder("numba:compile") as compiled:
    try:
        main()
    finally:
        t = os.times()
        print(json.dumps([t.user + t.system, t.children_user + t.children_system, len(compiled.buffer) // 2]))
"""


def link(cache: Path) -> tuple[float, float, float, int]:
    """One link with the caches in a folder: seconds, processor seconds of it and of the process that helps it
    compile, and how many functions it compiled itself."""
    paths = {"NUMBA_CACHE_DIR": str(cache / "kernels"), "XDG_CACHE_HOME": str(cache / "home")}
    environment = os.environ | paths | {"PYTHONPATH": str(ROOT / "src")}
    began = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COUNT, "link", TEXT],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    own, helper, compiled = json.loads(done.stdout.splitlines()[-1])
    return perf_counter() - began, own, helper, compiled


def main() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        first, own, helper, compiled = link(Path(cache))
        _, second, _, again = link(Path(cache))
    assert again == 0, f"the second link compiled {again} functions"
    results = {
        "first_seconds": first, "first_processor_seconds": own, "helper_processor_seconds": helper,
        "second_processor_seconds": second, "compiled": compiled,
    }  # fmt: skip
    title = "The first link on a machine, and the second"
    table(title, list(results), [list(results.values())])
    return save("first_link", results)


if __name__ == "__main__":
    main()
