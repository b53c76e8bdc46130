"""``pboh build``, ``prune``, ``info`` and ``warmup``, as a user types them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pboh
from pboh.counts import CountOptions
from pboh.counts.count import count
from pboh.model.store import open_model


def test_build_writes_a_model_and_its_figures(run, world_counts, tmp_path):
    written = tmp_path / "figures.json"
    code, _, err = run("build", world_counts, "--out", tmp_path / "model", "--json", written)
    assert code == 0
    assert "entities" in err
    figures = json.loads(written.read_text())
    assert figures["entities"] > 100
    assert figures["megabytes"] > 0


def test_info_tells_and_verifies(run, world_model, tmp_path):
    code, out, _ = run("info", "--model", world_model, "--verify")
    assert code == 0
    assert "every checksum agrees" in out
    assert "no name finder" in out
    broken = shutil.copytree(world_model, tmp_path / "broken")
    (broken / "title_blob.npy").unlink()
    code, _, err = run("info", "--model", broken)
    assert code == 1
    assert err.startswith("error:")
    assert "missing" in err


@pytest.mark.slow
def test_kernels_find_a_cache_when_the_package_cannot_be_written_to(tmp_path):
    """An installed package owned by somebody else, and no home to write to."""
    package = shutil.copytree(Path(pboh.__file__).parent, tmp_path / "site" / "pboh")
    for path in package.rglob("__pycache__"):
        shutil.rmtree(path)
    script = (
        "import os, sys; os.access = lambda path, mode: 'site' not in str(path)\n"
        "import numpy, pboh; from pboh.inference.propagation_kernels import sound\n"
        "sound(numpy.zeros((1, 1)), numpy.zeros((1, 1), int), numpy.ones(1, int), 1)\n"
        "print(os.environ['NUMBA_CACHE_DIR'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(tmp_path / "cache" / "pboh" / "kernels")
    assert list((tmp_path / "cache").rglob("*.nbi"))
    assert not list(package.rglob("*.nbi"))


def test_build_trains_the_name_finder_on_the_corpus_that_was_counted(run, world_corpus, tmp_path):
    counts, model = tmp_path / "counts", tmp_path / "model"
    count([world_corpus], counts, CountOptions(min_word_count=2, names_in_text=True))
    figures = tmp_path / "figures.json"
    run("build", counts, "--out", model, "--finder", world_corpus, "--json", figures)
    assert json.loads(figures.read_text())["finder_megabytes"] > 0
    assert "finder_weights" in open_model(model)
