"""Downloading a dump: its parts are fetched with resume, verified, and recorded in the folder's manifest.

``dump_files`` is how later stages read such a folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.filesize import decimal

from pboh.corpus.download import mirror as offers
from pboh.corpus.download.http import Manners, RequestError, StoppedError, Web, size_of
from pboh.corpus.download.mirror import MIRROR, Dump, Part, list_parts, select_parts
from pboh.errors import CorpusError, DownloadError, OutputError
from pboh.files.progress import Report, silent
from pboh.files.writing import LOCK, claimed, disk_errors, flush_to_disk, read_json, write_json

MANIFEST = "download.json"


def dump_files(folder: Path) -> list[Path]:
    """The verified parts in ``folder``, in page order; an unfinished or damaged download is an error."""
    manifest = _read_manifest(folder)
    if manifest is None:
        what = "this is not a folder written by pboh download"
        raise CorpusError(what, where=folder, todo="Pass the dump's files")
    for part in manifest.files:
        if not _in_place(folder, part):
            raise CorpusError(
                f"part {part.number} of {manifest.wiki} {manifest.date} is not fetched, or was altered since",
                where=folder / part.name,
                todo=f"Finish it with: pboh download {manifest.wiki} --date {manifest.date} --out {folder}",
            )
    return [folder / part.name for part in manifest.files]


def id_table(dumps: Sequence[Path]) -> Path | None:
    """The table ``page_props`` of the wiki, if it lies beside one of its dumps under Wikimedia's name."""
    for dump in dumps:
        wiki = re.match(r"(\w+-(?:\d{8}|latest))-pages-articles", dump.name)
        table = dump.with_name(f"{wiki[1]}-page_props.sql.gz") if wiki else None
        if table and table.is_file():
            return table
    return None


def _in_place(folder: Path, part: Part) -> bool:
    path = folder / part.name
    return part.verified and path.is_file() and path.stat().st_size == part.size


def _read_manifest(folder: Path) -> Dump | None:
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest = msgspec.convert(read_json(path, "the download's manifest", CorpusError), Dump)
    except msgspec.ValidationError as error:
        what = f"this is not a download's manifest ({error})"
        raise CorpusError(what, where=path, todo="Use another folder") from error
    safe = all(re.fullmatch(r"[\w.-]+", part.name) for part in manifest.all_files)
    if (manifest.format, manifest.version, safe) != (offers.FORMAT, offers.VERSION, True):
        what = "this manifest is of another format or version"
        raise CorpusError(what, where=path, todo="Use another folder")
    return manifest


def _check_ours(out: Path, manifest: Dump | None, wiki: str, date: str) -> None:
    if manifest and (manifest.wiki != wiki or date not in ("latest", manifest.date)):
        what = f"the folder is for {manifest.wiki} {manifest.date}"
        raise OutputError(what, where=out, todo="Choose another --out for this dump")
    if not manifest and out.is_dir() and any(file.name != LOCK for file in out.iterdir()):
        what = "the folder contains files that are not part of a download"
        raise OutputError(what, where=out, todo="Choose an empty --out")


@dataclass
class Result:
    """What a download did."""

    manifest: Dump
    verified: int = 0  # parts, in this call
    bytes_fetched: int = 0
    retries: int = 0


def download(
    wiki: str,
    out: Path,
    *,
    date: str = "latest",
    parts: str | None = None,
    tables: bool = True,
    mirror: str = MIRROR,
    verify: bool = False,
    manners: Manners | None = None,
    report: Report = silent,
) -> Result:
    """Fetch the article parts of a dump into ``out`` and verify them; what is already there is kept.

    With ``tables``, what the wiki says about Wikidata's ids of its pages comes too, if the dump has it.

    A folder belongs to one dump: ``latest`` is resolved once, and later calls stay with that date, so an
    interrupted download never mixes two dumps. A finished download is recognised without the network.
    ``verify`` computes the checksums of finished parts anew instead of comparing sizes only.
    """
    mirror = offers.checked(wiki, date, mirror)
    manifest = _read_manifest(out)
    _check_ours(out, manifest, wiki, date)
    if manifest and not verify:
        wanted = set(select_parts(parts, manifest.available))
        here = {part.number for part in manifest.files if _in_place(out, part)}
        asked = not tables or manifest.tables is not None
        if wanted <= here and asked and all(_in_place(out, table) for table in manifest.tables or ()):
            return Result(manifest)
    manners = manners or Manners()
    offered = list_parts(wiki, manifest.date if manifest else date, mirror, manners)
    wanted = set(select_parts(parts, offered.available))
    with claimed(out, out):
        if not tables:
            offered.tables = manifest.tables if manifest else None
        _keep_wanted(out, manifest, offered, wanted, verify)
        return _Work(out, offered, manners, report).run()


