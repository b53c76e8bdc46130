"""``pboh warmup`` compiles everything: what other commands use afterwards, it has used before them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"

USED = """
import json, sys
from numba.core import event
from numba.core.dispatcher import Dispatcher
import pboh
from pboh.cli import program
class Compilations(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"], event.data["args"], file=sys.stderr)
    def on_end(self, event):
        pass
if sys.argv[1:]:
    event.register("numba:compile", Compilations())
for line in sys.stdin:
    words = line.split()
    program(words[0])(words, standalone_mode=False)
kernels = {}
for module in list(sys.modules.values()):
    if module.__name__.startswith("pboh."):
        for name, kernel in vars(module).items():
            if isinstance(kernel, Dispatcher) and kernel.__module__ == module.__name__:
                if kernel.targetoptions.get("inline") != "always":
                    kernels[kernel] = f"{module.__name__}.{name}"
called = {kernel for kernel in kernels if kernel.signatures}
inside, more = set(), called
while more := {
    other
    for kernel in more
    for name in kernel.py_func.__code__.co_names
    if isinstance(other := kernel.py_func.__globals__.get(name), Dispatcher)
    if other in kernels and other not in called | inside
}:
    inside |= more
used = {
    "called": {kernels[kernel]: sorted(map(str, kernel.signatures)) for kernel in called},
    "unused": [name for kernel, name in kernels.items() if kernel not in called | inside],
}
json.dump(used, open("used.json", "w"))
"""


@pytest.mark.slow
def test_nothing_is_compiled_after_a_warm_up(tmp_path):
    """Every kernel, with the types it is called with: that is what numba keeps for the next process."""

    def used(folder, *commands, listening=()):
        """The kernels that commands call, with their types, those nobody calls, and what was said."""
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", USED, *listening],
            input="\n".join(commands), cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return json.loads((folder / "used.json").read_text()), done.stderr

    warm, said = used(tmp_path / "warm", "warmup")
    assert warm["unused"] == [], "kernels that no step of the rehearsal uses"
    assert "all kernels are compiled" in said
    assert "warmup" not in said, "it advises what is being done"
    assert [path.name for path in (tmp_path / "warm").iterdir()] == ["used.json"]
    gold, text = DATA / "world.jsonl", tmp_path / "text.txt"
    text.write_text("Müller scored for Bayern in Paris 🙂. Mullr met Zidane in Łódź.")
    usual, said = used(
        tmp_path / "usual",
        f"train {DATA / 'world.xml'} --out model --workers 1 --memory 1GB",
        f"link {text} --model model",
        f"link {text}",
        f"annotate {gold} --model model --out out.parquet --workers 1",
        f"evaluate {gold} --model model --systems all",
        f"evaluate {gold} --model model --end-to-end",
        f"tune --model model -v {gold} --fit",
        f"calibrate --model model -v {gold}",
        f"extract {DATA / 'world.xml'} --out corpus --workers 1",
        "learn --model model --corpus corpus --epochs 1 --held-out 5 --workers 1",
        "prune --model model --out small",
        "info --model small",
        listening=["to compilations"],
    )
    known = warm["called"]
    more = {kernel: set(types) - set(known.get(kernel, ())) for kernel, types in usual["called"].items()}
    assert {kernel: types for kernel, types in more.items() if types} == {}
    assert "compiled" not in said
