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

from pboh.corpus.download.folder import dump_files
from pboh.corpus.languages import conventions, read_conventions
from pboh.corpus.readers.chunks import Source, chunk_size, chunks
from pboh.corpus.readers.dump import Header, open_source
from pboh.corpus.tables.first_pass import SHOWN, Figures, scan, warm_up
from pboh.corpus.tables.held_out import hold_out
from pboh.corpus.tables.resolve import Chunks, resolve
from pboh.corpus.tables.second_pass import SCANNED, TITLES, write_chunk, write_named_subjects
from pboh.corpus.titles import Site
from pboh.errors import CorpusError, InputError, OutputError, PbohError
from pboh.files.memory import processors
from pboh.files.progress import Report, silent
from pboh.files.usage import Usage
from pboh.files.workers import Task, Workers
from pboh.files.writing import claimed, disk_errors, file_state, read_json, write_json, written_aside

FORMAT, VERSION = "pboh-corpus", 1
TABLES = ("pages", "entities", "links", "context_words", "words", "texts", "subjects")
TOKENS = "tokens"
"""Table that takes the place of ``context_words`` where counting looks around links itself."""
_WORK, _PLAN, _MANIFEST = ".work", "plan.json", "corpus.json"
_STAGES = {"scan": "scan", "resolve": "index", "write": "tables"}  # and where each keeps its work
_SECOND_PASS = 0.4  # its share of the first pass's time, for the progress bar


@dataclass(frozen=True, slots=True)
class Options:
    """Everything the result depends on, beside the files; a chunk's size follows from theirs if not given.

    ``hold_out`` pages are set aside and not counted; None lets the size of the corpus decide (see
    :mod:`pboh.corpus.tables.held_out`). ``tokens`` keeps the words of pages, from which counting takes those
    around links; otherwise they are counted here, chunk by chunk, in a table six times as large.
    """

    window: int = 50
    red_links: Literal["keep", "drop"] = "keep"
    language: str | None = None
    texts: bool = True
    conventions: Path | None = None
    chunk_size: int | None = None
    hold_out: int | None = 0
    tokens: bool = False


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
    # each worker may hold a chunk's text several times over (measured: 350 MB)
    count = max(1, min(workers or processors(), int((memory - (250 << 20)) / (370 << 20))))
    with Workers(count) as pool, Usage() as usage, usage.stage("extract"):
        pool.start(warm_up)
        opened = [open_source(path) for path in input_files(inputs)]
        run = _Run(Path(out), opened, options, pool, memory, report)
        with _ours(Path(out)):
            figures = run.finish()
    figures["peak_memory_megabytes"] = usage.figures()["extract"]["memory_megabytes"]
    figures["seconds"] = round(time.monotonic() - started, 2)
    return figures


def input_files(inputs: Sequence[str | Path]) -> list[Path]:
    """The files meant by files and folders of downloads: each once, the parts of a download in page order."""
    if not inputs:
        raise InputError("no dump was given", todo="Pass at least one dump file, or the folder of a download")
    files: list[Path] = []
    for path in map(Path, inputs):
        if not path.exists():
            raise InputError("there is no such file", where=path, todo="Fetch a dump with: pboh download")
        files += dump_files(path) if path.is_dir() else [path]
    return list(dict.fromkeys(files))


def _site(headers: Sequence[Header], options: Options) -> Site:
    """The wiki of the first dump that says so, or the default of the language."""
    header = next((header for header in headers if header.siteinfo), Header(b"", None, None))
    wiki = re.fullmatch(
        r"([a-z]{2,3}(?:_[a-z]+)*)wik(?:i|tionary|isource|iquote|ibooks|inews|ivoyage)", header.wiki or ""
    )
    language = options.language or header.language or (wiki[1].replace("_", "-") if wiki else "en")
    habits = read_conventions(options.conventions, language) if options.conventions else conventions(language)
    if not header.siteinfo:
        return Site.from_siteinfo(language, f"{language}wiki", habits=habits)
    try:
        info = etree.fromstring(header.siteinfo, etree.XMLParser(resolve_entities=False, no_network=True))
        names = {each.text: int(each.get("key", "0")) for each in info.iter("namespace") if each.text}
    except (etree.XMLSyntaxError, ValueError) as error:
        what = f"the <siteinfo> of the dump cannot be read ({error})"
        raise CorpusError(what, todo="Download the dump again") from error
    case = info.findtext("case") or "first-letter"
    return Site.from_siteinfo(language, header.wiki or f"{language}wiki", case, names, habits)


