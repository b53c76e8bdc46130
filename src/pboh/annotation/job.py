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
from pboh.annotation.rows import Options, Rows, annotate_lines, annotator
from pboh.errors import InputError, OutputError
from pboh.files.compression import zstd
from pboh.files.memory import PeakMemory, processors
from pboh.files.progress import Report, silent
from pboh.files.workers import Workers, ordered_map
from pboh.files.writing import LOCK, claimed, disk_errors, read_json, write_json, written_aside
from pboh.linker import Linker, model_folder
from pboh.model.store import fingerprint

FORMAT = "pboh-annotations"
VERSION = 1
PARQUET = ".parquet"
SUFFIXES = (PARQUET, ".jsonl", ".jsonl.gz", ".jsonl.zst")
COMPLAINTS = 20  # bad rows of a part that are described; all are counted


class Done(msgspec.Struct):
    """What is known of a finished part."""

    part: int
    documents: int
    mentions: int
    linked: int
    failed_rows: int
    weight: int
    complaints: list[str]

    def sentences(self) -> Iterator[str]:
        """What to say of its bad rows."""
        yield from self.complaints
        if unsaid := self.failed_rows - len(self.complaints):
            yield f"… and {unsaid} more rows after it"


class Task(NamedTuple):
    """What every worker is told."""

    model: str
    options: Options
    schema: Any  # Arrow's, if Parquet is written
    folder: Path
    suffix: str

    def part(self, number: int) -> Path:
        """Where a part is written."""
        return self.folder / f"{number:07}{self.suffix}"


