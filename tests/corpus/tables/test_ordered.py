"""Strings of many chunks in one order, against sorting them all in Python."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.corpus.tables.ordered import ROW, Ordered
from pboh.files.database import open_database

texts = st.lists(
    st.sampled_from(["a", "b", "", "'", "''", "é", "z'a", "日本", "𝒜", "aa", "B"]) | st.text(max_size=3)
)


@given(st.lists(texts, min_size=1, max_size=4), texts, st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_strings_are_numbered_in_order_part_by_part(
    chunks: list[list[str]], others: list[str], parts: int
) -> None:
    chunks = [[text.replace("\0", "") for text in chunk] for chunk in chunks]
    offsets = np.cumsum([0, *map(len, chunks)])
    rows = [(chunk, local, text) for chunk, some in enumerate(chunks) for local, text in enumerate(some)]
    total = len(rows)
    table = pa.table(
        {
            "chunk": pa.array([row[0] for row in rows], pa.int32()),
            "local": pa.array([row[1] for row in rows], pa.int32()),
            "text": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    with TemporaryDirectory() as place, open_database(Path(place) / "spill", 64 << 20, 1) as database:
        database.register("given", table)
        ordered = Ordered(database, "SELECT text FROM given", total, max(1, total * ROW // parts))
        path = Path(place) / "known" / "all.parquet"
        written = ordered.write(path, "number", "SELECT text FROM given", "text, count(*) AS count")
        expected = sorted({text for _, _, text in rows}, key=str.encode)
        assert written == len(expected)
        if written:
            known = pq.read_table(path)
            assert known.column("text").to_pylist() == expected
            assert known.column("number").to_pylist() == list(range(written))
            assert known.column("count").to_pylist() == [
                sum(row[2] == text for row in rows) for text in expected
            ]
        some = pa.table({"text": pa.array(sorted(set(others) & set(expected)), pa.string())})
        database.register("numbered", some.append_column("number", pa.array(range(len(some)), pa.int32())))
        numbers = np.full(total, -1, dtype=np.int32)
        ordered.look_up("SELECT * FROM given", "SELECT text, number FROM numbered", offsets, numbers)
        listed = some.column("text").to_pylist()
        assert numbers.tolist() == [listed.index(text) if text in listed else -1 for _, _, text in rows]
