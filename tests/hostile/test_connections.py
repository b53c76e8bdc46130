"""Clients that misuse HTTP itself: endless heads, requests sent ahead, half-closed connections, upgrades."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from contextlib import closing, suppress
from urllib.parse import urlsplit

import pytest
from served import TEXT, mentions_of

pytestmark = pytest.mark.slow

BODY = json.dumps({"text": TEXT, "mentions": mentions_of()}).encode()
NIF = b'<a:a> <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#isString> "Bayern" .'
FORM = b"application/x-www-form-urlencoded"
REQUESTS = {
    "/v1/disambiguate": (b"application/json", BODY),
    "/nif": (b"text/turtle", NIF),
    "/rest/annotate": (FORM, b"text=Bayern"),
    "/rel": (b"application/json", b'{"text": "Bayern", "spans": [[0, 6]]}'),
    "/reconcile": (FORM, b"queries=%7B%22q%22%3A%7B%22query%22%3A%22Bayern%22%7D%7D"),
}
HEALTH = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"


def connect(address, seconds=30):
    parts = urlsplit(address)
    return closing(socket.create_connection((parts.hostname, parts.port), timeout=seconds))


def everything(connection) -> bytes:
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def answer(connection) -> bytes:
    """One whole answer of a connection that stays open."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        raw += connection.recv(65536)
    head, _, body = raw.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    while len(body) < length:
        body += connection.recv(65536)
    return head


def error_of(raw: bytes) -> str:
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"application/json" in head
    return json.loads(body)["error"]


def post(path, more=b""):
    kind, body = REQUESTS[path]
    head = b"POST %s HTTP/1.1\r\nhost: x\r\naccept: application/json\r\ncontent-type: %s\r\n" % (
        path.encode(),
        kind,
    )
    return head + more + b"content-length: %d\r\n\r\n" % len(body) + body


def flood(connection, piece: bytes, most: int) -> int:
    """Send a piece again and again until the server hangs up; returns the bytes it took."""
    sent = 0
    with suppress(OSError):
        while sent < most:
            connection.sendall(piece)
            sent += len(piece)
    return sent


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"GET / HTTP/1.1\r\nhost: x\r\n", b"x-header: " + b"y" * 50_000 + b"\r\n"),
        (b"GET / HTTP/1.1\r\nhost: x\r\nx-endless: ", b"y" * 50_000),
        (b"GET /", b"y" * 50_000),
        (b"", b"G" * 50_000),
        (b"POST /v1/link HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;", b"extension" * 5_000),
        (
            b"POST /v1/link HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
            b"x: y\r\n" * 9_000,
        ),
    ],
)
def test_heads_are_bounded(address, start, piece):
    with connect(address) as connection:
        connection.sendall(start)
        assert flood(connection, piece, 100_000_000) < 30_000_000
        raw = everything(connection)
    if raw:  # it may be lost when the client goes on sending
        assert raw.split()[1] in (b"400", b"431") and error_of(raw).endswith(".")


def test_a_head_above_the_limit_is_told_the_limit(address, limits):
    with connect(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * (limits.head + 100))
        assert f"{limits.head:,} bytes" in error_of(everything(connection))


def test_requests_sent_ahead_are_answered_in_turn_and_no_more_is_read(address):
    with connect(address) as connection:
        connection.sendall(HEALTH * 50)
        connection.shutdown(socket.SHUT_WR)
        assert everything(connection).count(b'{"status":"alive"}') == 50
    with connect(address) as connection:  # a client that only sends: its own buffers fill, not the server's
        connection.settimeout(1)
        taken = flood(connection, HEALTH * 1_000, 100_000_000)
    assert taken < 30_000_000


def test_chunks_may_not_outweigh_what_they_carry(address):
    start = b"POST /v1/link HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    with connect(address) as connection:
        connection.sendall(start)
        assert flood(connection, b"1\r\nx\r\n" * 1_000, 50_000_000) < 20_000_000
    body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:10], BODY[10:])) + b"0\r\n\r\n"
    head = start.replace(b"link", b"disambiguate").replace(b"host", b"content-type: application/json\r\nhost")
    with connect(address) as connection:
        connection.sendall(head + body)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_bodies_sent_ahead(address):
    with connect(address) as connection:
        connection.sendall(post("/v1/disambiguate") * 20)
        connection.shutdown(socket.SHUT_WR)
        raw = everything(connection)
    assert raw.count(b"HTTP/1.1 200") == 20


@pytest.mark.parametrize("path", REQUESTS)
def test_a_client_that_half_closes_gets_its_answer(address, path):
    with connect(address) as connection:
        connection.sendall(post(path))
        connection.shutdown(socket.SHUT_WR)
        assert everything(connection).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("path", REQUESTS)
def test_offers_of_http2_are_ignored(address, path):
    offer = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\n"
    with connect(address) as connection:
        for _ in range(2):  # and the connection can be used again
            connection.sendall(post(path, offer))
            head = answer(connection)
            assert head.startswith(b"HTTP/1.1 200"), head
    with connect(address) as connection:
        connection.sendall(post(path, offer.replace(b"h2c", b"websocket")))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


JAVA = """
import java.net.URI;
import java.net.http.*;
public class Ask {
    public static void main(String[] a) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int i = 1; i + 2 < a.length; i += 3) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(a[0] + a[i]))
                .header("content-type", a[i + 1]).header("accept", "application/json, text/turtle")
                .POST(HttpRequest.BodyPublishers.ofString(a[i + 2])).build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            System.out.println(a[i] + " " + answer.statusCode() + " " + answer.version());
        }
    }
}
"""


@pytest.mark.slow
def test_the_http_client_of_java(address, tmp_path):
    """It offers HTTP/2 with the first request of a connection, body and all."""
    if shutil.which("java") is None:
        pytest.skip("there is no Java runtime")
    source = tmp_path / "Ask.java"
    source.write_text(JAVA)
    asked = [part for path, (kind, body) in REQUESTS.items() for part in (path, kind.decode(), body.decode())]
    command = ["java", str(source), address, *asked, *asked]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "jdk.compiler" in done.stderr:
        pytest.skip("this Java runtime has no compiler")
    expected = [f"{path} 200 HTTP_1_1" for path in [*REQUESTS, *REQUESTS]]
    assert done.stdout.splitlines() == expected, done.stderr


def test_what_is_not_http_is_told_so_in_json(address):
    for raw in (
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        with connect(address) as connection:
            connection.sendall(raw)
            assert error_of(everything(connection)).endswith(".")
