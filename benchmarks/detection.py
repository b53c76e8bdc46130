"""Finding names in text and linking raw text: speed per core by stage, and what each part brings.

Names are made of the words of real titles, texts are pages of the validation set. Beside our matcher stands
what a few lines of Python do: the longest match in a set of names, token by token. Times are processor time,
so that other work on the machine disturbs them less.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from time import process_time
from typing import Any

import numpy as np

from benchmarks.common import sample_model, save, shared, table
from benchmarks.fuzzy import NameMaker, titles
from pboh.detection.possibilities import Mentions, possibilities
from pboh.document import Document
from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.end_to_end import evaluate_end_to_end
from pboh.learning.annotated import annotated_texts
from pboh.linker import Linker, load
from pboh.text.matcher import Lexicon, matches

SIZES = (10_000, 100_000, 1_000_000, 4_000_000)
CHARACTERS = 4_000_000


def text_to_read() -> str:
    folder = shared()
    if folder is None:
        return "Müller scored for Bayern in Paris and Georgia won.\n\n" * 20_000
    pages = read_dataset(f"{folder}/corpus/validation.jsonl.gz#150:1000")
    return "\n\n".join(page.text for page in pages)[:CHARACTERS]


def names(size: int) -> list[str]:
    """Titles with capital letters, some real, most made up of their words."""
    real = [" ".join(word.capitalize() for word in title.split()) for title in titles()] if shared() else []
    if size <= len(real):
        return real[:size]
    maker = NameMaker(titles() if shared() else ["alpha beta", "gamma", "delta epsilon zeta"], 1)
    return real + [name.title() for name in maker(size - len(real))]


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        began = process_time()
        work()
        times.append(process_time() - began)
    return min(times)


def in_python(text: str, known: set[str]) -> int:
    """Longest match of up to six tokens in a set."""
    spans = [match.span() for match in re.finditer(r"\w+", text)]
    found, i = 0, 0
    while i < len(spans):
        for k in range(min(6, len(spans) - i), 0, -1):
            if text[spans[i][0] : spans[i + k - 1][1]] in known:
                found += 1
                i += k - 1
                break
        i += 1
    return found


def matching(text: str) -> list[dict[str, Any]]:
    megabytes, rows = len(text.encode()) / 1e6, []
    for size in SIZES:
        known = names(size)
        lexicon = Lexicon.of(known)
        worth = np.ones(lexicon.hashes.size, np.float32)
        hits = len(matches(text, lexicon, worth, worth, 0.5)[0])
        ours = megabytes / seconds(lambda: matches(text, lexicon, worth, worth, 0.5))  # noqa: B023
        part, ready = text[: len(text) // 8], set(known)
        python = megabytes / 8 / seconds(lambda: in_python(part, ready), 1)  # noqa: B023
        table_size = sum(array.nbytes for array in lexicon) / 1e6
        rows.append(
            {"names": size, "hits": hits, "mb_per_s": ours, "python_mb_per_s": python, "mb": table_size}
        )
    return rows


def linking(text: str) -> dict[str, Any]:
    """The whole of ``link`` on pages of a few thousand characters, by stage."""
    linker = load(sample_model())
    pages = [text[k : k + 5000] for k in range(0, min(len(text), 1_000_000), 5000)]
    linker.link(pages[0])
    stages: dict[str, float] = {}
    mentions = 0
    began = process_time()
    for page in pages:
        document = linker.link(page)
        mentions += len(document)
        for stage, value in document.timings.items():
            stages[stage] = stages.get(stage, 0.0) + value
    spent = process_time() - began
    detect = seconds(lambda: [linker.find(page) for page in pages])
    megabytes = sum(len(page.encode()) for page in pages) / 1e6
    total = sum(stages.values())
    return {
        "names": int(linker.model["name_hash"].size),
        "mentions": mentions,
        "detection_mb_per_s": megabytes / detect,
        "link_mb_per_s": megabytes / spent,
        "shares": {stage: value / total for stage, value in stages.items()},
    }


class Ablated:
    """A linker that looks only at some of what may be a mention."""

    def __init__(self, linker: Linker, mentions: Mentions, finder: bool, lattice: bool) -> None:
        self.linker, self.mentions, self.finder, self.lattice = linker, mentions, finder, lattice
        self.resolve = linker.resolve

    def link(self, text: str) -> Document:
        """The mentions of a text."""
        linker = self.linker
        found = possibilities(text, linker.detector, linker.finder if self.finder else None, self.mentions)
        if not self.lattice:
            found = replace(found, **{name: getattr(found, name)[found.speaks] for name in COLUMNS})
        return linker.link(text, found=found, mentions=self.mentions)


COLUMNS = ("start", "end", "link", "name", "again", "given", "touched", "speaks")
VARIANTS: dict[str, tuple[Mentions, bool, bool]] = {
    "dictionary alone": ("all", False, True),
    "finder alone, no lattice": ("names", True, False),
    "finder alone, lattice": ("names", True, True),
    "both, no lattice": ("all", True, False),
    "both, lattice": ("all", True, True),
}


def ablation(linker: Linker) -> list[dict[str, Any]]:
    """What finder, dictionary and lattice bring: strong micro scores from raw text."""
    folder = shared()
    sets = [*annotated_texts()]
    if folder:
        sets += [read_dataset(path) for path in sorted((folder / "benchmarks").glob("*.ttl"))]
    rows = []
    for name, options in VARIANTS.items():
        for result in evaluate_end_to_end(Ablated(linker, *options), sets):  # type: ignore[arg-type]
            spans, right = asdict(result.detection["strong"]), asdict(result.a2kb["strong"])
            rows.append({"variant": name, "dataset": result.dataset, "spans": spans, "a2kb": right})
    return rows


def consistency(linker: Linker) -> dict[str, int]:
    """Links of texts on their own, and of the same texts one after the other."""
    texts = [document.text for document in annotated_texts()[0]]
    starts = np.cumsum([0, *(len(text) + 2 for text in texts)])
    alone = {
        (int(start) + m.start, int(start) + m.end): m.entity
        for start, text in zip(starts, texts, strict=False)
        for m in linker.link(text)
    }
    joined = {(m.start, m.end): m.entity for m in linker.link("\n\n".join(texts))}
    return {
        "links": len(alone),
        "vanished": len(alone.keys() - joined.keys()),
        "new": len(joined.keys() - alone.keys()),
        "changed": sum(joined[place] != alone[place] for place in alone.keys() & joined.keys()),
    }


def main() -> dict[str, Any]:
    """Measure, print and save."""
    text = text_to_read()
    rows = matching(text)
    table(
        "Names found in text, one core",
        ["names", "hits", "MB/s", "Python MB/s", "ratio", "table MB"],
        [
            [f"{r['names']:,}", f"{r['hits']:,}", r["mb_per_s"], r["python_mb_per_s"],
             r["mb_per_s"] / r["python_mb_per_s"], r["mb"]]
            for r in rows
        ],
    )  # fmt: skip
    whole = linking(text)
    shares = [f"{share:.0%}" for share in whole["shares"].values()]
    table(
        "Raw text to entities, one core",
        ["names", "mentions", "detection MB/s", "link MB/s", *whole["shares"]],
        [[whole["names"], whole["mentions"], whole["detection_mb_per_s"], whole["link_mb_per_s"], *shares]],
    )
    linker = load(sample_model())
    variants, together = ablation(linker), consistency(linker)
    percents = [[*(f"{100 * v:.1f}" for s in (r["spans"], r["a2kb"]) for v in s.values())] for r in variants]
    table(
        "Ablation, strong micro scores from raw text",
        ["", "dataset", "spans P", "R", "F1", "A2KB P", "R", "F1"],
        [[r["variant"], r["dataset"], *cells] for r, cells in zip(variants, percents, strict=True)],
    )
    table("Texts alone and one after the other", list(together), [list(together.values())])
    found = {"ablation": variants, "consistency": together}
    return save("detection", {"matching": rows, "linking": whole, **found})


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    main()
