"""What is finished is kept: killed runs, changed options, damaged folders, full disks."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from corpora import random_pages, write_corpus
from twin import Counted, rows

from pboh.counts import CountOptions, count
from pboh.counts.engine import DuckDB
from pboh.errors import CorpusError, CountsError, InputError, OutputError

TABLES = ("entities", "names", "incidences", "word_entity", "word_totals", "words")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", random_pages(4, 80))


class Steps(list[str]):
    """A report that remembers which steps were done."""

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        if detail not in ("", "done"):
            self.append(detail.split(maxsplit=1)[0])


def done_again(corpus: Path, out: Path, options: CountOptions) -> set[str]:
    steps = Steps()
    count([corpus], out, options, report=steps)
    return set(steps)


def test_running_again_does_nothing(corpus: Path, tmp_path: Path) -> None:
    assert count([corpus], tmp_path / "counts")["fresh"]
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "counts").rglob("*") if file.is_file()}
    assert not count([corpus], tmp_path / "counts")["fresh"]
    assert before == {f: f.stat().st_mtime_ns for f in (tmp_path / "counts").rglob("*") if f.is_file()}


def test_a_changed_option_redoes_only_what_depends_on_it(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "counts"
    count([corpus], out)
    assert done_again(corpus, out, CountOptions(min_word_count=2)) == {"word_entity", "totals"}
    assert done_again(corpus, out, CountOptions(min_word_count=2, top=3)) == {"names", "totals"}
    fresh = CountOptions(min_word_count=2, top=3)
    count([corpus], tmp_path / "fresh", fresh)
    assert Counted(out).everything() == Counted(tmp_path / "fresh").everything()


def test_more_memory_alone_redoes_nothing(corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "counts", memory=1 << 30)
    assert not count([corpus], tmp_path / "counts", memory=2 << 30)["fresh"]


def test_a_changed_corpus_is_counted_again(corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "counts")
    for file in (tmp_path / "corpus").rglob("*.parquet"):
        file.unlink()
    write_corpus(corpus, random_pages(9, 60))
    assert count([corpus], tmp_path / "counts")["fresh"]
    count([corpus], tmp_path / "fresh")
    assert Counted(tmp_path / "counts").everything() == Counted(tmp_path / "fresh").everything()


def test_stopped_between_shares_goes_on_there(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pboh.counts.pairs.BYTES_PER_INCIDENCE", 1 << 24)
    out = tmp_path / "counts"

    def stop(done: float, total: float | None = None, detail: str = "") -> None:
        if detail.startswith("distinct_pairs 3/"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count([corpus], out, report=stop)
    first = (out / "steps/distinct_pairs/00001/part-00000.parquet").stat().st_mtime_ns
    assert not (out / "counts.json").exists()
    count([corpus], out)
    assert (out / "steps/distinct_pairs/00001/part-00000.parquet").stat().st_mtime_ns == first
    count([corpus], tmp_path / "fresh")
    assert Counted(out).everything() == Counted(tmp_path / "fresh").everything()


@pytest.mark.slow
def test_killed_again_and_again_it_still_finishes(corpus: Path, tmp_path: Path) -> None:
    """SIGKILL at any moment; the tables are in the end those of a run that was never killed."""
    out = tmp_path / "killed"
    code = "import sys; from pboh.counts import count; count([sys.argv[1]], sys.argv[2])"
    killed = 0
    for attempt in range(100):
        run = subprocess.Popen([sys.executable, "-c", code, str(corpus), str(out)])
        deadline = time.monotonic() + 30
        while run.poll() is None and not (out / "steps/steps.json").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        seen = (
            len(json.loads((out / "steps/steps.json").read_text()))
            if (out / "steps/steps.json").exists()
            else 0
        )
        while (
            run.poll() is None
            and len(json.loads((out / "steps/steps.json").read_text())) < seen + 1 + attempt % 3
        ):
            time.sleep(0.002)
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
            killed += 1
        if run.wait() == 0:
            break
    assert killed >= 2 and (out / "counts.json").exists()
    count([corpus], tmp_path / "fresh")
    for table in TABLES:
        assert rows(out / table) == rows(tmp_path / "fresh" / table)


@pytest.mark.slow
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """A file size limit stands for the disk: writing fails in the middle, and nothing half-written stays."""
    corpus = write_corpus(tmp_path / "corpus", random_pages(4, 600))

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    command = [sys.executable, "-m", "pboh", "count", str(corpus), "--out", str(tmp_path / "counts")]
    command = [sys.executable, "-c", "from pboh.cli import main; main()", *command[3:]]
    run = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    assert "no space is left on the disk" in run.stderr and "Traceback" not in run.stderr
    assert not (tmp_path / "counts/counts.json").exists()
    assert not list((tmp_path / "counts").rglob("*.tmp"))
    count([corpus], tmp_path / "counts")
    count([corpus], tmp_path / "fresh")
    assert Counted(tmp_path / "counts").everything() == Counted(tmp_path / "fresh").everything()


def test_output_folders_that_cannot_be_used(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="in the way"):
        count([corpus], tmp_path / "file" / "counts")
    (tmp_path / "home/words").mkdir(parents=True)
    with pytest.raises(OutputError, match="something else"):
        count([corpus], tmp_path / "home")
    engine = DuckDB(tmp_path / "counts")
    with pytest.raises(OutputError, match="another process"):
        count([corpus], tmp_path / "counts")
    engine.close()


def test_unreadable_corpus_folders(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="was not written by"):
        count([tmp_path / "missing"], tmp_path / "counts")
    with pytest.raises(InputError, match="nothing to count"):
        count([], tmp_path / "counts")
    assert not (tmp_path / "counts").exists()
    with pytest.raises(OutputError, match="something else"):
        count([corpus], corpus)
    count([corpus], tmp_path / "before")
    with pytest.raises(InputError, match="also an input"):
        count([tmp_path / "before"], tmp_path / "before")
    links = sorted((corpus / "links").iterdir())[0]
    whole = links.read_bytes()
    links.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"links/00000.parquet: .*damaged"):
        count([corpus], tmp_path / "counts")
    pq.write_table(pq.read_table(sorted((corpus / "links").iterdir())[1]).drop(["anchor"]), links)
    with pytest.raises(CorpusError, match="columns are missing: anchor"):
        count([corpus], tmp_path / "counts")
    (corpus / "corpus.json").write_text('{"format": "pboh-corpus", "version": 99}')
    with pytest.raises(CorpusError, match="version 99"):
        count([corpus], tmp_path / "counts")
    for damage in ("{broken", "[" * 200_000):
        (corpus / "corpus.json").write_text(damage)
        with pytest.raises(CorpusError, match="damaged"):
            count([corpus], tmp_path / "counts")


@pytest.mark.parametrize("name", ["steps/steps.json", "counts.json"])
def test_damaged_records_are_one_sentence(name: str, corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "counts")
    for damage in ("{broken", "[" * 200_000):
        (tmp_path / "counts" / name).write_text(damage)
        with pytest.raises(CorpusError, match=f"{name}: this file is damaged"):
            count([corpus], tmp_path / "counts")


def test_damage_inside_a_table_is_one_sentence(corpus: Path, tmp_path: Path) -> None:
    """The footer is whole but a page of data is not: found while counting, not before."""
    words = corpus / "words" / "00000.parquet"
    data = bytearray(words.read_bytes())
    data[4:60] = bytes(56)
    words.write_bytes(data)
    with pytest.raises(CountsError, match=r"while making word_ids from .*/corpus/words"):
        count([corpus], tmp_path / "counts")


def test_strange_folder_names(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "it's [a] corp*us?", random_pages(4, 20))
    count([corpus], tmp_path / "co'un[t]s")
    count([corpus], tmp_path / "plain")
    assert Counted(tmp_path / "co'un[t]s").everything() == Counted(tmp_path / "plain").everything()


@pytest.mark.parametrize("options", [{"top": 0}, {"min_word_count": 0}])
def test_senseless_options(options: dict[str, float]) -> None:
    with pytest.raises(InputError):
        CountOptions(**options)


def test_too_little_memory(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too little"):
        count([corpus], tmp_path / "counts", memory=100 << 20)