def annotate(
    inputs: Sequence[str | Path],
    out: str | Path,
    model: str | Path | None = None,
    options: Options | None = None,
    *,
    workers: int | None = None,
    report: Report = silent,
    complain: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Link the documents of ``inputs`` and write ``out``; returns figures.

    The same call again goes on where a stopped one was, and does nothing once all is done. The result does
    not depend on where it stopped, nor on the number of workers. ``complain`` hears of every bad row.
    """
    began, options = time.monotonic(), options or Options()
    path = Path(out)
    suffix = next((suffix for suffix in reversed(SUFFIXES) if path.name.endswith(suffix)), None)
    if suffix is None:
        raise InputError(f"the output is called {path.name}", todo=f"End it with {', '.join(SUFFIXES)}")
    source = open_inputs(inputs, options)
    if isinstance(source, StandardInput):
        todo = "Redirect standard output instead of naming --out"
        raise InputError("standard input cannot be read again to continue", todo=todo)
    name = str(model_folder(model))
    job = _describe(source, options, options.linker(name))
    count = workers or processors()
    with Workers(count) as pool, _ours(path, job) as (folder, finished):
        if finished is not None:
            return {**finished, "fresh": False}
        task = Task(name, options, _schema(source) if suffix == PARQUET else None, folder, suffix)
        run = _Run(task, source, pool, count, report, complain or (lambda _: None))
        with PeakMemory(pool.processes) as peak:
            figures = run.finish(path)
        seconds = time.monotonic() - began
        figures["seconds"] = round(seconds, 2)
        figures["documents_per_second"] = round(
            (figures["documents"] - figures["resumed_documents"]) / seconds, 1
        )
        figures["peak_memory_megabytes"] = round(peak.megabytes, 1)
        write_json(_manifest(path), _content(job, figures))
        shutil.rmtree(folder, ignore_errors=True)
    return {**figures, "fresh": True}


def annotate_stream(
    inputs: Sequence[str | Path],
    model: str | Path | None = None,
    options: Options | None = None,
    *,
    workers: int = 1,
    complain: Callable[[str], None] | None = None,
) -> Iterator[tuple[bytes, Done]]:
    """Link the documents of ``inputs``: JSON lines of some rows at a time, in order, and their figures."""
    options, hear = options or Options(), complain or (lambda _: None)
    work = partial(_answer_as_json, str(model_folder(model)), options)
    for lines, done in ordered_map(work, open_inputs(inputs, options).chunks(), workers):
        for sentence in done.sentences():
            hear(sentence)
        yield lines, done


# -- what a run is, and whether a folder belongs to it ----------------------------------------------------


def _describe(source: Source, options: Options, linker: Linker) -> dict[str, Any]:
    """Everything the result depends on."""
    files = [(path, path.stat()) for path in source.paths]
    described = {
        "input": [
            {"name": path.name, "bytes": about.st_size, "modified": about.st_mtime_ns}
            for path, about in files
        ],
        "model": fingerprint(linker.model.folder),
        "options": options,
        "settings": linker.settings,
        "program": __version__,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(described))
    return plain


def _manifest(out: Path) -> Path:
    return out.with_name(f"{out.name}.json")


def _content(job: dict[str, Any], figures: dict[str, Any] | None) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, **job, "figures": figures}


@contextmanager
def _ours(out: Path, job: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """The folder of the parts, which is nobody else's, and the figures if all is done already."""
    folder, manifest = out.with_name(f"{out.name}.parts"), _manifest(out)
    if out.is_dir():
        raise OutputError("this is a folder, not a file", where=out, todo="Choose another --out")
    with claimed(folder, out):
        finished = _known(out, manifest, job)
        if not manifest.exists():
            _empty(folder)
        if finished is None:
            write_json(manifest, _content(job, None))
            for stale in [*folder.glob(".*.tmp"), *out.parent.glob(f".{out.name}.*.tmp")]:
                stale.unlink(missing_ok=True)  # a process was killed while it wrote this
        yield folder, finished


def _empty(folder: Path) -> None:
    """Parts whose record was removed may be of any job."""
    for file in folder.iterdir():
        if file.name != LOCK:
            file.unlink()


def _known(out: Path, manifest: Path, job: dict[str, Any]) -> dict[str, Any] | None:
    """Figures of the same job finished before, None if it is not; raises if it was another job."""
    choose = f"Choose another --out, or remove {out.name}* there to begin anew"
    if not manifest.exists():
        if out.exists():
            raise OutputError("there is a file of that name already", where=out, todo="Choose another --out")
        return None
    known = read_json(manifest, "the record of this output", OutputError)
    if not isinstance(known, dict) or known.get("format") != FORMAT or known.get("version") != VERSION:
        raise OutputError("this is not a record of pboh annotate", where=manifest, todo=choose)
    for what, value in job.items():
        if known.get(what) != value:
            names = {"options": "other options", "settings": "other settings", "program": "another version"}
            other = names.get(what, f"another {what}")
            raise OutputError(f"this output was begun with {other}", where=out, todo=choose)
    figures: dict[str, Any] | None = known.get("figures")
    return figures if out.is_file() else None


# -- the work itself ------------------------------------------------------------------------------------


class _Run:
    """One run: parts not yet there are made, then all are put together."""

    def __init__(
        self,
        task: Task,
        source: Source,
        pool: Workers,
        count: int,
        report: Report,
        complain: Callable[[str], None],
    ) -> None:
        self._task, self._source, self._pool, self._count = task, source, pool, count
        self._report, self._complain = report, complain
        self._journal = task.folder / "done.jsonl"

    def finish(self, out: Path) -> dict[str, Any]:
        """Do what is left to do and write ``out``."""
        done = self._finished()
        resumed = sum(part.documents for part in done.values())
        for number in sorted(done):
            self._hear(done[number])
        self._make(done)
        parts = [self._task.part(number) for number in sorted(done)]
        self._report(1, 1, "writing")
        with written_aside(out) as aside:
            _join(parts, aside, self._task)
        names = ("documents", "mentions", "linked", "failed_rows")
        figures: dict[str, Any] = {name: sum(getattr(part, name) for part in done.values()) for name in names}
        return {**figures, "resumed_documents": resumed}

    def _finished(self) -> dict[int, Done]:
        """Parts that an earlier run finished; a last line that was cut off does not count."""
        found: dict[int, Done] = {}
        lines = self._journal.read_bytes().splitlines() if self._journal.exists() else []
        for line in lines:
            with suppress(msgspec.DecodeError):
                part = msgspec.json.decode(line, type=Done)
                if self._task.part(part.part).is_file():
                    found[part.part] = part
        return found

    def _make(self, done: dict[int, Done]) -> None:
        """Annotate all chunks that are not done."""
        began, fresh = time.monotonic(), 0
        weight = sum(part.weight for part in done.values())
        self._report(weight, self._source.total)
        chunks = self._source.chunks(frozenset(done))
        first = list(islice(chunks, self._count))
        pool = self._pool if len(first) > 1 else Workers(1)  # processes take a second to start
        tasks = ((annotate_part, (self._task, chunk)) for chunk in chain(first, chunks))
        with disk_errors(self._journal), self._journal.open("ab") as journal:
            journal.write(b"\n")  # after a line that was cut off
            for _, part in pool.run(tasks):
                done[part.part] = part
                journal.write(msgspec.json.encode(part) + b"\n")
                journal.flush()
                self._hear(part)
                fresh, weight = fresh + part.documents, weight + part.weight
                speed = fresh / (time.monotonic() - began)
                self._report(weight, self._source.total, f"{speed:,.0f} documents/s")

    def _hear(self, part: Done) -> None:
        for sentence in part.sentences():
            self._complain(sentence)


def _schema(source: Source) -> Any:
    from pboh.annotation.arrow import output_schema  # noqa: PLC0415  (only Parquet needs pyarrow)

    return output_schema(source)


def annotate_part(task: Task, chunk: Chunk) -> Done:
    """Annotate a chunk and write its part; this is what workers do."""
    rows, done = _answer(task.model, task.options, chunk)
    with written_aside(task.part(chunk.number)) as aside:
        if task.suffix == PARQUET:
            from pboh.annotation.arrow import write_part  # noqa: PLC0415  (only Parquet needs pyarrow)

            write_part(rows, aside, task.schema)
        else:
            aside.write_bytes(_compress(rows.to_json(), task.suffix))
    return done


def _answer_as_json(model: str, options: Options, chunk: Chunk) -> tuple[bytes, Done]:
    rows, done = _answer(model, options, chunk)
    return rows.to_json(), done


def _answer(model: str, options: Options, chunk: Chunk) -> tuple[Rows, Done]:
    """The rows of a chunk, answered, and what is known of them."""
    this = annotator(model, options)
    if isinstance(chunk.rows, list):
        rows = annotate_lines(this, (line for _, line in chunk.rows))
        places = [f"line {number}" for number, _ in chunk.rows]
    else:
        from pboh.annotation.arrow import annotate_batch  # noqa: PLC0415  (only Parquet needs pyarrow)

        rows = annotate_batch(this, chunk.rows)
        places = [f"row {chunk.first + k}" for k in range(chunk.rows.num_rows)]
    mentions = [mention for answer in rows.answers for mention in answer.mentions or ()]
    complaints = [
        f"{chunk.where}, {place}: {answer.error}"
        for place, answer in zip(places, rows.answers, strict=True)
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
    return rows, done


def _compress(data: bytes, suffix: str) -> bytes:
    """gzip and zstd files may be put one behind the other, so every part is compressed by its worker."""
    if suffix.endswith(".gz"):
        return gzip.compress(data, 6, mtime=0)
    return zstd.compress(data) if suffix.endswith(".zst") else data


def _join(parts: Sequence[Path], out: Path, task: Task) -> None:
    """One file out of all parts."""
    if task.suffix == PARQUET:
        from pboh.annotation.arrow import join_parts  # noqa: PLC0415  (only Parquet needs pyarrow)

        return join_parts(parts, out, task.schema)
    with out.open("wb") as file:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, file, 1 << 20)