@contextmanager
def _ours(folder: Path) -> Iterator[None]:
    """Make sure the folder is empty or ours, and that nobody else writes to it."""
    if folder.is_dir() and any(folder.iterdir()) and not _is_ours(folder):
        what = "the folder contains something other than a corpus"
        raise OutputError(what, where=folder, todo="Choose an empty or a new folder")
    try:
        with claimed(folder / _WORK, folder):
            try:
                yield
            except PbohError:
                if not any((folder / _WORK / "scan").glob("[0-9]*")):  # nothing is finished
                    shutil.rmtree(folder / _WORK / "scan", ignore_errors=True)
                    (folder / _WORK / _PLAN).unlink(missing_ok=True)
                raise
    finally:
        with suppress(OSError):  # unless there is something in it
            folder.rmdir()


def _is_ours(folder: Path) -> bool:
    manifest = folder / _MANIFEST
    if manifest.is_file():
        content = read_json(manifest, "the corpus manifest", OutputError)
        return isinstance(content, dict) and content.get("format") == FORMAT
    return {path.name for path in folder.iterdir()} <= {_WORK, *TABLES, TOKENS} and (folder / _WORK).is_dir()


class _Run:
    """One extraction into one folder."""

    def __init__(
        self,
        folder: Path,
        opened: Sequence[tuple[Source, Header]],
        options: Options,
        pool: Workers,
        memory: int,
        report: Report,
    ) -> None:
        self._folder, self._work = folder, folder / _WORK
        self._sources = [source for source, _ in opened]
        self._site = _site([header for _, header in opened], options)
        self._options, self._pool, self._memory, self._report = options, pool, memory, report
        self._total = sum(source.size for source in self._sources)
        self._chunk_size = options.chunk_size or chunk_size(self._sources)
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
        return self._publish(plan, scanned, index, self._write(chunks))

    def _plan(self) -> dict[str, Any]:
        """Inputs and options, split by what has to be done again when they change."""
        options = self._options
        return {
            "version": VERSION,
            "scan": {
                "sources": [file_state(source.path) for source in self._sources],
                "language": self._site.language,
                "conventions": None if options.conventions is None else repr(self._site.conventions),
                "texts": options.texts,
                "chunk_size": self._chunk_size,
                "subjects": True,
            },
            "resolve": {"red_links": options.red_links, "hold_out": options.hold_out},
            "write": {"window": options.window, **({"tokens": True} if options.tokens else {})},
        }

    def _finished(self, plan: dict[str, Any]) -> dict[str, Any] | None:
        """The figures of a corpus that is already complete and the same."""
        manifest = self._folder / _MANIFEST
        known = read_json(manifest, "the corpus manifest", OutputError) if manifest.is_file() else {}
        if known.get("plan") != plan:
            return None
        shutil.rmtree(self._work, ignore_errors=True)
        return dict(known["statistics"])

    def _forget_other(self, plan: dict[str, Any]) -> None:
        """Remove what an earlier run made of other inputs or with other options."""
        path = self._work / _PLAN
        known = read_json(path, "the plan of the extraction") if path.is_file() else {}
        (self._folder / _MANIFEST).unlink(missing_ok=True)
        same = known.get("version") == VERSION
        for stage, folder in _STAGES.items():
            same = same and known.get(stage) == plan[stage]
            if not same:
                shutil.rmtree(self._work / folder, ignore_errors=True)
        for chunk in () if same else (self._work / "scan").glob("[0-9]*"):
            if not (chunk / f"{SCANNED[0]}.arrow").exists():  # its tables were written, with other options
                shutil.rmtree(chunk)
        for table in () if same else (*TABLES, TOKENS):
            shutil.rmtree(self._folder / table, ignore_errors=True)
        write_json(path, plan)

    def _scan(self) -> list[Figures]:
        """First pass; returns the figures of all chunks."""
        found: dict[int, Figures] = {}
        done = fresh_pages = fresh_bytes = 0

        def tasks() -> Iterator[Task]:
            nonlocal done
            for chunk in chunks(self._sources, self._chunk_size):
                path = self._work / "scan" / f"{chunk.number:05d}"
                if path.is_dir():
                    found[chunk.number] = read_json(path / "figures.json", "a chunk of the extraction")
                    done += chunk.end - chunk.start
                else:
                    yield scan, (chunk, self._site, self._options.texts, path)

        for (chunk, *_), figures in self._pool.run(tasks()):
            found[chunk.number] = figures
            done += chunk.end - chunk.start
            fresh_pages, fresh_bytes = fresh_pages + figures["pages"], fresh_bytes + figures["bytes"]
            seconds = max(1e-9, time.monotonic() - self._started)
            speed = f"{fresh_pages / seconds:,.0f} pages/s, {fresh_bytes / seconds / 1e6:.1f} MB/s"
            self._tell(done, f"{fresh_pages:,} pages, {speed}")
        ordered = [found[number] for number in sorted(found)]
        self._complain_if_empty(ordered)
        return ordered

    def _tell(self, done: float, detail: str) -> None:
        """How far it is, in bytes of input; the second pass counts as some more of them."""
        self._report(done, self._total * (1 + _SECOND_PASS), detail)

    def _complain_if_empty(self, figures: Sequence[Figures]) -> None:
        where = ", ".join(str(source.path) for source in self._sources)
        if not any(each["pages"] for each in figures):
            raise CorpusError("it has no pages", where=where, todo="Check which dump it is")
        if not any(each["characters"] for each in figures):
            todo = "Give the dump named pages-articles; stub dumps have titles only"
            raise CorpusError("none of the pages has text", where=where, todo=todo)

    def _resolve(self, chunks: Chunks) -> Figures:
        """Between the passes: titles and words of all chunks put in order."""
        folder = self._work / "index"
        if not folder.is_dir():
            self._tell(self._total, "resolving titles")
            with written_aside(folder) as aside:
                aside.mkdir()
                keep = self._options.red_links == "keep"
                held = hold_out(chunks, self._options.hold_out)
                figures = resolve(chunks, aside, keep, held, int(0.4 * self._memory), processors())
                write_json(aside / "figures.json", figures)
        return dict(read_json(folder / "figures.json", "a part of the extraction"))

    def _write(self, chunks: Chunks) -> list[Figures]:
        """Second pass; returns the figures of all chunks."""
        tables, count = self._work / "tables", len(chunks.folders)
        done = [tables / "done" / f"{number:05d}.json" for number in range(count)]
        left = [number for number in range(count) if not done[number].is_file()]
        options = self._options
        how = (self._work / "index", tables, options.window, options.texts, options.tokens)
        tasks = ((write_chunk, (chunks.place(number), chunks.folders[number], *how)) for number in left)
        for finished, _ in enumerate(self._pool.run(tasks), start=count - len(left) + 1):
            detail = f"writing tables, {finished:,} of {count:,} chunks"
            self._tell(self._total * (1 + _SECOND_PASS * finished / count), detail)
        if not (tables / "subjects" / TITLES).exists():
            write_named_subjects(self._work / "index", tables, self._site.language)
        return [read_json(path, "a part of the extraction") for path in done]

    def _publish(
        self, plan: dict[str, Any], scanned: Sequence[Figures], index: Figures, written: Sequence[Figures]
    ) -> dict[str, Any]:
        """Move the tables to where they belong; the manifest, written last, makes the corpus complete."""
        for name in (*TABLES, TOKENS):
            finished = self._work / ("index" if name in ("pages", "entities", "words") else "tables") / name
            if finished.is_dir():
                shutil.rmtree(self._folder / name, ignore_errors=True)
                with disk_errors(self._folder):
                    finished.rename(self._folder / name)

        def total(name: str, figures: Sequence[Figures] = scanned) -> int:
            return sum(each.get(name, 0) for each in figures)

        statistics: dict[str, Any] = {
            "pages": total("pages"),
            "articles": total("article"),
            "redirects": total("redirect"),
            "disambiguations": total("disambiguation"),
            "lists": total("list"),
            "held_out": index["held_out"],
            "links": total("links", written),
            "distinct_targets": index["distinct_targets"],
            "entities": index["entities"],
            "words": index["words"],
            "word_tokens": total("tokens"),
            "subjects": total("subjects", written),
            **({} if self._options.tokens else {"context_rows": total("context_words", written)}),
            "megabytes": round(total("bytes") / 1e6, 3),
            "input_megabytes": round(self._total / 1e6, 3),
        }
        if problems := [problem for each in scanned for problem in each.get("problems", ())]:
            more = len(problems[SHOWN:]) + total("more_problems")
            statistics["problems"] = problems[:SHOWN] + [f"and {more:,} more of the kind"] * (more > 0)
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
                "hold_out": self._options.hold_out,
                **({"tokens": True} if self._options.tokens else {}),
            },
            "statistics": statistics,
            "plan": plan,
        }
        write_json(self._folder / _MANIFEST, manifest)
        shutil.rmtree(self._work, ignore_errors=True)
        return statistics


def _date(sources: Sequence[Source]) -> str | None:
    """The date in the dump's name, as Wikimedia writes it."""
    found = (re.search(r"-(20\d{2})(\d{2})(\d{2})-", source.path.name) for source in sources)
    return next((f"{match[1]}-{match[2]}-{match[3]}" for match in found if match), None)
