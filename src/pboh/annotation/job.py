"""Annotation on one machine: files in parts, so that a stopped run continues, or a stream as it comes."""

from __future__ import annotations

import gzip
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pboh import __version__
from pboh.annotation.inputs import Chunk, Source, StandardInput, open_inputs
from pboh.annotation.rows import Annotator, Options, Rows, annotator
from pboh.errors import InputError, OutputError
from pboh.files.compression import zstd
from pboh.files.memory import processors
from pboh.files.progress import Report, silent
from pboh.files.usage import Usage
from pboh.files.workers import Workers, ordered_map
from pboh.files.writing import (
    LOCK,
    claimed,
    disk_errors,
    file_state,
    read_json,
    write_json,
    write_whole,
    written_aside,
)
from pboh.linker import model_folder
from pboh.model.store import fingerprint

FORMAT = {"format": "pboh-annotations", "version": 1}
SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
COUNTED = ("documents", "mentions", "linked", "failed_rows")
Encode = Callable[[Rows], bytes]
COMPLAINTS = 100  # bad rows of a part that are described; all are counted


class Done(msgspec.Struct):
    """What is known of a finished part."""

    part: int
    documents: int
    mentions: int
    linked: int
    failed_rows: int
    weight: int
    complaints: list[str]


class Task(NamedTuple):
    """What a worker does with the rows of chunks."""

    model: str
    options: Options
    unit: str  # of the places of rows
    answer: Callable[[Annotator, Any], Rows]
    encode: Encode


class _Parts(NamedTuple):
    """A folder with finished parts of the output, and a journal of what is known of them."""

    folder: Path
    suffix: str

    @property
    def journal(self) -> Path:
        return self.folder / "done.jsonl"

    def path(self, number: int) -> Path:
        return self.folder / f"{number:07}{self.suffix}"

    def finished(self) -> dict[int, Done]:
        """Parts that an earlier run finished; a last line that was cut off does not count."""
        found: dict[int, Done] = {}
        for line in self.journal.read_bytes().splitlines() if self.journal.exists() else ():
            with suppress(msgspec.DecodeError):
                part = msgspec.json.decode(line, type=Done)
                if self.path(part.part).is_file():
                    found[part.part] = part
        return found


