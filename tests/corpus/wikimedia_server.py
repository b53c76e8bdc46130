"""A web server on this machine with the layout of dumps.wikimedia.org, and its bad days, for the tests."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import random
import re
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAMES = {
    1: "testwiki-20260101-pages-articles-multistream1.xml-p1p1000.bz2",
    2: "testwiki-20260101-pages-articles-multistream2.xml-p1001p9000.bz2",
    3: "testwiki-20260101-pages-articles-multistream2.xml-p9001p10000.bz2",
    4: "testwiki-20260101-pages-articles-multistream10.xml-p10001p20000.bz2",
}
BODIES = {number: random.Random(number).randbytes(60_000 + 1000 * number) for number in NAMES}
Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


class Mirror:
    """Files by path; ``bad_days[path]`` are answers given, in turn, in place of the right one."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.bad_days: dict[str, list[Answer]] = defaultdict(list)
        self.requests: list[tuple[str, str, dict[str, str]]] = []
        self.ranges = True
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def _handler(mirror) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.answer(self)

            def do_HEAD(self) -> None:
                mirror.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path
        with self.lock:
            self.requests.append((handler.command, path, dict(handler.headers)))
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            bad = self.bad_days[path].pop(0) if self.bad_days[path] and handler.command == "GET" else None
        try:
            body = self.files.get(path)
            if bad:
                bad(handler, body or b"")
            elif body is None:
                handler.send_error(404)
            else:
                self.send(handler, body)
        except OSError:
            pass  # the client has gone
        finally:
            with self.lock:
                self.busy -= 1

    def send(self, handler: BaseHTTPRequestHandler, body: bytes, upto: int | None = None) -> None:
        """The right answer, or its first ``upto`` bytes and then a closed connection."""
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        if self.ranges and asked and handler.headers.get("If-Range", tag) == tag:
            start = int(asked[1])
            if start >= len(body):
                handler.send_error(416)
                return
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            handler.send_response(200)
        handler.send_header("Content-Length", str(len(body) - start))
        handler.send_header("ETag", tag)
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(body[start : len(body) if upto is None else start + upto])

    def gets(self, path: str) -> list[dict[str, str]]:
        return [headers for method, asked, headers in self.requests if (method, asked) == ("GET", path)]

    def add_wiki(self, wiki: str, xml: bytes, page_props: bytes = b"", date: str = "20260101") -> None:
        """A finished dump in one part, perhaps with the table that says what its pages are in Wikidata."""
        base, name = f"/{wiki}/{date}/", f"{wiki}-{date}-pages-articles-multistream.xml.bz2"
        self.files[base + name] = bz2.compress(xml)
        jobs = {"articlesmultistreamdump": {"status": "done", "files": {name: self.entry(base, name)}}}
        if page_props:
            name = f"{wiki}-{date}-page_props.sql.gz"
            self.files[base + name] = gzip.compress(page_props)
            jobs["pagepropstable"] = {"status": "done", "files": {name: self.entry(base, name)}}
        status = {"jobs": jobs}
        self.files[base + "dumpstatus.json"] = json.dumps(status).encode()
        self.files[f"/{wiki}/"] = f'<a href="{date}/">{date}/</a>'.encode()

    def add_dump(self, date: str = "20260101", status: str = "done") -> None:
        """A dump as Wikimedia writes it: parts, index files, the recombined whole, and the status."""
        base = f"/testwiki/{date}/"
        parts = {NAMES[n].replace("20260101", date): BODIES[n] for n in sorted(NAMES, reverse=True)}
        stem = f"testwiki-{date}-pages-articles-multistream"
        other = {f"{stem}-index1.txt-p1p1000.bz2": b"index", f"{stem}.xml.bz2": b"".join(BODIES.values())}
        self.files |= {base + name: body for name, body in (parts | other).items()}
        self.add_status(date, status)
        dates = {path.split("/")[2] for path in self.files if path.count("/") == 3}
        links = "".join(f'<a href="{date}/">{date}/</a>\n' for date in sorted(dates))
        self.files["/testwiki/"] = f'<a href="../">../</a>\n{links}<a href="latest/">latest/</a>'.encode()

    def add_status(self, date: str = "20260101", status: str = "done") -> None:
        """What a dump says of its files as they are now."""
        base, whole = f"/testwiki/{date}/", "-pages-articles-multistream.xml.bz2"
        paths = [path for path in self.files if path.startswith(base) and path.endswith(".bz2")]
        names = [path.removeprefix(base) for path in paths if not path.endswith(whole)]
        jobs = {
            "articlesmultistreamdump": {
                "status": status,
                "updated": "2026-01-03 10:00:00",
                "files": {name: self.entry(base, name) for name in names},
            },
            "articlesmultistreamdumprecombine": {"status": status, "files": {}},
            "metahistory7zdump": {"status": "waiting", "updated": "", "files": 0},
        }
        self.files[base + "dumpstatus.json"] = json.dumps({"version": "0.8", "jobs": jobs}).encode()

    def entry(self, base: str, name: str) -> dict[str, Any]:
        body = self.files[base + name]
        sums = {"sha1": hashlib.sha1(body).hexdigest(), "md5": hashlib.md5(body).hexdigest()}
        return {"size": len(body), "url": base + name, **sums}


@contextmanager
def running_mirror() -> Iterator[Mirror]:
    """A mirror with one finished dump, answering until the block ends."""
    mirror = Mirror()
    mirror.add_dump()
    threading.Thread(target=mirror.server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield mirror
    finally:
        mirror.server.shutdown()
        mirror.server.server_close()


def path_of(number: int) -> str:
    return f"/testwiki/20260101/{NAMES[number]}"


STATUS = "/testwiki/20260101/dumpstatus.json"


def status(code: int, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def instead(other: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(other)))
        handler.end_headers()
        handler.wfile.write(other)

    return answer


def broken(mirror: Mirror, upto: int) -> Answer:
    """Closes the connection after ``upto`` bytes."""
    return lambda handler, body: mirror.send(handler, body, upto)


def reset(mirror: Mirror, upto: int) -> Answer:
    """Resets the connection (RST) after ``upto`` bytes."""

    def answer(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        mirror.send(handler, body, upto)
        handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        handler.connection.close()

    return answer


def silent_for_a_while(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:100])
    handler.wfile.flush()
    time.sleep(0.6)
