"""Building out of core: the memory it may use changes nothing, and tables out of order are refused."""

from __future__ import annotations

import bz2
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pboh.counts.count import count
from pboh.counts.plan import CountOptions
from pboh.errors import CountsError
from pboh.model.build import BuildOptions, build_model

PLAIN = BuildOptions(fuzzy=False, derived_names=False, vectors=0)
TINY = 1 << 12  # bytes: everything is sorted outside memory


def checksums(model: Path) -> dict[str, str]:
    arrays = json.loads((model / "model.json").read_text())["arrays"]
    return {name: entry["sha256"] for name, entry in arrays.items()}


@pytest.mark.parametrize(
    "options", [BuildOptions(), BuildOptions(fuzzy=False, derived_names=False, vectors=0)]
)
def test_the_model_does_not_depend_on_memory(
    world_counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: BuildOptions
) -> None:
    whole = build_model(world_counts, tmp_path / "whole", options)
    monkeypatch.setattr("pboh.model.build.AT_A_TIME", 64)
    small = build_model(world_counts, tmp_path / "small", options, memory=TINY)
    assert checksums(tmp_path / "small") == checksums(tmp_path / "whole")
    assert small["totals"] == whole["totals"]
    assert not list(tmp_path.glob(".*"))


def test_a_model_says_what_it_is_made_of_without_the_folders_it_was_made_in(
    world_corpus: Path, tmp_path: Path
) -> None:
    links = tmp_path / "links.bz2"
    links.write_bytes(bz2.compress(b"Rome\t1.0 Rome W:9/9\n"))
    count([world_corpus], tmp_path / "counts", CountOptions(crosswikis=str(links)))
    build_model(tmp_path / "counts", tmp_path / "model", PLAIN)
    text = (tmp_path / "model" / "model.json").read_text()
    info = json.loads(text)
    assert info["corpus"][0]["sources"] == ["world.xml"]
    assert info["options"]["count"]["crosswikis"] == "links.bz2"
    assert str(tmp_path) not in text and str(world_corpus) not in text


def rewritten(table: Path, order: list[int]) -> None:
    [file] = table.rglob("*.parquet")
    rows = pq.read_table(file)
    pq.write_table(rows.take([*order, *range(len(order), rows.num_rows)]), file)


@pytest.mark.parametrize("table", ["entities", "word_entity"])
def test_a_table_that_is_not_in_order_is_refused(world_counts: Path, tmp_path: Path, table: str) -> None:
    shutil.copytree(world_counts, tmp_path / "counts")
    rewritten(tmp_path / "counts" / table, [1, 0])
    with pytest.raises(CountsError, match=f"the table {table} is not in order"):
        build_model(tmp_path / "counts", tmp_path / "model")
    assert not (tmp_path / "model").exists() and not list(tmp_path.glob(".*"))


def test_what_a_killed_run_left_is_removed(world_counts: Path, tmp_path: Path) -> None:
    left = tmp_path / ".model.tmp" / "scratch" / "names"
    left.mkdir(parents=True)
    (left / "000").write_bytes(bytes(1000))
    build_model(world_counts, tmp_path / "model", BuildOptions(vectors=0))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
