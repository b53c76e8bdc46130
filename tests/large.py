"""Tables and dumps too large for the memory that a test allows, generated in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pboh.corpus.tables.second_pass import COUNTS, PLACED_LINKS, TOKENS
from pboh.files.writing import write_json


def write(path: Path, **columns: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, compression="zstd")


def ints(values: Any) -> pa.Array:
    return pa.array(values, pa.int32())


def large_counts(folder: Path, entities: int, words: int, names: int) -> int:
    """Counts of entities with ``words`` words each, and of names that two entities share.

    Returns the bytes of N(w,e) as numbers.
    """
    part, vocabulary = "part-00000.parquet", 4 * words
    longs = pa.array(np.arange(1, entities + 1), pa.int64())
    titles = [f"Title {number} of a page" for number in range(entities)]
    write(folder / "entities" / part, entity=ints(range(entities)), title=titles, occurrences=longs,
          documents=longs, marginal=longs, page=pa.array([True] * entities), id=longs)  # fmt: skip
    write(
        folder / "incidences" / part, entity=ints(range(entities)), document=ints(np.arange(entities) % 999)
    )
    texts = [f"word{number:08}" for number in range(vocabulary)]
    write(folder / "words" / part, word=ints(range(vocabulary)), text=texts,
          count=pa.array(np.ones(vocabulary, np.int64)))  # fmt: skip
    write(folder / "word_totals" / part, entity=ints(range(entities)), total=longs)
    forms = sorted(f"Name {number} of Some Thing" for number in range(names))
    owners = ints((np.repeat(np.arange(names), 2) + np.tile([0, 1], names)) % entities)
    write(folder / "names" / part, name=[form for form in forms for _ in range(2)], entity=owners,
          source=["anchor"] * 2 * names, count=pa.array(np.full(2 * names, 3, np.int64)))  # fmt: skip
    write(folder / "names_in_text" / part, name=forms, linked=pa.array(np.full(names, 3, np.int64)),
          total=pa.array(np.full(names, 9, np.int64)))  # fmt: skip
    (folder / "word_entity").mkdir()
    step = max(1, 1_000_000 // words)
    with pq.ParquetWriter(folder / "word_entity" / part, COUNTS, compression="zstd") as writer:
        for first in range(0, entities, step):
            owners = np.arange(first, min(first + step, entities), dtype=np.int32)
            word = np.tile(np.arange(0, vocabulary, 4, dtype=np.int32), owners.size)
            word += np.repeat(owners % 4, words)
            rows = {"entity": np.repeat(owners, words), "word": word, "count": word % 5 + 2}
            writer.write_table(pa.table(rows, schema=COUNTS))
    totals = {"documents": 999, "pairs": 10, "distinct_pairs": 10}
    write_json(folder / "counts.json", {"format": "pboh-counts", "version": 1, "totals": totals})
    return 12 * entities * words


def large_corpus(folder: Path, pages: int, tokens: int, links: int) -> int:
    """A corpus with tokens; returns the bytes of all words around links, as numbers."""
    draw, window, vocabulary = np.random.default_rng(3), 50, 20_000
    write(folder / "pages" / "00000.parquet", page=ints(range(pages)), id=pa.array(range(pages), pa.int64()),
          title=[f"Page {number:06}" for number in range(pages)], kind=["article"] * pages,
          target=pa.nulls(pages, pa.string()), entity=ints(range(pages)),
          held=pa.array([False] * pages))  # fmt: skip
    write(folder / "entities" / "00000.parquet", entity=ints(range(pages)),
          title=[f"Page {number:06}" for number in range(pages)], page=ints(range(pages)),
          held=pa.array([False] * pages))  # fmt: skip
    write(folder / "words" / "00000.parquet", word=ints(range(vocabulary)),
          text=[f"word{number:06}" for number in range(vocabulary)],
          count=pa.array(np.ones(vocabulary, np.int64)))  # fmt: skip
    gathered, chunk = 0, pages // 10
    for number in range(10):
        own = np.arange(number * chunk, (number + 1) * chunk, dtype=np.int32)
        words = draw.integers(0, vocabulary, chunk * tokens, np.int32)
        lists = pa.ListArray.from_arrays(ints(np.arange(chunk + 1) * tokens), pa.array(words),
                                         type=TOKENS.field("words").type)  # fmt: skip
        sizes = np.full(chunk, tokens, np.int32)
        table = pa.table({"page": own, "tokens": sizes, "words": lists}, schema=TOKENS)
        path = folder / "tokens" / f"{number:05}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(table, path, compression="zstd")
        page = np.repeat(own, links)
        before = np.sort(draw.integers(0, tokens, (chunk, links), np.int32)).ravel()
        around = np.minimum(before, window) + np.minimum(tokens - before, window)
        gathered += int(around.sum())
        entity = (pages * draw.random(page.size) ** 3).astype(np.int32)  # some far more than others
        names = pa.array([f"name {k}" for k in range(1000)]).take(pa.array(entity % 1000))
        columns = {"page": page, "start": before, "end": before, "anchor": names, "entity": entity}
        columns["followed"] = entity % 3 == 0
        path = folder / "links" / f"{number:05}.parquet"
        path.parent.mkdir(exist_ok=True)
        placed = pa.table({**columns, "before": before, "after": before}, schema=PLACED_LINKS)
        pq.write_table(placed, path, compression="zstd")
    options = {"window": window, "tokens": True, "hold_out": 0}
    manifest = {"format": "pboh-corpus", "version": 1, "language": "en", "options": options}
    write_json(folder / "corpus.json", manifest)
    return 4 * gathered


def large_dump(path: Path, pages: int) -> int:
    """A dump of long pages with links; returns its bytes."""
    with path.open("w") as file:
        file.writelines(_pages(pages))
    return path.stat().st_size


def _pages(pages: int) -> Iterator[str]:
    yield '<mediawiki xml:lang="en"><siteinfo><dbname>enwiki</dbname></siteinfo>\n'
    words = [f"word{number}" for number in range(997)]
    plain = " ".join(words * 8)
    for number in range(pages):
        links = " ".join(f"[[Page {(number * 31 + k) % pages}|name {k}]] {words[k]}" for k in range(200))
        yield f"<page><title>Page {number}</title><ns>0</ns><id>{number + 1}</id><revision><text>"
        yield f"{links}\n\n{plain}</text></revision></page>\n"
    yield "</mediawiki>\n"
