"""`pboh count` on the command line."""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from corpora import random_pages, write_corpus

from pboh.cli import main
from pboh.counts import CountOptions


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["pboh", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    return int(stopped.value.code or 0)


def test_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = write_corpus(tmp_path / "corpus", random_pages(1, 30))
    command = (
        "count",
        corpus,
        "--out",
        tmp_path / "counts",
        "--memory",
        "1GB",
        "--json",
        tmp_path / "f.json",
    )
    assert run(monkeypatch, *command) == 0
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["documents"] > 0 and figures["distinct_pairs"] <= figures["pairs"]
    assert "distinct pairs" in capsys.readouterr().err
    assert run(monkeypatch, *command) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_errors_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "count", tmp_path / "no", "--out", tmp_path / "counts") == 1
    assert "corpus.json or counts.json is missing" in capsys.readouterr().err
    assert run(monkeypatch, "count", tmp_path, "--out", "s3a://bucket/counts") == 1
    assert "--engine spark" in capsys.readouterr().err
    assert run(monkeypatch, "count", tmp_path, "--out", tmp_path / "c", "--master", "yarn") == 1


def test_defaults_are_those_of_the_library() -> None:
    """The options of the command and of the library cannot drift apart."""
    from pboh.cli.count import count_command

    parameters = inspect.signature(count_command).parameters
    for option in fields(CountOptions):
        if not option.name.endswith("_weight"):
            assert parameters[option.name].default == option.default, option.name
