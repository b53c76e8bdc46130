"""The command line: one thin command per stage, each in a module of its own that is imported when used."""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from rich.console import Console

from pboh.errors import PbohError

COMMANDS: dict[str, str] = {
    # command: module of pboh.cli that registers it on `app` when imported
    "download": "download",
}

app = typer.Typer(
    name="pboh",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Entity linking by counting hyperlinks: every name of a document resolved together, with a reason.",
)


def main() -> None:
    """Run ``pboh``; expected failures become one sentence on standard error and exit code 1."""
    named = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    modules = {COMMANDS[named]} if named in COMMANDS else set(COMMANDS.values())
    for module in sorted(modules):
        import_module(f"pboh.cli.{module}")
    try:
        app()
    except PbohError as error:
        Console(stderr=True, highlight=False).print(f"[bold red]error:[/] {error}", soft_wrap=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        Console(stderr=True).print("interrupted; what was finished is kept")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
