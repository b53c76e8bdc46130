"""``pboh warmup``: every command once on a tiny wiki, so that every kernel is compiled."""

from __future__ import annotations

import bz2
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from pboh.cli import EXTRAS, app, program

if TYPE_CHECKING:
    from pboh.model.store import Model

TINY_WIKI = Path(__file__).with_name("tiny_wiki")  # a dump, documents with gold, and entities to add
TEXTS = ("Paris and Rome near Georgia.", "Paris and Rome near Goergia, déjà.", "Paris łą 🙂 Rome.")
MODEL = ("--model", "model")
STEPS = (
    ("train", "wiki.xml.bz2", "sentences.jsonl", "typed.jsonl", "--out", "model", "--workers", "1"),
    ("extract", "pages.jsonl", "wiki.xml.bz2", "--out", "corpus", "--workers", "1"),
    *(("link", text, *MODEL) for text in TEXTS),
    ("link", TEXTS[0], *MODEL, "--paper"),
    ("link", TEXTS[0], *MODEL, "--set", "kinship=8"),
    ("annotate", "gold.jsonl", *MODEL, "--explain"),
    ("canonical", "names.txt", *MODEL, "--workers", "1"),
    ("evaluate", "gold.jsonl", *MODEL, "--systems", "all", "--report", "report.html"),
    ("evaluate", "gold.jsonl", *MODEL, "--end-to-end"),
    ("tune", *MODEL, "-v", "gold.jsonl", "--fit"),
    ("tune", *MODEL, "-v", "gold.jsonl", "--vary", "tau=0.4,0.5", "--rounds", "1", "--workers", "1"),
    ("calibrate", *MODEL, "-v", "gold.jsonl", "--no-write"),
    ("learn", *MODEL, "--corpus", "corpus", "--epochs", "1", "--held-out", "1"),
    ("evaluate", "gold.jsonl", *MODEL, "--systems", "learned,learnedcontext"),
    ("prune", *MODEL, "--out", "small"),
    ("entities", "add", "entities.jsonl", *MODEL),
    ("annotate", "own.jsonl", *MODEL),
)
LINKING = (  # with the starter
    *(("link", text) for text in TEXTS),
    ("canonical", "names.txt", "--workers", "1"),
    ("evaluate", "gold.jsonl", "--systems", "all"),
)


@app.command("warmup")
def warmup_command() -> None:
    """Compile the numeric kernels now, so that no command has to wait for it.

    Every command runs once on a tiny wiki in a temporary folder. Doing this once per machine and version is
    enough; otherwise each command compiles what it needs when it is first used.

    Example: pboh warmup
    """
    from pboh.files.progress import console, progress
    from pboh.linker import load

    began, steps = perf_counter(), STEPS if all(map(find_spec, EXTRAS)) else LINKING
    with progress("compiling kernels") as report, _tiny_wiki():
        for number, step in enumerate(steps):
            report(number, len(steps), f"pboh {step[0]}")
            rehearse(step)
        if steps is STEPS:
            linker = load("model")
            linker.similar("Paris")  # no command asks for it
            _count_beside_heads(linker.model)
    console.print(f"all kernels are compiled ({perf_counter() - began:.0f} s)")


def rehearse(step: tuple[str, ...]) -> None:
    """Run one command without a word."""
    silence = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(silence), redirect_stderr(silence):
        program(step[0])(list(step), standalone_mode=False)


def _count_beside_heads(model: Model) -> None:
    """Lists so long that they are read in another way: no wiki this small has them."""
    from pboh.model.pair_kernels import Scratch, cooccurrences
    from pboh.model.tables import head_table

    offsets, documents = model["posting_offsets"], model["posting_document"]
    heads, pairs = head_table(np.array(offsets), documents, long=1)
    scratch = Scratch.of(int(documents.max()) + 1, heads, offsets)
    cooccurrences(heads, offsets, documents, heads, pairs, scratch)


@contextmanager
def _tiny_wiki() -> Iterator[None]:
    """A temporary folder with what the commands read, as the current one."""
    with TemporaryDirectory(prefix="pboh-") as folder, chdir(folder):
        shutil.copytree(TINY_WIKI, folder, dirs_exist_ok=True)
        Path("wiki.xml.bz2").write_bytes(bz2.compress(Path("wiki.xml").read_bytes()))
        words = " ".join(f"word{k}" for k in range(5_000))  # more than tables have room for at first
        page = {"title": "Words", "text": words, "links": [[0, 5, "Paris"]]}
        Path("pages.jsonl").write_text(json.dumps(page))
        own = {"text": "Zorblax left Paris.", "mentions": [{"start": 0, "end": 7}, {"start": 13, "end": 18}]}
        Path("own.jsonl").write_text(json.dumps(own))
        Path("sentences.jsonl").write_text("".join(map(_page_of_sentences, range(40))))
        Path("typed.jsonl").write_text("".join(map(_typed_page, range(400))))
        yield


def _page_of_sentences(number: int) -> str:
    """A page from which a name finder can learn."""
    text, links = "", []
    for place in ("Paris", "Rome", "Seine", "Tiber", "Rhine") * 3:
        text += "In the old days the wide river, in a wide valley, near the tower of "
        links.append([len(text), len(text) + len(place), place])
        text += f"{place} was wide.\n"
    return json.dumps({"id": 1000 + number, "title": f"Page {number}", "text": text, "links": links}) + "\n"


def _typed_page(number: int) -> str:
    """One of the pages from which types can be learned: each links the one before."""
    title, other = f"Thing {number}", f"Thing {max(number - 1, 0)}"
    page = {
        "id": 2000 + number,
        "title": title,
        "text": f"{other} was near.",
        "links": [[0, len(other), other]],
    }
    return json.dumps(page | {"type": ("place", "person")[number % 2]}) + "\n"
