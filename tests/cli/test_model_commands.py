"""``pboh build``, ``info``, ``warmup`` and ``disambiguate``, as a user types them."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pboh
from pboh.cli import main

TEXT = "Müller scored for Bayern."
LINE = {"id": 7, "text": TEXT, "mentions": [{"start": 0, "end": 6}, {"start": 18, "end": 24}]}


@pytest.fixture
def run(monkeypatch, capsysbinary):
    """Run a command in this process; returns its exit code, standard output and standard error."""

    def command(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["pboh", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsysbinary.readouterr()
        return stopped.value.code or 0, out, err.decode()

    return command


def test_build_writes_a_model_and_its_figures(run, world_counts, tmp_path):
    written = tmp_path / "figures.json"
    code, _, err = run("build", world_counts, "--out", tmp_path / "model", "--json", written)
    assert code == 0
    assert "entities" in err
    figures = json.loads(written.read_text())
    assert figures["entities"] > 100
    assert figures["megabytes"] > 0


def test_info_tells_and_verifies(run, world_model, tmp_path):
    code, _, err = run("info", world_model, "--verify")
    assert code == 0
    assert "every checksum agrees" in err
    broken = shutil.copytree(world_model, tmp_path / "broken")
    (broken / "title_blob.npy").unlink()
    code, _, err = run("info", broken)
    assert code == 1
    assert err.startswith("error:")
    assert "missing" in err


def test_disambiguate_keeps_order_and_reports_bad_lines(run, world_model, tmp_path):
    bad = [b"{", b'{"text": "x"}', json.dumps({**LINE, "mentions": [{"start": 5, "end": 99}]}).encode()]
    source = tmp_path / "in.jsonl"
    good = json.dumps(LINE).encode()
    source.write_bytes(b"\n".join([good, *bad, b"", json.dumps({**LINE, "id": "last"}).encode()]) + b"\n")
    code, out, err = run("disambiguate", source, "--model", world_model)
    assert code == 1
    answers = [json.loads(line) for line in out.splitlines()]
    assert [a["id"] for a in answers] == [7, "last"]
    first = answers[0]["mentions"][1]
    assert first["entity"] == "FC Bayern Munich"
    assert {"score", "probability", "candidates"} <= set(first)
    assert [line.split(":")[1].strip() for line in err.splitlines()] == ["line 2", "line 3", "line 4"]


@pytest.mark.slow
def test_several_workers_answer_the_same(run, world_model, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps({**LINE, "id": i}) + "\n" for i in range(40)))
    _, alone, _ = run("disambiguate", source, "--model", world_model)
    _, together, _ = run("disambiguate", source, "--model", world_model, "--workers", 2)
    assert together == alone


def test_disambiguate_reads_standard_input_clamps_and_explains(run, world_model):
    mentions = [{"start": 0, "end": 6, "entity": "Herta Müller"}, {"start": 18, "end": 24}]
    line = json.dumps({**LINE, "mentions": mentions}).encode()
    code, out, _ = run("disambiguate", "-", "--model", world_model, "--explain", "--set", "tau=1", stdin=line)
    assert code == 0
    answer = json.loads(out)
    assert answer["mentions"][0]["entity"] == "Herta Müller"
    assert answer["mentions"][1]["explanation"]["neighbours"][0]["label"] == "Herta Müller"


def test_disambiguate_writes_a_file_whole(run, world_model, tmp_path):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(json.dumps(LINE) + "\n")
    figures = tmp_path / "figures.json"
    code, _, err = run("disambiguate", source, "--model", world_model, "--out", out, "--json", figures)
    assert code == 0
    assert json.loads(out.read_text())["id"] == 7
    assert json.loads(figures.read_text()) == {
        "documents": 1, "mentions": 2, "linked": 2, "failed_lines": 0,
    }  # fmt: skip
    assert "linked" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.jsonl",), "cannot be read"),
        (("-", "--set", "tau"), "is not a setting"),
        (("-", "--set", "gamma=1"), "is not a setting"),
    ],
)
def test_mistakes_are_one_sentence(run, world_model, arguments, message):
    code, _, err = run("disambiguate", *arguments, "--model", world_model)
    assert code == 1
    assert message in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_kernels_find_a_cache_when_the_package_cannot_be_written_to(tmp_path):
    """An installed package owned by somebody else, and no home to write to."""
    package = shutil.copytree(Path(pboh.__file__).parent, tmp_path / "site" / "pboh")
    for path in package.rglob("__pycache__"):
        shutil.rmtree(path)
    script = (
        "import os, sys; os.access = lambda path, mode: 'site' not in str(path)\n"
        "from pboh.warmup import warm_up; warm_up(); print(os.environ['NUMBA_CACHE_DIR'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(tmp_path / "cache" / "pboh" / "kernels")
    assert list((tmp_path / "cache").rglob("*.nbi"))
    assert not list(package.rglob("*.nbi"))
