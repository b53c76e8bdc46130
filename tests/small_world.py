"""Texts about the small world of ``tests/data``, and how tests point at names in them."""

from __future__ import annotations

import re

from pboh.document import Document

FOOTBALL = "Müller scored for Bayern before the striker of Dortmund was sent off; Paris watched the goal."
WRITERS = "Müller won the prize for her novel, and so did Hemingway, who wrote of Paris."


def mark(text: str, *names: str) -> list[tuple[int, int]]:
    """Spans of all occurrences of names."""
    return sorted(m.span() for name in names for m in re.finditer(re.escape(name), text))


def titles(document: Document) -> list[str | None]:
    """Titles of the answers."""
    return [mention.entity.title if mention.entity else None for mention in document]
