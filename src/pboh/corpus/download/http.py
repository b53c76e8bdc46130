"""Talking to a web server politely: few connections, back-off, resume, and one sentence for every failure."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3 import exceptions as faults

import pboh
from pboh.errors import DownloadError, InputError
from pboh.files.writing import disk_errors

AGAIN = "Run the same command again: it continues where it stopped"
_BLOCK = 1 << 18
# Redirects only: what else fails is tried again here, as a broken body has to be continued, not repeated.
_RETRY = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=5)

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
    """A request failed: the HTTP ``status`` (0: no answer), and whether to try ``again``, after how long."""

    status: int = 0
    again: bool = True
    reached: bool = True  # a server that cannot be reached at all is likely a typo
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
        """Body of a small page."""
        return self._patiently(lambda: self._request(url).data.decode("utf-8", errors="replace"))

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
        return self._patiently(lambda: _number(self._request(url, method="HEAD").headers["Content-Length"]))

    def fetch(self, url: str, path: Path, size: int | None, moved: Moved) -> None:
        """Append to ``path`` until it is the whole file; broken connections continue with a range request."""
        transfer = _Transfer(url, path, size, moved)
        if size is None or transfer.have < size:
            self._patiently(lambda: self._append(transfer), transfer)

    def _append(self, transfer: _Transfer) -> None:
        """One request for the missing rest of the file."""
        try:
            response = self._request(transfer.url, transfer.headers(), stream=True)
        except RequestError as fault:
            if fault.status == 416 and transfer.have:  # other than what the server has: from the beginning
                transfer.discard()
                fault.again = True
            raise
        with response:
            transfer.begin(response)
            with disk_errors(transfer.path):
                file = transfer.path.open("ab", buffering=0)
            with file:
                while block := self._block(response, transfer):
                    with disk_errors(transfer.path):
                        file.write(block)
                    transfer.have += len(block)
                    transfer.moved(transfer.have, len(block))
        transfer.end()

    def _block(self, response: urllib3.BaseHTTPResponse, transfer: _Transfer) -> bytes:
        """The next bytes as soon as there are some, so that a broken connection loses none of them."""
        try:
            block = response.read1(_BLOCK)
        except faults.HTTPError as error:
            if transfer.size is None or not isinstance(error, faults.ProtocolError):
                raise self._connection_fault(error, transfer.url) from error
            block = b""  # how much is missing says more
        if self.stop.is_set():
            raise StoppedError
        return block

    def _patiently(self, request: Callable[[], T], transfer: _Transfer | None = None) -> T:
        """Try again after a while; only attempts that bring a file further than ever renew the patience."""
        best, tries = transfer.have if transfer else 0, 0
        while True:
            try:
                return request()
            except RequestError as fault:
                if not fault.again or not (fault.reached or transfer):
                    raise
                have = transfer.have if transfer else 0
                best, tries = max(best, have), 1 if have > best else tries + 1
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
        (manners.sleep or self.stop.wait)(min(wait, manners.longest_wait))
        if self.stop.is_set():
            raise StoppedError

    def _request(
        self, url: str, headers: dict[str, str] | None = None, method: str = "GET", stream: bool = False
    ) -> urllib3.BaseHTTPResponse:
        try:
            response = _pool(url).request(
                method,
                url,
                headers={"User-Agent": self.manners.user_agent, **(headers or {})},
                timeout=self.manners.timeout,
                retries=_RETRY,
                preload_content=not stream,
                decode_content=not stream,
            )
        except faults.LocationValueError as error:
            what = f"this address is not understood ({error})"
            raise InputError(what, where=url, todo="Check --mirror") from error
        except faults.HTTPError as error:
            raise self._connection_fault(error, url) from error
        if response.status >= 300:
            response.release_conn()
            raise _status_fault(response, url)
        return response

    def _connection_fault(self, error: Exception, url: str) -> RequestError:
        reason = (error.reason or error) if isinstance(error, faults.MaxRetryError) else error
        host = urlsplit(url).netloc
        reached, again, todo = True, True, AGAIN
        if isinstance(reason, faults.NameResolutionError):
            what, reached = f"the name {host} cannot be resolved", False
            todo = "Check the network connection and the mirror's address"
        elif isinstance(reason, faults.NewConnectionError):
            what, reached = f"{host} refuses connections", False
            todo = "Check the mirror's address, or use another --mirror"
        elif isinstance(reason, faults.TimeoutError):
            what, todo = f"no byte came for {self.manners.timeout:g} s", f"{AGAIN}, or raise --timeout"
        elif isinstance(reason, faults.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(reason):
            what, again = f"the certificate of {host} cannot be verified", False
            todo = "Check the clock, the proxy and the installed certificates"
        else:
            what = "the connection broke"
        fault = RequestError(what, where=url, todo=todo)
        fault.again, fault.reached = again, reached
        return fault


def _pool(url: str) -> urllib3.PoolManager:
    """A connection for one request, through the proxy that the environment names."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.hostname or ""):
        return urllib3.ProxyManager(proxy if "://" in proxy else f"http://{proxy}")
    return urllib3.PoolManager()


