"""The same SQL on Spark: every table equals DuckDB's, row by row."""

from __future__ import annotations

import bz2
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import random_pages, write_corpus
from twin import rows

from pboh.counts import CountOptions, count
from pboh.errors import CorpusError

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TABLES = ("entities", "names", "incidences", "word_entity", "word_totals", "words")
SUMS = ("sums/pages", "sums/anchors", "sums/disambiguations", "sums/crosswikis", "sums/word_entity")
CROSSWIKIS = "Mercury\t0.5 Page_1 W:7/14\nno tab here\nmercury\t0.1 Page_3 W:5/5 w:2/2 Wx:9/9\n"


def same_tables(one: Path, other: Path, options: CountOptions) -> None:
    for table in (*TABLES, *SUMS, *(["names_in_text"] if options.names_in_text else [])):
        found = rows(one / table)
        assert found == rows(other / table), table
    totals = [json.loads((folder / "counts.json").read_text())["totals"] for folder in (one, other)]
    assert totals[0] == totals[1]


def test_shares_resume_and_merging(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting in shares, nothing to do the second time, and counts added to a corpus."""
    from pboh.counts.spark import Spark

    engine = Spark(memory=1 << 30, session=spark)
    a = write_corpus(tmp_path / "a", random_pages(1, 30, "A", ["BPage 3", "BPage 4"]))
    b = write_corpus(tmp_path / "b", random_pages(2, 30, "B", ["APage 5"]))
    monkeypatch.setattr("pboh.counts.plan.BYTES_PER_WORD_ROW", 1 << 21)
    assert count([a], tmp_path / "spark-a", engine=engine)["fresh"]
    assert not count([a], tmp_path / "spark-a", engine=engine)["fresh"]
    assert len(list((tmp_path / "spark-a/sums/word_entity").iterdir())) > 1
    count([tmp_path / "spark-a", b], tmp_path / "spark-ab", engine=engine)
    count([a, b], tmp_path / "duckdb-ab")
    same_tables(tmp_path / "duckdb-ab", tmp_path / "spark-ab", CountOptions())
    with pytest.raises(CorpusError, match="was not written by"):
        count([tmp_path / "missing"], tmp_path / "out", engine=engine)


@pytest.mark.shared
def test_a_real_corpus_counts_the_same(spark: Any, shared: Path, tmp_path: Path) -> None:
    """300 real pages: every spelling of titles, names and words that people come up with."""
    from pboh.corpus.extract import extract
    from pboh.counts.spark import Spark

    with bz2.open(shared / "corpus/enwiki-tiny-pages-articles.xml.bz2", "rt", encoding="utf-8") as dump:
        pages = "".join(first_pages(dump, 300))
    (tmp_path / "dump.xml").write_text(f"{pages}</mediawiki>\n", encoding="utf-8")
    figures = extract([tmp_path / "dump.xml"], tmp_path / "corpus", workers=1)
    assert figures["links"] > 10_000
    count([tmp_path / "corpus"], tmp_path / "duckdb")
    count([tmp_path / "corpus"], tmp_path / "spark", engine=Spark(session=spark))
    same_tables(tmp_path / "duckdb", tmp_path / "spark", CountOptions())


def first_pages(dump: Iterable[str], most: int) -> Iterator[str]:
    """The lines of a dump up to the end of a page."""
    seen = 0
    for line in dump:
        yield line
        seen += "</page>" in line
        if seen == most:
            return


def test_several_executors_in_their_own_processes(small_cluster: dict[str, str], tmp_path: Path) -> None:
    """local-cluster mode: executors share nothing with the driver but the file system."""
    corpus = write_corpus(tmp_path / "corpus", random_pages(7, 80))
    (tmp_path / "crosswikis.bz2").write_bytes(bz2.compress(CROSSWIKIS.encode()))
    options = CountOptions(crosswikis=str(tmp_path / "crosswikis.bz2"), top=5, names_in_text=True)
    command = [sys.executable, "-c", "from pboh.cli import main; main()", "count", f"file://{corpus}"]
    command += ["--out", f"file://{tmp_path}/spark", "--engine", "spark", "--names-in-text", "--top", "5"]
    command += ["--master", "local-cluster[2,1,1024]", "--crosswikis", options.crosswikis]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env=small_cluster
    )
    assert run.returncode == 0, run.stderr[-3000:]
    count([corpus], tmp_path / "duckdb", options)
    same_tables(tmp_path / "duckdb", tmp_path / "spark", options)
    for folder in ("duckdb", "spark"):
        about = json.loads((tmp_path / folder / "counts.json").read_text())
        assert about["crosswikis"]["first"] == ["line 2: there is no tab"]
