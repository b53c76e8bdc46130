"""Requests nobody should send: each gets a 4xx with a sentence, and the others do not notice."""

import json
import socket
import threading
import time
from contextlib import ExitStack, closing, suppress
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from served import TEXT, mentions_of
from starlette.testclient import TestClient

from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker

pytestmark = pytest.mark.slow

JSON = {"content-type": "application/json"}


def connect(address):
    parts = urlsplit(address)
    return closing(socket.create_connection((parts.hostname, parts.port), timeout=30))


def answer_of(connection) -> bytes:
    """Everything the server says until it closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


def sentence_of(raw: bytes) -> str:
    return json.loads(raw.partition(b"\r\n\r\n")[2])["error"]


def still_answers(address):
    body = {"text": TEXT, "mentions": mentions_of()}
    assert httpx.post(f"{address}/v1/disambiguate", json=body, timeout=30, verify=False).status_code == 200


def test_a_hundred_megabytes_announced_are_refused_unread(address):
    with connect(address) as connection:
        connection.sendall(b"POST /v1/link HTTP/1.1\r\nhost: x\r\ncontent-length: 104857600\r\n\r\n")
        raw = answer_of(connection)
    assert raw.startswith(b"HTTP/1.1 413") and "larger than 1,048,576 bytes" in sentence_of(raw)
    still_answers(address)


def test_a_client_that_sends_a_hundred_megabytes_sees_the_answer(address):
    body = b'{"text": "' + b"x" * 100_000_000 + b'"}'
    response = httpx.post(f"{address}/v1/link", content=body, headers=JSON, timeout=30, verify=False)
    assert response.status_code == 413
    still_answers(address)


def test_endless_chunks_are_cut_off(address):
    sent = 0
    with connect(address) as connection:
        connection.sendall(b"POST /nif HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        try:
            while sent < 100_000_000:
                connection.sendall(chunk)
                sent += 65536
        except OSError:  # the server hung up
            pass
        assert sent < 50_000_000
        with suppress(ConnectionResetError):
            assert answer_of(connection).startswith(b"HTTP/1.1 413")
    still_answers(address)


STARTS = (
    b"",
    b"POST /v1/link HT",
    b"POST /v1/link HTTP/1.1\r\nhost: x\r\nx-slow: ",
    b"POST /v1/link HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{",
)


def test_slow_clients_are_told_to_go(address):
    with ExitStack() as stack:
        connections = [stack.enter_context(connect(address)) for _ in STARTS]
        for connection, start in zip(connections, STARTS, strict=True):
            connection.sendall(start)
        for connection in connections:
            raw = answer_of(connection)
            assert raw.startswith(b"HTTP/1.1 408") and "not complete" in sentence_of(raw)


def test_a_client_that_drips_its_head_is_told_to_go(address):
    with connect(address) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        try:
            for i in range(200):
                connection.sendall(b"x-%d: y\r\n" % i)
                time.sleep(0.1)
        except OSError:
            return
    pytest.fail("the server listened to a client for twenty seconds")


def test_a_client_that_never_takes_its_answers_is_dropped(address):
    ask = b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n"
    parts = urlsplit(address)
    with closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((parts.hostname, parts.port))
        connection.settimeout(30)
        try:
            for _ in range(2000):
                connection.sendall(ask)
            time.sleep(4)
            for _ in range(2000):
                connection.sendall(ask)
        except OSError:
            still_answers(address)
            return
    pytest.fail("the server kept answering a client that does not read")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/link HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n",
        b"POST /v1/link HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n",
        b"POST /v1/link HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"GET /v1/entities/%FF%00 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\n" + b"x: " + b"y" * 200_000 + b"\r\n\r\n",
    ],
)
def test_what_is_not_http_does_no_harm(address, raw):
    with connect(address) as connection:
        try:
            connection.sendall(raw)
            answer = answer_of(connection)
        except ConnectionResetError:
            answer = b""
    assert b" 500 " not in answer[:20] and b"Traceback" not in answer
    still_answers(address)


def test_a_hundred_thousand_mentions_meet_a_clear_limit(client):
    for count, reason in ((30_000, "30,000 mentions"), (100_000, "bytes")):  # 30,000 fit the largest body
        body = {"text": "ab", "mentions": [{"start": 0, "end": 1}] * count, "overlapping": True}
        for path in ("disambiguate", "graph"):
            response = client.post(f"/v1/{path}", json=body)
            assert response.status_code == 413 and reason in response.json()["error"]
    many = client.post("/v1/batch", json={"documents": [{"text": "x"}] * 21})
    assert many.status_code == 413 and "21 documents" in many.json()["error"]


def test_more_mentions_are_found_than_allowed(client):
    response = client.post("/v1/link", json={"text": "Bayern met Dortmund. " * 2000})
    assert response.status_code == 413 and "names and the limit" in response.json()["error"]


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "", "///;;;"]
)
def test_json_sent_as_something_else(client, kind):
    response = client.post("/v1/link", content=b'{"text": "x"}', headers={"content-type": kind})
    assert response.status_code == 415 and "application/json" in response.json()["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b'{"text": "\xff"}',
        b'{"text": "\\ud800"}',
        b'{"text": "a", "text": 3}',
        b"[" * 100_000,
        b'{"text":' * 50_000,
        b'{"text": "a", "threshold": NaN}',
        b'{"text": "a", "threshold": 1e999}',
        b'{"text": "a", "candidates": ' + b"9" * 5_000 + b"}",
        b"null",
        b"\x00" * 100,
    ],
)
def test_bodies_that_are_no_json(client, body):
    response = client.post("/v1/link", content=body, headers=JSON)
    assert response.status_code in (400, 422), response.text
    assert response.json()["error"].endswith(".")


@settings(max_examples=150)
@given(
    st.sampled_from(["link", "disambiguate", "batch", "graph", "explain"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["text", "mentions", "start", "end", "entity", "documents", "mention", "candidates"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
)
def test_any_json_is_answered_or_refused(client, path, value):
    body = json.dumps(value).encode()
    response = client.post(f"/v1/{path}", content=body, headers=JSON)
    assert response.status_code in (200, 400, 413, 422), response.text
    assert response.status_code == 200 or response.json()["error"].endswith(".")


@pytest.mark.parametrize(
    "text", ["", "\x00", " " * 1000, "e\u0301" * 500, "שלום עולם", "東京は日本の首都", "\u202e abc"]
)
def test_any_text_can_be_linked(client, text):
    assert client.post("/v1/link", json={"text": text}).status_code == 200


def test_heavy_documents_do_not_stop_light_ones(address):
    heavy = {"text": "Müller " * 500, "mentions": [{"start": 7 * i, "end": 7 * i + 6} for i in range(500)]}
    done = []
    threads = [
        threading.Thread(
            target=lambda: done.append(
                httpx.post(f"{address}/v1/disambiguate", json=heavy, timeout=60, verify=False).status_code
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for _ in range(5):
        assert httpx.get(f"{address}/healthz", timeout=30, verify=False).status_code == 200
        still_answers(address)
    for thread in threads:
        thread.join()
    assert done == [200] * 4


def test_nothing_from_a_request_is_fetched_or_opened(client, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("a connection was opened"))
    bait = "http://127.0.0.1:9/x"
    client.get("/rest/annotate", params={"url": bait})
    client.get("/rest/annotate", params={"text": bait})
    client.get("/v1/entities/../../../../etc/passwd")
    client.get("/v1/entities/file:///etc/passwd")
    base = (
        f"@base <{bait}> . @prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> . "
    )
    answer = client.post(
        "/nif", content=base + '<d> nif:isString "Bayern" .', headers={"content-type": "text/turtle"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing/here", 404),
        ("GET", "/v1/entities/Nobody at all", 404),
        ("DELETE", "/v1/link", 405),
        ("BREW", "/nif", 405),
        ("GET", "/rest/annotate?text=x&confidence=2", 400),
        ("GET", "/rest/spot?text=Bayern", 406),
        ("POST", "/nif", 422),
        ("POST", "/reconcile?callback=1", 400),
        ("POST", "/v1/link", 415),
    ],
)
def test_every_error_is_json(address, method, path, status):
    response = httpx.request(
        method, f"{address}{path}", headers={"accept": "text/html"}, timeout=30, verify=False
    )
    assert response.status_code == status and response.headers["content-type"] == "application/json"
    assert response.json()["error"].endswith(".")
    assert status != 405 or response.headers["allow"]


def test_a_defect_is_json_too_and_told_to_the_log_only(linker, monkeypatch, caplog):
    bounded = BoundedLinker(lambda: linker)
    bounded.load()
    monkeypatch.setattr(type(linker), "disambiguate", lambda *_, **__: {}["secret"])
    with TestClient(create_app(bounded)) as client:
        response = client.post("/v1/disambiguate", json={"text": TEXT, "mentions": mentions_of()})
    assert response.status_code == 500 and "secret" not in response.text
    assert response.json()["error"].startswith("something went wrong")
    assert "secret" in caplog.text
