"""Fixtures every test may use: the shared folder when it is there, and models trained once per session."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import settings

from pboh.corpus.extract import extract
from pboh.counts import CountOptions
from pboh.counts.count import count
from pboh.detection.finder_training import FinderOptions
from pboh.learning.finishing import add_finder
from pboh.linker import Linker, load
from pboh.model.build import build_model
from small_world import with_types

REPOSITORY = Path(__file__).parent.parent
DATA = REPOSITORY / "tests" / "data"
FIRST = (  # files that take longest; while the first compiles, the other process has what needs no kernels
    "cli/test_warmup.py",
    "docs/test_docs_site.py",
    "docs/test_first_contact.py",
    "counts/test_count_spark.py",
    "test_train.py",
    "docs/test_docs_blocks.py",
    "integrations/test_spark_annotate.py",
    "test_memory.py",
    "hostile/test_processes.py",
    "service/test_server.py",
    "service/test_page.py",
    "service/test_page_looks.py",
    "corpus/wikitext/test_reader_properties.py",
)
JAVA_FOR_SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # what is run for seconds is not worth optimising
CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put what takes long first: files are handed out in this order, and processes shall end together."""
    places = {REPOSITORY / "tests" / name: place for place, name in enumerate(FIRST)}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (places.get(item.path, len(places)), item.path not in slow))


def pytest_collection_finish() -> None:
    """Leave what is imported and collected by now out of all garbage collections to come: it stays."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Have all collected when the process ends, as ever."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the sample corpus and benchmarks, beside the checkout (or $PBOH_SHARED)."""
    folder = Path(os.environ.get("PBOH_SHARED", REPOSITORY.parent / "shared"))
    if not (folder / "corpus").is_dir():
        pytest.skip("the shared sample corpus is not here (set PBOH_SHARED to its folder)")
    return folder


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder made once per test session, also when the session runs on several processes."""
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = root / name
    with FileLock(root / f"{name}.lock"):
        if not folder.exists():
            make(folder)
    return folder


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """:func:`once`, for tests that have a folder of their own to make."""
    return partial(once, tmp_path_factory)


@pytest.fixture(scope="session")
def world_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extracted tables of the small world in ``tests/data``."""
    return once(
        tmp_path_factory, "world-corpus", lambda out: extract([DATA / "world.xml"], out, workers=1) and None
    )


@pytest.fixture(scope="session")
def world_counts(world_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its counts, with words seen twice kept, and without what pages say they are about."""

    def make(out: Path) -> None:
        count([world_corpus], out, CountOptions(min_word_count=2))
        shutil.rmtree(out / "subjects")  # tests say themselves which entities have a type
        about = out / "counts.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "subjects": False}))

    return once(tmp_path_factory, "world-counts", make)


@pytest.fixture(scope="session")
def world_model(world_counts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model trained on the small world."""
    return once(tmp_path_factory, "world-model", lambda out: build_model(world_counts, out) and None)


@pytest.fixture(scope="session")
def counted_model(world_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model of the small world that knows how often names in running text are links."""

    def make(out: Path) -> None:
        counts = out.with_name("counted-counts")
        count([world_corpus], counts, CountOptions(min_word_count=2, names_in_text=True))
        build_model(counts, out)

    return once(tmp_path_factory, "counted-model", make)


@pytest.fixture(scope="session")
def finding_model(world_corpus: Path, counted_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same model with a name finder."""

    def make(out: Path) -> None:
        shutil.copytree(counted_model, out)
        add_finder(world_corpus, out, FinderOptions(rows=1 << 14, epochs=8, per_page=100))

    return once(tmp_path_factory, "finding-model", make)


@pytest.fixture(scope="session")
def real_corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extracted tables of 2,020 real pages, and in a file beside them the figures of the extraction."""
    dump = shared / "corpus" / "enwiki-tiny-pages-articles.xml.bz2"

    def make(out: Path) -> None:
        # in a process of its own: memory is that of all processes below, and a session may have a JVM there
        pboh = [sys.executable, "-c", "from pboh.cli import main; main()"]
        command = ["extract", dump, "--out", out, "--workers", "2", "--json", out.with_suffix(".json")]
        subprocess.run([*pboh, *command], check=True, capture_output=True)

    return once(tmp_path_factory, "real-corpus", make)


@pytest.fixture(scope="session")
def linker(world_model: Path) -> Linker:
    """A linker over the small world, with the default settings."""
    return load(world_model)


@pytest.fixture(scope="session")
def typed_model(world_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the same model, which also knows what some of its entities are."""
    return once(tmp_path_factory, "typed-model", lambda out: with_types(shutil.copytree(world_model, out)))


@pytest.fixture(scope="session")
def typed_linker(typed_model: Path) -> Linker:
    """A linker over it."""
    return load(typed_model)


settings.register_profile(
    "pboh",
    deadline=None,  # the first example may wait for a kernel to compile
    derandomize="CI" in os.environ,
)
settings.load_profile("pboh")


@pytest.fixture(scope="session")
def needs_spark() -> None:
    """Skip, and say what is missing, where Spark cannot run."""
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed (pip install 'pboh[spark]')")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java runtime (Spark needs Java 17 or newer)")
    os.environ.setdefault("JDK_JAVA_OPTIONS", JAVA_FOR_SHORT)


@pytest.fixture(scope="session")
def spark(needs_spark: None) -> Iterator[Any]:
    """One Spark session for all tests of a process."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("tests").config("spark.ui.enabled", "false")
    started = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    yield started
    started.stop()


@pytest.fixture(scope="session")
def small_cluster(needs_spark: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables for programs that start a cluster of their own: few partitions for little data."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text("spark.sql.shuffle.partitions 3\nspark.ui.enabled false\n")
    return dict(os.environ) | {"SPARK_CONF_DIR": str(folder)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser, Debian's Chromium, or a skip that says what is missing."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=CHROMIUM)
        yield opened
        opened.close()
