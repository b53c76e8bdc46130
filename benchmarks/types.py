"""How often types are right: a model of the sample against judgements by hand (``tests/data/types*.tsv``)."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.common import ROOT, sample_model, save, table
from pboh.formats.types import TYPES
from pboh.model.store import Model, open_model
from pboh.text.hashing import look_up

SUREST = 0.8
"""The share of entities on whose types accuracy is reported beside that of all."""
SAMPLES = ("types", "types-blind", "types-third", "types-fourth", "types-unseen", "types-frequent")
JUDGED = {name: ROOT / "tests" / "data" / f"{name}.tsv" for name in SAMPLES}


def judgements(path: Path) -> list[tuple[str, str, str]]:
    """With or without a page, title, and the types that are right, the best one first."""
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    rows = [line.split("\t")[:3] for line in lines[1:]]
    return [(page, title, right) for page, title, right in rows if right != "?"]


def told(model: Model, titles: list[str]) -> list[tuple[str, float]]:
    """The model's types of titles and how probable they are; nothing for those it does not have."""
    places = look_up(model["title_hash"], model["title_buckets"], titles)
    entities = [int(model["title_entity"][place]) if place >= 0 else -1 for place in places.tolist()]
    known = [e >= 0 and model.title(e) == t for e, t in zip(entities, titles, strict=True)]
    facts = [model.facts(e) if there else None for e, there in zip(entities, known, strict=True)]
    return [(str(one.type), one.type_probability or 0.0) if one else ("", 0.0) for one in facts]


def wilson(right: int, all_: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    z, p = 1.96, right / max(all_, 1)
    middle, half = p + z * z / 2 / all_, z * np.sqrt(p * (1 - p) / all_ + z * z / 4 / all_ / all_)
    return (middle - half) / (1 + z * z / all_), (middle + half) / (1 + z * z / all_)


def main() -> None:
    """Print accuracy, coverage and what was taken for what."""
    model, rows, confused = open_model(sample_model()), [], Counter[tuple[str, str, str]]()
    for sample, page in product(JUDGED, ("with", "without")):
        judged = judgements(JUDGED[sample])
        wanted = [(title, right.split("|")) for where, title, right in judged if where == page]
        if not wanted:
            continue
        answers = zip(wanted, told(model, [title for title, _ in wanted]), strict=True)
        known = [(right, answer, p) for (_, right), (answer, p) in answers if answer]
        sure = sorted((one for one in known if one[1] != "unknown"), key=lambda one: -one[2])
        surest = sure[: round(SUREST * len(known))]
        good = sum(answer in right for right, answer, _ in sure)
        low, high = wilson(good, len(sure))
        rows.append({
            "sample": sample, "page": page, "judged": len(known), "coverage": len(sure) / max(len(known), 1),
            "accuracy": good / max(len(sure), 1), "low": low, "high": high,
            "strict": sum(answer == right[0] for right, answer, _ in sure) / max(len(sure), 1),
            "surest": sum(answer in right for right, answer, _ in surest) / max(len(surest), 1),
        })  # fmt: skip
        confused.update((f"{sample} {page}", a if a in r else r[0], a) for r, a, _ in known)
    table("Types", [*rows[0]], [[*row.values()] for row in rows])
    for page, right, answer in sorted(confused, key=lambda key: (key[0], TYPES.index(key[1]))):
        if right != answer:
            print(f"{page} page: {right} told as {answer}: {confused[page, right, answer]}")
    save("types", {"rows": rows, "confused": [[*key, n] for key, n in confused.items()]})


if __name__ == "__main__":
    main()
