"""How far a command is, where there is a terminal and where there is none."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pboh.files import progress as module
from pboh.files.progress import progress, summarise


@pytest.fixture
def log(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(module, "console", Console(file=written, width=80))
    return written


def test_without_a_terminal_a_line_comes_now_and_then(log, monkeypatch):
    now = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: now)
    with progress("pruning") as report:
        for step in range(31):
            report(step, 30, f"trying [level] {step}")
            now += 1
    assert log.getvalue().splitlines() == [
        "pruning 0% trying [level] 0",
        "pruning 33% trying [level] 10",
        "pruning 67% trying [level] 20",
        "pruning 100% trying [level] 30",
    ]


def test_an_unknown_total_and_a_stop(log):
    with pytest.raises(KeyboardInterrupt), progress("counting", continues=True) as report:
        report(3, None, "terms")
        raise KeyboardInterrupt
    assert log.getvalue().splitlines() == ["counting terms", "stopped; the same command continues from here"]


def test_figures_are_printed_as_they_are(log, tmp_path):
    summarise("a [bold] title", {"some_words": "[red]", "many": 12345, "share": 0.123456}, out=module.console)
    assert [line.split() for line in log.getvalue().splitlines()] == [
        ["a", "[bold]", "title"], ["some", "words", "[red]"], ["many", "12,345"], ["share", "0.1235"],
    ]  # fmt: skip
