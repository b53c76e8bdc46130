"""``pboh extract``: dumps in, Parquet tables out; stopped at any moment, it continues where it was.

Two passes over the chunks of the dumps (:mod:`~pboh.corpus.tables.first_pass`,
:mod:`~pboh.corpus.tables.second_pass`) with :mod:`~pboh.corpus.tables.resolve` in between. Until all is done
everything is kept in ``.work`` below the output folder, and every file or folder there appears only when
complete; the tables are moved out at the end and ``corpus.json`` is written last.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lxml import etree

from pboh.corpus.inputs import input_files
from pboh.corpus.languages import Conventions, conventions, read_conventions
from pboh.corpus.readers.chunks import Chunk, Source, chunk_size, chunks
from pboh.corpus.readers.dump import Header, open_source
from pboh.corpus.tables.first_pass import ScanOptions, scan, warm_up
from pboh.corpus.tables.resolve import Chunks, resolve
from pboh.corpus.tables.second_pass import Place, write_chunk
from pboh.corpus.titles import Site
from pboh.errors import CorpusError, InputError, OutputError, PbohError
from pboh.files.memory import PeakMemory, processors
from pboh.files.progress import Report, silent
from pboh.files.workers import Task, Workers
from pboh.files.writing import claimed, disk_errors, read_json, write_json, written_aside

FORMAT, VERSION = "pboh-corpus", 1
TABLES = ("pages", "entities", "links", "context_words", "words", "texts")
_WORK, _PLAN, _MANIFEST = ".work", "plan.json", "corpus.json"
_SECOND_PASS = 0.4  # its share of the first pass's time, for the progress bar


@dataclass(frozen=True, slots=True)
class Options:
    """Everything the result depends on, beside the files; a chunk's size follows from theirs if not given."""

    window: int = 50
    red_links: Literal["keep", "drop"] = "keep"
    language: str | None = None
    texts: bool = True
    conventions: Path | None = None
    chunk_size: int | None = None


def extract(
    inputs: Sequence[str | Path],
    out: str | Path,
    options: Options = Options(),  # noqa: B008 - frozen
    *,
    workers: int | None = None,
    memory: int = 2 << 30,
    report: Report = silent,
) -> dict[str, Any]:
    """Write the corpus folder ``out`` and return its figures; what an earlier run finished is kept.

    ``memory`` bounds all processes together: it sets how much the sorting of titles may hold, and how many
    workers there may be.
    """
    started = time.monotonic()
    if options.window < 0 or (workers is not None and workers < 1):
        raise InputError("the window and the number of workers must be positive")
    count = _affordable(workers or processors(), memory)
    with Workers(count) as pool, PeakMemory(pool.processes) as peak:
        pool.start(warm_up)
        figures = _run(inputs, Path(out), options, pool, memory, report)
        figures["peak_memory_megabytes"] = round(peak.megabytes, 1)
    figures["seconds"] = round(time.monotonic() - started, 2)
    return figures


def _affordable(workers: int, memory: int) -> int:
    """Workers that fit: each may hold a chunk's text several times over (measured: 350 MB)."""
    return max(1, min(workers, int((memory - (300 << 20)) / (400 << 20))))


def _run(
    inputs: Sequence[str | Path], folder: Path, options: Options, pool: Workers, memory: int, report: Report
) -> dict[str, Any]:
    """Extract dumps into a folder and return the figures."""
    opened = [open_source(path) for path in input_files(inputs)]
    sources = [source for source, _ in opened]
    site = _site([header for _, header in opened], options)
    with _ours(folder):
        return _Run(folder, sources, options, site, pool, memory, report).finish()


def _site(headers: list[Header], options: Options) -> Site:
    """The wiki of the first dump that says so, or the default of the language."""
    header = next((header for header in headers if header.siteinfo), Header(b"", None, None))
    language = options.language or header.language or _language_of(header.wiki) or "en"
    habits = read_conventions(options.conventions, language) if options.conventions else conventions(language)
    if not header.siteinfo:
        return Site.from_siteinfo(language, f"{language}wiki", habits=habits)
    info = etree.fromstring(header.siteinfo, etree.XMLParser(resolve_entities=False, no_network=True))
    names = {element.text: int(element.get("key", "0")) for element in info.iter("namespace") if element.text}
    case = info.findtext("case") or "first-letter"
    return Site.from_siteinfo(language, header.wiki or f"{language}wiki", case, names, habits)


def _language_of(wiki: str | None) -> str | None:
    match = re.fullmatch(
        r"([a-z]{2,3}(?:_[a-z]+)*)wik(?:i|tionary|isource|iquote|ibooks|inews|ivoyage)", wiki or ""
    )
    return match[1].replace("_", "-") if match else None


