"""What a Wikimedia mirror offers: the dates of a wiki's dumps, and the article parts of a finished one.

The layout is that of https://dumps.wikimedia.org: ``{mirror}/{wiki}/{date}/`` holds the parts, a
``dumpstatus.json`` that says which jobs are done, and ``{wiki}-{date}-sha1sums.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from pboh.corpus.download.http import Manners, RequestError, Web
from pboh.errors import DownloadError, InputError

MIRROR = "https://dumps.wikimedia.org"
_JOB = "articlesmultistreamdump"


class UnfinishedDumpError(DownloadError):
    """The dump is there, but its articles are still being written, or writing them failed."""


class _NoSuchDateError(DownloadError):
    """The wiki is known, but has no dump of that date."""


class Part(msgspec.Struct):
    """One file of a dump; ``number`` counts from 1 in page order and is what ``--parts`` names."""

    number: int
    name: str
    algorithm: str
    sum: str
    size: int | None = None
    verified: bool = False


class _File(msgspec.Struct):
    size: int | None = None
    sha1: str = ""
    md5: str = ""


class _Job(msgspec.Struct):
    status: str
    files: dict[str, _File] = {}


class _Status(msgspec.Struct):
    jobs: dict[str, msgspec.Raw]


@dataclass(frozen=True)
class Listing:
    """The article parts of one finished dump, in page order."""

    wiki: str
    date: str
    mirror: str
    parts: list[Part]


def list_parts(
    wiki: str, date: str = "latest", mirror: str = MIRROR, manners: Manners | None = None
) -> Listing:
    """List the article parts of ``wiki``'s dump of ``date``; ``latest`` is the newest finished one."""
    mirror = checked(wiki, date, mirror)
    web = Web(manners or Manners())
    dates = _dates(web, mirror, wiki) if date == "latest" else [date]
    reason: DownloadError | None = None
    for candidate in dates:
        try:
            return Listing(wiki, candidate, mirror, _parts(web, mirror, wiki, candidate))
        except (UnfinishedDumpError, _NoSuchDateError) as error:
            if date != "latest":
                raise
            reason = reason or error
    what = f"no dump of {wiki} is finished" + (f" (newest: {reason.what})" if reason else "")
    raise DownloadError(
        what, where=f"{mirror}/{wiki}/", todo="Try again in a few days, or use another --mirror"
    )


def checked(wiki: str, date: str, mirror: str) -> str:
    """Refuse what cannot name a dump before any request is made; gives the mirror without a final slash."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", wiki):
        raise InputError(
            f"{wiki!r} is not the name of a wiki", todo="Write it like enwiki, dewiki or zh_yuewiki"
        )
    if date != "latest" and not re.fullmatch(r"[0-9]{8}", date):
        raise InputError(f"{date!r} is not a date", todo="Write it like 20260101, or latest")
    if not re.fullmatch(r"https?://[^/\s?#@:]+(:[0-9]{1,5})?(/[^\s?#]*)?", mirror):
        raise InputError(f"{mirror!r} is not a mirror's address", todo=f"Write it like {MIRROR}")
    return mirror.rstrip("/")


def _dates(web: Web, mirror: str, wiki: str) -> list[str]:
    """Dates of the wiki's dumps, newest first: from the folder's index, else from ``latest/``'s sums file."""
    try:
        page = web.text(f"{mirror}/{wiki}/")
    except RequestError as fault:
        if fault.status == 404:
            raise _unknown_wiki(mirror, wiki) from fault
        if fault.status != 403:
            raise
        page = ""  # some mirrors forbid listing folders
    dates = set(re.findall(r"""href=["']?[^"'>\s]*?\b(\d{8})/?["'>\s]""", page))
    if not dates:
        sums = web.optional(f"{mirror}/{wiki}/latest/{wiki}-latest-sha1sums.txt") or ""
        dates = set(re.findall(rf"\b{wiki}-(\d{{8}})-", sums))
    return sorted(dates, reverse=True)


def _unknown_wiki(mirror: str, wiki: str) -> DownloadError:
    todo = "Check the name" if wiki.endswith("wiki") else f"Perhaps {wiki}wiki is meant"
    return DownloadError(f"there is no wiki called {wiki}", where=f"{mirror}/{wiki}/", todo=todo)


