"""Documents as rows of files: made, written and read back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

TEXTS = (
    "Müller scored for Bayern in Paris and Georgia won.",
    "Mercury is closer to the Sun than Venus. 🙂 Apple shipped Java to Jordan.",
    "",
    "Zidane met Beckenbauer in Madrid.",
)


def documents(number: int) -> list[dict]:
    return [{"id": f"d{k}", "text": f"{TEXTS[k % 4]} {k}" * (k % 3), "year": k} for k in range(number)]


def write(path: Path, rows: list[dict], **options) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, **options)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if path.suffix == ".zst":
        data = pa.CompressedInputStream(pa.py_buffer(data), "zstd").read()
    return [json.loads(line) for line in data.splitlines()]
