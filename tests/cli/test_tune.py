"""``pboh tune`` as typed; data that chose a setting may not judge it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import pboh.cli
import pboh.model.store
from pboh.linker import load
from typed import run

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def model(world_model: Path, tmp_path: Path) -> Path:
    """A model of one's own, to write to."""
    folder = tmp_path / "model"
    shutil.copytree(world_model, folder)
    return folder


GRID = (
    *("--set", "tau=0", "--set", "zeta=0", "--vary", "zeta=0,0.2", "--vary", "fuzzy=false,true"),
    *("--rounds", 1, "--workers", 1),
)


def test_tune_writes_the_winner_only_when_asked(model: Path, tmp_path: Path, capsys) -> None:
    before = (model / "model.json").read_bytes()
    trials, page = tmp_path / "trials.json", tmp_path / "tuning.html"
    validation = ("--validation", f"{WORLD}#0:8")
    arguments = (
        "tune",
        "--model",
        model,
        *validation,
        *GRID,
        "--confidence",
        0.5,
        "--json",
        trials,
        "--report",
        page,
    )
    assert run(*arguments, "--test", f"{WORLD}#8:12") == 0
    assert (model / "model.json").read_bytes() == before
    out = capsys.readouterr().out
    assert re.search(r"zeta +0 +0\.\d+", out)
    assert "Data that was not tuned on" in out and "world#8:12" in out
    found = json.loads(trials.read_text())
    assert found["changed"]["zeta"] > 0 and found["validation"] == ["world#0:8"]
    assert found["best"]["micro_f1"] > found["before"]["micro_f1"]
    assert {trial["parameter"] for trial in found["trials"]} == {"zeta", "fuzzy"}
    assert {"value", "micro_f1", "macro_f1", "gain", "low", "high", "better"} <= set(found["trials"][0])

    assert run(*arguments, "--write") == 0
    info = json.loads((model / "model.json").read_text())
    assert info["settings"]["zeta"] == found["changed"]["zeta"]
    assert info["tuned_on"]["datasets"] == ["world#0:8"] and len(info["tuned_on"]["documents"]) == 8
    pboh.model.store._opened.cache_clear()  # as a new process would
    assert load(model).settings.zeta == found["changed"]["zeta"]


def test_the_report_stands_alone(model: Path, tmp_path: Path) -> None:
    page = tmp_path / "tuning.html"
    assert run("tune", "--model", model, "-v", WORLD, *GRID, "--confidence", 0.5, "--report", page) == 0
    html = page.read_text()
    assert html.count('<svg class="plot"') == 2 and "micro F1" in html
    assert not re.search(r'(?:src|href)="(?!#)', html)  # nothing is fetched
    assert html.count('class="mark"') == 2  # the chosen value of each


def test_evaluate_refuses_what_the_model_was_tuned_on(model: Path, tmp_path: Path, capsys) -> None:
    assert run("tune", "--model", model, "-v", f"{WORLD}#0:4", *GRID, "--write") == 0
    pboh.model.store._opened.cache_clear()  # as a new process would
    rows = tmp_path / "rows.json"
    assert run("evaluate", "-m", model, WORLD, "--json", rows) == 1
    message = " ".join(capsys.readouterr().err.split())
    assert "4 of 12 documents chose the settings of this model" in message and "--allow-tuned" in message
    assert not rows.exists()
    assert run("evaluate", "-m", model, f"later:{WORLD}") == 1, "the same pages in other clothes"
    assert run("evaluate", "-m", model, f"{WORLD}#4:12") == 0
    assert run("evaluate", "-m", model, WORLD, "--allow-tuned") == 0
    assert run("evaluate", "-m", model, WORLD, "--paper") == 0, "the paper's settings were not chosen on it"