@contextmanager
def _ours(folder: Path) -> Iterator[None]:
    """Make sure the folder is empty or ours, and that nobody else writes to it."""
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        what = "the folder holds other things than a corpus"
        raise OutputError(what, where=folder, todo="Name an empty or a new folder")
    try:
        with claimed(folder / _WORK, folder):
            try:
                yield
            except PbohError:
                _forget_if_nothing_is_finished(folder / _WORK)
                raise
    finally:
        with suppress(OSError):  # unless there is something in it
            folder.rmdir()


def _forget_if_nothing_is_finished(work: Path) -> None:
    if not any((work / "scan").glob("[0-9]*")):
        shutil.rmtree(work / "scan", ignore_errors=True)
        (work / _PLAN).unlink(missing_ok=True)


def _is_ours(folder: Path) -> bool:
    manifest = folder / _MANIFEST
    if manifest.is_file():
        content = read_json(manifest, "the corpus manifest", OutputError)
        return isinstance(content, dict) and content.get("format") == FORMAT
    return {path.name for path in folder.iterdir()} <= {_WORK, *TABLES} and (folder / _WORK).is_dir()


class _Run:
    """One extraction into one folder."""

    def __init__(
        self,
        folder: Path,
        sources: list[Source],
        options: Options,
        site: Site,
        pool: Workers,
        memory: int,
        report: Report,
    ) -> None:
        self._folder, self._work = folder, folder / _WORK
        self._sources, self._options, self._site = sources, options, site
        self._pool, self._memory, self._report = pool, memory, report
        self._total = sum(source.size for source in sources)
        self._chunk_size = options.chunk_size or chunk_size(sources)
        self._started = time.monotonic()

    def finish(self) -> dict[str, Any]:
        """Do what is left to do."""
        plan = self._plan()
        if (done := self._finished(plan)) is not None:
            return done
        self._forget_other(plan)
        scanned = self._scan()
        chunks = Chunks.of([self._work / "scan" / f"{number:05d}" for number in range(len(scanned))], scanned)
        index = self._resolve(chunks)
        figures = self._write(chunks)
        return self._publish(plan, scanned, index, figures)

    def _plan(self) -> dict[str, Any]:
        """Inputs and options, split by what has to be done again when they change."""
        options = self._options
        sources = [
            {"name": s.path.name, "bytes": s.size, "modified": s.path.stat().st_mtime_ns}
            for s in self._sources
        ]
        habits: Conventions = self._site.conventions
        return {
            "version": VERSION,
            "scan": {
                "sources": sources,
                "language": self._site.language,
                "conventions": None if options.conventions is None else repr(habits),
                "texts": options.texts,
                "chunk_size": self._chunk_size,
            },
            "resolve": {"red_links": options.red_links},
            "write": {"window": options.window},
        }

    def _finished(self, plan: dict[str, Any]) -> dict[str, Any] | None:
        """The figures of a corpus that is already complete and the same."""
        manifest = self._folder / _MANIFEST
        if not manifest.is_file():
            return None
        known = read_json(manifest, "the corpus manifest", OutputError)
        if known.get("plan") != plan:
            return None
        shutil.rmtree(self._work, ignore_errors=True)
        return dict(known["statistics"])

    def _forget_other(self, plan: dict[str, Any]) -> None:
        """Remove what an earlier run made of other inputs or with other options."""
        path = self._work / _PLAN
        known = read_json(path, "the plan of the extraction") if path.is_file() else {}
        stale = []
        if known.get("version") != VERSION or known.get("scan") != plan["scan"]:
            stale = ["scan", "index", "tables"]
        elif known.get("resolve") != plan["resolve"]:
            stale = ["index", "tables"]
        elif known.get("write") != plan["write"]:
            stale = ["tables"]
        (self._folder / _MANIFEST).unlink(missing_ok=True)
        for name in stale:
            shutil.rmtree(self._work / name, ignore_errors=True)
        if stale:
            for name in TABLES:
                shutil.rmtree(self._folder / name, ignore_errors=True)
        write_json(path, plan)

    def _scan(self) -> list[dict[str, int]]:
        """First pass; returns the figures of all chunks."""
        options = ScanOptions(self._site, self._options.texts)
        folder = self._work / "scan"
        found: dict[int, dict[str, int]] = {}
        done = 0

        def tasks() -> Iterator[Task]:
            nonlocal done
            for chunk in chunks(self._sources, self._chunk_size):
                path = folder / f"{chunk.number:05d}"
                if path.is_dir():
                    found[chunk.number] = read_json(path / "figures.json", "a chunk of the extraction")
                    done += chunk.end - chunk.start
                else:
                    yield scan, (chunk, options, path)

        fresh_pages = fresh_bytes = 0
        for arguments, figures in self._pool.run(tasks()):
            chunk: Chunk = arguments[0]
            found[chunk.number] = figures
            done += chunk.end - chunk.start
            fresh_pages += figures["pages"]
            fresh_bytes += figures["bytes"]
            self._progress(done, fresh_pages, fresh_bytes)
        ordered = [found[number] for number in sorted(found)]
        self._complain_if_empty(ordered)
        return ordered

    def _progress(self, done: int, pages: int, read: int) -> None:
        """How far the input is read, and how fast: pages and bytes of XML that this run has read itself."""
        seconds = max(1e-9, time.monotonic() - self._started)
        detail = f"{pages:,} pages, {pages / seconds:,.0f} pages/s, {read / seconds / 1e6:.1f} MB/s"
        self._report(done, self._total * (1 + _SECOND_PASS), detail)

    def _complain_if_empty(self, figures: list[dict[str, int]]) -> None:
        where = ", ".join(str(source.path) for source in self._sources)
        if not sum(each["pages"] for each in figures):
            raise CorpusError("there is not a single page in it", where=where, todo="Check which dump it is")
        if not sum(each["characters"] for each in figures):
            todo = "Give the dump named pages-articles; stub dumps have titles only"
            raise CorpusError("none of the pages has a text", where=where, todo=todo)

    def _resolve(self, chunks: Chunks) -> dict[str, int]:
        """Between the passes: titles and words of all chunks put in order."""
        folder = self._work / "index"
        if not folder.is_dir():
            self._report(self._total, self._total * (1 + _SECOND_PASS), "resolving titles")
            with written_aside(folder) as aside:
                aside.mkdir()
                keep = self._options.red_links == "keep"
                figures = resolve(chunks, aside, keep, int(0.4 * self._memory), processors())
                write_json(aside / "figures.json", figures)
        return dict(read_json(folder / "figures.json", "a part of the extraction"))

    def _write(self, chunks: Chunks) -> dict[str, int]:
        """Second pass; returns the sums of the chunks' figures."""
        totals = {"links": 0, "context_words": 0}
        tables = self._work / "tables"
        count = len(chunks.folders)
        left = [number for number in range(count) if not _done(tables, number)]

        def tasks() -> Iterator[Task]:
            for number in left:
                options = (self._options.window, self._options.texts)
                place = Place(number, *(chunks.rows(name, number) for name in ("pages", "targets", "words")))
                yield write_chunk, (place, chunks.folders[number], self._work / "index", tables, *options)

        finished = count - len(left)
        for _ in self._pool.run(tasks()):
            finished += 1
            share = finished / count
            detail = f"writing tables, {finished:,} of {count:,} chunks"
            self._report(self._total * (1 + _SECOND_PASS * share), self._total * (1 + _SECOND_PASS), detail)
        for number in range(count):
            figures = read_json(tables / "done" / f"{number:05d}.json", "a part of the extraction")
            totals = {name: total + figures[name] for name, total in totals.items()}
        return totals

    def _publish(
        self,
        plan: dict[str, Any],
        scanned: list[dict[str, int]],
        index: dict[str, int],
        written: dict[str, int],
    ) -> dict[str, Any]:
        """Move the tables to where they belong; the manifest, written last, makes the corpus complete."""
        for name in TABLES:
            finished = self._work / ("index" if name in ("pages", "entities", "words") else "tables") / name
            if finished.is_dir():
                shutil.rmtree(self._folder / name, ignore_errors=True)
                with disk_errors(self._folder):
                    finished.rename(self._folder / name)
        sums = {name: sum(each[name] for each in scanned) for name in scanned[0]}
        statistics = {
            "pages": sums["pages"],
            "articles": sums["article"],
            "redirects": sums["redirect"],
            "disambiguations": sums["disambiguation"],
            "lists": sums["list"],
            "links": written["links"],
            "distinct_targets": index["distinct_targets"],
            "entities": index["entities"],
            "words": index["words"],
            "word_tokens": sums["tokens"],
            "context_rows": written["context_words"],
            "megabytes": round(sums["bytes"] / 1e6, 3),
            "input_megabytes": round(self._total / 1e6, 3),
        }
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "wiki": self._site.wiki,
            "language": self._site.language,
            "date": _date(self._sources),
            "sources": plan["scan"]["sources"],
            "options": {
                "window": self._options.window,
                "red_links": self._options.red_links,
                "texts": self._options.texts,
                "chunk_size": self._chunk_size,
            },
            "statistics": statistics,
            "plan": plan,
        }
        write_json(self._folder / _MANIFEST, manifest)
        shutil.rmtree(self._work, ignore_errors=True)
        return statistics


def _done(tables: Path, number: int) -> bool:
    return (tables / "done" / f"{number:05d}.json").is_file()


def _date(sources: list[Source]) -> str | None:
    """The date in the dump's name, as Wikimedia writes it."""
    found = (re.search(r"-(20\d{2})(\d{2})(\d{2})-", source.path.name) for source in sources)
    return next((f"{match[1]}-{match[2]}-{match[3]}" for match in found if match), None)
