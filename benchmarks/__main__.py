"""Runs every benchmark, or those named: ``python -m benchmarks [extract count inference …]``.

``--inputs N`` says how many inputs ``hostile`` mutates.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from importlib import import_module
from typing import Any

ALL = (
    "extract", "count", "fuzzy", "belief_propagation", "pairs", "inference", "detection",
    "learning", "learning_curves", "service", "annotate", "spacy_linker", "hostile",
)  # fmt: skip


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
    given = parser.parse_args()
    sys.exit(run(given.names or list(ALL), {"hostile": {"inputs": given.inputs}}))
