"""Merging the nodes of a graph with known duplicates: against equal strings and fuzzy matching, and at scale.

Every page of the validation set becomes part of one graph: a node for every name on the page, an edge between
any two nodes of a page. Two nodes are duplicates if their links lead to the same entity. Precision and recall
are those of all pairs of nodes. Thresholds and settings were chosen on pages 1 to 300; the figures are of
pages 301 to 1000.

Extractors also say of what type a node is. In some rows every node has the type of the entity that it means,
or, one in ten, another one. Baselines are given the same types: then only nodes of one type match.
"""

from __future__ import annotations

import itertools
import json
import random
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

from benchmarks.common import ROOT, sample_model, save, shared, table
from benchmarks.fuzzy import NameMaker, misspelt, titles
from pboh.canonical import THRESHOLD
from pboh.evaluation.datasets import read_dataset
from pboh.files.memory import peak_memory_megabytes
from pboh.files.progress import progress
from pboh.linker import Linker, load

CHOOSING, REPORTED, SENTENCES = "0:150", "300:1000", "300:340"
MOST_NAMES = 5
THRESHOLDS = (0.5, 0.55, 0.6, 0.65, 0.7)
CUTOFFS = (80, 85, 90, 95, 100)
SIZES = (200_000, 1_000_000)
WRONG_TYPES = (0.1, 0.0)  # share of nodes
GIVEN_TYPES = ("person", "organisation", "place", "work", "event", "product", "species", "other")


class Graph(NamedTuple):
    """Names on pages, what they mean, and pairs of them that are on one page."""

    names: list[str]
    gold: list[str]
    edges: list[tuple[int, int]]
    contexts: list[str]
    listed: list[bool]
    """Whether its page has more than ``MOST_NAMES`` names of its target: sections of a list, not names."""


def graph(linker: Linker, pages: str) -> Graph:
    """A node for every different name of each page; its gold is the title as the model knows it."""
    folder = shared()
    if folder is None:
        raise SystemExit("the validation pages are not here (set PBOH_SHARED to their folder)")
    names, gold, edges, contexts = list[str](), list[str](), list[tuple[int, int]](), list[str]()
    listed = list[bool]()
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
        often = Counter(gold[first:])
        listed += [often[title] > MOST_NAMES for title in gold[first:]]
    return Graph(names, gold, edges, contexts, listed)


def given_types(linker: Linker, gold: Sequence[str], wrong: float) -> list[str | None]:
    """The types of entities, but for a share that is ``wrong``; None where the model knows none."""
    chance, types = random.Random(3), list[str | None]()
    for title in gold:
        entity = linker.engine.entities.find(title)
        known = entity.type if entity and entity.type in GIVEN_TYPES else None
        if known and chance.random() < wrong:
            known = chance.choice([other for other in GIVEN_TYPES if other != known])
        types.append(known)
    return types


