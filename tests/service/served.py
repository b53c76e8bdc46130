"""What the tests of the service share: a text, its names, and waiting."""

from __future__ import annotations

import socket
import time

import pytest

PBOH = "from pboh.cli import main; main()"
TEXT = "Jordan and Pippen won with the Bulls in Chicago. Müller scored for Bayern against Dortmund."
NAMES = ("Jordan", "Pippen", "Bulls", "Chicago", "Müller", "Bayern", "Dortmund")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(true, seconds: float = 60.0) -> None:
    """Wait for something that will come; fail with a sentence when it does not."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            pytest.fail(f"nothing happened within {seconds} seconds")
        time.sleep(0.05)


def spans_of(text: str = TEXT, names: tuple[str, ...] = NAMES) -> list[tuple[int, int]]:
    return [(text.index(name), text.index(name) + len(name)) for name in names]


def mentions_of(text: str = TEXT, names: tuple[str, ...] = NAMES) -> list[dict[str, int]]:
    return [{"start": start, "end": end} for start, end in spans_of(text, names)]
