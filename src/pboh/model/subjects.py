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
from pboh.model.type_classifier import LEAST, THRESHOLD, TypeClassifier
from pboh.model.types import SURE
from pboh.model.writing import ModelWriter
from pboh.text.hashing import Array

TABLE = "subjects"
RIGHT = {"given": 1.0, "infobox": 0.98, "sentence": 0.96, "title": 0.95, "category": 0.9}
"""How often the type that a part of a page tells is right."""
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
    codes, sure, hints = _from_pages(counts, writer, entities)
    with_page = int((codes > 0).sum())
    if with_page >= LEAST:
        classifier = TypeClassifier(mapped, codes, hints)
        classifier.learn(report)
        for some, code, probability in classifier.tell(np.flatnonzero(codes == 0), report):
            codes[some] = np.where(probability >= THRESHOLD, code, 0)
            sure[some] = np.rint(probability * SURE)
    writer.add("entity_type", codes)
    writer.add("entity_type_sure", sure)
    return {"types_from_pages": with_page, "types": int((codes > 0).sum())}


def _from_pages(counts: Path, writer: ModelWriter, entities: int) -> tuple[Array, Array, Array]:
    """Types, how sure they are, and hints of titles; descriptions are written on the way."""
    codes, sure, hints = np.zeros((3, entities), np.uint8)
    sizes = np.zeros(entities, np.int32)
    letters = writer.aside.with_name("descriptions")
    with disk_errors(letters), letters.open("wb") as file:
        for batch in _rows(counts):
            entity = batch["entity"].to_numpy()
            codes[entity] = _numbers(batch["type"], TYPES)
            hints[entity] = _numbers(batch["hint"], TYPES)
            right = np.asarray([0, *(SURE * share for share in RIGHT.values())])
            sure[entity] = np.rint(right[_numbers(batch["evidence"], ("", *RIGHT))])
            texts = batch["description"].cast(pa.binary())
            sizes[entity] = pc.binary_length(texts).to_numpy()
            file.write(b"".join(texts.to_pylist()))
    blob = np.memmap(letters, np.uint8, "r") if letters.stat().st_size else np.empty(0, np.uint8)
    writer.add("description_blob", blob)
    writer.add("description_offsets", offsets_of_sizes(sizes))
    del blob
    letters.unlink()
    return codes, sure, hints


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
