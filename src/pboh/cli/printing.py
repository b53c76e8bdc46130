"""What commands print: tables on standard output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from pboh.files.writing import write_json

if TYPE_CHECKING:
    from pboh.evaluation.tables import Table


def output() -> Console:
    """Standard output; wide when it is not a terminal, so that no cell is cut."""
    out = Console(highlight=False)
    return out if out.is_terminal else Console(highlight=False, width=220)


def show(tables: Iterable[Table], policy: Iterable[str] = ()) -> None:
    """Print tables, and below them by which rules they were made."""
    out = output()
    for table in tables:
        out.print(_drawn(table))
        out.print()
    if policy:
        out.print("[bold]Policy[/]", *(f"- {line}" for line in policy), sep="\n")


def show_rows(header: Sequence[str], rows: Sequence[Mapping[str, Any]], json: Path | None) -> None:
    """Print rows with tabs between their values, and write them as JSON if a file was named."""
    if json is not None:
        write_json(json, rows)
    print(*(name.replace("_", " ") for name in header), sep="\t")
    for row in rows:
        print(*("" if value is None else value for value in row.values()), sep="\t")


def _drawn(table: Table) -> RichTable:
    drawn = RichTable(title=table.title, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    drawn.caption, drawn.caption_justify = table.note or None, "left"
    for at, name in enumerate(table.header):
        drawn.add_column(escape(name), justify="left" if at in table.words else "right")
    for number, cells in enumerate(table.rows):
        stressed = [
            f"[bold]{escape(cell)}[/]" if (number, column) in table.strong else escape(cell)
            for column, cell in enumerate(cells)
        ]
        drawn.add_row(*stressed, style="cyan" if number in table.ours else None)
    return drawn
