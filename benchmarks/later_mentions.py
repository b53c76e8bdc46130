"""Validation data that looks like news: later mentions of a person or team by the last word of its name.

Wikipedia links an entity once, by its full name; news says "Clinton" after "Bill Clinton". From pages with
links this writes JSON lines in which such later mentions, which the page leaves unlinked, are mentions too:
a capitalised word standing alone that is the last word of exactly one linked name of the page.

    python -m benchmarks.later_mentions validation.jsonl.gz#0:150 > later.jsonl
"""

from __future__ import annotations

import re
import sys

import msgspec

from pboh.evaluation.datasets import GoldDocument, read_dataset

_NAME = re.compile(r"(?:[A-Z][\w.'-]+ ){1,3}[A-Z][\w'-]+")


def later_mentions(document: GoldDocument) -> list[dict[str, object]]:
    """The document's own mentions and the later ones, in text order."""
    owners: dict[str, set[str]] = {}
    first: dict[str, int] = {}
    for mention in document.linked:
        if (
            _NAME.fullmatch(mention.text)
            and mention.gold
            and mention.text.split()[-1] in mention.gold.split()
        ):
            last = mention.text.split()[-1]
            owners.setdefault(last, set()).add(mention.gold)
            first.setdefault(last, mention.end)
    taken = [(m.start, m.end) for m in document.linked]
    found: list[dict[str, object]] = [
        {"start": m.start, "end": m.end, "gold": m.gold} for m in document.linked
    ]
    for last, golds in owners.items():
        if len(golds) > 1 or len(last) < 3:
            continue
        alone = re.compile(rf"(?<![\w-]){re.escape(last)}(?![\w-])")
        for match in alone.finditer(document.text, first[last]):
            before = document.text[max(0, match.start() - 25) : match.start()]
            after = document.text[match.end() : match.end() + 2]
            if re.search(r"[A-Z][\w.'’-]* $", before) or re.match(r" [A-Z]", after):
                continue
            if any(s < match.end() and match.start() < e for s, e in taken):
                continue
            found.append({"start": match.start(), "end": match.end(), "gold": next(iter(golds))})
    return sorted(found, key=lambda m: (m["start"], m["end"]))


def main(spec: str) -> None:
    dataset = read_dataset(spec)
    for document in dataset:
        row = {"id": document.id, "text": document.text, "mentions": later_mentions(document)}
        sys.stdout.buffer.write(msgspec.json.encode(row) + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