def pairs(labels: Sequence[Hashable]) -> int:
    """Pairs of nodes with one label."""
    return sum(n * (n - 1) // 2 for n in Counter(labels).values())


def scores(labels: Sequence[Hashable], given: Graph) -> dict[str, Any]:
    """Pairwise scores of all nodes, and of those that are not sections of a list (District 1, 2, 3 …)."""
    kept = [i for i, listed in enumerate(given.listed) if not listed]
    return {
        **_scores(labels, given.gold),
        "without_lists": _scores([labels[i] for i in kept], [given.gold[i] for i in kept]),
    }


def _scores(labels: Sequence[Hashable], gold: Sequence[str]) -> dict[str, float]:
    """Precision and recall of pairs, and how many are wrong."""
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


def ours(
    linker: Linker,
    given: Graph,
    threshold: float,
    contexts: bool = False,
    types: Sequence[str | None] | None = None,
) -> dict[str, Any]:
    began = process_time()
    groups = linker.canonical(
        given.names,
        given.contexts if contexts else None,
        types,
        given.edges,
        threshold=threshold,
    )
    seconds = process_time() - began
    return {**scores(groups.number.tolist(), given), "names_per_second": len(given.names) / seconds}


def quality(model: str | None, fuzzy_labels: str) -> dict[str, Any]:
    """Thresholds on pages 1 to 150, then all methods on pages 301 to 1000."""
    linker, labels = load(model), json.loads(Path(fuzzy_labels).read_text())
    small, large = graph(linker, CHOOSING), graph(linker, REPORTED)
    linker.canonical(small.names[:100], small.contexts[:100], edges=[(0, 1)])  # compiles
    by_threshold = {str(least): ours(linker, small, least) for least in THRESHOLDS}
    cutoff = labels["cutoff"]
    return {
        "nodes": len(large.names),
        "edges": len(large.edges),
        "different_names": len(set(large.names)),
        "entities": len(set(large.gold)),
        "thresholds_on_pages_1_to_150": by_threshold,
        "methods": {
            "equal strings": scores(large.names, large),
            f"rapidfuzz, token_sort_ratio ≥ {cutoff}": scores(labels["labels"], large),
            "pboh, names in their graph": ours(linker, large, THRESHOLD),
            "pboh, and in their sentences": ours(linker, large, THRESHOLD, contexts=True),
            **typed(linker, large, labels["labels"]),
        },
    }


def typed(linker: Linker, given: Graph, fuzzy_labels: Sequence[int]) -> dict[str, Any]:
    """All methods again, with types of which some are wrong."""
    rows: dict[str, Any] = {}
    for wrong in WRONG_TYPES:
        types, told = given_types(linker, given.gold, wrong), f"with types, {wrong:.0%} wrong"
        rows |= {
            f"equal strings, {told}": scores(list(zip(given.names, types, strict=True)), given),
            f"rapidfuzz, {told}": scores(list(zip(fuzzy_labels, types, strict=True)), given),
            f"pboh, names in their graph, {told}": ours(linker, given, THRESHOLD, types=types),
            f"pboh, and in their sentences, {told}": ours(linker, given, THRESHOLD, True, types),
        }
    return rows


def rapidfuzz(out: str) -> dict[str, Any]:
    """The best cutoff on pages 1 to 150, and the groups it makes of pages 301 to 1000, written to a file."""
    linker = load()
    small = graph(linker, CHOOSING)
    rows = {cutoff: scores(fuzzy(small.names, cutoff), small) for cutoff in CUTOFFS}
    best = min(rows, key=lambda cutoff: rows[cutoff]["errors"])
    labels = fuzzy(graph(linker, REPORTED).names, best)
    Path(out).write_text(json.dumps({"cutoff": best, "labels": labels}))
    return {str(cutoff): row for cutoff, row in rows.items()}


def with_sentences(model: str | None) -> dict[str, Any]:
    """Names in sentences (300 characters) without a graph, against the graph, on pages 301 to 340."""
    linker = load(model)
    some = graph(linker, SENTENCES)
    linker.canonical(some.names[:200], some.contexts[:200])
    return {
        "equal strings": scores(some.names, some),
        "graph": ours(linker, some, THRESHOLD),
        "sentences": ours(linker, some._replace(edges=[]), THRESHOLD, contexts=True),
    }


def different_names(count: int) -> list[str]:
    """Titles (a tenth at most), made-up names of their words, and a third of them misspelt; no name twice."""
    real, chance = titles(), random.Random(5)
    names = dict.fromkeys(
        string.capwords(title) for title in chance.sample(real, min(len(real), count // 10))
    )
    make = NameMaker(real, 3)
    while len(names) < count:
        made = [string.capwords(name) for name in make(count // 4) if name.strip()]
        names |= dict.fromkeys([*made, *(misspelt(name, chance) for name in made[::2])])
    several = list(names)[:count]
    chance.shuffle(several)
    return several


def at_scale(count: int) -> dict[str, Any]:
    """Time and memory of a list of different names."""
    names, linker = different_names(count), load()
    linker.canonical(names[:300])
    before, began, clock = peak_memory_megabytes(), process_time(), perf_counter()
    with progress(f"{count:,} names") as report:
        groups = linker.canonical(names, report=report)
    seconds = process_time() - began
    return {
        "different_names": len(set(names)),
        "groups": len(groups),
        "seconds": perf_counter() - clock,
        "cpu_seconds": seconds,
        "names_per_cpu_second": len(names) / seconds,
        "peak_memory_megabytes": peak_memory_megabytes(),
        "before_megabytes": before,
    }


def repeated(count: int) -> dict[str, Any]:
    """One name, very often."""
    linker = load()
    linker.canonical(["Georgia"])
    began = process_time()
    groups = linker.canonical(["Georgia"] * count)
    seconds, peak = process_time() - began, peak_memory_megabytes()
    return {"names": count, "groups": len(groups), "cpu_seconds": seconds, "peak_memory_megabytes": peak}


def child(what: str, *arguments: object) -> dict[str, Any]:
    """Measure in a process of its own, so that peak memory is that of this measurement."""
    _say(what)
    command = [sys.executable, "-m", "benchmarks.canonical", what, *map(json.dumps, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return dict(json.loads(done.stdout))


def _say(what: str) -> None:
    print(f"measuring {what} …", file=sys.stderr, flush=True)


def main() -> dict[str, Any]:
    """Measure, print and save."""
    results: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        labels = f"{folder}/rapidfuzz.json"
        results["rapidfuzz_on_pages_1_to_150"] = child("rapidfuzz", labels)
        for name, model in (("starter", None), ("sample", str(sample_model()))):
            results[name] = {
                **child("quality", model, labels),
                "pages_301_to_340": child("with_sentences", model),
            }
            _show(name, results[name])
    results["at_scale"] = [child("at_scale", count) for count in SIZES]
    results["repeated"] = child("repeated", SIZES[-1])
    for row in (*results["at_scale"], results["repeated"]):
        table("names", list(row), [list(row.values())])
    return save("canonical", results)


def _show(model: str, found: dict[str, Any]) -> None:
    columns = ("precision", "recall", "wrongly_merged", "missed", "errors")
    for title, rows in (
        (f"{found['nodes']:,} nodes of 700 pages, {model} model", found["methods"]),
        (f"40 pages, {model} model", found["pages_301_to_340"]),
    ):
        equal = rows["equal strings"]["errors"]
        table(
            title,
            ["method", *columns, "against equal strings", "names/s"],
            [
                [method, *(row[name] for name in columns), f"{row['errors'] / equal - 1:+.0%}",
                 row.get("names_per_second", "–")]
                for method, row in rows.items()
            ],
        )  # fmt: skip


MEASURES = {
    "rapidfuzz": rapidfuzz, "quality": quality, "with_sentences": with_sentences, "at_scale": at_scale,
    "repeated": repeated,
}  # fmt: skip

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(MEASURES[sys.argv[1]](*map(json.loads, sys.argv[2:]))))
    else:
        main()
