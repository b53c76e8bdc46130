"""The command line has one grammar, and its help says what is written in the source."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from pboh import __version__
from pboh.cli import COMMANDS, HIDDEN, program

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
    for name in HIDDEN:
        assert f"│ {name} " not in shown
        assert run(name, "--help")[0] == 0


def test_version(run):
    assert run("--version")[:2] == (0, f"pboh {__version__}\n")


@pytest.mark.parametrize("command", [("--help",), ("link", "--help"), ("info",)])
def test_a_reader_that_goes_away_is_no_mistake(command):
    with subprocess.Popen([*PBOH, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
        assert running.wait() != 0


@pytest.mark.parametrize("place", ["file/x.json", "folder", "/proc/nope/x.json"])
def test_places_that_cannot_be_written_are_one_sentence_before_the_work(run, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pboh.linker.load", lambda *_, **__: pytest.fail("it began to work"))
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for path, option in options():
        if option.opts[0] in ("--json", "--report") or (path, option.opts[0]) == ("link", "--out"):
            code, _, err = run(*path.split(), *needed(path), option.opts[0], place)
            assert code == 1, path
            assert "Traceback" not in err
            assert err.startswith("error: "), path


@pytest.mark.parametrize("place", ["file/out", "/proc/nope/out"])
def test_folders_that_cannot_be_made_are_one_sentence(run, world_model, world_counts, tmp_path, place):
    (tmp_path / "file").touch()
    out = tmp_path / place
    entities = tmp_path / "entities.jsonl"
    entities.write_text('{"title": "Zorblax"}\n')
    documents = tmp_path / "documents.jsonl"
    documents.write_text('{"text": "Paris"}\n')
    for command in (
        ("build", world_counts),
        ("prune", "-m", world_model),
        ("entities", "add", entities, "-m", world_model),
        ("extract", tmp_path / "entities.jsonl"),
        ("download", "simplewiki", "--mirror", "http://127.0.0.1:9"),
    ):
        code, _, err = run(*command, "--out", out)
        assert (code, err.splitlines()[-1][:7]) == (1, "error: "), command
        assert "Traceback" not in err
    code, _, err = run("annotate", documents, "-m", world_model, "--out", f"{out}.jsonl")
    assert (code, err[:7]) == (1, "error: ")


def needed(path):
    """Arguments without which a command does not begin."""
    given = {"annotate": ["x.jsonl"], "evaluate": ["x.jsonl"], "tune": ["-v", "x"], "calibrate": ["-v", "x"]}
    given |= {"learn": ["-m", "m", "-c", "c"], "count": ["c", "-o", "o"], "build": ["c", "-o", "o"]}
    given |= {"prune": ["-m", "m", "-o", "o"], "train": ["d", "-o", "o"], "extract": ["d", "-o", "o"]}
    given |= {"canonical": ["x.csv"]}
    given |= {"download": ["enwiki", "--list"], "entities add": ["e"], "entities remove": ["e", "-m", "m"]}
    return given.get(path, [])
