"""Merging the nodes of a graph with known duplicates: against equal strings and fuzzy matching, and at scale.

Every page of the validation set becomes part of one graph: a node for every name on the page, an edge between
any two nodes of a page. Two nodes are duplicates if their links lead to the same entity. Precision and recall
are those of all pairs of nodes. The thresholds were chosen on pages 1 to 150; the figures are of pages 301 to
1000.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from benchmarks.common import ROOT, sample_model, save, shared, table
from benchmarks.fuzzy import NameMaker, misspelt, titles
from pboh.canonical import THRESHOLD
from pboh.evaluation.datasets import read_dataset
from pboh.files.memory import peak_memory_megabytes
from pboh.linker import Linker, load

CHOOSING, REPORTED = "0:150", "300:1000"
THRESHOLDS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8)
CUTOFFS = (80, 85, 90, 95, 100)
MILLION = 1_000_000


class Graph(NamedTuple):
    """Names on pages, what they mean, and pairs of them that are on one page."""

    names: list[str]
    gold: list[str]
    edges: list[tuple[int, int]]
    contexts: list[str]


def graph(linker: Linker, pages: str) -> Graph:
    """A node for every different name of each page; its gold is the title as the model knows it."""
    folder = shared()
    if folder is None:
        raise SystemExit("the validation pages are not here (set PBOH_SHARED to their folder)")
    names, gold, edges, contexts = list[str](), list[str](), list[tuple[int, int]](), list[str]()
    for page in read_dataset(f"{folder}/corpus/validation.jsonl.gz#{pages}"):
        first, seen = len(names), set[str]()
        for mention in page.linked:
            name = mention.text.strip()
            if name and name not in seen:
                seen.add(name)
                names.append(name)
                gold.append(linker.resolve(mention.gold or "") or str(mention.gold))
                contexts.append(page.text[max(0, mention.start - 150) : mention.end + 150])
        edges += itertools.combinations(range(first, len(names)), 2)
    return Graph(names, gold, edges, contexts)


def pairs(labels: Sequence[Hashable]) -> int:
    """Pairs of nodes with one label."""
    return sum(n * (n - 1) // 2 for n in Counter(labels).values())


def scores(labels: Sequence[Hashable], gold: Sequence[str]) -> dict[str, float]:
    """Pairwise precision and recall, and how many pairs are wrong."""
    right, merged, wanted = pairs(list(zip(labels, gold, strict=True))), pairs(labels), pairs(gold)
    return {
        "precision": right / max(1, merged),
        "recall": right / max(1, wanted),
        "wrongly_merged": merged - right,
        "missed": wanted - right,
        "errors": merged + wanted - 2 * right,
    }


def fuzzy(names: Sequence[str], cutoff: float) -> list[int]:
    """Groups of names that rapidfuzz finds alike: connected by a token_sort_ratio of at least ``cutoff``."""
    import numpy as np
    from rapidfuzz import fuzz, process, utils
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    unique = list(dict.fromkeys(names))
    clean = [utils.default_process(name) or name for name in unique]
    left, right = list[int](), list[int]()
    for first in range(0, len(clean), 1000):
        alike = process.cdist(
            clean[first : first + 1000],
            clean,
            scorer=fuzz.token_sort_ratio,
            score_cutoff=cutoff,
            dtype=np.uint8,
        )
        rows, columns = np.nonzero(alike)
        left += (rows + first).tolist()
        right += columns.tolist()
    matrix = coo_matrix((np.ones(len(left), bool), (left, right)), shape=(len(unique), len(unique)))
    _, label = connected_components(matrix, directed=False)
    place = dict(zip(unique, label.tolist(), strict=True))
    return [place[name] for name in names]


def ours(linker: Linker, given: Graph, threshold: float, contexts: bool = False) -> dict[str, Any]:
    began = process_time()
    groups = linker.canonical(
        given.names, given.contexts if contexts else None, edges=given.edges, threshold=threshold
    )
    seconds = process_time() - began
    return {**scores(groups.number.tolist(), given.gold), "names_per_second": len(given.names) / seconds}


def choose(rows: dict[float, dict[str, Any]]) -> float:
    """The threshold with fewest errors."""
    return min(rows, key=lambda threshold: rows[threshold]["errors"])


def quality(model: str | Path | None) -> dict[str, Any]:
    """All methods with one model."""
    linker = load(model)
    small, large = graph(linker, CHOOSING), graph(linker, REPORTED)
    linker.canonical(small.names[:100], edges=[(0, 1)])  # compiles
    by_cutoff = {float(cutoff): scores(fuzzy(small.names, cutoff), small.gold) for cutoff in CUTOFFS}
    by_threshold = {threshold: ours(linker, small, threshold) for threshold in THRESHOLDS}
    cutoff = choose(by_cutoff)
    return {
        "nodes": len(large.names),
        "edges": len(large.edges),
        "different_names": len(set(large.names)),
        "entities": len(set(large.gold)),
        "chosen": {"rapidfuzz": cutoff, "ours": choose(by_threshold)},
        "choosing": {"rapidfuzz": by_cutoff, "ours": by_threshold},
        "methods": {
            "equal strings": scores(large.names, large.gold),
            f"rapidfuzz, token_sort_ratio ≥ {cutoff:.0f}": scores(fuzzy(large.names, cutoff), large.gold),
            f"pboh, threshold {THRESHOLD}": ours(linker, large, THRESHOLD),
            f"pboh, threshold {THRESHOLD}, with sentences": ours(linker, large, THRESHOLD, contexts=True),
        },
    }


def at_scale(count: int) -> dict[str, Any]:
    """Time and memory of a list of names: titles, made-up names of their words, and misspelt ones."""
    import random

    real, chance = titles(), random.Random(5)
    known = [" ".join(word.capitalize() for word in chance.choice(real).split()) for _ in range(count // 4)]
    made = [name.title() for name in NameMaker(real, 3)(count // 2) if name.strip()]
    slips = [misspelt(chance.choice(made), chance) for _ in range(count - len(known) - len(made))]
    names = [*known, *made, *slips]
    chance.shuffle(names)
    linker = load(os.environ.get("PBOH_CANONICAL_MODEL") or None)
    linker.canonical(names[:300])
    before, began = peak_memory_megabytes(), process_time()
    groups = linker.canonical(names)
    seconds = process_time() - began
    return {
        "names": len(names),
        "different_names": len(set(names)),
        "groups": len(groups),
        "cpu_seconds": seconds,
        "names_per_second": len(names) / seconds,
        "peak_memory_megabytes": peak_memory_megabytes(),
        "before_megabytes": before,
    }


def repeated(count: int) -> dict[str, Any]:
    """One name, very often."""
    linker = load()
    began = process_time()
    groups = linker.canonical(["Georgia"] * count)
    return {"names": count, "groups": len(groups), "cpu_seconds": process_time() - began}


def child(what: str, count: int) -> dict[str, Any]:
    """Measure in a process of its own, so that peak memory is that of this measurement."""
    command = [sys.executable, "-m", "benchmarks.canonical", what, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return dict(json.loads(done.stdout))


def main() -> dict[str, Any]:
    """Measure, print and save."""
    results: dict[str, Any] = {}
    for name, model in (("starter", None), ("sample", sample_model())):
        results[name] = quality(model)
        rows = results[name]["methods"]
        baseline = min(row["errors"] for method, row in rows.items() if "pboh" not in method)
        table(
            f"{results[name]['nodes']:,} nodes of 700 pages, {name} model",
            ["method", "precision", "recall", "wrongly merged", "missed", "errors", "against the best other"],
            [
                [method, row["precision"], row["recall"], row["wrongly_merged"], row["missed"], row["errors"],
                 f"{row['errors'] / baseline - 1:+.0%}"]
                for method, row in rows.items()
            ],
        )  # fmt: skip
    results["at_scale"] = child("at_scale", MILLION)
    results["repeated"] = child("repeated", MILLION)
    for title in ("at_scale", "repeated"):
        table(title, list(results[title]), [list(results[title].values())])
    return save("canonical", results)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"at_scale": at_scale, "repeated": repeated}[sys.argv[1]](int(sys.argv[2]))))
    else:
        main()
