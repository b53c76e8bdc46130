"""What a Wikimedia mirror offers: the dates of a wiki's dumps, and the files of a finished one.

The layout is that of https://dumps.wikimedia.org: ``{mirror}/{wiki}/{date}/`` holds the parts, and a
``dumpstatus.json`` that says which jobs are done and lists the size and checksum of their files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from pboh.corpus.download.http import Manners, RequestError, Web
from pboh.errors import DownloadError, InputError
from pboh.files.writing import NOT_JSON

MIRROR = "https://dumps.wikimedia.org"
FORMAT, VERSION = "pboh-download", 1
_JOB = "articlesmultistreamdump"
_TABLES = {"pagepropstable": "page_props"}
"""Jobs that write the tables of a wiki's database which say what its pages are in Wikidata."""


class UnfinishedDumpError(DownloadError):
    """The dump is not there, its articles are still being written, or writing them failed."""


class Part(msgspec.Struct):
    """One file of a dump; ``number`` counts from 1 in page order and is what ``--parts`` names.

    A table has the number 0.
    """

    number: int
    name: str
    size: int
    sha1: str
    verified: bool = False


class Dump(msgspec.Struct, kw_only=True):
    """Article parts of one finished dump in page order: those offered or, in a folder, those wanted.

    Tables are None in a folder for which nobody has asked which there are.
    """

    format: str = FORMAT
    version: int = VERSION
    wiki: str
    date: str
    mirror: str
    available: int
    files: list[Part]
    tables: list[Part] | None = None

    @property
    def all_files(self) -> list[Part]:
        """Parts and tables."""
        return [*self.files, *(self.tables or ())]


class _File(msgspec.Struct):
    size: int = -1
    sha1: str = ""


class _Job(msgspec.Struct):
    status: str
    files: dict[str, _File] = {}


class _Status(msgspec.Struct):
    jobs: dict[str, msgspec.Raw]


def list_parts(wiki: str, date: str = "latest", mirror: str = MIRROR, manners: Manners | None = None) -> Dump:
    """List the article parts of ``wiki``'s dump of ``date``; ``latest`` is the newest finished one."""
    mirror, web = checked(wiki, date, mirror), Web(manners or Manners())
    if date != "latest":
        return _dump(web, mirror, wiki, date)
    newest = ""
    for candidate in _dates(web, mirror, wiki):
        try:
            return _dump(web, mirror, wiki, candidate)
        except UnfinishedDumpError as error:
            newest = newest or f" (newest: {error.what})"
    todo = "Try again in a few days, or use another --mirror"
    raise DownloadError(f"no dump of {wiki} is finished{newest}", where=f"{mirror}/{wiki}/", todo=todo)


def checked(wiki: str, date: str, mirror: str) -> str:
    """Refuse what cannot name a dump before any request is made; gives the mirror without a final slash."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", wiki):
        todo = "Write it like enwiki, dewiki or zh_yuewiki"
        raise InputError(f"{wiki!r} is not the name of a wiki", todo=todo)
    if date != "latest" and not re.fullmatch(r"[0-9]{8}", date):
        raise InputError(f"{date!r} is not a date", todo="Write it like 20260101, or latest")
    if not re.fullmatch(r"https?://[^/\s?#@:]+(:[0-9]{1,5})?(/[^\s?#]*)?", mirror):
        raise InputError(f"{mirror!r} is not a mirror's address", todo=f"Write it like {MIRROR}")
    return mirror.rstrip("/")


def _dates(web: Web, mirror: str, wiki: str) -> list[str]:
    """Dates of the wiki's dumps, newest first."""
    where = f"{mirror}/{wiki}/"
    try:
        page = web.text(where)
    except RequestError as fault:
        if fault.status != 404:
            raise
        todo = "Check the name" if wiki.endswith("wiki") else f"Perhaps {wiki}wiki is meant"
        raise DownloadError(f"there is no wiki called {wiki}", where=where, todo=todo) from fault
    return sorted(set(re.findall(r"""(?<=["'=/])\d{8}(?=/?["'>\s])""", page)), reverse=True)


