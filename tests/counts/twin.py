"""Every statistic of a corpus folder again, by plain loops over its rows: slow, obvious, keyed by text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import scipy.sparse


def rows(folder: Path) -> list[dict[str, Any]]:
    """All rows of a table, files in the order of their names."""
    return [row for file in sorted(folder.rglob("*.parquet")) for row in pq.read_table(file).to_pylist()]


class Twin:
    """The statistics of one corpus folder by brute force."""

    def __init__(self, corpus: Path) -> None:
        self.pages = rows(corpus / "pages")
        self.title = {row["entity"]: row["title"] for row in rows(corpus / "entities")}
        self.links = rows(corpus / "links")
        self.kind = {page["page"]: page["kind"] for page in self.pages}
        self.word = {row["word"]: row["text"] for row in rows(corpus / "words")}
        self.background = {row["text"]: row["count"] for row in rows(corpus / "words")}
        self.corpus = corpus

    def documents(self) -> list[set[str]]:
        found: dict[int, set[str]] = {}
        for page in self.pages:
            if page["kind"] in ("article", "list"):
                found[page["page"]] = set() if page["entity"] is None else {self.title[page["entity"]]}
        for link in self.links:
            if link["page"] in found:
                found[link["page"]].add(self.title[link["entity"]])
        return [found[page] for page in sorted(found)]

    def anchors(self) -> Counter[tuple[str, str]]:
        counted: Counter[tuple[str, str]] = Counter()
        for link in self.links:
            if self.kind[link["page"]] in ("article", "list"):
                counted[link["anchor"], self.title[link["entity"]]] += 1
        return counted

    def followed(self) -> Counter[tuple[str, str]]:
        """How many links of each anchor a word follows at once."""
        counted: Counter[tuple[str, str]] = Counter()
        for link in self.links:
            if self.kind[link["page"]] in ("article", "list") and link["followed"]:
                counted[link["anchor"], self.title[link["entity"]]] += 1
        return counted

    def extra_names(self) -> set[tuple[str, str, str]]:
        titles = set(self.title.values())
        found = {(title, title, "title") for title in titles}
        for page in self.pages:
            if page["kind"] == "redirect" and page["target"] in titles:
                found.add((page["title"], page["target"], "redirect"))
        name = {p["page"]: re.sub(r" \([^()]*\)$", "", p["title"]) for p in self.pages}
        for link in self.links:
            if self.kind[link["page"]] == "disambiguation":
                found.add((name[link["page"]], self.title[link["entity"]], "disambiguation"))
        return found

    def names(self, top: int = 64) -> dict[tuple[str, str, str], int]:
        """Kept rows: top entities of each name, as written or in lower case."""
        all_rows: dict[tuple[str, str, str], int] = {
            (m, e, "anchor"): c for (m, e), c in self.anchors().items() if m
        }
        all_rows |= dict.fromkeys(self.extra_names(), 1)
        kept = set()
        for fold in (str, str.lower):
            score: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
            for (name, entity, source), count in all_rows.items():
                score[fold(name)][entity][source != "anchor"] += count
            for name, entities in score.items():
                best = sorted(entities, key=lambda e: (-entities[e][0], -entities[e][1], e.encode()))[:top]
                kept |= {(fold, name, entity) for entity in best}
        all_rows |= {(m, e, "followed"): c for (m, e), c in self.followed().items() if m}
        return {
            row: count
            for row, count in all_rows.items()
            if (str, row[0], row[1]) in kept or (str.lower, row[0].lower(), row[1]) in kept
        }

    def pairs(self) -> Counter[tuple[str, str]]:
        """N(e,e') for every ordered pair."""
        return Counter(pair for document in self.documents() for pair in permutations(sorted(document), 2))

    def pair_facts(self) -> tuple[int, int, dict[str, int]]:
        """N_ep, the number of distinct ordered pairs, and each entity's marginal.

        All pairs are listed where that is feasible; real corpora have millions, and go through A·Aᵀ instead.
        """
        documents = self.documents()
        if sum(len(document) ** 2 for document in documents) < 1_000_000:
            pairs = self.pairs()
            marginals = dict.fromkeys(self.title.values(), 0)
            for (entity, _), together in pairs.items():
                marginals[entity] += together
            return sum(pairs.values()), len(pairs), marginals
        number = {title: entity for entity, title in self.title.items()}
        places = [(row, number[title]) for row, document in enumerate(documents) for title in document]
        rows_, columns = zip(*places, strict=True)
        shape = (len(documents), len(number))
        matrix = scipy.sparse.csr_array(([1] * len(rows_), (rows_, columns)), shape=shape)
        together = (matrix.T @ matrix).tocsr()
        together.setdiag(0)
        together.eliminate_zeros()
        sums = together.sum(axis=1)
        return int(together.sum()), int(together.nnz), {title: int(sums[e]) for title, e in number.items()}

    def words(self, table: str) -> Counter[tuple[str, str]]:
        counted: Counter[tuple[str, str]] = Counter()
        for row in rows(self.corpus / table):
            counted[self.title[row["entity"]], self.word[row["word"]]] += row["count"]
        return counted


class Counted:
    """The tables of a counts folder, keyed by titles and words so that numberings do not matter."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.entities = {row["title"]: row for row in rows(folder / "entities")}
        self.title = {row["entity"]: row["title"] for row in self.entities.values()}
        self.word = {row["word"]: row["text"] for row in rows(folder / "words")}
        self.background = {row["text"]: row["count"] for row in rows(folder / "words")}

    def names(self) -> dict[tuple[str, str, str], int]:
        found = rows(self.folder / "names")
        table = {(row["name"], self.title[row["entity"]], row["source"]): row["count"] for row in found}
        assert len(table) == len(found)
        return table

    def documents(self) -> list[frozenset[str]]:
        found: dict[int, set[str]] = defaultdict(set)
        for row in rows(self.folder / "incidences"):
            found[row["document"]].add(self.title[row["entity"]])
        return [frozenset(found[document]) for document in sorted(found)]

    def words(self, table: str) -> dict[tuple[str, str], int]:
        found = rows(self.folder / table)
        keyed = {(self.title[row["entity"]], self.word[row["word"]]): row["count"] for row in found}
        assert len(keyed) == len(found)
        return keyed

    def word_totals(self) -> dict[str, int]:
        return {self.title[row["entity"]]: row["total"] for row in rows(self.folder / "word_totals")}

    def everything(self) -> dict[str, Any]:
        """All tables in a form that does not depend on the order of pages or on numbers."""
        facts = {
            title: (row["occurrences"], row["documents"], row["marginal"], row["page"])
            for title, row in self.entities.items()
        }
        return {
            "entities": facts,
            "names": self.names(),
            "documents": Counter(self.documents()),
            "background": self.background,
            "word_entity": self.words("word_entity"),
            "word_totals": self.word_totals(),
        }
