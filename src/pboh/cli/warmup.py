"""``pboh warmup``: every command once on a tiny wiki, so that every kernel is compiled."""

from __future__ import annotations

import bz2
import io
import json
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from pboh.cli import EXTRAS, app, program

PLACES = ("Paris", "Rome", "Köln", "Łódź", "Seine", "Tiber", "Rhine", "Georgia (country)", "Georgia (state)")
PAGE = """<page><title>{title}</title><ns>0</ns><id>{id}</id><revision><id>{id}</id>
<text xml:space="preserve">{{{{Infobox|name={title}}}}}
'''{title}''' is a ''place'' &amp;mdash; near {links}&lt;!-- far --&gt;&lt;ref&gt;[http://a.org A]&lt;/ref&gt;
== History ==
* The old river of {links} flows by the tower to {links}, see [[File:Map.png|thumb|a map of [[{title}]]]].
{{| class="wikitable"
| a || b
|}}
[[Category:Places]]</text></revision></page>
"""
REDIRECT = """<page><title>Lutetia</title><ns>0</ns><id>99</id><redirect title="Paris" /><revision><id>99</id>
<text xml:space="preserve">#REDIRECT [[Paris]]</text></revision></page>
"""
WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en"><siteinfo>
<dbname>enwiki</dbname><namespaces><namespace key="0" /><namespace key="6">File</namespace></namespaces>
</siteinfo>
{pages}</mediawiki>
"""
TEXTS = ("Paris and Rome near Georgia.", "Paris and Rome near Goergia, déjà.", "Paris łą 🙂 Rome.")
SPANS = ((0, 5, "Paris"), (10, 14, "Rome"), (20, 27, "Georgia (state)"))
MODEL = ("--model", "model")
STEPS = (
    ("train", "wiki.xml.bz2", "--out", "model", "--workers", "1"),
    ("extract", "pages.jsonl", "--out", "corpus", "--workers", "1"),
    *(("link", text, *MODEL) for text in TEXTS),
    ("link", TEXTS[0], *MODEL, "--paper"),
    ("annotate", "gold.jsonl", *MODEL, "--explain"),
    ("evaluate", "gold.jsonl", *MODEL, "--systems", "all", "--report", "report.html"),
    ("evaluate", "gold.jsonl", *MODEL, "--end-to-end"),
    ("tune", *MODEL, "-v", "gold.jsonl", "--fit"),
    ("tune", *MODEL, "-v", "gold.jsonl", "--vary", "tau=0.4,0.5", "--rounds", "1", "--workers", "1"),
    ("calibrate", *MODEL, "-v", "gold.jsonl", "--no-write"),
    ("learn", *MODEL, "--corpus", "model.work/corpus", "--epochs", "1", "--held-out", "1"),
    ("evaluate", "gold.jsonl", *MODEL, "--systems", "learned,learnedcontext"),
    ("prune", *MODEL, "--out", "small"),
    ("entities", "add", "entities.jsonl", *MODEL),
    ("link", "Zorblax left Paris.", *MODEL),
)
LINKING = (*(("link", text) for text in TEXTS), ("evaluate", "gold.jsonl", "--systems", "all"))  # the starter


@app.command("warmup")
def warmup_command() -> None:
    """Compile the numeric kernels now, so that no command has to wait for it.

    Every command runs once on a tiny wiki in a temporary folder. Doing this once per machine and version is
    enough; otherwise each command compiles what it needs when it is first used.

    Example: pboh warmup
    """
    from pboh.files.progress import console, progress

    began, steps = perf_counter(), STEPS if all(map(find_spec, EXTRAS)) else LINKING
    with progress("compiling kernels") as report, _tiny_wiki():
        for number, step in enumerate(steps):
            report(number, len(steps), f"pboh {step[0]}")
            rehearse(step)
    console.print(f"all kernels are compiled ({perf_counter() - began:.0f} s)")


def rehearse(step: tuple[str, ...]) -> None:
    """Run one command without a word."""
    silence = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(silence), redirect_stderr(silence):
        program(step[0])(list(step), standalone_mode=False)


@contextmanager
def _tiny_wiki() -> Iterator[None]:
    """A temporary folder with what the commands read, as the current one."""
    with TemporaryDirectory(prefix="pboh-") as folder, chdir(folder):
        links = [", ".join(f"[[{place}|{place.split(' ')[0]}]]" for place in PLACES[k:]) for k in range(9)]
        pages = [PAGE.format(title=PLACES[k], id=k + 1, links=links[k % 4]) for k in range(9)]
        Path("wiki.xml.bz2").write_bytes(bz2.compress(WIKI.format(pages="".join(pages) + REDIRECT).encode()))
        words = " ".join(f"word{k}" for k in range(5_000))  # more than tables have room for at first
        page = {"title": "Words", "text": words, "links": [[0, 5, "Paris"]]}
        Path("pages.jsonl").write_text(json.dumps(page))
        Path("entities.jsonl").write_text(
            '{"title": "Zorblax", "links": ["Paris"], "description": "river"}\n'
        )
        mentions = [{"start": start, "end": end, "gold": gold} for start, end, gold in SPANS]
        gold = [{"text": TEXTS[k % 2], "mentions": mentions[k % 3 :]} for k in range(12)]
        Path("gold.jsonl").write_text("".join(json.dumps(document) + "\n" for document in gold))
        yield
