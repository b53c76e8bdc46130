"""The command line: one thin command per verb, each in a module of its own that is imported when used."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import typer
import typer.main
from rich.console import Console
from rich.markup import escape

from pboh.errors import MissingExtraError, PbohError

COMMANDS: dict[str, dict[str, str]] = {
    # panel of pboh --help: {command: module of pboh.cli that registers it on `app` when imported}
    "Use a model": {
        "link": "link",
        "annotate": "annotate",
        "serve": "serve",
        "info": "model",
        "warmup": "warmup",
    },
    "Make a model": {
        "download": "download",
        "train": "train",
        "extract": "extract",
        "count": "count",
        "build": "model",
        "prune": "model",
    },
    "Measure and tune": {
        "evaluate": "evaluate",
        "tune": "tune",
        "calibrate": "calibrate",
        "learn": "learn",
    },
    "Extend": {"entities": "entities"},
}

EXTRAS = {"duckdb": "train", "lxml": "train", "pyarrow": "train", "urllib3": "train"}  # what brings a package

app = typer.Typer(
    name="pboh",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from pboh import __version__

        print(f"pboh {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Entity linking by counting hyperlinks: every name of a document resolved together, with a reason."""


def program(names: Iterable[str] = ()) -> Any:
    """The click group of some commands, or of all of them."""
    wanted = set(names)
    panels = {
        name: panel
        for panel, modules in COMMANDS.items()
        for name, module in modules.items()
        if not wanted or name in wanted
        if import_module(f"pboh.cli.{module}")
    }
    group: Any = typer.main.get_command(app)
    group.commands = {name: group.commands[name] for name in panels}
    for name, command in group.commands.items():
        command.rich_help_panel = panels[name]
    return group


def _for_rich(command: Any) -> None:
    """Have help shown as it is written: square brackets are text, and paragraphs fill the line."""
    for parameter in command.params:
        parameter.help = escape(getattr(parameter, "help", None) or "")
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    filled = [p.removeprefix("\b\n") if p.startswith("\b") else " ".join(p.split("\n")) for p in paragraphs]
    command.help = escape("\n\n".join(filled))
    for inner in getattr(command, "commands", {}).values():
        _for_rich(inner)


def main() -> None:
    """Run ``pboh``; expected failures become one sentence on standard error and exit code 1."""
    named = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    known = any(named in modules for modules in COMMANDS.values())
    group = program([named] if named and known else [])
    _for_rich(group)
    try:
        group()  # usage errors and Ctrl-C are typer's to report
    except PbohError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        _say(str(MissingExtraError.of(missing.name, EXTRAS[missing.name])))
        sys.exit(1)
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush
        sys.exit(141)
    except OSError as error:  # a file or folder that cannot be used
        _say(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        sys.exit(1)


def _say(error: str) -> None:
    Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {escape(error)}", soft_wrap=True)
