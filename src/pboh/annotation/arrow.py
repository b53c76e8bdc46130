"""Annotated rows as Arrow: reading and writing Parquet, and what Spark exchanges with us."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pboh.annotation.inputs import CHUNK_BYTES, Chunk, Source, chunk_rows
from pboh.annotation.rows import Annotator, Options, Rows
from pboh.errors import InputError, MissingExtraError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtraError.of("pyarrow", "train") from None

GROUP_ROWS, GROUP_BYTES = 20_000, 64 << 20  # of a row group of the result
_MENTION = [
    ("start", pa.int32()),  # code points
    ("end", pa.int32()),
    ("text", pa.string()),
    ("entity", pa.string()),  # null: left unlinked
    ("id", pa.string()),  # of the entity, where the model has one
    ("probability", pa.float64()),
    ("score", pa.float64()),
    ("detection", pa.float64()),
]
_CANDIDATE = [
    ("entity", pa.string()),
    ("id", pa.string()),
    ("prior", pa.float64()),
    ("score", pa.float64()),
    ("probability", pa.float64()),
]


def schema(options: Options, id_type: pa.DataType, kept: Iterable[pa.Field] = ()) -> pa.Schema:
    """Columns of the output; ``error`` says why a row has no mentions (they are null then)."""
    fields = [pa.field(name, kind) for name, kind in _MENTION]
    if options.candidates:
        fields.append(pa.field("candidates", pa.list_(pa.struct(_CANDIDATE))))
    mentions = pa.field("mentions", pa.list_(pa.struct(fields)))
    return pa.schema([pa.field("id", id_type), *kept, mentions, pa.field("error", pa.string())])


def output_schema(source: Source) -> pa.Schema:
    """Columns of the output: those carried over keep Parquet's types; from JSON lines they are text."""
    options, known = source.options, getattr(source, "schema", None)
    if known is None:
        return schema(options, pa.string(), [pa.field(name, pa.string()) for name in options.keep])
    id_type = known.field(options.id).type if options.id in known.names else pa.string()
    return schema(options, id_type, [known.field(name).remove_metadata() for name in options.keep])


def annotate_batch(annotator: Annotator, batch: pa.RecordBatch) -> Rows:
    """Answer the rows of an Arrow batch."""
    options, names = annotator.options, batch.schema.names
    texts, given = values(batch.column(options.text)), [None] * batch.num_rows
    if options.mentions in names:
        given = values(batch.column(options.mentions))
    id = batch.column(options.id) if options.id in names else pa.nulls(batch.num_rows, pa.string())
    carried = {"id": id, **{name: batch.column(name) for name in options.keep}}
    return Rows(carried, [annotator.answer(*row) for row in zip(texts, given, strict=True)])


def to_arrow(rows: Rows, out: pa.Schema) -> pa.RecordBatch:
    """An Arrow batch with the columns of ``out``."""
    columns = {name: _as_text(c) if isinstance(c, list) else c for name, c in rows.carried.items()}
    columns["mentions"] = pa.array([a.mentions for a in rows.answers], out.field("mentions").type)
    columns["error"] = pa.array([a.error for a in rows.answers], pa.string())
    return pa.RecordBatch.from_arrays([columns[name] for name in out.names], schema=out)


def values(column: pa.Array) -> list[Any]:
    """Python values of an Arrow column; text that is not UTF-8 stays bytes."""
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(value) for value in column]


def _value(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes() if hasattr(value, "as_buffer") else None


def _as_text(column: list[msgspec.Raw]) -> pa.Array:
    """JSON values as text: strings as they are, null as null, everything else as it is written."""
    texts = [bytes(raw).strip() for raw in column]
    plain = [msgspec.json.decode(t) if t[:1] == b'"' or t == b"null" else t.decode() for t in texts]
    return pa.array(plain, pa.string())


def write_part(rows: Rows, path: Path, out: pa.Schema) -> None:
    """A part of the result."""
    pq.write_table(pa.Table.from_batches([to_arrow(rows, out)]), path, compression="zstd")


def join_parts(parts: Sequence[Path], out: Path, schema: pa.Schema) -> None:
    """One file with larger row groups than the parts have."""
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        held: list[pa.Table] = []
        for part in parts:
            held.append(pq.read_table(part, schema=schema))
            if sum(t.num_rows for t in held) >= GROUP_ROWS or sum(t.nbytes for t in held) >= GROUP_BYTES:
                writer.write_table(pa.concat_tables(held).combine_chunks())
                held = []
        if held:
            writer.write_table(pa.concat_tables(held).combine_chunks())


class ParquetSource(Source):
    """Parquet files, one row group after the other."""

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        super().__init__(paths, options)
        schemas = []
        for path in paths:
            with _parquet(path) as file:
                schemas.append(file.schema_arrow)
                self.total += file.metadata.num_rows
        self._columns = self._check(schemas)
        self.schema = schemas[0]

    def _check(self, schemas: list[pa.Schema]) -> list[str]:
        """Names of the columns to read, which all files have, of one type."""
        options = self.options
        wanted = [options.text, *options.keep]
        wanted += [options.id] if options.id != "id" or "id" in schemas[0].names else []
        if options.mentions in schemas[0].names:
            wanted.append(str(options.mentions))
        elif options.mentions not in (None, "mentions"):
            wanted.append(str(options.mentions))  # asked for by name
        for path, found in zip(self.paths, schemas, strict=True):
            for name in wanted:
                if name not in found.names:
                    what = f"there is no column {name}; there are {', '.join(found.names)}"
                    raise InputError(
                        what, where=path, todo="Name the columns with --text-column, --id-column"
                    )
                kind, first = found.field(name).type, schemas[0].field(name).type
                if kind != first:
                    what = f"column {name} is {kind} and was {first} in {self.paths[0]}"
                    raise InputError(what, where=path, todo="Annotate the files one after the other")
        if not _is_text(schemas[0].field(options.text).type):
            what = f"column {options.text} is {schemas[0].field(options.text).type}, not text"
            raise InputError(what, where=self.paths[0], todo="Name another with --text-column")
        return list(dict.fromkeys(wanted))

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """Row groups, cut by what their description says of their size."""
        number, most = 0, chunk_rows(self.total // 1_000)
        for path in self.paths:
            with _parquet(path) as file:
                first = 1
                for group in range(file.num_row_groups):
                    about = file.metadata.row_group(group)
                    rows = about.num_rows
                    size = max(1, min(most, rows * CHUNK_BYTES // max(1, about.total_byte_size)))
                    numbers = range(number, number + -(-rows // size))
                    if not all(each in done for each in numbers):  # else there is nothing to read here
                        batches = self._batches(path, file, group, size)
                        for each, batch in zip(numbers, batches, strict=True):
                            at = first + (each - number) * size
                            if each not in done:
                                yield Chunk(each, str(path), at, batch, batch.num_rows)
                    number, first = numbers.stop, first + rows

    def _batches(self, path: Path, file: pq.ParquetFile, group: int, size: int) -> Iterator[pa.RecordBatch]:
        try:
            yield from file.iter_batches(size, [group], columns=self._columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            what = f"row group {group} is damaged ({error})"
            raise InputError(what, where=path, todo="Copy the file again; finished parts are kept") from error


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"this Parquet file cannot be read ({error})", where=path) from error


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
