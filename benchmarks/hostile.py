"""Hostile trials at length: mutated inputs for every parser, attacks on a server, and ordinary requests.

``python -m benchmarks hostile --inputs 1000000`` mutates that many inputs; stopped, it goes on where it was.
With ``PBOH_BEFORE`` naming the ``src`` of another checkout (and, after a colon, of what it needs), ordinary
requests are sent there too, in turns; both then serve the starter model of that checkout.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from html import escape
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import urlencode

from benchmarks.attacks import ATTACKS, watch
from benchmarks.common import DATA, sample_model, save, table
from benchmarks.service import Server, as_request, fire, serving, some_documents
from pboh.corpus.titles import Site
from pboh.corpus.wikitext.reader import plain_text
from pboh.errors import PbohError
from pboh.files.writing import write_json
from pboh.formats.nif import to_nif
from pboh.linker import load
from pboh.model.importing import Fact, read_facts
from pboh.service.protocols.nif import read
from pboh.service.protocols.spotlight import read_annotation

INPUTS = 1_000_000
SHARES = {
    "Turtle (NIF)": 0.4, "XML (Spotlight)": 0.2, "wikitext": 0.3, "facts (DBpedia, Wikidata)": 0.05,
    "HTTP requests": 0.05,
}  # fmt: skip
AT_ONCE = {"HTTP requests": 8}  # measured by the clock; what computes here, one by one by processor time
LOT = 10_000  # inputs between two places where a run that was stopped goes on
KEPT = DATA / "hostile"  # what it has done so far
SLOW = 1.0  # seconds that no small input should take
BOUND = 1_000  # megabytes of a worker, as the documentation says
ROUNDS = 40
TOKENS = (
    b"\0", b"\xff", b'"', b"'", b"<", b">", b"[", b"{", b"\\", b";",
    b"\xed\xa0\x80", b"\xf0\x9f\x99\x82", b"\xe2\x80\xae", b"&#0;", b"&x;", b"[[", b"]]",
    b"{{", b"}}", b"{|", b"|}", b"<!--", b"<ref>", b"<nowiki>", b"\\u0000", b'"""', b"@prefix", b"@base <",
    b"^^", b"\r\n\r\n", b"%00", b"-1", b"99999999999999999999", b"1e999", b"NaN", b"null",
    b"<<", b"<<( <a:b> <a:c> ", b")>>", b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n",
    b"upgrade: h2c\r\n",
)  # fmt: skip


def main(inputs: int = INPUTS) -> dict[str, Any]:
    """Run all three parts."""
    model = sample_model()
    results: dict[str, Any] = {"inputs": inputs, "bound_megabytes": BOUND}
    KEPT.mkdir(parents=True, exist_ok=True)
    with serving(model, 1, "--max-seconds", "5") as server:
        results["mutated"] = {
            kind: mutated(kind, work, seeds, int(inputs * SHARES[kind]))
            for kind, (work, seeds) in parsers(model, server).items()
        }
        results["attacks"] = {}
        for name, attack in ATTACKS.items():
            results["attacks"][name] = watch(server.port, server.workers, attack)
            print(f"{name}: {results['attacks'][name]}", flush=True)
    results["ordinary"] = ordinary(model)
    rmtree(KEPT)
    show(results)
    return save("hostile", results)


# -- mutated inputs -------------------------------------------------------------------------------------

Work = Callable[[bytes], bool]
"""Reads an input; whether it was accepted."""


def parsers(model: Path, server: Server) -> dict[str, tuple[Work, list[bytes]]]:
    """What reads foreign bytes, with inputs as they should be."""
    linker, site = load(model), Site.default("en")
    texts = [text[:500].replace('"', "'").replace("\\", " ") for text, _ in some_documents()[:20]]
    turtle = [to_nif(linker.link(text)).encode() for text in texts]
    xml = [f'<annotation text="{escape(text)}"/>'.encode() for text in texts]
    wikitext = [WIKITEXT.replace("TEXT", text).encode() for text in texts]
    known = [form.replace("TEXT", text[:100]).encode() for form in FACTS for text in texts]

    def facts(data: bytes) -> list[Fact]:
        with NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            return list(read_facts(Path(file.name), "en"))

    return {
        "Turtle (NIF)": (lambda data: bool(read(text_of(data))), turtle),
        "XML (Spotlight)": (lambda data: bool(read_annotation(text_of(data))), xml),
        "wikitext": (lambda data: plain_text(text_of(data), site) is not None, wikitext),
        "facts (DBpedia, Wikidata)": (lambda data: bool(facts(data)), known),
        "HTTP requests": (lambda data: is_answered(server.port, data), requests_of(texts, turtle, xml)),
    }


