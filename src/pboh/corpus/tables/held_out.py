"""Pages set aside: articles that are read but never counted, to fit and judge a model on after training.

Chosen are the articles whose ids have the smallest hashes: a fair sample that depends on the pages alone, not
on files, chunks or workers. Their links stay in the table of links, their texts in that of texts; nobody
counts them, and ``pboh evaluate`` reads them as gold: text and links of each as a line of JSON.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import feather

from pboh.corpus.tables.resolve import Chunks
from pboh.files.writing import written_aside
from pboh.text.hashing import hash_strings
from pboh.text.utf8_kernels import Int32, Int64

MOST, SHARE = 1000, 20
"""Unless a number is given, one article in twenty is set aside, and a thousand at most."""
LEAST_LINKS = 3
"""Pages with fewer links are not set aside: they would teach and judge little."""
LONGEST = 20_000
"""Of longer pages the beginning is taken, up to the end of a line."""
WORDS = pa.schema([("text", pa.string()), ("count", pa.int64())])


class HeldOut(NamedTuple):
    """The pages set aside, and what of the chunks' tables is theirs alone."""

    pages: Int32  # their numbers, ascending
    targets: Int64  # rows of the chunks' targets that no other page of the chunk links, ascending
    words: pa.Table  # how often they have each word, chunk by chunk


def hold_out(chunks: Chunks, wanted: int | None) -> HeldOut:
    """Set ``wanted`` pages aside, but at most half of those in question; None means a share of them."""
    pages = _choose(chunks, wanted)
    targets, words = [np.empty(0, np.int64)], [WORDS.empty_table()]
    for number, folder in enumerate(chunks.folders):
        place = chunks.place(number)
        first, last = np.searchsorted(pages, [place.pages.start, place.pages.stop])
        if first < last:
            local = pages[first:last] - np.int32(place.pages.start)
            targets.append(_targets(folder, local, len(place.targets)) + place.targets.start)
            words.append(_words(folder, local))
    return HeldOut(pages, np.concatenate(targets), pa.concat_tables(words))


def page_hashes(pages: pa.Table) -> npt.NDArray[np.uint64]:
    """The hash of every page's id, or of its title if it has none."""
    names = pc.coalesce(pc.cast(pages.column("id"), pa.string()), pages.column("title"))
    return hash_strings(names.to_pylist())


def _choose(chunks: Chunks, wanted: int | None) -> Int32:
    """Numbers of the pages with the smallest hashes; of equal ones the first."""
    most = MOST if wanted is None else wanted
    eligible = 0
    best = np.empty(0, np.uint64), np.empty(0, np.int64)
    for number, folder in enumerate(chunks.folders if most else ()):
        about = pq.read_table(folder / "pages.parquet", columns=["local", "id", "title", "kind", "links"])
        about = about.filter((pc.field("kind") == "article") & (pc.field("links") >= LEAST_LINKS))
        eligible += about.num_rows
        page = about.column("local").to_numpy() + chunks.offsets["pages"][number]
        hashes = np.concatenate([best[0], page_hashes(about)])
        order = np.argsort(hashes, kind="stable")[:most]
        best = hashes[order], np.concatenate([best[1], page])[order]
    some = min(most, eligible // (SHARE if wanted is None else 2))
    return np.sort(best[1][:some]).astype(np.int32)


def _targets(folder: Path, local: Int32, count: int) -> Int64:
    """Numbers of the chunk's targets that only these pages link."""
    links = feather.read_table(str(folder / "links.arrow"), columns=["page", "target"], memory_map=True)
    theirs = np.isin(links.column("page").to_numpy(), local)
    target = links.column("target").to_numpy()
    used = np.zeros((2, count), np.bool_)
    used[0, target[theirs]] = True
    used[1, target[~theirs]] = True
    return np.flatnonzero(used[0] & ~used[1])


def _words(folder: Path, local: Int32) -> pa.Table:
    """How often each word of the chunk is on these pages."""
    ends = feather.read_table(str(folder / "ends.arrow"), memory_map=True).column("token").to_numpy()
    tokens = feather.read_table(str(folder / "tokens.arrow"), memory_map=True).column("word").to_numpy()
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    theirs = [np.empty(0, np.int32), *(tokens[starts[page] : ends[page]] for page in local.tolist())]
    counts = np.bincount(np.concatenate(theirs))
    word = np.flatnonzero(counts)
    text = pq.read_table(folder / "words.parquet", columns=["text"]).column("text").take(pa.array(word))
    return pa.table({"text": text, "count": counts[word].astype(np.int64)}, schema=WORDS)


# -- as gold -----------------------------------------------------------------------------------------


def write_gold(corpus: Path, path: Path) -> int:
    """Write the pages of a corpus that were set aside, in the order of their hashes; returns how many.

    Without such pages there is no file.
    """
    held = ds.dataset(corpus / "pages").to_table(["page", "id", "title"], filter=pc.field("held"))
    if not held.num_rows:
        path.unlink(missing_ok=True)
        return 0
    held = held.take(pa.array(np.argsort(page_hashes(held), kind="stable")))
    pages = held.column("page")
    texts = {row["page"]: row["text"] for row in _rows(corpus / "texts", ["page", "text"], pages)}
    links = _links(corpus, pages)
    with written_aside(path) as aside, aside.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, 0) as file:
        for row in held.to_pylist():
            text = texts.get(row["page"], "")
            if len(text) > LONGEST:
                text = text[: text.rfind("\n", 0, LONGEST) + 1 or LONGEST]
            inside = [link for link in links.get(row["page"], ()) if link[1] <= len(text)]
            line = {"id": row["id"], "title": row["title"], "text": text, "links": inside}
            file.write(msgspec.json.encode(line) + b"\n")
    return int(held.num_rows)


def _links(corpus: Path, pages: pa.ChunkedArray) -> dict[int, list[tuple[int, int, str]]]:
    """Start, end and title of the links on pages, in the order of the text."""
    rows = list(_rows(corpus / "links", ["page", "start", "end", "entity"], pages))
    wanted = pa.array(sorted({row["entity"] for row in rows}), pa.int32())
    known = ds.dataset(corpus / "entities").to_table(
        ["entity", "title"], filter=pc.field("entity").isin(wanted)
    )
    titles = dict(zip(known.column("entity").to_pylist(), known.column("title").to_pylist(), strict=True))
    links: dict[int, list[tuple[int, int, str]]] = {}
    for row in rows:
        links.setdefault(row["page"], []).append((row["start"], row["end"], titles[row["entity"]]))
    return links


def _rows(folder: Path, columns: list[str], pages: pa.ChunkedArray) -> Iterator[dict[str, Any]]:
    """Rows of some pages, file after file: one file's matches are held at a time."""
    for path in sorted(folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                numbers = file.read_row_group(group, ["page"]).column("page")
                mask = pc.is_in(numbers, value_set=pages.combine_chunks())
                if pc.any(mask).as_py():
                    yield from file.read_row_group(group, columns).filter(mask).to_pylist()
