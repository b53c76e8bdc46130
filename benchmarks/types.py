"""How often types are right, and what they cost: a model of the sample against judgements by hand.

The judgements are in ``tests/data/types*.tsv``. Costs are measured if ``$PBOH_COUNTS`` names the counts of
the sample, such as ``pboh train --keep-work`` leaves in ``MODEL.work/counts``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.common import ROOT, sample_model, save, shared, table
from benchmarks.extract import run
from pboh.corpus.readers.chunks import chunks
from pboh.corpus.readers.dump import open_source
from pboh.corpus.subjects.title import title_types
from pboh.corpus.tables import first_pass
from pboh.corpus.titles import Site
from pboh.formats.types import TYPES
from pboh.model.store import Model, open_model
from pboh.text.hashing import look_up

SUREST = 0.8
"""The share of entities on whose types accuracy is reported beside that of all."""
SAMPLES = ("types", "types-blind", "types-third", "types-fourth", "types-unseen", "types-frequent")
PBOH = [sys.executable, "-c", "from pboh.cli import main; main()"]
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


def building(counts: Path, folder: Path) -> dict[str, float]:
    """Processor seconds of ``pboh build`` with what pages say and without; the least of two, in turns."""
    bare = folder / "counts"
    seconds: dict[str, list[float]] = {"with types": [], "without types": []}
    bare.mkdir()
    for one in counts.iterdir():
        if one.name != "subjects":
            (bare / one.name).symlink_to(one.resolve())
    for which, source in 2 * [*zip(seconds, (counts, bare), strict=True)]:
        done = run([*PBOH, "build", str(source), "--out", str(folder / "model")])
        seconds[which].append(done["processor_seconds"])
    return {f"build {which}": min(each) for which, each in seconds.items()}


def extraction(dumps: list[Path], folder: Path) -> dict[str, float]:
    """Processor seconds of ``pboh extract``, and of asking pages and titles, timed in every tenth chunk."""
    figures = folder / "figures.json"
    command = ["extract", *map(str, dumps), "--out", str(folder / "corpus"), "--json", str(figures)]
    whole = run([*PBOH, *command])["processor_seconds"]
    spent: dict[str, float] = {"pages": 0.0, "titles": 0.0}
    asked = Counter[str]()

    def timed(name: str, function: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            asked[name] += size(*given)
            began = time.process_time()
            found = function(*given)
            spent[name] += time.process_time() - began
            return found

        return call

    first_pass.warm_up()
    reading = timed("pages", first_pass.ChunkScan._read_subjects, lambda scan: len(scan._unread))
    titles = timed("titles", title_types, lambda titles, _: len(titles))
    with (
        patch.object(first_pass.ChunkScan, "_read_subjects", reading),
        patch.object(first_pass, "title_types", titles),
    ):
        for chunk in chunks([open_source(path)[0] for path in dumps], 8 << 20):
            if chunk.number % 10 == 0:
                first_pass.scan(chunk, Site.default("en"), False, folder / f"{chunk.number}")
    said = json.loads(figures.read_text())
    many = {"pages": said["articles"], "titles": said["entities"]}
    each = {name: spent[name] / asked[name] for name in many}
    return {
        "extract": whole,
        **{f"microseconds of one of the {name}": 1e6 * each[name] for name in many},
        **{f"share of {name}": each[name] * many[name] / whole for name in many},
    }


def main() -> None:
    """Print accuracy, coverage and what was taken for what; then what it costs."""
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
    results: dict[str, Any] = {"rows": rows, "confused": [[*key, n] for key, n in confused.items()]}
    if "PBOH_COUNTS" in os.environ and (folder := shared()):
        dumps = sorted((folder / "corpus").glob("enwiki-sample-pages-articles-multistream[12].xml*.bz2"))
        with TemporaryDirectory() as scratch:
            costs = building(Path(os.environ["PBOH_COUNTS"]), Path(scratch))
            costs |= extraction(dumps, Path(scratch))
        table("Costs (processor seconds)", ["what", "cost"], [*costs.items()])
        results["costs"] = costs
    save("types", results)


if __name__ == "__main__":
    main()
