"""Talking to a web server politely: few connections, back-off, resume, and one sentence for every failure."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
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
LONGEST_WAIT = 600.0  # seconds
_BLOCK = 1 << 18
# Redirects only: what else fails is tried again here, as a broken body has to be continued, not repeated.
_RETRY = urllib3.Retry(total=None, connect=0, read=0, status=0, other=0, redirect=5)

T = TypeVar("T")


@dataclass(frozen=True)
class Manners:
    """How a server is treated. Wikimedia asks for at most three connections and a telling User-Agent."""

    connections: int = 2
    timeout: float = 60.0  # seconds without a byte
    attempts: int = 7  # in a row that brought no new byte
    contact: str = ""  # an e-mail or web address the server's operators can use
    sleep: Callable[[float], object] | None = None  # instead of waiting, in tests

    @property
    def user_agent(self) -> str:
        """Name, version and contact, as Wikimedia's User-Agent policy asks."""
        contact = re.sub(r"[^ -~]|[()]", "", self.contact)
        about = f"{contact}; entity linking" if contact else "entity linking; fetches one dump"
        return f"pboh/{pboh.__version__} ({about}) Python/{sys.version_info[0]}.{sys.version_info[1]}"


class RequestError(DownloadError):
    """A request failed: the HTTP ``status`` (0: no answer), and how long the server asks to ``wait``."""

    def __init__(
        self, what: str, *, where: str, todo: str = AGAIN, status: int = 0, wait: float | None = None
    ) -> None:
        super().__init__(what, where=where, todo=todo)
        self.status, self.wait = status, wait

    @property
    def passes(self) -> bool:
        """Whether another attempt may succeed."""
        return self.status in (0, 408, 416, 425, 429) or self.status >= 500


class UnreachableError(RequestError):
    """There is no server of that name, or none that answers: likely a typo."""


class StoppedError(Exception):
    """Another thread failed or the user pressed Ctrl-C; never leaves the download."""


