"""English texts in which every name is annotated: general models of English are fitted on them, too.

Pages link a name once, and rarer things than people mention elsewhere; so how probable a name and an answer
are in other texts is learned from these. ``tests/data/paragraphs/README.md`` tells how they were written.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pboh.evaluation.datasets import Dataset, read_dataset

if TYPE_CHECKING:
    from pboh.linker import Linker

KNOWN = 0.5
"""Share of the entities meant in these texts that a model knows, if they are of its world."""


@cache
def annotated_texts() -> tuple[Dataset, ...]:
    """The texts that come with pboh."""
    return tuple(read_dataset(str(path)) for path in sorted(Path(__file__).parent.glob("*.jsonl")))


def texts_for(linker: Linker) -> tuple[Dataset, ...]:
    """The texts that a model can be fitted on; none if it is of another language or another world."""
    if linker.finder is None or linker.model.info.get("language") not in ("en", "simple"):
        return ()
    meant = [mention.golds for texts in annotated_texts() for text in texts for mention in text.linked]
    known = sum(any(linker.entity(title) for title in titles) for titles in meant)
    return annotated_texts() if known >= KNOWN * len(meant) else ()
