"""Annotated rows as Arrow: reading and writing Parquet, and what Spark exchanges with us."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec

from pboh.annotation.inputs import CHUNK_BYTES, Chunk, Source, chunk_rows
from pboh.annotation.rows import FIELDS, Annotator, Options, Rows, values
from pboh.errors import InputError, MissingExtraError

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise MissingExtraError.of("pyarrow", "train") from None

GROUP_ROWS, GROUP_BYTES = 20_000, 64 << 20  # of a row group of the result
_NUMBERS = [(name, pa.float64()) for name in ("prior", "score", "probability")]
_CANDIDATE = [*((name, pa.string()) for name in ("entity", "id", "type", "description")), *_NUMBERS]


def schema(options: Options, id_type: pa.DataType, kept: Iterable[pa.Field] = ()) -> pa.Schema:
    """Columns of the output; ``error`` says why a row has no mentions (they are null then)."""
    fields = [pa.field(name, pa.type_for_alias(kind)) for name, kind in FIELDS.items()]
    if options.candidates:
        fields.append(pa.field("candidates", pa.list_(pa.struct(_CANDIDATE))))
    mentions = pa.field("mentions", pa.list_(pa.struct(fields)))
    return pa.schema([pa.field("id", id_type), *kept, mentions, pa.field("error", pa.string())])


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


def _as_text(column: list[msgspec.Raw]) -> pa.Array:
    """JSON values as text: strings as they are, null as null, everything else as it is written."""
    texts = [bytes(raw).strip() for raw in column]
    plain = [msgspec.json.decode(t) if t[:1] == b'"' or t == b"null" else t.decode() for t in texts]
    return pa.array(plain, pa.string())


def output_schema(source: Source) -> pa.Schema:
    """Columns of the output: those carried over keep Parquet's types; from JSON lines they are text."""
    options, known = source.options, getattr(source, "schema", None)
    if known is None:
        return schema(options, pa.string(), [pa.field(name, pa.string()) for name in options.keep])
    id_type = known.field(options.id).type if options.id in known.names else pa.string()
    return schema(options, id_type, [known.field(name).remove_metadata() for name in options.keep])


def to_parquet(schema: pa.Schema, rows: Rows) -> bytes:
    """A part of the result."""
    with pa.BufferOutputStream() as file:
        pq.write_table(pa.Table.from_batches([to_arrow(rows, schema)]), file, compression="zstd")
        return bytes(file.getvalue())


def join_parts(schema: pa.Schema, parts: Sequence[Path], out: Path) -> None:
    """One file with larger row groups than the parts have."""
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        held: list[pa.Table] = []
        for number, part in enumerate(parts, 1):
            held.append(pq.read_table(part, schema=schema))
            full = sum(t.num_rows for t in held) >= GROUP_ROWS or sum(t.nbytes for t in held) >= GROUP_BYTES
            if full or number == len(parts):
                writer.write_table(pa.concat_tables(held).combine_chunks())
                held = []


class ParquetSource(Source):
    """Parquet files, one row group after the other."""

    unit, answer = "row", staticmethod(annotate_batch)

    def __init__(self, paths: Sequence[Path], options: Options) -> None:
        super().__init__(paths, options)
        schemas = []
        for path in paths:
            with _parquet(path) as file:
                schemas.append(file.schema_arrow)
                self.total += file.metadata.num_rows
        self.schema = schemas[0]
        self._columns = self._check(schemas)

    def _check(self, schemas: list[pa.Schema]) -> list[str]:
        """Names of the columns to read, which all files have, of one type."""
        options, names = self.options, self.schema.names
        wanted = [options.text, *options.keep]
        for name, usual in ((options.id, "id"), (options.mentions, "mentions")):
            if name is not None and (name != usual or name in names):  # the usual one may be missing
                wanted.append(name)
        for path, found in zip(self.paths, schemas, strict=True):
            for name in wanted:
                if name not in found.names:
                    what = f"there is no column {name}; there are {', '.join(found.names)}"
                    todo = "Name the columns with --text-column, --id-column"
                    raise InputError(what, where=path, todo=todo)
                kind, first = found.field(name).type, self.schema.field(name).type
                if kind != first:
                    what = f"column {name} is {kind} and was {first} in {self.paths[0]}"
                    raise InputError(what, where=path, todo="Annotate the files one after the other")
        kind = self.schema.field(options.text).type
        if not _is_text(kind):
            what = f"column {options.text} is {kind}, not text"
            raise InputError(what, where=self.paths[0], todo="Choose another with --text-column")
        return list(dict.fromkeys(wanted))

    def chunks(self, done: Collection[int] = ()) -> Iterator[Chunk]:
        """Batches of each row group; those done are read, which costs little, and left out."""
        numbers = count()
        for path in self.paths:
            first = 1
            for batch in self._batches(path):
                places = range(first, first + batch.num_rows)
                first = places.stop
                if (number := next(numbers)) not in done:
                    yield Chunk(number, str(path), places, batch, batch.num_rows)

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        """The rows of a file, cut by what the description of its row groups says of their size."""
        most = chunk_rows(self.total // 1_000)
        with _parquet(path) as file:
            for group in range(file.num_row_groups):
                about = file.metadata.row_group(group)
                size = max(1, min(most, about.num_rows * CHUNK_BYTES // max(1, about.total_byte_size)))
                try:
                    yield from file.iter_batches(size, [group], columns=self._columns, use_threads=False)
                except (pa.ArrowException, OSError) as error:
                    what, todo = f"row group {group} is damaged ({error})", "Copy the file again"
                    raise InputError(what, where=path, todo=f"{todo}; finished parts are kept") from error


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"this Parquet file cannot be read ({error})", where=path) from error


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