_MEANING = {
    403: ("the server refuses access (403)", "Use another --mirror, or say who you are with --contact"),
    404: ("the server has no such file (404)", "Choose another --date or --mirror"),
    410: ("the server has removed the file (410)", "Choose another --date or --mirror"),
    416: ("the server does not have the bytes that are missing here (416)", AGAIN),
    429: ("the server says this is too much at once (429)", AGAIN),
    503: ("the server is overloaded (503)", AGAIN),
}


def _status_fault(response: urllib3.BaseHTTPResponse, url: str) -> RequestError:
    status = response.status
    what, todo = _MEANING.get(status, (f"the server answered {status} {response.reason}", AGAIN))
    fault = RequestError(what, where=url, todo=todo)
    fault.status, fault.again = status, status in (408, 425, 429) or status >= 500
    try:
        fault.wait = _RETRY.get_retry_after(response)
    except faults.InvalidHeader:
        fault.wait = None
    return fault


class _Transfer:
    """The part of a file that is on the disk, and what a server must say to continue it."""

    def __init__(self, url: str, path: Path, size: int | None, moved: Moved) -> None:
        self.url, self.path, self.size, self.moved = url, path, size, moved
        self.have = path.stat().st_size if path.is_file() else 0
        self.validator = ""  # the server's tag of the version these bytes are from
        if size is not None and self.have > size:
            self.discard()

    def headers(self) -> dict[str, str]:
        """Ask for the rest; If-Range makes the server send everything when its file is a new one."""
        if not self.have:
            return {}
        return {"Range": f"bytes={self.have}-"} | ({"If-Range": self.validator} if self.validator else {})

    def begin(self, response: urllib3.BaseHTTPResponse) -> None:
        """Check that the answer continues this file; a server that sends all of it starts it anew."""
        total = _number(response.headers.get("Content-Length"))
        if response.status == 206:
            given = response.headers.get("Content-Range", "").strip()
            match = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", given)
            if not match or int(match[1]) != self.have:
                self.discard()
                raise RequestError(
                    "the server sent other bytes than were asked for", where=self.url, todo=AGAIN
                )
            total = _number(match[2])
        elif self.have:
            self.discard()
        if None not in (self.size, total) and total != self.size:
            raise DownloadError(
                f"the server's file has {total:,} bytes, but the dump's status says {self.size:,}",
                where=self.url,
                todo="The mirror is being updated or damaged: try again later, or use another --mirror",
            )
        self.size = self.size if self.size is not None else total
        tag = response.headers.get("ETag", "")
        self.validator = tag if tag.startswith('"') else response.headers.get("Last-Modified", "")

    def end(self) -> None:
        """The body has ended: is this all of the file?"""
        if self.size is not None and self.have != self.size:
            what = f"the body ended at byte {self.have:,} of {self.size:,}"
            if self.have > self.size:
                self.discard()
            raise RequestError(what, where=self.url, todo=AGAIN)

    def discard(self) -> None:
        """Start again from nothing."""
        self.path.unlink(missing_ok=True)
        self.have, self.validator = 0, ""
        self.moved(0, 0)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
