"""Work is bounded before it starts: above a limit there is a sentence with the limit in it, at once."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest
from served import TEXT, mentions_of
from starlette.testclient import TestClient

from pboh import deadline as deadlines
from pboh.deadline import OvertimeError, checkpoint, deadline
from pboh.service.address import Address
from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker
from pboh.service.options import Limits
from pboh.service.protocols import v1

pytestmark = pytest.mark.slow

NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
TURTLE = {"content-type": "text/turtle"}
JSON = {"content-type": "application/json"}


def refused(response, status, *words):
    assert response.status_code == status, response.text[:300]
    sentence = response.json()["error"]
    assert all(word in sentence for word in words), sentence


def test_a_mention_has_a_largest_sensible_length(client, limits):
    text = "," * 20_000
    body = {"text": text, "mentions": [{"start": 0, "end": len(text)}]}
    for path in ("disambiguate", "graph", "explain"):
        more = {"mention": 0} if path == "explain" else {}
        refused(client.post(f"/v1/{path}", json={**body, **more}), 413, "20,000 characters", "500")
    refused(client.post("/rel", json={"text": text, "spans": [[0, 20_000]]}), 413, "limit is 500")
    refused(client.get("/v1/search", params={"name": "x" * 501}), 422, "500")
    xml = f'<annotation text="{text}"><surfaceForm name="{text}" offset="0"/></annotation>'
    refused(client.post("/rest/disambiguate", data={"text": xml}), 413, "limit is 500")
    nif = f'<a:a> <{NIF}isString> "{text}" . <a:b> <{NIF}referenceContext> <a:a> ; '
    nif += f"<{NIF}beginIndex> 0 ; <{NIF}endIndex> 20000 ."
    refused(client.post("/nif", content=nif, headers=TURTLE), 413, "limit is 500")
    cell = json.dumps({"q": {"query": text}})
    refused(client.post("/reconcile", data={"queries": cell}), 413, "limit is 500")


def test_overlapping_mentions_are_long_together_only_within_limits(client):
    text = "Bayern " * 7000
    spans = [[start, 40_000] for start in range(500)]
    began = time.process_time()
    refused(client.post("/rel", json={"text": text, "spans": spans}), 413, "40,000 characters")
    mentions = [{"start": start, "end": start + 40_000} for start in range(500)]
    body = {"text": text, "mentions": mentions, "overlapping": True}
    refused(client.post("/v1/disambiguate", json=body), 413, "40,000 characters")
    assert time.process_time() - began < 2


def test_a_batch_is_bounded_as_a_whole(linker):
    bounded = BoundedLinker(lambda: linker, Limits(total_mentions=20))
    bounded.load()
    with TestClient(create_app(bounded)) as client:
        document = {"text": TEXT, "mentions": mentions_of()}
        assert client.post("/v1/batch", json={"documents": [document] * 2}).status_code == 200
        refused(client.post("/v1/batch", json={"documents": [document] * 3}), 413, "21 mentions", "20")
        refused(client.post("/v1/batch", json={"documents": [{"text": TEXT}] * 10}), 413, "limit is 20")
        contexts = "".join(f'<a:{i}> <{NIF}isString> "{TEXT}" .\n' for i in range(10))
        refused(client.post("/nif", content=contexts, headers=TURTLE), 413, "limit is 20")


def test_mistakes_in_thousands_of_mentions_are_told_at_once(client):
    for mention in ({"start": "0"}, {}, {"start": 0, "end": 1, "more": 2}, None):
        body = json.dumps({"text": "ab", "mentions": [mention] * 20_000}).encode()
        began = time.process_time()
        refused(client.post("/v1/disambiguate", content=body, headers=JSON), 422, "mentions.0")
        assert time.process_time() - began < 1


def test_turtle_does_not_grow_beyond_measure(client):
    prefix = f"@prefix p: <http://{'x' * 300_000}> .\n" + "p:a p:b p:c .\n" * 30_000
    base = f"@base <http://{'x' * 300_000}/> .\n" + "<a> <b> <c> .\n" * 30_000
    nested = "@prefix p: <http://x> .\n" + "".join(f"@prefix p: <{'../' * 50}{i}> .\n" for i in range(5000))
    doubled = f"@prefix n: <{NIF}> .\n" + "".join(
        f"@base <{'y' * 50 * i}/> . <x{i}> n:isString 'z' .\n" for i in range(150)
    )
    for turtle in (prefix, base):
        began = time.process_time()
        refused(client.post("/nif", content=turtle, headers=TURTLE), 400, "20 times")
        assert time.process_time() - began < 3
    for turtle in (nested, doubled):
        assert client.post("/nif", content=turtle, headers=TURTLE).status_code in (400, 413, 422)
    deep = "<a:a> <a:b> " + "(" * 200_000
    refused(client.post("/nif", content=deep, headers=TURTLE), 400)
    many = "".join(f"<a:{i}> a <b:b> .\n" for i in range(60_000))
    assert client.post("/nif", content=many[:1_000_000], headers=TURTLE).status_code in (400, 413, 422)


@pytest.mark.parametrize("encoding", ["UTF-7", "UTF-16", "latin-1", "EBCDIC-CP-US"])
def test_xml_is_utf8_without_declarations(client, encoding):
    xml = f'<?xml version="1.0" encoding="{encoding}"?><annotation text="Bayern"/>'
    refused(client.post("/rest/disambiguate", data={"text": xml}), 400)
    hidden = xml.replace("<annotation", "+ADwAIQ-DOCTYPE a +AFsAPAAh-ENTITY b 'c'+AD4AXQA+-<annotation")
    refused(client.post("/rest/disambiguate", data={"text": hidden}), 400)
    declared = '<?xml version="1.0" encoding="UTF-8"?><annotation text="Bayern"/>'
    assert client.post("/rest/disambiguate", data={"text": declared}).status_code == 200
    entities = "<!DOCTYPE a [<!ENTITY b 'c'>]><annotation text='&b;'/>"
    refused(client.post("/rest/disambiguate", data={"text": entities}), 400, "declarations")


# -- time -----------------------------------------------------------------------------------------------


def test_work_ends_at_a_checkpoint_behind_its_deadline():
    checkpoint()
    with deadline(60):
        checkpoint()
        with pytest.raises(OvertimeError), deadline(0):
            time.sleep(0.01)
            checkpoint()
        checkpoint()
    with pytest.raises(OvertimeError), deadline(60, ended=lambda: True):
        checkpoint()
    checkpoint()


def test_what_timed_out_stops_and_frees_its_thread(linker, monkeypatch):
    """Two requests that would take for ever on two threads, and a third one that finds a free thread."""
    steps = []

    def endless(call):
        while True:
            steps.append(time.monotonic())
            time.sleep(0.01)
            checkpoint()

    bounded = BoundedLinker(lambda: linker, Limits(seconds=0.5), threads=2)
    bounded.load()
    monkeypatch.setattr(v1, "ADDRESSES", [*v1.ADDRESSES, Address("GET", "/endless", endless, "page")])
    with TestClient(create_app(bounded)) as client:
        answers = []
        ask = lambda: answers.append(client.get("/endless"))
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for answer in answers:
            refused(answer, 422, "longer than 0.5 seconds")
        body = {"text": TEXT, "mentions": mentions_of()}
        assert client.post("/v1/disambiguate", json=body).status_code == 200
        last = steps[-1]
        time.sleep(0.2)
        assert steps[-1] == last, "it computes on"


def test_every_stage_can_be_ended(linker, monkeypatch):
    """However many checkpoints a document passes, it can be ended at each."""
    asked = []
    with deadline(60, ended=lambda: bool(asked.append(1))):
        linker.link(TEXT)
    assert len(asked) > 5
    for last in range(len(asked)):
        left = iter([False] * last)
        with pytest.raises(OvertimeError), deadline(60, ended=lambda left=left: next(left, True)):
            linker.link(TEXT)
    assert deadlines.checkpoint() is None


def test_large_bodies_share_a_limited_room(address, limits):
    """Bodies that are held back together may not fill the memory; small requests go on."""
    room = limits.waiting_bytes // 900_000 + 3
    parts = urlsplit(address)
    head = b"POST /v1/link HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n"
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_connection((parts.hostname, parts.port), timeout=10))
            for _ in range(room)
        ]
        for connection in sockets:
            connection.sendall(head + b"x" * 900_000)
        assert b"HTTP/1.1 503" in [connection.recv(65536)[:12] for connection in reversed(sockets)]
        assert httpx.get(f"{address}/healthz", timeout=5, verify=False).status_code == 200
