"""Commands run in this process, as a user types them."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from pboh.cli import main


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command; returns its exit code, standard output and standard error."""

    def command(*arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["pboh", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsysbinary.readouterr()
        return int(stopped.value.code or 0), out.decode(), err.decode()

    return command