WIKITEXT = """'''TEXT''' [[A|b]] {{c|d=[[e]]}} <ref>TEXT</ref>
== [[F]] ==
{| class=g
|-
! h || i
| TEXT
|}
<gallery>File:J|[[K]]</gallery>[[Category:L]]"""


FACTS = (
    "<http://dbpedia.org/resource/TEXT> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    " <http://dbpedia.org/ontology/City> .\n",
    '<http://www.wikidata.org/entity/Q42> <http://schema.org/description> "TEXT \\u00e9"@en .\n',
    '{"id": "Q42", "descriptions": {"en": {"value": "TEXT"}}, "sitelinks": {"enwiki": {"title": "TEXT"}},'
    ' "claims": {"P31": [{"mainsnak": {"datavalue": {"value": {"id": "Q5"}}}}]}},\n',
)


def requests_of(texts: list[str], turtle: list[bytes], xml: list[bytes]) -> list[bytes]:
    """Requests in every protocol."""
    made = [as_request((text, [(0, 5)])) for text in texts]
    for text, nif, form in zip(texts, turtle, xml, strict=True):
        given = json.dumps({"text": text, "spans": [[0, 5]]}).encode()
        queries = urlencode({"queries": json.dumps({"q": {"query": text[:20]}})}).encode()
        made += [
            post("/nif", "text/turtle", nif),
            post("/rel", "application/json", given),
            post(
                "/rest/disambiguate", "application/x-www-form-urlencoded", urlencode({"text": form}).encode()
            ),
            post("/reconcile", "application/x-www-form-urlencoded", queries),
        ]
    return made


def post(path: str, kind: str, body: bytes) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def is_answered(port: int, data: bytes) -> bool:
    """Whether a request got an answer that is not an error; an error of the server's own is a failure."""
    if len(data) % 2:  # every other one is changed in its body alone, as far as its length is concerned
        head, end, body = data.partition(b"\r\n\r\n")
        data = re.sub(rb"content-length: \d+", b"content-length: %d" % len(body), head) + end + body
    with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as client:
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            raw = b"".join(iter(lambda: client.recv(65536), b""))
        except ConnectionError:  # refused while it was still sending
            return False
    status = raw[9:12]
    if status.startswith(b"5") and status != b"501":  # a transfer coding that nobody knows
        raise RuntimeError(raw[:300])
    return status.startswith(b"2")


def mutated(kind: str, work: Work, seeds: Sequence[bytes], count: int) -> dict[str, Any]:
    """Read so many mutants: how many were accepted and refused, what failed, and the longest time.

    They come in lots; those that a run before this one has finished are not read again.
    """
    lots: list[dict[str, Any]] = []
    for first in range(0, count, LOT):
        size = min(LOT, count - first)
        done = KEPT / f"{kind}, {size} from {first}.json"
        if not done.exists():
            work(seeds[0])  # compiles what has to be
            chance = random.Random(f"{kind} {first}")
            inputs = [mutant(chance, seeds) for _ in range(size)]
            write_json(done, lot(work, inputs, AT_ONCE.get(kind, 1)))
        lots.append(json.loads(done.read_text()))
        failed = sum(row["failed"] for row in lots)
        print(f"{kind}: {first + size:,} of {count:,}, {failed} failed", flush=True)
    sums = ("inputs", "accepted", "refused", "failed", "slow", "seconds")
    return {name: sum(row[name] for row in lots) for name in sums} | {
        "failures": [failure for row in lots for failure in row["failures"]][:5],
        "longest_ms": max(row["longest_ms"] for row in lots),
    }