def annotate(
    inputs: Sequence[str | Path],
    out: str | Path,
    model: str | Path | None = None,
    options: Options | None = None,
    *,
    workers: int | None = None,
    report: Report = silent,
    complain: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Link the documents of ``inputs`` and write ``out``; returns figures.

    The same call again goes on where a stopped one was, and does nothing once all is done. The result does
    not depend on where it stopped, nor on the number of workers. ``complain`` hears of bad rows, of up to
    100 in each part.
    """
    began, path = time.monotonic(), Path(out)
    suffix = next((suffix for suffix in reversed(SUFFIXES) if path.name.endswith(suffix)), None)
    if suffix is None:
        raise InputError(f"the output is called {path.name}", todo=f"End it with {', '.join(SUFFIXES)}")
    source = open_inputs(inputs, options or Options())
    if isinstance(source, StandardInput):
        todo = "Redirect standard output instead of naming --out"
        raise InputError("standard input cannot be read again to continue", todo=todo)
    encode, join = _format(source, suffix)
    task = _task(source, model, encode)
    with _ours(path, _describe(source, task)) as (record, folder, finished):
        if finished is not None:
            return {**finished, "fresh": False}
        parts = _Parts(folder, suffix)
        done = parts.finished()
        resumed = sum(part.documents for part in done.values())
        for complaint in (complaint for number in sorted(done) for complaint in done[number].complaints):
            complain(complaint)
        peak = _make(parts, done, task, source, workers or processors(), report, complain)
        report(1, 1, "writing")
        with written_aside(path) as aside:
            join([parts.path(number) for number in sorted(done)], aside)
        figures = {name: sum(getattr(part, name) for part in done.values()) for name in COUNTED}
        seconds = time.monotonic() - began
        figures |= {
            "resumed_documents": resumed,
            "seconds": round(seconds, 2),
            "documents_per_second": round((figures["documents"] - resumed) / seconds, 1),
            "peak_memory_megabytes": peak,
        }
        record(figures)
        shutil.rmtree(folder, ignore_errors=True)
    return {**figures, "fresh": True}


def annotate_stream(
    inputs: Sequence[str | Path],
    model: str | Path | None = None,
    options: Options | None = None,
    *,
    workers: int = 1,
    complain: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[bytes, Done]]:
    """Link the documents of ``inputs``: JSON lines of some rows at a time, in order, and their figures."""
    source = open_inputs(inputs, options or Options())
    work = partial(annotate_chunk, _task(source, model, Rows.to_json))
    for lines, done in ordered_map(work, source.chunks(), workers):
        for complaint in done.complaints:
            complain(complaint)
        yield lines, done


# -- what a run is, and whether a folder belongs to it ----------------------------------------------------


def _describe(source: Source, task: Task) -> dict[str, Any]:
    """Everything the result depends on."""
    linker = task.options.linker(task.model)
    described = {
        "input": [file_state(path) for path in source.paths],
        "model": fingerprint(linker.model.folder),
        "options": task.options,
        "settings": linker.settings,
        "program": __version__,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(described))
    return plain


@contextmanager
def _ours(
    out: Path, job: dict[str, Any]
) -> Iterator[tuple[Callable[[Any], None], Path, dict[str, Any] | None]]:
    """What records figures, a folder for parts that is nobody else's, and the figures of a finished job."""
    folder, manifest = (out.with_name(f"{out.name}.{what}") for what in ("parts", "json"))

    def record(figures: dict[str, Any] | None) -> None:
        write_json(manifest, {**FORMAT, **job, "figures": figures})

    if out.is_dir():
        raise OutputError("this is a folder, not a file", where=out, todo="Choose another --out")
    with claimed(folder, out):
        finished = _known(out, manifest, job)
        if not manifest.exists():  # parts whose record was removed may be of any job
            for file in (file for file in folder.iterdir() if file.name != LOCK):
                file.unlink()
        if finished is None:
            record(None)
            for stale in [*folder.glob(".*.tmp"), *out.parent.glob(f".{out.name}.*.tmp")]:
                stale.unlink(missing_ok=True)  # a process was killed while it wrote this
        yield record, folder, finished


def _known(out: Path, manifest: Path, job: dict[str, Any]) -> dict[str, Any] | None:
    """Figures of the same job finished before, None if it is not; raises if it was another job."""
    choose = f"Choose another --out, or remove {out.name}* there to begin anew"
    if not manifest.exists():
        if out.exists():
            raise OutputError("a file of that name already exists", where=out, todo="Choose another --out")
        return None
    known = read_json(manifest, "the record of this output", OutputError)
    if not isinstance(known, dict) or any(known.get(key) != value for key, value in FORMAT.items()):
        raise OutputError("this is not a record of pboh annotate", where=manifest, todo=choose)
    for what, value in job.items():
        if known.get(what) != value:
            other = "other" if what.endswith("s") else "another"
            raise OutputError(f"this output was begun with {other} {what}", where=out, todo=choose)
    figures: dict[str, Any] | None = known.get("figures")
    return figures if out.is_file() else None


# -- the work itself ------------------------------------------------------------------------------------


def _task(source: Source, model: str | Path | None, encode: Encode) -> Task:
    return Task(str(model_folder(model)), source.options, source.unit, source.answer, encode)


def _format(
    source: Source, suffix: str
) -> tuple[Callable[[Rows], bytes], Callable[[list[Path], Path], None]]:
    """What makes the bytes of a part, and what puts parts together."""
    if suffix != ".parquet":
        return partial(_lines, suffix), _concatenate
    from pboh.annotation import arrow  # noqa: PLC0415  (only Parquet needs pyarrow)

    schema = arrow.output_schema(source)
    return partial(arrow.to_parquet, schema), partial(arrow.join_parts, schema)


def _lines(suffix: str, rows: Rows) -> bytes:
    """JSON lines; gzip and zstd files may be put one behind the other, so every part is compressed."""
    if suffix.endswith(".gz"):
        return gzip.compress(rows.to_json(), 6, mtime=0)
    return zstd.compress(rows.to_json()) if suffix.endswith(".zst") else rows.to_json()


def _concatenate(parts: list[Path], out: Path) -> None:
    with out.open("wb") as file:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, file, 1 << 20)


def _make(
    parts: _Parts,
    done: dict[int, Done],
    task: Task,
    source: Source,
    workers: int,
    report: Report,
    complain: Callable[[str], None],
) -> float:
    """Annotate all chunks that are not done; returns the memory it took, in MB."""
    began, fresh = time.monotonic(), 0
    weight = sum(part.weight for part in done.values())
    report(weight, source.total)
    chunks = source.chunks(frozenset(done))
    first = list(islice(chunks, 2))
    tasks = ((annotate_chunk, (task, chunk)) for chunk in chain(first, chunks))
    with (
        Workers(workers if len(first) > 1 else 1) as pool,
        Usage() as usage,
        usage.stage("annotate"),
        disk_errors(parts.journal),
        parts.journal.open("ab") as journal,
    ):
        journal.write(b"\n")  # after a line that was cut off
        for _, (data, part) in pool.run(tasks):
            write_whole(parts.path(part.part), data)
            journal.write(msgspec.json.encode(part) + b"\n")
            journal.flush()
            done[part.part] = part
            for complaint in part.complaints:
                complain(complaint)
            fresh, weight = fresh + part.documents, weight + part.weight
            report(weight, source.total, f"{fresh / (time.monotonic() - began):,.0f} documents/s")
    return usage.figures()["annotate"]["memory_megabytes"]


def annotate_chunk(task: Task, chunk: Chunk) -> tuple[bytes, Done]:
    """The rows of a chunk, answered, and what is known of them; this is what workers do."""
    rows = task.answer(annotator(task.model, task.options), chunk.rows)
    mentions = [mention for answer in rows.answers for mention in answer.mentions or ()]
    complaints = [
        f"{chunk.where}, {task.unit} {place}: {answer.error}"
        for place, answer in zip(chunk.places, rows.answers, strict=True)
        if answer.error is not None
    ]
    done = Done(
        part=chunk.number,
        documents=len(rows.answers) - len(complaints),
        mentions=len(mentions),
        linked=sum(mention["entity"] is not None for mention in mentions),
        failed_rows=len(complaints),
        weight=chunk.weight,
        complaints=complaints[:COMPLAINTS],
    )
    return task.encode(rows), done
