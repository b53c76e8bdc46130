"""Writes what is printed today into pages, notebook and pictures: ``python docs/make_outputs.py``.

Run it after a change that is meant to change answers, such as a new starter model, and review the difference.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import make_graphs
import make_picture

ROOT = Path(__file__).parents[1]


def main() -> None:
    """The tests that compare what is shown with what is printed write it instead."""
    tests = [sys.executable, "-m", "pytest", "-q", "tests/docs", "tests/test_notebook.py"]
    failed = subprocess.call(tests, cwd=ROOT, env=os.environ | {"PBOH_UPDATE_DOCS": "1"})
    make_graphs.main()
    make_picture.main()
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