def size_of(path: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


class Web:
    """Requests with back-off; ``stop`` ends every wait and every transfer early."""

    def __init__(self, manners: Manners, stop: threading.Event | None = None) -> None:
        self.manners = manners
        self.stop = stop or threading.Event()
        self.retries = 0
        self.received = 0  # bytes of files
        self._versions: dict[str, str] = {}  # the server's tag of the file that bytes are from, by address
        self._lock = threading.Lock()

    def text(self, url: str) -> str:
        """Body of a small page."""
        return self._patiently(lambda: self._request(url).data.decode("utf-8", errors="replace"))

    def fetch(self, url: str, path: Path, size: int) -> None:
        """Append to a file until it is whole; broken connections continue with a range request."""
        if size_of(path) > size:
            path.unlink()
        if size_of(path) < size:
            self._patiently(lambda: self._append(url, path, size), path)

    def _append(self, url: str, path: Path, size: int) -> None:
        """One request for the missing rest of the file, or for all of it if the server has a new one."""
        have = size_of(path)
        headers = {"Range": f"bytes={have}-"} if have else {}
        if version := self._versions.get(url):
            headers["If-Range"] = version
        try:
            response = self._request(url, headers, stream=True)
        except RequestError as fault:
            if fault.status == 416:  # what is here is not of the server's file
                path.unlink(missing_ok=True)
            raise
        with response:
            self._begin(response, url, path, size)
            with disk_errors(path), path.open("ab", buffering=0) as file:
                while block := self._block(response):
                    file.write(block)
                    with self._lock:
                        self.received += len(block)
        if (have := size_of(path)) != size:
            raise RequestError(f"the body ended at byte {have:,} of {size:,}", where=url)

    def _begin(self, response: urllib3.BaseHTTPResponse, url: str, path: Path, size: int) -> None:
        """Check that an answer continues the file, or brings all of it anew."""
        have, partial = size_of(path), response.status == 206
        right = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        if have and not (partial and right):
            path.unlink()
        if partial and not right:
            self._versions.pop(url, None)
            raise RequestError("the server sent a different range than requested", where=url)
        length = response.headers.get("Content-Length", "")
        total = size_of(path) + int(length) if length.isdecimal() else size
        if total != size:
            raise DownloadError(
                f"the server's file has {total:,} bytes, but the dump's status says {size:,}",
                where=url,
                todo="The mirror is being updated or damaged: try again later, or use another --mirror",
            )
        tag = response.headers.get("ETag", "")
        self._versions[url] = tag if tag.startswith('"') else response.headers.get("Last-Modified", "")

    def _block(self, response: urllib3.BaseHTTPResponse) -> bytes:
        """The next bytes as soon as there are some, so that a broken connection loses none of them."""
        try:
            block = response.read1(_BLOCK)
        except faults.ProtocolError:
            block = b""  # how much is missing says more
        except faults.HTTPError as error:
            raise self._fault(error, response.url or "") from error
        if self.stop.is_set():
            raise StoppedError
        return block

    def _patiently(self, request: Callable[[], T], path: Path | None = None) -> T:
        """Try again after a while; only attempts that bring a file further than ever renew the patience."""
        best, tries = size_of(path) if path else 0, 0
        while True:
            try:
                return request()
            except RequestError as fault:
                if not fault.passes or (isinstance(fault, UnreachableError) and not path):
                    raise
                have = size_of(path) if path else 0
                best, tries = max(best, have), 1 if have > best else tries + 1
                self._back_off(fault, tries)

    def _back_off(self, fault: RequestError, tries: int) -> None:
        """Wait as long as the server asked, or twice as long each time; give up after enough attempts."""
        if tries >= self.manners.attempts:
            raise DownloadError(f"{fault.what} ({tries} attempts)", where=fault.where, todo=AGAIN) from fault
        wait = min(2.0 ** (tries - 1), LONGEST_WAIT) if fault.wait is None else fault.wait
        if wait > LONGEST_WAIT:
            what = f"the server asks to come back in {wait / 60:,.0f} minutes"
            raise DownloadError(what, where=fault.where, todo=f"{AGAIN}, or use another --mirror") from fault
        self.retries += 1
        (self.manners.sleep or self.stop.wait)(wait)
        if self.stop.is_set():
            raise StoppedError

    def _request(
        self, url: str, headers: dict[str, str] | None = None, stream: bool = False
    ) -> urllib3.BaseHTTPResponse:
        try:
            response = _pool(url).request(
                "GET",
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
            raise self._fault(error, url) from error
        if response.status < 300:
            return response
        response.release_conn()
        what, todo = _MEANING.get(response.status, (f"the server answered {response.status}", AGAIN))
        wait = None
        with suppress(faults.InvalidHeader):
            wait = _RETRY.get_retry_after(response)
        raise RequestError(what, where=url, todo=todo, status=response.status, wait=wait)

    def _fault(self, error: faults.HTTPError, url: str) -> RequestError:
        """What a failed connection means."""
        reason = (error.reason or error) if isinstance(error, faults.MaxRetryError) else error
        host = urlsplit(url).netloc
        if isinstance(reason, faults.NameResolutionError):
            todo = "Check the network connection and the mirror's address"
            return UnreachableError(f"the name {host} cannot be resolved", where=url, todo=todo)
        if isinstance(reason, faults.NewConnectionError):
            todo = "Check the mirror's address, or use another --mirror"
            return UnreachableError(f"{host} refuses connections", where=url, todo=todo)
        if isinstance(reason, faults.SSLError):
            todo = "Check the clock, the proxy and the installed certificates"
            return UnreachableError(
                f"no secure connection to {host} is possible ({reason})", where=url, todo=todo
            )
        if isinstance(reason, faults.TimeoutError):
            what = f"no byte came for {self.manners.timeout:g} s"
            return RequestError(what, where=url, todo=f"{AGAIN}, or raise --timeout")
        return RequestError("the connection broke", where=url)


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