def _keep_wanted(out: Path, old: Dump | None, new: Dump, wanted: set[int], verify: bool) -> None:
    """Reduce a dump to wanted parts and those of earlier calls; one whose checksum changed starts anew."""
    before = {part.name: part for part in old.all_files} if old else {}
    new.files = [part for part in new.files if part.number in wanted or part.name in before]
    for part in new.all_files:
        known = before.get(part.name, part)
        part.verified = _in_place(out, known) and not verify
        if known.sha1 != part.sha1:
            part.verified = False
            for stale in (out / part.name, out / f"{part.name}.part"):
                stale.unlink(missing_ok=True)


class _Work:
    """Several threads fetching the parts of one folder; the calling thread reports and hears Ctrl-C."""

    def __init__(self, out: Path, manifest: Dump, manners: Manners, report: Report) -> None:
        self.out, self.manifest, self.manners, self.report = out, manifest, manners, report
        self.stop, self.lock = threading.Event(), threading.Lock()
        self.web = Web(manners, self.stop)
        self.errors: list[BaseException] = []
        self.todo = [part for part in manifest.all_files if not part.verified]
        self.result = Result(manifest)

    def _have(self, part: Part) -> int:
        """Bytes of a part that are on the disk."""
        return max(size_of(self.out / name) for name in (part.name, f"{part.name}.part"))

    def _check_space(self) -> None:
        """Refuse at once what cannot fit, rather than hours later."""
        needed = sum(max(part.size - self._have(part), 0) for part in self.todo)
        free = shutil.disk_usage(self.out).free
        if needed > free:
            raise OutputError(
                f"{decimal(needed)} are needed and {decimal(free)} are free",
                where=self.out,
                todo="Free some space, choose another disk, or fetch fewer parts with --parts",
            )

    def _save(self) -> None:
        """Record what is wanted and what is verified."""
        write_json(self.out / MANIFEST, self.manifest)

    def run(self) -> Result:
        """Fetch everything, or raise the first error once no thread writes any more."""
        self._check_space()
        self._save()
        waiting = deque(self.todo)
        count = max(1, min(self.manners.connections, len(waiting)))
        threads = [threading.Thread(target=self._worker, args=(waiting,), daemon=True) for _ in range(count)]
        started = time.monotonic()
        try:
            for thread in threads:
                thread.start()
            while busy := [thread for thread in threads if thread.is_alive()]:
                busy[0].join(0.2)
                self._tell(started)
        finally:
            # After Ctrl-C a thread may still sit in a read; it looks at `stop` before it writes, so leave it.
            self.stop.set()
            for thread in threads:
                thread.join(0.5)
        self.result.retries, self.result.bytes_fetched = self.web.retries, self.web.received
        if self.errors:
            raise self.errors[0]
        return self.result

    def _tell(self, started: float) -> None:
        files = self.manifest.all_files
        done = sum(part.size if part.verified else self._have(part) for part in files)
        speed = self.web.received / max(time.monotonic() - started, 1e-3)
        finished = sum(part.verified for part in files)
        total = sum(part.size for part in files)
        self.report(done, total, f"{decimal(int(speed))}/s · {finished}/{len(files)} files")

    def _worker(self, waiting: deque[Part]) -> None:
        try:
            while not self.stop.is_set():
                part = waiting.popleft()
                with disk_errors(self.out / part.name):
                    self._obtain(part)
        except (StoppedError, IndexError):  # none is left
            pass
        except BaseException as error:  # the calling thread raises it
            self.errors.append(error)
            self.stop.set()

    def _obtain(self, part: Part) -> None:
        """Bring one part to its place, verified; a wrong checksum gets one more chance from the beginning."""
        path = self.out / part.name
        aside, corrupt = (path.with_name(f"{path.name}.{ending}") for ending in ("part", "corrupt"))
        if path.is_file():  # finished before, but not recorded, or to be verified anew
            path.replace(aside)
        for _ in range(2):
            self._fetch(part, aside)
            if self._is_right(part, aside):
                corrupt.unlink(missing_ok=True)
                flush_to_disk(aside)
                aside.replace(path)
                with self.lock:
                    part.verified = True
                    self.result.verified += 1
                    self._save()
                return
            aside.replace(corrupt)
        raise DownloadError(
            f"the sha1 checksum is wrong twice; what came is kept as {corrupt.name}",
            where=path,
            todo="Use another --mirror, or another --date",
        )

    def _fetch(self, part: Part, aside: Path) -> None:
        url = f"{self.manifest.mirror}/{self.manifest.wiki}/{self.manifest.date}/{part.name}"
        try:
            self.web.fetch(url, aside, part.size)
        except RequestError as fault:
            if fault.status in (404, 410):
                name = f"part {part.number}" if part.number else part.name
                what = f"{name} has vanished from the server ({fault.status})"
                todo = "Use another --mirror, or fetch a newer dump into another --out"
                raise DownloadError(what, where=url, todo=todo) from fault
            raise

    def _is_right(self, part: Part, aside: Path) -> bool:
        with aside.open("rb") as file:
            found = hashlib.file_digest(file, lambda: hashlib.sha1(usedforsecurity=False)).hexdigest()
        if self.stop.is_set():
            raise StoppedError
        return found == part.sha1