def lot(work: Work, inputs: list[bytes], at_once: int) -> dict[str, Any]:
    """Read some mutants."""
    clock = time.process_time if at_once == 1 else time.perf_counter

    def tried(data: bytes) -> tuple[bool, dict[str, str] | None, float]:
        start, accepted, failed = clock(), False, None
        try:
            accepted = work(data)
        except PbohError:
            pass
        except Exception as failure:
            failed = {"failure": repr(failure)[:300], "input": data[:2000].hex()}
        return accepted, failed, clock() - start

    with ThreadPoolExecutor(at_once) as pool:
        found = list(map(tried, inputs) if at_once == 1 else pool.map(tried, inputs))
    accepted, failures = sum(row[0] for row in found), [row[1] for row in found if row[1]]
    times = [row[2] for row in found]
    return {
        "inputs": len(inputs),
        "accepted": accepted,
        "refused": len(inputs) - accepted - len(failures),
        "failed": len(failures),
        "failures": failures[:5],
        "slow": sum(seconds > SLOW for seconds in times),
        "longest_ms": 1e3 * max(times),
        "seconds": sum(times),
    }


def mutant(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """A seed with some bytes flipped, cut out, repeated, put in, or taken from another seed."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.randint(1, 8)):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 2, 5, 20, 100))
        match chance.randrange(6):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                del data[at : at + size]
            case 2:
                data[at:at] = data[at : at + size] * chance.choice((1, 2, 50))
            case 3:
                data[at:at] = chance.choice(TOKENS) * chance.choice((1, 1, 3, 100))
            case 4:
                other = chance.choice(seeds)
                start = chance.randrange(len(other))
                data[at : at + size] = other[start : start + size]
            case _ if chance.random() < 0.2:
                del data[at:]
    return bytes(data)


# -- ordinary requests ----------------------------------------------------------------------------------


def ordinary(model: Path) -> dict[str, Any]:
    """Processor time of requests that mean no harm, here and before: many short turns of both servers.

    Whatever else runs on the machine then disturbs both alike; the median of the turns counts.
    """
    requests, here = [as_request(job) for job in some_documents()], os.environ.get("PYTHONPATH", "")
    sources = {"now": here}
    if before := os.environ.get("PBOH_BEFORE"):
        sources["before"], model = before, Path(before.split(os.pathsep)[0]) / "pboh" / "starter"
    with ExitStack() as running:
        servers = {}
        for name, source in sources.items():
            os.environ["PYTHONPATH"] = source
            servers[name] = running.enter_context(serving(model, 1))
            fire(servers[name].port, requests, 8, 300)
        os.environ["PYTHONPATH"] = here
        return {str(connections): in_turns(servers, requests, connections) for connections in (1, 8)}


def in_turns(servers: dict[str, Server], requests: list[bytes], connections: int) -> dict[str, float]:
    """Milliseconds of every server, and how they compare."""
    turns: dict[str, list[float]] = {name: [] for name in servers}
    for turn in range(ROUNDS):
        for name in sorted(servers, reverse=bool(turn % 2)):
            turns[name].append(servers[name].processor_ms(requests, connections))
    return compared(turns)


def compared(turns: dict[str, list[float]]) -> dict[str, float]:
    """The median milliseconds of everybody's turns, and of the ratios of turns that belong together."""
    found = {f"cpu_ms_{name}": median(times) for name, times in turns.items()}
    if "before" in turns:
        pairs = zip(turns["now"], turns["before"], strict=True)
        found["ratio"] = median(now / before for now, before in pairs)
    return found


def show(results: dict[str, Any]) -> None:
    columns = ("parser", "inputs", "accepted", "refused", "failed", "longest ms")
    keys = ("inputs", "accepted", "refused", "failed", "longest_ms")
    table("Mutated inputs", columns, [(n, *(r[k] for k in keys)) for n, r in results["mutated"].items()])
    columns = ("attack", "health check, median ms", "longest ms", "largest worker MB")
    table("Attacks", columns, [(name, *row.values()) for name, row in results["attacks"].items()])
    print("\nOrdinary requests:", results["ordinary"])


if __name__ == "__main__":
    main()