def _dump(web: Web, mirror: str, wiki: str, date: str) -> Dump:
    """The dump of a date; raises if its articles are not finished."""
    jobs = _jobs(web, mirror, wiki, date)
    files = _finished_files(jobs, mirror, wiki, date)
    names = _in_page_order(files, wiki, date)
    incomplete = [name for name in names if files[name].size < 0 or not files[name].sha1]
    if incomplete or not names:
        what = f"size and checksum of {incomplete[0]}" if incomplete else "article parts"
        where = f"{mirror}/{wiki}/{date}"
        raise UnfinishedDumpError(
            f"the dump's status has no {what}", where=where, todo="Choose another --date"
        )
    known = ((name, files[name]) for name in names)
    parts = [Part(k, name, file.size, file.sha1.lower()) for k, (name, file) in enumerate(known, start=1)]
    tables = list(_tables(jobs, wiki, date))
    return Dump(wiki=wiki, date=date, mirror=mirror, available=len(parts), files=parts, tables=tables)


def _tables(jobs: dict[str, _Job], wiki: str, date: str) -> Iterator[Part]:
    """Tables that are finished; a dump without them serves too."""
    for job, table in _TABLES.items():
        name = f"{wiki}-{date}-{table}.sql.gz"
        file = jobs[job].files.get(name) if jobs[job].status == "done" else None
        if file and file.size >= 0 and file.sha1:
            yield Part(0, name, file.size, file.sha1.lower())


def _jobs(web: Web, mirror: str, wiki: str, date: str) -> dict[str, _Job]:
    """The jobs in ``dumpstatus.json`` that we use."""
    base = f"{mirror}/{wiki}/{date}"
    try:
        jobs = msgspec.json.decode(web.text(f"{base}/dumpstatus.json"), type=_Status).jobs
        articles = msgspec.json.decode(jobs[_JOB], type=_Job) if _JOB in jobs else _Job("missing")
    except RequestError as fault:
        if fault.status not in (404, 410):
            raise
        what = f"{wiki} has no dump of {date}; it has {', '.join(_dates(web, mirror, wiki)[:6]) or 'none'}"
        raise UnfinishedDumpError(what, where=base, todo="Choose one, or --date latest") from fault
    except NOT_JSON as error:
        raise DownloadError(
            f"the answer is not a dump's status ({error})",
            where=f"{base}/dumpstatus.json",
            todo="Check --mirror, and whether a proxy or login page answers in its place",
        ) from error
    found = {job: _Job("missing") for job in _TABLES}
    for job in set(_TABLES) & jobs.keys():
        with suppress(msgspec.DecodeError):  # of one that waits, the files may be anything
            found[job] = msgspec.json.decode(jobs[job], type=_Job)
    return {_JOB: articles, **found}


def _finished_files(jobs: dict[str, _Job], mirror: str, wiki: str, date: str) -> dict[str, _File]:
    """Files of the articles; an unfinished or failed job is an error."""
    job, base = jobs[_JOB], f"{mirror}/{wiki}/{date}"
    if job.status == "done":
        return job.files
    meanings = {"failed": "failed", "missing": "are not part of it", "skipped": "were skipped"}
    meaning = meanings.get(job.status, f"are still being written ({job.status})")
    todo = "Use --date latest for the newest finished dump"
    raise UnfinishedDumpError(f"the articles of {wiki} {date} {meaning}", where=base, todo=todo)


def _in_page_order(names: Iterable[str], wiki: str, date: str) -> list[str]:
    """Article files among ``names`` by page range; the recombined whole only where there are no parts."""
    pattern = rf"{wiki}-{date}-pages-articles-multistream(\d*)\.xml(?:-p(\d+)p\d+)?\.bz2"
    found = [match for name in names if (match := re.fullmatch(pattern, name))]
    keyed = sorted((int(match[1] or 0), int(match[2] or 0), match[0]) for match in found)
    return [name for *_, name in [key for key in keyed if key[0]] or keyed]


def select_parts(text: str | None, available: int) -> list[int]:
    """Part numbers meant by ``1-3,7``; everything when ``text`` is None or ``all``."""
    if text is None or text.strip() == "all":
        return list(range(1, available + 1))
    chosen: set[int] = set()
    for piece in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*", piece)
        if not match:
            raise InputError(f"--parts {text!r} is not understood", todo="Write it like 3, 1-3 or 1-3,7")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 1 <= first <= last <= available:
            what = f"--parts {piece.strip()} is outside the dump's parts 1-{available}"
            raise InputError(what, todo="See --list")
        chosen.update(range(first, last + 1))
    return sorted(chosen)
