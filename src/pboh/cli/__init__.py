"""The command line: one thin command per stage, each in a module of its own that is imported when used."""

from __future__ import annotations

import sys
from importlib import import_module

import typer
from rich.console import Console
from rich.markup import escape

from pboh.errors import PbohError

COMMANDS: dict[str, str] = {
    # command: module of pboh.cli that registers it on `app` when imported
    "ablate": "ablate",
    "add-entities": "add_entities",
    "add-ids": "add_ids",
    "annotate": "annotate",
    "build": "model",
    "calibrate": "calibrate",
    "count": "count",
    "disambiguate": "disambiguate",
    "download": "download",
    "evaluate": "evaluate",
    "extract": "extract",
    "fit": "learn",
    "info": "model",
    "learn": "learn",
    "link": "link",
    "mcp": "mcp",
    "overlays": "add_entities",
    "prune": "prune",
    "remove-entities": "add_entities",
    "serve": "serve",
    "tune": "tune",
    "train": "train",
    "warmup": "model",
}

app = typer.Typer(
    name="pboh",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.callback()
def _root() -> None:
    """Entity linking by counting hyperlinks: every name of a document resolved together, with a reason."""
    # a callback keeps the command's name on the command line even when only one module is imported


def main() -> None:
    """Run ``pboh``; expected failures become one sentence on standard error and exit code 1."""
    named = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), None)
    modules = {COMMANDS[named]} if named in COMMANDS else set(COMMANDS.values())
    for module in sorted(modules):
        import_module(f"pboh.cli.{module}")
    try:
        app()  # usage errors and Ctrl-C are typer's to report
    except PbohError as error:
        Console(stderr=True, highlight=False).print(
            f"[bold red]error:[/] {escape(str(error))}", soft_wrap=True
        )
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output went away
        sys.stderr.close()
        sys.exit(141)
