"""The command line as people type it, run in this process."""

from __future__ import annotations

import sys

import pboh.cli


def run(*arguments: object) -> int:
    """The command as typed; returns its exit code."""
    before = sys.argv
    sys.argv = ["pboh", *map(str, arguments)]
    try:
        pboh.cli.main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0
