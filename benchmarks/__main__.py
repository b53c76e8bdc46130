"""Runs every benchmark, or those named: ``python -m benchmarks [extract count inference …]``.

``--inputs N`` says how many inputs ``hostile`` mutates, ``--scale S`` how large a corpus is generated.
"""

from __future__ import annotations

import argparse
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

ALL = (
    "extract", "count", "fuzzy", "belief_propagation", "pairs", "first_link", "inference", "detection",
    "learning", "learning_curves", "ranking", "service", "annotate", "canonical", "spacy_linker", "hostile",
    "types", "full_size", "whole_wikipedia", "spark_counts", "memory", "kills", "before",
)  # fmt: skip
SCALED = ("full_size", "whole_wikipedia", "spark_counts")
"""Those that generate what they measure, as large as asked for."""
WITHIN = ("whole_wikipedia", "spark_counts")
"""Those of them that keep to a limit of memory."""
ONLY_NAMED = (*SCALED, "memory", "before")
"""Those that need hours, or another checkout."""


def run(names: list[str], options: dict[str, dict[str, Any]]) -> int:
    """Run benchmarks one after the other; one that fails does not stop the others."""
    failed = 0
    for name in names:
        print(f"\n## {name}", flush=True)
        try:
            import_module(f"benchmarks.{name}").main(**options.get(name, {}))
        except Exception:
            traceback.print_exc()
            failed += 1
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--inputs", type=int, default=1_000_000, help="inputs that hostile mutates")
    parser.add_argument("--scale", type=float, help="size of a generated corpus; 1 is English Wikipedia")
    parser.add_argument("--memory", help="limit for what is done with a generated corpus, such as 1GB")
    parser.add_argument("--folder", type=Path, help="where generated corpora and models are kept")
    parser.add_argument("--keep", action="store_true", help="do not remove them afterwards")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends what it watches, too
    scaled = {"folder": given.folder, "keep": given.keep} | ({"scale": given.scale} if given.scale else {})
    options = dict.fromkeys(SCALED, scaled) | {"hostile": {"inputs": given.inputs}}
    if given.memory:
        options |= {name: scaled | {"memory": given.memory} for name in WITHIN}
    options |= {name: {"folder": given.folder} for name in ("memory", "kills")}
    sys.exit(run(given.names or [name for name in ALL if name not in ONLY_NAMED], options))
