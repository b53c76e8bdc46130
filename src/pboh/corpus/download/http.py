"""Talking to a web server politely: few connections, back-off, resume, and one sentence for every failure.

Standard library only: urllib obeys the proxy settings of the environment, and fetching files needs no more.
"""

from __future__ import annotations

import re
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TypeVar, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pboh
from pboh.errors import DownloadError, InputError
from pboh.files.writing import disk_errors

AGAIN = "Run the same command again: it continues where it stopped"
_BLOCK = 1 << 18
_LARGEST_TEXT = 64 << 20

T = TypeVar("T")
Moved = Callable[[int, int], None]  # bytes on the disk, bytes just received


@dataclass(frozen=True)
class Manners:
    """How a server is treated. Wikimedia asks for at most three connections and a telling User-Agent."""

    connections: int = 2
    timeout: float = 60.0  # seconds without a byte
    attempts: int = 7  # in a row that brought no new byte
    first_wait: float = 1.0  # seconds; doubles with every attempt
    longest_wait: float = 600.0
    contact: str = ""  # an e-mail or web address the server's operators can use
    sleep: Callable[[float], object] | None = None  # instead of waiting, in tests

    @property
    def user_agent(self) -> str:
        """Name, version and contact, as Wikimedia's User-Agent policy asks."""
        contact = re.sub(r"[^ -~]|[()]", "", self.contact)
        about = f"{contact}; entity linking" if contact else "entity linking; fetches one dump"
        return f"pboh/{pboh.__version__} ({about}) Python/{sys.version_info[0]}.{sys.version_info[1]}"


class RequestError(DownloadError):
    """A request failed: the HTTP ``status`` (0 = no answer), whether to try ``again``, and after how long."""

    status: int = 0
    again: bool = False
    unreachable: bool = False
    wait: float | None = None


class StoppedError(Exception):
    """Another thread failed or the user pressed Ctrl-C; never leaves the download."""


class Web:
    """Requests with back-off; ``stop`` ends every wait and every transfer early."""

    def __init__(self, manners: Manners, stop: threading.Event | None = None) -> None:
        self.manners = manners
        self.stop = stop or threading.Event()
        self.retries = 0

    def text(self, url: str) -> str:
        """Body of a small page. A server that cannot be reached at all is not tried again: likely a typo."""
        return self._patiently(lambda: self._read(url))

    def optional(self, url: str) -> str | None:
        """Body of a small page, or None where there is none."""
        try:
            return self.text(url)
        except RequestError as fault:
            if fault.status in (404, 410):
                return None
            raise

    def length(self, url: str) -> int | None:
        """Bytes of a file, if the server says so."""

        def ask() -> int | None:
            with self._open(url, method="HEAD") as response:
                return _number(response.headers.get("Content-Length"))

        return self._patiently(ask)

    def fetch(self, url: str, path: Path, size: int | None, moved: Moved) -> None:
        """Append to ``path`` until it is the whole file; broken connections continue with a range request.

        Only attempts that bring the file further than ever before renew the patience, so a server that
        always breaks at the same place cannot hold us for ever.
        """
        transfer = _Transfer(url, path, size, moved)
        best, tries = transfer.have, 0
        while not transfer.complete:
            try:
                self._append(transfer)
            except RequestError as fault:
                if fault.status == 416 and transfer.have:
                    transfer.discard()  # other than what the server has: from the beginning
                elif not fault.again:
                    raise
                tries = 1 if transfer.have > best else tries + 1
                best = max(best, transfer.have)
                self._back_off(fault, tries)

    def _append(self, transfer: _Transfer) -> None:
        """One request for the missing rest of the file."""
        with self._open(transfer.url, transfer.headers()) as response:
            transfer.begin(response)
            with disk_errors(transfer.path):
                file = transfer.path.open("ab", buffering=0)
            with file:
                while block := self._block(response, transfer.url):
                    with disk_errors(transfer.path):
                        file.write(block)
                    transfer.have += len(block)
                    transfer.moved(transfer.have, len(block))
        transfer.end()

    def _block(self, response: HTTPResponse, url: str) -> bytes:
        """The next bytes as soon as there are some, so that a broken connection loses none of them."""
        try:
            block = response.read1(_BLOCK)
        except (OSError, HTTPException) as error:
            raise self._connection_fault(error, url) from error
        if self.stop.is_set():
            raise StoppedError
        return block

    def _read(self, url: str) -> str:
        with self._open(url) as response:
            try:
                body = response.read(_LARGEST_TEXT)
            except (OSError, HTTPException) as error:
                raise self._connection_fault(error, url) from error
            expected = _number(response.headers.get("Content-Length"))
        if expected is not None and len(body) < min(expected, _LARGEST_TEXT):
            raise _broken(f"the body ended at byte {len(body):,} of {expected:,}", url)
        return body.decode("utf-8", errors="replace")

    def _patiently(self, request: Callable[[], T]) -> T:
        tries = 0
        while True:
            try:
                return request()
            except RequestError as fault:
                if not fault.again or fault.unreachable:
                    raise
                tries += 1
                self._back_off(fault, tries)

    def _back_off(self, fault: RequestError, tries: int) -> None:
        """Wait as long as the server asked, or twice as long each time; give up after enough attempts."""
        manners = self.manners
        if tries >= manners.attempts:
            raise DownloadError(f"{fault.what} ({tries} attempts)", where=fault.where, todo=AGAIN) from fault
        wait = fault.wait if fault.wait is not None else manners.first_wait * 2 ** (tries - 1)
        if fault.wait is not None and wait > manners.longest_wait:
            what = f"the server asks to come back in {wait / 60:,.0f} minutes"
            raise DownloadError(what, where=fault.where, todo=f"{AGAIN}, or use another --mirror") from fault
        self.retries += 1
        if manners.sleep is not None:
            manners.sleep(wait)
        else:
            self.stop.wait(min(wait, manners.longest_wait))
        if self.stop.is_set():
            raise StoppedError

    def _open(self, url: str, headers: dict[str, str] | None = None, method: str = "GET") -> HTTPResponse:
        request = Request(
            url, headers={"User-Agent": self.manners.user_agent, **(headers or {})}, method=method
        )
        try:
            return cast(HTTPResponse, urlopen(request, timeout=self.manners.timeout))
        except HTTPError as error:
            with error:
                raise self._status_fault(error, url) from error
        except (OSError, HTTPException) as error:
            raise self._connection_fault(error, url) from error
        except (ValueError, OverflowError) as error:  # urllib's answer to impossible hosts and ports
            raise InputError(
                f"this address is not understood ({error})", where=url, todo="Check --mirror"
            ) from error

    def _status_fault(self, error: HTTPError, url: str) -> RequestError:
        meaning = {
            403: (
                "the server refuses access (403)",
                "Use another --mirror, or say who you are with --contact",
            ),
            404: ("the server has no such file (404)", "Choose another --date or --mirror"),
            410: ("the server has removed the file (410)", "Choose another --date or --mirror"),
            416: ("the server does not have the bytes that are missing here (416)", AGAIN),
            429: ("the server says this is too much at once (429)", AGAIN),
            503: ("the server is overloaded (503)", AGAIN),
        }
        what, todo = meaning.get(error.code, (f"the server answered {error.code} {error.reason}", AGAIN))
        fault = RequestError(what, where=url, todo=todo)
        fault.status = error.code
        fault.again = error.code in (408, 416, 425, 429) or error.code >= 500
        fault.wait = _retry_after(error.headers.get("Retry-After"))
        return fault

    def _connection_fault(self, error: Exception, url: str) -> RequestError:
        reason = error.reason if isinstance(error, URLError) else error
        host = urlsplit(url).netloc
        again, unreachable, todo = True, False, AGAIN
        if isinstance(reason, socket.gaierror):
            what, unreachable = f"the name {host} cannot be resolved", True
            todo = "Check the network connection and the mirror's address"
        elif isinstance(reason, ConnectionRefusedError):
            what, unreachable = f"{host} refuses connections", True
            todo = "Check the mirror's address, or use another --mirror"
        elif isinstance(reason, TimeoutError):
            what, todo = f"no byte came for {self.manners.timeout:g} s", f"{AGAIN}, or raise --timeout"
        elif isinstance(reason, ssl.SSLCertVerificationError):
            what, again = f"the certificate of {host} cannot be verified ({reason.verify_message})", False
            todo = "Check the clock, the proxy and the installed certificates"
        elif isinstance(reason, ConnectionError | HTTPException | ssl.SSLError):
            what = "the connection broke"
        else:
            what, todo = f"the connection failed ({reason})", "Check the network connection"
        fault = RequestError(what, where=url, todo=todo)
        fault.again, fault.unreachable = again, unreachable
        return fault


