"""Types and short descriptions of entities: what pages say, and what a classifier makes of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pboh.errors import CountsError
from pboh.files.progress import Report, silent
from pboh.files.writing import disk_errors
from pboh.formats.types import TYPES
from pboh.model.tables import offsets_of_sizes
from pboh.model.type_classifier import LEAST, TypeClassifier
from pboh.model.types import SURE
from pboh.model.writing import ModelWriter
from pboh.text.hashing import Array

TABLE = "subjects"
RIGHT = {"given": 1.0, "infobox": 0.98, "sentence": 0.98, "text": 0.9, "title": 0.95, "category": 0.9}
"""How often the type that a part of a page tells is right."""
OTHER = 0.5
"""The share of `other` among wrong types: *the name of a town*, *the form of a goddess*."""
THRESHOLD, WITH_PAGE = 0.5, 0.8
"""A type that is less likely is not given: of an entity that is only linked to, of one that has a page."""
_AT_A_TIME = 1 << 16


def add_subjects(counts: Path, writer: ModelWriter, report: Report = silent) -> dict[str, int]:
    """Write types and descriptions beside the arrays that ``writer`` has; returns how many there are.

    Counts made before pages were asked what they are about add nothing.
    """
    if not any(pq.read_metadata(path).num_rows for path in _files(counts)):
        return {}

    def mapped(name: str) -> Array:
        return np.asarray(np.load(writer.aside / f"{name}.npy", mmap_mode="r"))

    entities = mapped("title_offsets").size - 1
    codes, right, hints, paged = _from_pages(counts, writer, entities)
    with_page = int((codes > 0).sum())
    sure = right
    if with_page >= LEAST:
        if (writer.aside / "entity_page.npy").exists():
            paged |= mapped("entity_page") > 0
        codes, sure = _weighed(codes, right, paged, TypeClassifier(mapped, codes, hints), report)
    writer.add("entity_type", codes)
    writer.add("entity_type_sure", np.rint(SURE * sure).astype(np.uint8))
    return {"types_from_pages": with_page, "types": int((codes > 0).sum())}


def _weighed(
    codes: Array, right: Array, paged: Array, classifier: TypeClassifier, report: Report
) -> tuple[Array, Array]:
    """The likeliest types and their probability, by what pages say and what a model counts (Bayes' rule)."""
    classifier.learn(report)
    best, sure = codes.copy(), right.copy()
    wrong = np.full(len(TYPES), (1 - OTHER) / (len(TYPES) - 2))
    wrong[TYPES.index("other")] = OTHER
    for some, probability in classifier.tell(np.flatnonzero(right < 1), report):
        said = codes[some]
        likelihood = np.where(said > 0, (1 - right[some]) * wrong[said], 1.0)[:, None]
        weighed = probability * likelihood
        weighed[np.arange(some.size), said] = probability[np.arange(some.size), said] * right[some]
        weighed[:, 0] = 0
        weighed /= weighed.sum(1, keepdims=True)
        best[some], sure[some] = weighed.argmax(1), weighed.max(1)
    best[sure < np.where(paged, WITH_PAGE, THRESHOLD)] = 0
    return best, sure


def _from_pages(counts: Path, writer: ModelWriter, entities: int) -> tuple[Array, Array, Array, Array]:
    """Types, how often such are right, hints of titles, and which entities a page describes.

    Descriptions are written on the way.
    """
    codes, hints = np.zeros((2, entities), np.uint8)
    right = np.zeros(entities, np.float32)
    sizes, shares = np.zeros(entities, np.int32), np.asarray([0, *RIGHT.values()])
    paged, title = np.zeros(entities, np.bool_), 1 + [*RIGHT].index("title")
    letters = writer.aside.with_name("descriptions")
    with disk_errors(letters), letters.open("wb") as file:
        for batch in _rows(counts):
            entity = batch["entity"].to_numpy()
            codes[entity] = _numbers(batch["type"], TYPES)
            hints[entity] = _numbers(batch["hint"], TYPES)
            evidence = _numbers(batch["evidence"], ("", *RIGHT))
            right[entity] = shares[evidence]
            paged[entity] = (evidence > 0) & (evidence != title)
            texts = batch["description"].cast(pa.binary())
            sizes[entity] = pc.binary_length(texts).to_numpy()
            file.write(b"".join(texts.to_pylist()))
    blob = np.memmap(letters, np.uint8, "r") if letters.stat().st_size else np.empty(0, np.uint8)
    writer.add("description_blob", blob)
    writer.add("description_offsets", offsets_of_sizes(sizes))
    del blob
    letters.unlink()
    return codes, right, hints, paged | (sizes > 0)


def _numbers(column: pa.Array, names: tuple[str, ...]) -> Array:
    """The place of every name among ``names``, 0 for those that are not there."""
    places = pc.index_in(column, pa.array(names))
    return np.asarray(places.fill_null(0).to_numpy(zero_copy_only=False), np.uint8)


def _files(counts: Path) -> list[Path]:
    return sorted((counts / TABLE).rglob("[!.]*.parquet"))


def _rows(counts: Path) -> Iterator[pa.RecordBatch]:
    """What pages say, by ascending entity."""
    last = -1
    for path in _files(counts):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_A_TIME):
                entity = batch["entity"].to_numpy()
                if entity.size and (entity[0] <= last or (np.diff(entity) <= 0).any()):
                    what, todo = f"the table {TABLE} is not in order", "Run pboh count again"
                    raise CountsError(what, where=path, todo=todo)
                last = int(entity[-1]) if entity.size else last
                yield batch
