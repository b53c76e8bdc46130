"""This checkout against another one, in turns: what requests, HTML and counting cost here and there.

``PBOH_BEFORE=OTHER/src python -m benchmarks before`` names the ``src`` of the other checkout and, after a
colon, the folder of packages that only it needs. Both serve the starter model of the other checkout, whose
format the newer one must read. Processor time counts; whatever else runs disturbs both alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, save, shared, table
from benchmarks.hostile import compared, in_turns
from benchmarks.service import Job, as_request, fire, serving, some_documents

COUNTS = 5
HTML = """
import json, sys, time
from importlib import import_module, util
import pboh
place = "pboh.formats.html" if util.find_spec("pboh.formats") else "pboh.html"
to_html = import_module(place).to_html
linker = pboh.load(sys.argv[1])
jobs = json.load(sys.stdin)
spent = 0.0
for measured in (False, True):
    for text, spans in jobs:
        document = linker.disambiguate(text, [tuple(span) for span in spans], overlapping=True)
        began = time.process_time()
        to_html(document)
        spent += measured * (time.process_time() - began)
print(1e3 * spent / len(jobs))
"""


def main() -> dict[str, Any]:
    """Measure everything; prints and returns milliseconds and ratios."""
    sources = {"now": str(ROOT / "src"), "before": os.environ["PBOH_BEFORE"]}
    model = Path(sources["before"].split(os.pathsep)[0]) / "pboh" / "starter"
    jobs = some_documents()[:60]
    results = requests(sources, model, jobs)
    results["html"] = html(sources, model, jobs)
    results["count"] = counting(sources)
    rows = [(name, *row.values()) for name, row in results.items()]
    table("Milliseconds of processor time, here and before", ("what", "now", "before", "ratio"), rows)
    return save("before", results)


def requests(sources: dict[str, str], model: Path, jobs: list[Job]) -> dict[str, Any]:
    """Requests to servers of both checkouts."""
    kinds = {
        "disambiguate": [as_request(job) for job in jobs],
        "link": [_request("link", text=text) for text, _ in jobs],
        "explain": [_request("explain", mention=len(job[1]) // 2, **_given(job)) for job in jobs],
        "graph": [_request("graph", **_given(job)) for job in jobs],
    }
    here = os.environ.get("PYTHONPATH", "")
    with ExitStack() as running:
        servers = {}
        for name, source in sources.items():
            os.environ["PYTHONPATH"] = source
            servers[name] = running.enter_context(serving(model, 1))
            for some in kinds.values():
                latencies, errors = fire(servers[name].port, some, 4, len(some))
                assert not errors and latencies, f"{name} refuses {some[0][:40]!r}"
        os.environ["PYTHONPATH"] = here
        return {kind: in_turns(servers, some, 1) for kind, some in kinds.items()}


def _given(job: Job) -> dict[str, Any]:
    text, spans = job
    return {
        "text": text,
        "mentions": [{"start": start, "end": end} for start, end in spans],
        "overlapping": True,
    }


def _request(kind: str, **content: Any) -> bytes:
    body = json.dumps(content).encode()
    head = f"POST /v1/{kind} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def html(sources: dict[str, str], model: Path, jobs: list[Job]) -> dict[str, float]:
    """Documents as HTML with explanations, without the time of resolving them."""
    turns: dict[str, list[float]] = {name: [] for name in sources}
    for _ in range(COUNTS):
        for name, source in sources.items():
            command = [sys.executable, "-c", HTML, str(model)]
            environment = os.environ | {"PYTHONPATH": source}
            done = subprocess.run(
                command, env=environment, input=json.dumps(jobs).encode(), capture_output=True, check=True
            )
            turns[name].append(float(done.stdout.split()[-1]))
    return compared(turns)


def counting(sources: dict[str, str]) -> dict[str, float]:
    """``pboh count`` of the tiny dump, which each checkout has extracted."""
    folder = shared()
    dump = (
        folder / "corpus" / "enwiki-tiny-pages-articles.xml.bz2" if folder else ROOT / "tests/data/world.xml"
    )
    turns: dict[str, list[float]] = {name: [] for name in sources}
    with tempfile.TemporaryDirectory() as place:
        for name, source in sources.items():
            _pboh(source, "extract", dump, "--out", f"{place}/{name}")
            _pboh(source, "count", f"{place}/{name}", "--out", f"{place}/warm-{name}")
        for turn in range(COUNTS):
            for name, source in sources.items():
                out = f"{place}/{name}-{turn}"
                turns[name].append(_pboh(source, "count", f"{place}/{name}", "--out", out))
    return compared(turns)


def _pboh(source: str, *arguments: str | Path) -> float:
    """Run a command of a checkout; returns its milliseconds of processor time."""
    before = os.times()
    command = [sys.executable, "-c", "from pboh.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": source}, cwd="/", check=True, capture_output=True)
    after = os.times()
    return 1e3 * (after.children_user - before.children_user + after.children_system - before.children_system)


if __name__ == "__main__":
    main()
