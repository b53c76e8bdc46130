"""``pboh download``: a Wikimedia dump's article parts, fetched with resume and verified."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.filesize import decimal
from typer import Argument, Option

from pboh.cli import app, options
from pboh.errors import InputError
from pboh.files.progress import progress, summarise
from pboh.files.writing import write_json

if TYPE_CHECKING:
    from pboh.corpus.download.http import Manners


@app.command("download")
def download_command(
    wiki: Annotated[str, Argument(help="The dump's name, such as enwiki or dewiki.")],
    out: Annotated[Path | None, options.out("FOLDER", "Folder for the parts of one dump.")] = None,
    date: Annotated[
        str, Option(metavar="YYYYMMDD", help="Day of the dump; latest is the newest finished one.")
    ] = "latest",
    parts: Annotated[str | None, Option(help="Which parts, such as 1-3,7.", show_default="all")] = None,
    ids: Annotated[bool, Option(help="Fetch page_props too, which gives answers their Wikidata ids.")] = True,
    list_only: Annotated[bool, Option("--list", help="Only show the parts with their sizes.")] = False,
    mirror: Annotated[
        str, Option(envvar="PBOH_MIRROR", help="Server with the same layout as Wikimedia's.")
    ] = "https://dumps.wikimedia.org",
    connections: Annotated[
        int, Option(min=1, max=3, help="Files fetched at once; Wikimedia allows three.")
    ] = 2,
    timeout: Annotated[float, Option(min=0.1, help="Seconds without a byte before trying again.")] = 60.0,
    contact: Annotated[str, Option(help="Address to send in the User-Agent, as Wikimedia asks.")] = "",
    verify: Annotated[bool, Option("--verify", help="Check every file against its checksum.")] = False,
    json: options.Json = None,
) -> None:
    """Fetch a Wikipedia dump, with resume and verified checksums.

    WIKI is the dump's name: enwiki, dewiki, simplewiki, zh_yuewiki … Pass the folder to pboh train or pboh
    extract as it is. Run it again to continue after an interruption; after success, it does nothing.

    \b
    Examples:
      pboh download simplewiki --out dumps/simple
      pboh download enwiki --list
      pboh download enwiki --parts 1-3 --date 20260101 --out dumps/en
      pboh download dewiki --mirror https://mirror.example.org/wikimedia --out dumps/de
    """
    from pboh.corpus.download.folder import download
    from pboh.corpus.download.http import Manners

    manners = Manners(connections=connections, timeout=timeout, contact=contact)
    if list_only:
        _list(wiki, date, parts, mirror, manners, json)
        return
    if out is None:
        raise InputError("--out is missing", todo="Pass a folder for the parts, such as --out dumps/en")
    started = time.monotonic()
    with progress(f"download {wiki}", continues=True) as report:
        result = download(
            wiki,
            out,
            date=date,
            parts=parts,
            tables=ids,
            mirror=mirror,
            verify=verify,
            manners=manners,
            report=report,
        )
    manifest = result.manifest
    figures = {
        "wiki": manifest.wiki,
        "date": manifest.date,
        "folder": str(out),
        "parts": sum(part.verified for part in manifest.files),
        "parts_available": manifest.available,
        "parts_verified_now": result.verified,
        "tables": sum(table.verified for table in manifest.tables or ()),
        "megabytes": sum(part.size for part in manifest.all_files) / 1e6,
        "megabytes_fetched": result.bytes_fetched / 1e6,
        "retries": result.retries,
        "seconds": time.monotonic() - started,
    }
    now = "every part is verified" if result.verified else "everything is here and verified: nothing to do"
    summarise(f"{manifest.wiki} {manifest.date}: {now}", figures, json)


def _list(wiki: str, date: str, parts: str | None, mirror: str, manners: Manners, json: Path | None) -> None:
    from pboh.corpus.download.mirror import list_parts, select_parts

    listing = list_parts(wiki, date, mirror, manners)
    chosen = [listing.files[number - 1] for number in select_parts(parts, listing.available)]
    total = sum(part.size for part in chosen)
    print(f"{wiki} {listing.date}: {len(chosen)} parts, {decimal(total)}")
    for part in chosen:
        print(f"{part.number:>4}  {decimal(part.size):>9}  {part.name}")
    for table in listing.tables or ():
        print(f" ids  {decimal(table.size):>9}  {table.name}")
    if json is not None:
        write_json(json, {"wiki": wiki, "date": listing.date, "bytes": total, "parts": chosen})
