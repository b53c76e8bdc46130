"""Strings of all chunks put in one order and numbered, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pboh.corpus.tables.second_pass import DELTA
from pboh.files.database import arrow_batches, quoted
from pboh.text.utf8_kernels import Int32, Int64

SAMPLED = 1024
"""One row in this many is enough to say where parts begin."""
ROW = 160
"""Bytes that DuckDB takes for a row while it groups or joins strings, generously."""
_BATCH = 1 << 17


class Ordered:
    """One part of the alphabet after the other, each small enough to be grouped and joined in memory.

    DuckDB does not get through hundreds of millions of strings at once, whatever it may write to disk.
    ``rows`` says how many there are, ``samples`` is a query for some of them, as ``text``.
    """

    def __init__(self, database: duckdb.DuckDBPyConnection, samples: str, rows: int, memory: int) -> None:
        self._database = database
        parts = 1 + rows * ROW // memory
        shares = [number / parts for number in range(1, parts)]
        query = f"SELECT unnest(quantile_disc(text, {shares})) FROM ({samples})"
        bounds = database.sql(query).fetchall() if shares else []
        self._bounds = sorted({bound for (bound,) in bounds if bound is not None})

    def _conditions(self) -> Iterator[str]:
        """What says of a ``text`` that it belongs to each part, in order."""
        for low, high in pairwise([None, *self._bounds, None]):
            least = "" if low is None else f" AND text >= {quoted(low)}"
            yield f"text IS NOT NULL{least}" + ("" if high is None else f" AND text < {quoted(high)}")

    def write(
        self,
        path: Path,
        number: str,
        rows: str,
        columns: str,
        having: str = "true",
        compression: str = "zstd",
    ) -> int:
        """Write ``columns`` of every ``text`` among the rows, numbered; returns how many there are."""
        how = {"compression": compression, "use_dictionary": False, "column_encoding": {number: DELTA}}
        path.parent.mkdir(exist_ok=True)
        written, writer = 0, None
        for condition in self._conditions():
            query = f"""
                SELECT {columns} FROM ({rows}) WHERE {condition}
                GROUP BY text HAVING {having} ORDER BY text"""
            for batch in arrow_batches(self._database, query, _BATCH):
                numbers = pa.array(np.arange(written, written + batch.num_rows, dtype=np.int32))
                named = dict(zip(batch.schema.names, batch.columns, strict=True))
                table = pa.table({number: numbers, **named})
                writer = writer or pq.ParquetWriter(path, table.schema, **how)
                writer.write_table(table)
                written += batch.num_rows
        if writer:
            writer.close()
        return written

    def look_up(self, rows: str, known: str, offsets: Int64, numbers: Int32) -> None:
        """Put the number of every row whose text is known in its place.

        ``rows`` is a query for ``chunk``, ``local`` and ``text``, ``known`` one for ``text`` and ``number``;
        ``offsets`` says how many rows come before a chunk.
        """
        for condition in self._conditions():
            query = f"""
                SELECT chunk, local, number FROM (SELECT * FROM ({rows}) WHERE {condition})
                JOIN (SELECT * FROM ({known}) WHERE {condition}) USING (text)"""
            for batch in arrow_batches(self._database, query, _BATCH):
                numbers[offsets[column(batch, "chunk")] + column(batch, "local")] = column(batch, "number")


def column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """A column of numbers."""
    values: npt.NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return values
