"""The command line has one grammar, and its help says what is written in the source."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pboh import __version__
from pboh.cli import COMMANDS, program

PBOH = [sys.executable, "-c", "from pboh.cli import main; main()"]


def commands(group=None, path=()):
    """Every command with the words that call it."""
    for name, command in (group or program()).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def options():
    for path, command in commands():
        for parameter in command.params:
            if parameter.param_type_name == "option":
                yield " ".join(path), parameter


def test_there_are_at_most_sixteen_commands_in_four_groups():
    assert sum(map(len, COMMANDS.values())) <= 16
    assert list(COMMANDS) == ["Use a model", "Make a model", "Measure and tune", "Extend"]


def test_the_model_is_an_option_everywhere():
    for path, command in commands():
        for parameter in command.params:
            if parameter.name == "model":
                assert parameter.opts == ["--model", "-m"], path
            assert "MODEL" not in (parameter.metavar or "") or parameter.name in ("model", "compare"), path


def test_an_option_means_one_thing():
    """Options of one name take the same kind of value, and say the same, or begin with the same words."""
    seen = {}
    for path, option in options():
        for flag in option.opts:
            if flag in ("--out", "-o"):
                continue  # what a command makes
            kind = (option.is_flag, option.metavar, option.multiple)
            words = re.split(r"[.;]", option.help)[0]
            first = seen.setdefault(flag, (kind, words, path))
            assert first[:2] == (kind, words), f"{flag} of pboh {path} is not that of pboh {first[2]}"


def test_help_says_what_the_source_says(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("TERMINAL_WIDTH", "1000")
    for path, command in commands():
        code, shown, _ = run(*path, "--help")
        assert code == 0
        shown = " ".join(shown.split())
        said = [parameter.help for parameter in command.params if parameter.help]
        said += command.help.replace("\b", "").split("\n")
        for sentence in said:
            assert " ".join(sentence.split()) in shown, (
                f"pboh {' '.join(path)} --help does not show {sentence!r}"
            )


def test_the_groups_are_shown(run):
    _, shown, _ = run("--help")
    places = [shown.index(f"─ {panel} ─") for panel in COMMANDS]
    assert places == sorted(places)
    for name in (name for modules in COMMANDS.values() for name in modules):
        assert f"│ {name} " in shown


def test_version(run):
    assert run("--version")[:2] == (0, f"pboh {__version__}\n")


@pytest.mark.parametrize("command", [("--help",), ("link", "--help"), ("info",)])
def test_a_reader_that_goes_away_is_no_mistake(command):
    with subprocess.Popen([*PBOH, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() != 0
