"""A dump of a Wikipedia that never was, in the format and with the proportions of the English one.

At scale 1 there are 7 million articles with 200 million links to 12 million targets, and redirects,
disambiguations, categories and templates beside them, in 100 GB of XML. Frequencies follow power laws: the
most frequent articles are linked from 10⁵ to 10⁶ others.

The files are those of a download: parts of concatenated bz2 streams, their indexes, the table ``page_props``
and ``download.json``. A stream is a function of its number and the seed. A part is renamed when it is
complete, so a stopped generator goes on with the next.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.generated_pages import IDS, World, Writer, header
from pboh.corpus.download.folder import MANIFEST
from pboh.corpus.download.mirror import MIRROR, Dump, Part
from pboh.files.progress import Report, silent
from pboh.files.workers import Workers
from pboh.files.writing import read_json, write_json

DATE, WIKI = "20260101", "enwiki"
STATE = "generated.json"
PART = 3_000  # streams of a part
STREAM = 33  # articles of a stream; with what is beside them about 100 pages, as in Wikimedia's dumps
SEED = 1
PROPERTIES = (
    "-- MySQL dump 10.19\nDROP TABLE IF EXISTS `page_props`;\nCREATE TABLE `page_props` (\n"
    "  `pp_page` int(10) unsigned NOT NULL,\n  `pp_propname` varbinary(60) NOT NULL DEFAULT '',\n"
    "  `pp_value` blob NOT NULL,\n  `pp_sortkey` float DEFAULT NULL,\n"
    "  PRIMARY KEY (`pp_page`,`pp_propname`)\n) ENGINE=InnoDB DEFAULT CHARSET=binary;\n"
)


@dataclass
class Made:
    """What a part, or the whole, contains."""

    articles: int = 0
    pages: int = 0
    links: int = 0
    xml_bytes: int = 0
    bytes: int = 0
    sha1: str = ""

    def add(self, other: Made) -> None:
        """Count another part too."""
        for name in ("articles", "pages", "links", "xml_bytes", "bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Stream:
    """A compressed stream of pages, with what its index and other tables say about it."""

    data: bytes
    index: list[tuple[int, str]]
    properties: str
    made: Made

    @classmethod
    def of(cls, text: str) -> Stream:
        """A stream without pages."""
        data = bz2.compress(text.encode(), 1)
        return cls(data, [], "", Made(xml_bytes=len(text), bytes=len(data)))


def stream(world: World, seed: int, number: int) -> Stream:
    """The stream of a number."""
    writer = Writer(world, np.random.default_rng([seed, number]))
    places = range(number * STREAM, min((number + 1) * STREAM, world.articles))
    pages = [page for place in places for page in writer.group(place)]
    data = "".join(pages).encode()
    index = [(int(found[2]), found[1]) for page in pages if (found := _HEAD.search(page))]
    compressed = bz2.compress(data, 1)
    made = Made(len(places), len(pages), writer.linked, len(data), len(compressed))
    return Stream(compressed, index, _properties(world, places), made)


_HEAD = re.compile(r"<title>(.*?)</title>\n    <ns>-?\d+</ns>\n    <id>(\d+)</id>")


def _properties(world: World, places: Sequence[int]) -> str:
    """Rows of ``page_props`` of articles: their item of Wikidata, and two that are not about Wikidata."""
    rows = []
    for place in places:
        page, entity = (place + 1) * IDS, world.entity(place)
        given, family = world.names(entity)
        rows += [
            f"({page},'defaultsort','{family}, {given}',NULL)",
            f"({page},'page_image_free','{entity}.jpg',NULL)",
        ]
        rows.append(f"({page},'wikibase_item','Q{entity + 1}',NULL)")
    return f"INSERT INTO `page_props` VALUES {','.join(rows)};\n" if rows else ""


def generate(
    folder: Path, scale: float, *, seed: int = SEED, workers: int = 2, report: Report = silent
) -> dict[str, Any]:
    """Write a dump of this scale, or what is still missing of it; returns what it contains."""
    world, state = World.of(scale), folder / STATE
    folder.mkdir(parents=True, exist_ok=True)
    recipe: dict[str, Any] = {"scale": scale, "seed": seed}
    known = read_json(state, "the generator's state") if state.exists() else recipe | {"parts": []}
    if {name: known[name] for name in recipe} != recipe:
        raise ValueError(f"{folder} holds another dump: scale {known['scale']}, seed {known['seed']}")
    parts = [Made(**part) for part in known["parts"]]
    streams = range(-(-world.articles // STREAM))
    with Workers(workers) as pool:
        for number in range(len(parts), -(-len(streams) // PART)):
            mine = streams[number * PART : (number + 1) * PART]
            made = pool.map(partial(stream, world, seed), mine)
            parts.append(_part(folder, world, number, _told(made, mine, len(streams), report)))
            write_json(state, recipe | {"parts": [asdict(part) for part in parts]})
    whole = Made()
    for part in parts:
        whole.add(part)
    _write_manifest(folder, world, parts)
    return {name: value for name, value in asdict(whole).items() if name != "sha1"}


def _told(made: Iterator[Stream], mine: range, total: int, report: Report) -> Iterator[Stream]:
    for number, one in zip(mine, made, strict=True):
        report(number, total, "generate")
        yield one


def _names(world: World, number: int) -> dict[str, str]:
    """The files of a part."""
    first, last = number * PART * STREAM, min((number + 1) * PART * STREAM, world.articles)
    stem, pages = f"{WIKI}-{DATE}-pages-articles-multistream", f"p{first * IDS + 1}p{last * IDS + IDS}"
    return {
        "xml": f"{stem}{number + 1}.xml-{pages}.bz2",
        "index": f"{stem}-index{number + 1}.txt-{pages}.bz2",
        "properties": f".page_props.{number:05}.gz",
    }


def _part(folder: Path, world: World, number: int, streams: Iterator[Stream]) -> Made:
    """Write one part with its index and its share of ``page_props``; returns what it contains."""
    paths = {kind: folder / name for kind, name in _names(world, number).items()}
    aside = {kind: path.with_name(f".{path.name}.tmp") for kind, path in paths.items()}
    made, digest = Made(), hashlib.sha1(usedforsecurity=False)
    with (
        aside["xml"].open("wb") as xml,
        bz2.open(aside["index"], "wt", 1, encoding="utf-8") as index,
        gzip.GzipFile(aside["properties"], "wb", 1, mtime=0) as properties,
    ):
        begin, end = Stream.of(header()), Stream.of("</mediawiki>\n")
        for one in chain([begin], streams, [end]):
            index.writelines(f"{made.bytes}:{page}:{title}\n" for page, title in one.index)
            properties.write(one.properties.encode())
            xml.write(one.data)
            digest.update(one.data)
            made.add(one.made)
    for kind, path in paths.items():
        aside[kind].replace(path)
    made.sha1 = digest.hexdigest()
    return made


def _write_manifest(folder: Path, world: World, parts: list[Made]) -> None:
    """Join the shares of ``page_props``, and describe the folder as a download does."""
    properties = folder / f"{WIKI}-{DATE}-page_props.sql.gz"
    shares = [folder / _names(world, number)["properties"] for number in range(len(parts))]
    if not properties.exists():
        aside = properties.with_name(f".{properties.name}.tmp")
        with aside.open("wb") as file:
            file.write(gzip.compress(PROPERTIES.encode(), mtime=0))
            for share in shares:
                file.write(share.read_bytes())
        aside.replace(properties)
    for share in shares:
        share.unlink(missing_ok=True)
    files = [
        Part(number, _names(world, number - 1)["xml"], part.bytes, part.sha1, verified=True)
        for number, part in enumerate(parts, start=1)
    ]
    with properties.open("rb") as file:
        sha1 = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
    tables = [Part(0, properties.name, properties.stat().st_size, sha1, verified=True)]
    dump = Dump(wiki=WIKI, date=DATE, mirror=MIRROR, available=len(files), files=files, tables=tables)
    write_json(folder / MANIFEST, dump)
