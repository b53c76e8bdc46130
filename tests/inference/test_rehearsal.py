"""The rehearsal compiles what a text needs, in every number type that the starter model has."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import importlib, pkgutil
import pboh
from numba.core.dispatcher import Dispatcher
from pboh.inference import rehearsal

def compiled():
    modules = [m.name for m in pkgutil.walk_packages(pboh.__path__, "pboh.") if m.name.endswith("_kernels")]
    kernels = [k for m in modules for k in vars(importlib.import_module(m)).values()]
    used = [k for k in kernels if isinstance(k, Dispatcher) and k.signatures]
    return {(k.__module__, k.__name__): k.signatures for k in used}

rehearsal.main()
before = compiled()
pboh.load().disambiguate("Jordan won with Pippen and the Bulls.", [(0, 6), (16, 22), (31, 36)])
after = compiled()
for name in after:
    if "propagation" in name[0] or "score" in name[0] or name[0].startswith("pboh.model"):
        print(*name, "new" if after[name] != before.get(name) else "known")
"""


def test_nothing_of_inference_is_left_to_compile():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    kernels = [line.split() for line in done.stdout.splitlines()]
    unpacking = {"title_forms_kernel", "quantise"}  # only the first time
    assert [name for _, name, state in kernels if state == "new" and name not in unpacking] == []
    assert {"_run_rounds", "_find_edges", "_by_page", "_topic_scores"} <= {name for _, name, _ in kernels}