class _Transfer:
    """The part of a file that is on the disk, and what a server must say to continue it."""

    def __init__(self, url: str, path: Path, size: int | None, moved: Moved) -> None:
        self.url, self.path, self.size, self.moved = url, path, size, moved
        self.have = path.stat().st_size if path.is_file() else 0
        self.validator = ""  # the server's tag of the version these bytes are from
        if size is not None and self.have > size:
            self.discard()
        self.complete = size is not None and self.have == size

    def headers(self) -> dict[str, str]:
        """Ask for the rest; If-Range makes the server send everything when its file is a new one."""
        if not self.have:
            return {}
        return {"Range": f"bytes={self.have}-"} | ({"If-Range": self.validator} if self.validator else {})

    def begin(self, response: HTTPResponse) -> None:
        """Check that the answer continues this file; a server that sends all of it starts it anew."""
        if response.status == 206:
            match = re.fullmatch(
                r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", "").strip()
            )
            if not match or int(match[1]) != self.have:
                self.discard()
                raise _broken("the server sent other bytes than were asked for", self.url)
            total = _number(match[2])
        else:
            if self.have:
                self.discard()
            total = _number(response.headers.get("Content-Length"))
        if None not in (self.size, total) and total != self.size:
            raise DownloadError(
                f"the server's file has {total:,} bytes, but the dump's status says {self.size:,}",
                where=self.url,
                todo="The mirror is being updated or damaged: try again later, or use another --mirror",
            )
        self.size = self.size if self.size is not None else total
        tag = response.headers.get("ETag", "")
        strong = tag if tag.startswith('"') else ""
        self.validator = strong or response.headers.get("Last-Modified", "")

    def end(self) -> None:
        """The body has ended: is this all of the file?"""
        if self.size is not None and self.have != self.size:
            ended, expected = self.have, self.size
            if ended > expected:
                self.discard()
            raise _broken(f"the body ended at byte {ended:,} of {expected:,}", self.url)
        self.complete = True

    def discard(self) -> None:
        """Start again from nothing."""
        self.path.unlink(missing_ok=True)
        self.have, self.validator = 0, ""
        self.moved(0, 0)


def _broken(what: str, url: str) -> RequestError:
    fault = RequestError(what, where=url, todo=AGAIN)
    fault.again = True
    return fault


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None


def _retry_after(text: str | None) -> float | None:
    """Seconds meant by a Retry-After header: a number, or a date."""
    if (seconds := _number(text)) is not None:
        return float(seconds)
    try:
        return max(0.0, parsedate_to_datetime(text or "").timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def amount(size: float) -> str:
    """Bytes for people: ``21.4 GB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
