"""How far a long command is, and what it did: progress bars and closing summaries on standard error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from pboh.files.writing import write_json

EVERY = 10.0  # seconds between lines of progress where there is no terminal
console = Console(stderr=True, highlight=False)


class Report(Protocol):
    """What a stage calls to say how far it is; ``detail`` is free text such as ``"1,203 pages/s"``."""

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        """Say that ``done`` of ``total`` is finished."""


def silent(done: float, total: float | None = None, detail: str = "") -> None:
    """Report to nobody: the default of every library function."""


def within(report: Report, begin: float, end: float, name: str = "") -> Report:
    """A report of a part of some work, which is from ``begin`` to ``end`` (shares of one) of the whole."""

    def part(done: float, total: float | None = None, detail: str = "") -> None:
        share = min(done / (total or 1), 1.0)
        report(begin + (end - begin) * share, 1.0, ": ".join(filter(None, (name, detail))))

    return part


@contextmanager
def progress(title: str, *, continues: bool = False) -> Iterator[Report]:
    """Show how far a block is: a bar on a terminal, a line now and then elsewhere; yields what to call.

    Work that ``continues`` where it was says so when somebody stops it.
    """
    try:
        with _bar(title) if console.is_terminal else nullcontext(_Lines(title)) as report:
            yield report
    except KeyboardInterrupt:
        if continues:
            console.print("stopped; the same command continues from here")
        raise


@contextmanager
def _bar(title: str) -> Iterator[Report]:
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[detail]}", style="cyan", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=None, detail="")

        def report(done: float, total: float | None = None, detail: str = "") -> None:
            bar.update(task, completed=done, total=total, detail=detail)

        yield report


class _Lines:
    """Reports for a log file: the first one, then one in ten seconds at most."""

    def __init__(self, title: str) -> None:
        self._title, self._next = title, 0.0

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        if monotonic() >= self._next:
            self._next = monotonic() + EVERY
            share = f" {done / total:.0%}" if total else ""
            console.print(f"{self._title}{share} {detail}".rstrip(), soft_wrap=True, markup=False)


def summarise(
    title: str, figures: Mapping[str, Any], json_file: Path | None = None, out: Console = console
) -> None:
    """Write the figures of a finished stage to ``json_file`` if given, and print them as a small table."""
    if json_file is not None:
        write_json(json_file, dict(figures))
    out.print(title, style="bold", soft_wrap=True, markup=False)
    table = Table(show_header=False, box=None)
    for name, value in figures.items():
        table.add_row(Text(name.replace("_", " ")), Text(_readable(value)))
    out.print(table)


def _readable(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
