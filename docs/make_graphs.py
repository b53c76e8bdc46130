"""Draws the graphs of two how-to pages by running the pages: ``python docs/make_graphs.py``."""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = ("text-to-graph", "knowledge-graphs")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def drawn(page: str) -> str:
    """What a page writes to graph.svg."""
    names: dict[str, object] = {"__name__": "__main__"}
    code = BLOCK.findall((DOCS / "how-to" / f"{page}.md").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in code:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, page, "exec"), names)
            if Path("graph.svg").exists():
                return Path("graph.svg").read_text("utf-8")
    raise SystemExit(f"{page} draws nothing")


def main() -> None:
    """Write the pictures."""
    for page in PAGES:
        (DOCS / "images" / f"{page}.svg").write_text(drawn(page), "utf-8")


if __name__ == "__main__":
    main()
