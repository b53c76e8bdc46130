"""The command line: one thin command per verb, each in a module of its own that is imported when used."""

from __future__ import annotations

import gc
import inspect
import os
import sys
from importlib import import_module
from typing import Any, NoReturn

import typer
import typer.main
from rich.console import Console
from rich.markup import escape

from pboh.errors import MissingExtraError, PbohError

COMMANDS = {
    # panel of pboh --help: its commands; each is in the module of its name unless MODULES says otherwise
    "Use a model": ("link", "annotate", "canonical", "serve", "info", "warmup"),
    "Make a model": ("download", "train", "extract", "count", "build", "prune"),
    "Measure and tune": ("evaluate", "tune", "calibrate"),
    "Extend": ("entities",),
}
HIDDEN = ("learn",)  # runs and is documented, but hardly anybody needs it: pboh --help does not show it
MODULES = {"extract": "count", "build": "model", "prune": "model", "info": "model", "calibrate": "tune"}
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


def program(name: str | None = None) -> Any:
    """The click group of one command, or of all of them."""
    panels = {command: panel for panel, commands in COMMANDS.items() for command in commands}
    panels |= dict.fromkeys(HIDDEN, "")
    wanted = [name] if name in panels else list(panels)
    for command in wanted:
        import_module(f"pboh.cli.{MODULES.get(command, command)}")  # which registers it
    group: Any = typer.main.get_command(app)
    group.commands = {command: group.commands[command] for command in wanted}
    for command, found in group.commands.items():
        found.rich_help_panel, found.hidden = panels[command], command in HIDDEN
    return group


def _for_rich(command: Any) -> None:
    """Have help shown as people read it: brackets are text, paragraphs fill the line, flags take no value."""
    for parameter in command.params:
        parameter.help = escape(getattr(parameter, "help", None) or "")
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""  # it takes no value
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    filled = [p.removeprefix("\b\n") if p.startswith("\b") else " ".join(p.split("\n")) for p in paragraphs]
    command.help = escape("\n\n".join(filled))
    for inner in getattr(command, "commands", {}).values():
        _for_rich(inner)


def main() -> None:
    """Run ``pboh``; expected failures become one sentence on standard error and exit code 1."""
    # compilers make many small objects: looking for cycles in them takes a fifth of the time
    gc.set_threshold(50_000)
    # Arrow's own allocator keeps what is freed, and reads this when it is imported
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    named = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    try:
        group = program(named)
        _for_rich(group)
        group()  # usage errors and Ctrl-C are typer's to report
    except PbohError as error:
        _fail(str(error))
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        _fail(str(MissingExtraError.of(missing.name, EXTRAS[missing.name])))
    except BrokenPipeError:  # the reader of our output went away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is left to flush
        sys.exit(141)
    except OSError as error:  # a file or folder that cannot be used
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))


def _fail(error: str) -> NoReturn:
    Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {escape(error)}", soft_wrap=True)
    sys.exit(1)
