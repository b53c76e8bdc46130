"""``pboh serve``: what it hands to the server."""

from __future__ import annotations

import sys

import pytest

from pboh.service import server


@pytest.mark.parametrize(
    ("terminal", "options", "wanted"),
    [(True, (), "text"), (False, (), "json"), (True, ("--log-format", "json"), "json")],
)
def test_a_terminal_gets_text_and_a_file_json(run, world_model, monkeypatch, terminal, options, wanted):
    started = []
    monkeypatch.setattr(server, "run", started.append)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    code, _, _ = run("serve", "--model", world_model, "--max-body", "1MB", *options)
    assert code == 0
    assert started[0].log_format == wanted
    assert (started[0].limits.body, started[0].limits.documents) == (1 << 20, 100)