def test_a_model_compared_with_is_refused_too(world_model: Path, model: Path, capsys) -> None:
    assert run("tune", "--model", model, "-v", f"{WORLD}#0:4", *GRID, "--write") == 0
    pboh.model.store._opened.cache_clear()  # as a new process would
    assert run("evaluate", "-m", world_model, WORLD, "--compare", model) == 1
    assert "chose the settings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-v", "nowhere.jsonl"], "there is no such dataset"),
        (["-v", WORLD, "--vary", "tua"], "'tua' has no grid"),
        (["-v", WORLD, "--vary", "tau=much"], "tau cannot be 'much'. Write a number."),
        (
            ["-v", f"{WORLD}#0:5", "--test", f"{WORLD}#3:9"],
            "2 of 6 documents are also in the validation data",
        ),
    ],
)
def test_mistakes_are_one_sentence(world_model: Path, arguments: list, message: str, capsys) -> None:
    assert run("tune", "--model", world_model, *arguments) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_interruption_shows_the_best_and_stores_nothing(model: Path, monkeypatch, capsys) -> None:
    from pboh.learning import grid

    before = (model / "model.json").read_bytes()
    improve, calls = grid._improve, []

    def impatient(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return improve(*arguments)

    monkeypatch.setattr(grid, "_improve", impatient)
    assert run("tune", "--model", model, "-v", WORLD, *GRID, "--write") == 130
    printed = capsys.readouterr()
    assert "zeta" in printed.out and "interrupted" in printed.err
    assert (model / "model.json").read_bytes() == before


def test_fit(model: Path, tmp_path: Path, capsys) -> None:
    figures = tmp_path / "figures.json"
    arguments = (
        "tune",
        "--model",
        model,
        "-v",
        f"{WORLD}#0:8",
        "--test",
        f"{WORLD}#8:12",
        "--fit",
        "--json",
        figures,
    )
    terms = ("--vary", "prior", "--vary", "context", "--vary", "pairs")
    assert run(*arguments, *terms, "--write") == 0
    found = json.loads(figures.read_text())
    assert found["documents"] == 8 and {"weight_prior", "weight_context", "weight_pairs"} <= set(found)
    assert {"world#8:12_fitted_loss", "world#8:12_current_accuracy"} <= set(found)
    assert "weight prior" in capsys.readouterr().err
    info = json.loads((model / "model.json").read_text())
    assert info["settings"]["zeta"] == found["setting_zeta"]
    assert info["tuned_on"]["datasets"] == ["world#0:8"]
    assert run(*arguments, "--vary", "magic") == 1
    assert "unknown terms ['magic']" in capsys.readouterr().err


@pytest.mark.parametrize("command", [
    ("tune", "-v", WORLD, "--write"), ("calibrate", "-v", WORLD), ("learn", "-m", "starter", "-c", WORLD),
])  # fmt: skip
def test_the_packaged_model_is_refused_before_the_work(
    command: tuple[object, ...], capsys, monkeypatch
) -> None:
    monkeypatch.setattr(pboh.linker, "load", lambda *a, **k: pytest.fail("it began to work"))
    assert run(*command) == 1
    message = " ".join(capsys.readouterr().err.split())
    assert "the starter model belongs to the installation" in message and "--out FOLDER" in message


@pytest.mark.parametrize("command", [("tune", *GRID), ("calibrate",)])
def test_results_can_go_into_a_model_of_their_own(command: tuple, world_model: Path, tmp_path: Path) -> None:
    before, out = (world_model / "model.json").read_bytes(), tmp_path / "new"
    assert run(command[0], "-m", world_model, "-v", f"{WORLD}#0:8", *command[1:], "--out", out) == 0
    assert (world_model / "model.json").read_bytes() == before
    assert load(out).model.info["tuned_on"]["datasets"] == ["world#0:8"]
    assert load(out).resolve("Munich") == "Munich"


def test_every_option_is_documented() -> None:
    import inspect

    from pboh.cli.tune import tune_command

    text = (DOCS / "how-to" / "tune.md").read_text(encoding="utf-8")
    names = set(inspect.signature(tune_command).parameters) - {"model", "change"}
    assert [name for name in {*names, "set"} if f"--{name}" not in text] == []
