"""A corpus folder and a model that knows its names, small and made from a seed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pboh.model.names import NameCollector
from pboh.model.store import ARRAYS
from pboh.model.writing import ModelWriter
from pboh.text.hashing import bucket_index, hash_strings, string_blob

TITLES = [
    f"{place} ({kind})" for place in ("Avon", "Berg", "Clay", "Dorn") for kind in ("city", "river", "film")
]
Links = list[tuple[int, str, int]]  # page, anchor, entity


def random_links(pages: int = 60, seed: int = 0) -> Links:
    """Pages about cities, rivers or films: which one a name means follows from the others."""
    rng = np.random.default_rng(seed)
    links = []
    for page in range(pages):
        kind = int(rng.integers(0, 3))
        for _ in range(rng.integers(2, 8)):
            place, this = int(rng.integers(0, 4)), kind if rng.random() < 0.85 else int(rng.integers(0, 3))
            name = TITLES[3 * place].split()[0]
            links.append((page, name if rng.random() < 0.7 else name.upper(), 3 * place + this))
    return links


def _write(folder: Path, **columns) -> None:
    folder.mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "00000.parquet")


def write_corpus(folder: Path, links: Links, kinds: dict[int, str] | None = None) -> Path:
    """The tables of a corpus folder that learning reads."""
    pages = max(page for page, _, _ in links) + 1
    kind = [(kinds or {}).get(page, "article") for page in range(pages)]
    _write(folder / "pages", page=pa.array(range(pages), pa.int32()), kind=pa.array(kind, pa.string()))
    _write(folder / "entities", entity=pa.array(range(len(TITLES)), pa.int32()), title=pa.array(TITLES))
    _write(
        folder / "links",
        page=pa.array([p for p, _, _ in links], pa.int32()),
        anchor=pa.array([a for _, a, _ in links]),
        entity=pa.array([e for _, _, e in links], pa.int32()),
    )
    (folder / "corpus.json").write_text(json.dumps({"format": "pboh-corpus", "version": 1, "language": "en"}))
    return folder


def empty_arrays() -> dict[str, np.ndarray]:
    """The arrays of a model that knows nothing."""
    sizes = {name: 3 if name.endswith("_buckets") else int(name.endswith("_offsets")) for name in ARRAYS}
    shapes = {name: (sizes[name],) * dimensions for name, (_, dimensions) in ARRAYS.items()}
    shapes |= {"context_mass": (2, 0), "context_types": (2, 0)}
    return {name: np.zeros(shapes[name], dtype) for name, (dtype, _) in ARRAYS.items()}


def write_model(folder: Path, links: Links) -> Path:
    """A model of the same links; its entities are numbered the other way round, so numbers must be mapped."""
    titles = TITLES[::-1]
    arrays = empty_arrays()
    counted = Counter((anchor, len(TITLES) - 1 - entity) for _, anchor, entity in links)
    names = NameCollector()
    entities = np.asarray([e for _, e in counted])
    names.add_anchors([a for a, _ in counted], entities, np.asarray(list(counted.values()), np.float32))
    arrays |= names.table(np.zeros(len(titles)), 64)
    blob, offsets = string_blob(titles)
    hashes = hash_strings(titles)
    order = np.argsort(hashes)
    arrays |= {
        "title_blob": blob, "title_offsets": offsets, "title_hash": hashes[order],
        "title_buckets": bucket_index(hashes[order]), "title_entity": order.astype(np.uint32),
    }  # fmt: skip
    writer = ModelWriter(folder)
    for name, array in arrays.items():
        writer.add(name, array)
    writer.finish({"language": "en", "totals": {"documents": 60, "pairs": 1000, "distinct_pairs": 100}})
    return folder
