"""Read the Crosswikis dictionary: `name<TAB>cprob Title fields…`, counts in the numerators of its fields."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from pboh.corpus.titles import MAIN, Site, split_target
from pboh.counts.engine import Batches, Engine

# One score field: W:12/30 (links from the English Wikipedia), w:1/2 (from other Wikipedias) …
FIELD = re.compile(r"([A-Za-z]+):(\d+)/(\d+)")
LEFT_OUT = "Wx"  # the authors' program leaves this field out
LARGEST = (1 << 63) - 1
SHOWN = 20

SCHEMA = pa.schema(
    [
        ("line", pa.int64()),
        ("name", pa.string()),
        ("title", pa.string()),
        ("count", pa.int64()),
        ("problem", pa.string()),
    ]
)
NO_LINES = (
    "SELECT CAST(NULL AS BIGINT) AS line, CAST(NULL AS STRING) AS name, CAST(NULL AS STRING) AS title, "
    "CAST(NULL AS BIGINT) AS count, CAST(NULL AS STRING) AS problem WHERE 1 = 0"
)


def parse_line(line: str, site: Site) -> tuple[str, str, int]:
    """(name, title, count) of a line; ValueError says what is wrong with it.

    The count is the sum of the numerators of all score fields but ``Wx``; a line that has none but ``Wx``
    counts 0, and so does one that is not about an article. The other flags of the format (``KB``, ``RWB`` …)
    say nothing about counts.
    """
    name, tab, rest = line.partition("\t")
    if not tab:
        raise ValueError("there is no tab")
    name = " ".join(name.split())
    if not name:
        raise ValueError("the name is empty")
    probability, *fields = rest.split() or [""]
    try:
        float(probability)
    except ValueError:
        raise ValueError(f"{probability!r} is not a probability") from None
    if not fields:
        raise ValueError("there is no title")
    namespace, title = split_target(fields[0], site) or (MAIN, "")
    if not title:
        raise ValueError(f"{fields[0]!r} is not a title")
    count = sum(_numerator(field) for field in fields[1:])
    return name, title, count if namespace == MAIN else 0


def _numerator(field: str) -> int:
    if ":" not in field:
        return 0
    match = FIELD.fullmatch(field)
    if not match or int(match[2]) > LARGEST:
        raise ValueError(f"{field!r} is not a count")
    return 0 if match[1] == LEFT_OUT else int(match[2])


def parse_batches(batches: Batches, language: str) -> Batches:
    """Turn batches (line, text) into rows of ``SCHEMA``; of a malformed line number and problem are kept."""
    site = Site.default(language)
    for batch in batches:
        rows: list[tuple[int, str | None, str | None, int | None, str | None]] = []
        for number, text in zip(batch["line"].to_pylist(), batch["text"].to_pylist(), strict=True):
            if not text.strip():
                continue
            try:
                name, title, count = parse_line(text, site)
            except ValueError as error:
                rows.append((number, None, None, None, str(error)))
                continue
            if count:
                rows.append((number, name, title, count, None))
        columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
        arrays = [pa.array(values, kind) for values, kind in zip(columns, SCHEMA.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def malformed(engine: Engine) -> dict[str, Any]:
    """How many lines were read and skipped, and the first of the skipped with their problems."""
    [(pairs, skipped)] = engine.rows("SELECT COUNT(name), COUNT(problem) FROM crosswikis_lines")
    first = engine.rows(
        f"SELECT line, problem FROM crosswikis_lines WHERE problem IS NOT NULL ORDER BY line LIMIT {SHOWN}"
    )
    return {"pairs": int(pairs), "malformed": int(skipped), "first": [f"line {n}: {why}" for n, why in first]}
