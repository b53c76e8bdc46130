"""Runs every benchmark, or those named: ``python -m benchmarks [extract count inference …]``."""

from __future__ import annotations

import sys
import traceback
from importlib import import_module

ALL = (
    "extract", "count", "fuzzy", "belief_propagation", "pairs", "inference", "detection",
    "learning", "learning_curves", "service", "annotate", "spacy_linker",
)  # fmt: skip


def run(names: list[str]) -> int:
    """Run benchmarks one after the other; one that fails does not stop the others."""
    failed = 0
    for name in names:
        print(f"\n## {name}", flush=True)
        try:
            import_module(f"benchmarks.{name}").main()
        except Exception:
            traceback.print_exc()
            failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:] or list(ALL)))
