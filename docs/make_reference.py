"""Writes docs/reference/cli.md and settings.md from the program itself; ``make docs`` runs it."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from pboh.cli import program
from pboh.inference import settings

REFERENCE = Path(__file__).parent / "reference"


def commands(group: Any = None, path: str = "") -> dict[str, Any]:
    """Every command by name; those of a group have two words."""
    found: dict[str, Any] = {}
    for name, command in (group or program()).commands.items():
        inner = getattr(command, "commands", None)
        found |= commands(command, f"{path}{name} ") if inner else {f"{path}{name}": command}
    return dict(sorted(found.items()))


def describe(name: str, command: Any) -> str:
    """One command: what it does, its arguments and options."""
    lines = [f"## pboh {name}", "", *_paragraphs(command.help or ""), ""]
    rows = []
    for parameter in command.params:
        if parameter.name == "help":
            continue
        option = parameter.param_type_name == "option"
        flags = ", ".join(f"`{flag}`" for flag in [*parameter.opts, *parameter.secondary_opts])
        label = flags if option else f"`{parameter.metavar or parameter.name.upper()}`"
        default = parameter.default
        shown = "" if default is None or default is ... or callable(default) else f"`{default}`"
        if parameter.required:
            shown = "required"
        if isinstance(getattr(parameter, "show_default", None), str):
            shown = parameter.show_default
        rows.append(_row(label, parameter.help or "", shown))
    if rows:
        lines += ["| argument or option | meaning | default |", "| --- | --- | --- |", *rows, ""]
    return "\n".join(lines)


def _row(*cells: object) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |".replace("\n", " ")


def _paragraphs(help: str) -> list[str]:
    """Help as Markdown: what is typed in a terminal becomes a block."""
    lines = []
    for paragraph in inspect.cleandoc(help).split("\n\n"):
        if paragraph.startswith("\b\n"):
            head, *typed = paragraph.removeprefix("\b\n").splitlines()
            lines += [head, "", "<!-- not run: examples -->", "```sh", *map(str.strip, typed), "```", ""]
        else:
            lines += [paragraph, ""]
    return lines[:-1]


def cli_page() -> str:
    """The reference of the command line."""
    head = "# Command line\n\nWritten by `make docs` from the program; do not edit.\n\n"
    return head + "\n".join(describe(name, command) for name, command in commands().items())


def settings_page() -> str:
    """The reference of the settings: names, the paper's values, ours, and the comments of the source."""
    tree = ast.parse(inspect.getsource(settings.Settings))
    source = inspect.getsource(settings.Settings).splitlines()
    rows = []
    for node in tree.body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            comment = re.search(r"#\s*(.*)$", source[node.lineno - 1])
            name = node.target.id
            values = [getattr(s, name) for s in (settings.PAPER, settings.DEFAULT)]
            if name == "layers":
                continue
            rows.append(_row(f"`{name}`", comment[1] if comment else "", *values))
    paper, ours = settings.PAPER.layers, settings.DEFAULT.layers
    rows += [f"| `layers.{k}` | weight of this layer of names | {paper[k]} | {ours[k]} |" for k in paper]
    head = "# Settings\n\nWritten by `make docs` from the program; do not edit. Pass them to\n"
    head += (
        "`pboh.load(path, tau=0.7)`, or on the command line as `--set tau=0.7` and `--set layers.last=0`.\n"
    )
    head += "`--paper` takes the first column.\n\n"
    return head + "\n".join(
        ["| setting | meaning | paper | default |", "| --- | --- | --- | --- |", *rows, ""]
    )


PAGES = {"cli.md": cli_page, "settings.md": settings_page}


def main() -> None:
    """Write the pages."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())


if __name__ == "__main__":
    main()