def _parts(web: Web, mirror: str, wiki: str, date: str) -> list[Part]:
    base = f"{mirror}/{wiki}/{date}"
    status = web.optional(f"{base}/dumpstatus.json")
    files = _files_of_job(status, base, wiki, date) if status is not None else {}
    algorithm, sums = _sums(web, base, f"{wiki}-{date}")
    if status is None and sums:
        files = _files_of_folder(web, base, sums, wiki, date)
    elif status is None:
        known = _dates(web, mirror, wiki)
        has = f"it has {', '.join(known[:6])}" if known else "it has none at all"
        raise _NoSuchDateError(
            f"{wiki} has no dump of {date}; {has}", where=base, todo="Choose one, or --date latest"
        )
    parts = []
    for number, name in enumerate(_in_page_order(files, wiki, date), start=1):
        file = files[name]
        found = [(algorithm, sums.get(name, "")), ("sha1", file.sha1), ("md5", file.md5)]
        kind, sum_ = next((pair for pair in found if pair[1]), ("", ""))
        if not sum_:
            raise UnfinishedDumpError(
                f"the dump publishes no checksum of {name} yet",
                where=base,
                todo="Try again later, or --date latest",
            )
        parts.append(Part(number, name, kind, sum_.lower(), file.size))
    if not parts:
        raise UnfinishedDumpError("the dump has no article parts", where=base, todo="Choose another --date")
    return parts


def _sums(web: Web, base: str, stem: str) -> tuple[str, dict[str, str]]:
    for algorithm, digits in (("sha1", 40), ("md5", 32)):
        text = web.optional(f"{base}/{stem}-{algorithm}sums.txt") or ""
        lines = re.findall(rf"^([0-9a-fA-F]{{{digits}}}) [ *](\S+)\s*$", text, flags=re.MULTILINE)
        if lines:
            return algorithm, {name: digest for digest, name in lines}
    return "", {}


def _files_of_job(status: str, base: str, wiki: str, date: str) -> dict[str, _File]:
    """Files of the articles job in ``dumpstatus.json``; an unfinished or failed job is an error."""
    try:
        jobs = msgspec.json.decode(status, type=_Status).jobs
        job = msgspec.json.decode(jobs[_JOB], type=_Job) if _JOB in jobs else _Job("missing")
    except msgspec.DecodeError as error:
        raise DownloadError(
            f"the answer is not a dump's status ({error})",
            where=f"{base}/dumpstatus.json",
            todo="Check --mirror, and whether a proxy or login page answers in its place",
        ) from error
    if job.status == "done":
        return job.files
    meaning = {"failed": "failed", "missing": "are not part of it", "skipped": "were skipped"}
    what = (
        f"the articles of {wiki} {date} {meaning.get(job.status, f'are still being written ({job.status})')}"
    )
    raise UnfinishedDumpError(what, where=base, todo="Use --date latest for the newest finished dump")


def _files_of_folder(web: Web, base: str, sums: dict[str, str], wiki: str, date: str) -> dict[str, _File]:
    """Files of a mirror without ``dumpstatus.json``: those with a checksum; others are not finished."""
    try:
        page = web.optional(f"{base}/") or ""
    except RequestError as fault:
        if fault.status != 403:
            raise
        page = ""
    names = re.findall(r"""href=["']?(?:[^"'>\s]*/)?([^"'>\s/]+)""", page)
    if unfinished := [name for name in _in_page_order(names, wiki, date) if name not in sums]:
        raise UnfinishedDumpError(
            f"{unfinished[0]} has no checksum, so the dump is still being written",
            where=base,
            todo="Use --date latest for the newest finished dump",
        )
    return {name: _File(web.length(f"{base}/{name}")) for name in _in_page_order(sums, wiki, date)}


def _in_page_order(names: Iterable[str], wiki: str, date: str) -> list[str]:
    """Article files among ``names`` by page range; the recombined whole only where there are no parts."""
    pattern = rf"{wiki}-{date}-pages-articles-multistream(\d*)\.xml(?:-p(\d+)p\d+)?\.bz2"
    found = [(match, name) for name in names if (match := re.fullmatch(pattern, name))]
    keyed = [(int(match[1] or 0), int(match[2] or 0), name) for match, name in found]
    cut = [key for key in keyed if key[0]]
    return [name for *_, name in sorted(cut or keyed)]


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
            raise InputError(
                f"--parts {piece.strip()} is outside the dump's parts 1-{available}", todo="See --list"
            )
        chosen.update(range(first, last + 1))
    return sorted(chosen)
