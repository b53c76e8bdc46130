"""Tables of names in and out: CSV, JSON lines, Parquet or plain lines; nothing is half written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pboh.canonical.exports import to_cypher, to_turtle
from pboh.canonical.groups import Groups
from pboh.errors import InputError
from pboh.files.compression import unpacked
from pboh.files.progress import Report, silent
from pboh.files.writing import NOT_JSON, written_aside
from pboh.formats.jsonlines import read_lines

KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt")
OUTPUTS = (".csv", ".jsonl", ".parquet", ".ttl", ".cypher")
PACKED = (".gz", ".bz2", ".zst")
COLUMNS = ("id", "name", "group", "label", "entity", "entity_id", "type", "probability", "reason")
"""Of a flat table, which has a row for every name."""
AT_A_TIME = 50_000  # rows written between two reports


class Wanted(NamedTuple):
    """The columns of a table of names; those that are None are used if the table has the usual one."""

    name: str = "name"
    context: str | None = None
    type: str | None = None
    id: str | None = None


class Names(NamedTuple):
    """Columns of a table of names; columns that the table does not have are empty."""

    names: list[str]
    contexts: list[str | None]
    types: list[str | None]
    ids: list[str | None]


def read_names(path: Path, wanted: Wanted) -> Names:
    """The names of a file, and what it says of them; a missing name is an empty one."""
    table = _columns(path, [wanted.name], [wanted.context, wanted.type, wanted.id], ["context", "type", "id"])
    names, context, kind, id = table
    return Names([name or "" for name in names], context, kind, id)


def read_edges(path: Path, names: Names, source: str, target: str) -> list[tuple[int, int]]:
    """The edges of a file between rows: their ends are ids if the names have some, else names."""
    left, right = _columns(path, [source, target], [], [])
    rows = {id: row for row, id in enumerate(names.ids) if id is not None}
    for row, name in enumerate(names.names):
        rows.setdefault(name, row)  # of rows with one name, the first

    def end(number: int, given: str | None) -> int:
        if given is None or given not in rows:
            what = f"edge {number} ends at {given!r:.80}, which is neither an id nor a name"
            raise InputError(what, where=path)
        return rows[given]

    return [(end(i, a), end(i, b)) for i, (a, b) in enumerate(zip(left, right, strict=True), 1)]


def _kind(path: Path, kinds: Sequence[str]) -> str:
    suffixes = [suffix for suffix in path.suffixes if suffix not in PACKED]
    kind = suffixes[-1].lower() if suffixes else ""
    if kind not in kinds:
        raise InputError(
            f"{path.name} is of no known kind", where=path, todo=f"Use one of {', '.join(kinds)}"
        )
    return kind


def _columns(
    path: Path, needed: list[str], optional: Sequence[str | None], usual: list[str]
) -> list[list[str | None]]:
    """Columns of a file: those needed, those asked for, and else the usual ones if they are there."""
    kind = _kind(path, KINDS)
    read = {".parquet": _parquet, ".jsonl": _json_lines, ".ndjson": _json_lines, ".txt": _lines}.get(
        kind, _csv
    )
    asked = [*needed, *(given or name for given, name in zip(optional, usual, strict=True))]
    must = [*needed, *(given for given in optional if given)]
    found = read(path, asked, must)
    return [found.get(name, []) for name in asked]


def _missing(path: Path, name: str, there: Sequence[str]) -> InputError:
    what = f"there is no column {name}; there are {', '.join(map(str, there)) or 'none'}"
    return InputError(what, where=path, todo="Name the columns with the options for columns")


def _text(path: Path) -> Iterator[str]:
    """Lines of a text file, which may be compressed."""
    with unpacked(path) as (_, reader), io.TextIOWrapper(reader, "utf-8-sig", newline="") as text:
        try:
            yield from text
        except UnicodeDecodeError as error:
            raise InputError(f"this is not text in UTF-8 ({error.reason})", where=path) from None


def _csv(path: Path, asked: list[str], must: list[str]) -> dict[str, list[str | None]]:
    csv.field_size_limit(1 << 24)
    rows = csv.reader(_text(path), delimiter="\t" if ".tsv" in path.suffixes else ",")
    try:
        head = next(rows, [])
        for name in must:
            if name not in head:
                raise _missing(path, name, head)
        at = {name: head.index(name) for name in asked if name in head}
        found: dict[str, list[str | None]] = {name: [] for name in at}
        for row in rows:
            if row:
                for name, place in at.items():
                    found[name].append(row[place] if place < len(row) and row[place] != "" else None)
    except csv.Error as error:
        raise InputError(f"line {rows.line_num} is not CSV ({error})", where=path) from None
    return found


def _lines(path: Path, asked: list[str], must: list[str]) -> dict[str, list[str | None]]:
    """A name on each line."""
    if len(must) > 1:
        raise InputError("a text file has only names", where=path, todo="Use CSV, JSON lines or Parquet")
    return {asked[0]: [line.rstrip("\r\n") for line in _text(path)]}


def _json_lines(path: Path, asked: list[str], must: list[str]) -> dict[str, list[str | None]]:
    """Objects, or strings, which are names."""
    found: dict[str, list[str | None]] = {name: [] for name in asked}
    seen = set[str]()
    for line in read_lines(path):
        where = f"{path}, line {line.number}"
        try:
            value = msgspec.json.decode(line.data, type=str | dict[str, Any])
        except NOT_JSON as reason:
            raise InputError(f"this is not a JSON object ({reason})", where=where) from None
        fields = {asked[0]: value} if isinstance(value, str) else value
        for name in must:
            if name not in fields:
                raise _missing(Path(where), name, list(fields))
        seen |= fields.keys()
        for name in asked:
            found[name].append(_plain(fields.get(name)))
    return {name: column for name, column in found.items() if name in seen or name in must}


def _plain(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


def _parquet(path: Path, asked: list[str], must: list[str]) -> dict[str, list[str | None]]:
    import pyarrow as pa  # noqa: PLC0415  (only Parquet needs it)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        with pq.ParquetFile(path) as file:
            there = file.schema_arrow.names
            for name in must:
                if name not in there:
                    raise _missing(path, name, there)
            table = file.read([name for name in asked if name in there])
    except FileNotFoundError:
        raise InputError("there is no such file", where=path) from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"this Parquet file cannot be read ({error})", where=path) from error
    return {name: [_plain(value) for value in table.column(name).to_pylist()] for name in table.column_names}


# -- out -------------------------------------------------------------------------------------------------


def check_kind(path: Path) -> None:
    """Refuse an output of no known kind before any work is done for it."""
    _kind(path, OUTPUTS)


def rows_of(groups: Groups, ids: Sequence[str | None]) -> Iterator[tuple[Any, ...]]:
    """The names in their order, with the columns :data:`COLUMNS`."""
    for row, member in enumerate(groups.members()):
        number = int(groups.number[row])
        entity = groups.entity(number)
        told = (entity.title, entity.id) if entity else (None, None)
        yield (
            ids[row] if ids else None, member.name, number, groups.labels[number], *told,
            groups.type(number), member.probability, member.reason,
        )  # fmt: skip


def write_groups(
    groups: Groups,
    ids: Sequence[str | None],
    path: Path,
    report: Report = silent,
    edges: Iterable[Sequence[Any]] = (),
) -> None:
    """Write a line of JSON for every group, a row of CSV or Parquet for every name, or a graph.

    ``edges`` between rows are part of graphs, which are written as Turtle or Cypher.
    """
    kind = _kind(path, OUTPUTS)
    with written_aside(path) as aside:
        if kind == ".jsonl":
            with aside.open("wb") as file:
                for number, group in enumerate(groups):
                    plain = group.to_dict()
                    for member in plain["members"] if ids else ():
                        member["id"] = ids[member["row"]]
                    file.write(msgspec.json.encode(plain) + b"\n")
                    if number % AT_A_TIME == 0:
                        report(number, len(groups), "writing groups")
        elif kind in (".ttl", ".cypher"):
            lines = to_turtle(groups, edges, ids) if kind == ".ttl" else to_cypher(groups, edges)
            with aside.open("w", encoding="utf-8", errors="replace", newline="\n") as text:
                text.writelines(f"{line}\n" for line in lines)
        elif kind == ".csv":
            with aside.open("w", encoding="utf-8", newline="") as text:
                writer = csv.writer(text)
                writer.writerow(COLUMNS)
                writer.writerows(rows_of(groups, ids))
        else:
            _write_parquet(groups, ids, aside)


def _write_parquet(groups: Groups, ids: Sequence[str | None], path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    kinds = {"group": pa.int64(), "probability": pa.float64()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        rows, more = rows_of(groups, ids), True
        while more:
            some = [row for _, row in zip(range(AT_A_TIME), rows, strict=False)]
            more = len(some) == AT_A_TIME
            if some:
                writer.write_table(pa.table(list(map(list, zip(*some, strict=True))), schema=schema))
