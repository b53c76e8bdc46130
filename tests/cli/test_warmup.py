"""``pboh warmup`` compiles everything: afterwards no command compiles anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"

WARM_UP = """
import importlib, pkgutil, sys
import pboh
from numba.core.dispatcher import Dispatcher
from pboh.cli import main
sys.argv = ["pboh", "warmup"]
try:
    main()
except SystemExit as stop:
    assert not stop.code
for module in list(sys.modules.values()):
    if module.__name__.startswith("pboh."):
        for name, kernel in vars(module).items():
            if isinstance(kernel, Dispatcher) and kernel.__module__ == module.__name__:
                if not kernel.signatures and kernel.targetoptions.get("inline") != "always":
                    print(f"{module.__name__}.{name}")
"""
USE = """
import sys
from numba.core import event
from pboh.cli import program
class Compilations(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"], event.data["args"])
    def on_end(self, event):
        pass
event.register("numba:compile", Compilations())
for line in sys.stdin:
    words = line.split()
    sys.stderr.write(line)
    program(words[0])(words, standalone_mode=False)
"""


@pytest.mark.slow
def test_nothing_is_compiled_after_a_warm_up(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}

    def python(script, lines=()):
        return subprocess.run(
            [sys.executable, "-c", script],
            env=environment, input="\n".join(lines), cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip

    warm = python(WARM_UP)
    assert not warm.stdout, "kernels that no step of the rehearsal compiles"
    assert "all kernels are compiled" in warm.stderr
    assert "warmup" not in warm.stderr, "it advises what is being done"
    assert list(tmp_path.iterdir()) == [tmp_path / "kernels"]
    gold = DATA / "world.jsonl"
    (tmp_path / "text.txt").write_text("Müller scored for Bayern in Paris 🙂. Mullr met Zidane in Łódź.")
    used = python(
        USE,
        [
            f"train {DATA / 'world.xml'} --out model --workers 1 --memory 1GB",
            "link text.txt --model model",
            "link text.txt",
            f"annotate {gold} --model model --out out.parquet --workers 1",
            f"evaluate {gold} --model model --systems all",
            f"evaluate {gold} --model model --end-to-end",
            f"tune --model model -v {gold} --fit",
            f"calibrate --model model -v {gold}",
            f"extract {DATA / 'world.xml'} --out corpus --workers 1",
            "learn --model model --corpus corpus --epochs 1 --held-out 5 --workers 1",
            "prune --model model --out small",
            "info --model small",
        ],
    )
    assert [line for line in used.stdout.splitlines() if line.startswith("compiled")] == []
