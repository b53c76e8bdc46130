"""Small corpus folders for tests: pages described in Python, or drawn at random from a seed."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

CHUNK = 7  # pages a chunk: small, so that every test has several files
INT, LONG, TEXT = pa.int32(), pa.int64(), pa.string()


@dataclass
class Page:
    title: str
    kind: str = "article"
    target: str | None = None
    links: list[tuple[str, str]] = field(default_factory=list)  # (anchor, title)
    words: list[str] = field(default_factory=list)


def final_titles(pages: Sequence[Page]) -> dict[str, str | None]:
    """What the title of each page that is no article stands for (None: nothing)."""
    first: dict[str, Page] = {}
    for page in pages:
        first.setdefault(page.title, page)
    final: dict[str, str | None] = {}
    for page in first.values():
        if page.kind == "article":
            continue
        title: str | None = page.title
        seen = set()
        while title in first and first[title].kind == "redirect" and title not in seen:
            seen.add(title)
            title = first[title].target
        final[page.title] = (
            None if title is None or (title in first and first[title].kind != "article") else title
        )
    return final


def write_corpus(folder: Path, pages: Sequence[Page], language: str = "en") -> Path:
    """Write pages as `pboh extract` would: titles resolved, red links kept, words summed per chunk."""
    final = final_titles(pages)
    links = [
        (number, anchor, resolved)
        for number, page in enumerate(pages)
        for anchor, title in page.links
        if page.kind in ("article", "list", "disambiguation")
        and (resolved := final.get(title, title)) is not None
    ]
    own = {number: final.get(p.title, p.title) for number, p in enumerate(pages) if p.kind == "article"}
    titles = sorted({title for _, _, title in links} | {title for title in own.values() if title})
    entity = {title: number for number, title in enumerate(titles)}
    texts = sorted({word for page in pages for word in page.words})
    word = {text: number for number, text in enumerate(texts)}
    background = Counter(w for page in pages if page.kind in ("article", "list") for w in page.words)
    page_of = {title: number for number, title in reversed(own.items())}

    _write(
        folder / "pages",
        0,
        {
            "page": (INT, range(len(pages))),
            "id": (LONG, [None] * len(pages)),
            "title": (TEXT, [p.title for p in pages]),
            "kind": (TEXT, [p.kind for p in pages]),
            "target": (
                TEXT,
                [final.get(p.title) or p.target if p.kind == "redirect" else None for p in pages],
            ),
            "entity": (INT, [entity.get(own.get(number, "")) for number in range(len(pages))]),
        },
    )
    _write(
        folder / "entities",
        0,
        {
            "entity": (INT, range(len(titles))),
            "title": (TEXT, titles),
            "page": (INT, [page_of.get(t) for t in titles]),
        },
    )
    _write(
        folder / "words",
        0,
        {
            "word": (INT, range(len(texts))),
            "text": (TEXT, texts),
            "count": (LONG, [background[t] for t in texts]),
        },
    )
    for chunk, start in enumerate(range(0, max(len(pages), 1), CHUNK)):
        numbers = range(start, min(start + CHUNK, len(pages)))
        here = [link for link in links if link[0] in numbers]
        places = list(range(len(here)))
        _write(
            folder / "links",
            chunk,
            {
                "page": (INT, [n for n, _, _ in here]),
                "start": (INT, places),
                "end": (INT, places),
                "anchor": (TEXT, [a for _, a, _ in here]),
                "entity": (INT, [entity[t] for _, _, t in here]),
                "followed": (pa.bool_(), [len(pages[n].title + a) % 3 == 0 for n, a, _ in here]),  # some
            },
        )
        around = Counter(
            (entity[title], word[w])
            for n, _, title in here
            if pages[n].kind in ("article", "list")
            for w in pages[n].words
        )
        _write_counts(folder / "context_words", chunk, around)
        shown = [n for n in numbers if pages[n].kind in ("article", "list", "disambiguation")]
        _write(
            folder / "texts",
            chunk,
            {
                "page": (INT, shown),
                "text": (TEXT, [" ".join([*pages[n].words, *(a for a, _ in pages[n].links)]) for n in shown]),
            },
        )
    manifest = {"format": "pboh-corpus", "version": 1, "wiki": "testwiki", "language": language, "date": None}
    (folder / "corpus.json").write_text(json.dumps(manifest))
    return folder


def _write(folder: Path, chunk: int, columns: dict[str, tuple[pa.DataType, Iterable]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table({name: pa.array(list(values), kind) for name, (kind, values) in columns.items()})
    pq.write_table(table, folder / f"{chunk:05}.parquet", compression="zstd")


def _write_counts(folder: Path, chunk: int, counts: Counter[tuple[int, int]]) -> None:
    rows = sorted(counts.items())
    _write(
        folder,
        chunk,
        {
            "entity": (INT, [e for (e, _), _ in rows]),
            "word": (INT, [w for (_, w), _ in rows]),
            "count": (INT, [c for _, c in rows]),
        },
    )


def random_pages(seed: int, size: int = 60, prefix: str = "", links_to: Sequence[str] = ()) -> list[Page]:
    """Pages of every kind with links among themselves, to red links, and to the titles of another corpus."""
    draw = random.Random(seed)
    titles = [f"{prefix}Page {number}" + (" (place)" if number % 9 == 0 else "") for number in range(size)]
    titles[0] = f"{prefix}Mercury (disambiguation)"
    kinds = draw.choices(["article", "redirect", "list", "disambiguation"], [8, 3, 1, 1], k=size)
    kinds[0] = "disambiguation"
    targets = [*titles, *(f"{prefix}Red {number}" for number in range(size // 2)), *links_to, "Éire", "東京"]
    vocabulary = [f"{prefix[:1].lower()}word{number}" for number in range(30)] + ["shared", "straße", "água"]
    pages = []
    for title, kind in zip(titles, kinds, strict=True):
        page = Page(title, kind)
        if kind == "redirect":
            page.target = draw.choice(targets)
        else:
            chosen = [targets[int(len(targets) * draw.random() ** 2)] for _ in range(draw.randrange(0, 14))]
            page.links = [(draw.choice([t, t.lower(), t.split()[0], "it", "IT"]), t) for t in chosen]
            page.words = [
                vocabulary[int(len(vocabulary) * draw.random() ** 2)] for _ in range(draw.randrange(0, 25))
            ]
        pages.append(page)
    return pages
