"""Everything people read is idiomatic English: turns of phrase that read as translated do not come back."""

from __future__ import annotations

import ast
import re

import pytest
from doc_blocks import FENCE, ROOT, pages

TRANSLATED = [
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|better\b|worse\b|different\b)",
    r"\bstands?\b(?! (?:for|out)\b)",  # the name stands in the text
    r"\bso many\b(?! (?:of|that))",  # at most so many pages
    r"\bpoints before\b",
    r"\bKnown are\b",
    r"\bchoose of\b",
    r"\bin vain\b",
    r"\bfor want of\b",
    r"\bshall\b",
]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def translated(text: str) -> list[str]:
    return [match[0] for pattern in TRANSLATED for match in re.finditer(f".{{0,40}}{pattern}.{{0,30}}", text)]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page):
    assert translated(FENCE.sub("", page.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "room", sorted({path.relative_to(ROOT / "src" / "pboh").parts[0] for path in SOURCES})
)
def test_help_messages_and_docstrings(room):
    """All strings of the package."""
    base = ROOT / "src" / "pboh" / room
    found = []
    for path in [base] if base.is_file() else sorted(base.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found += [f"{path.name}:{node.lineno} {phrase}" for phrase in translated(node.value)]
    assert found == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("this is no table", True), ("there is no table", False), ("it is no longer there", False),
        ("where it stands", True), ("it stands for it", False), ("so many seconds", True),
    ],
)  # fmt: skip
def test_phrases_are_recognised(text, wrong):
    assert bool(translated(text)) is wrong
