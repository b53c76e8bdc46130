"""`pboh train`: one command, resumable, and nothing done twice."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pboh.cli import main
from pboh.errors import InputError
from pboh.model.build import BuildOptions
from pboh.train import COUNTING, train, work_folder

WORLD = Path(__file__).parent / "data" / "world.xml"


class Stages(list[str]):
    """A report that remembers the stages and checks that the bar only moves forward."""

    last = 0.0

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        assert total == 1 and self.last <= done + 1e-9 <= 1 + 1e-8
        self.last = done
        stage, _, step = detail.partition(": ")
        self.append(f"{stage} {step.split()[0]}" if stage == "count" and step else stage)


def did(model: Path, **options: object) -> set[str]:
    stages = Stages()
    train([WORLD], model, workers=1, report=stages, **options)  # type: ignore[arg-type]
    return {stage for stage in stages if stage not in ("done", "count done")}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = tmp_path_factory.mktemp("trained") / "model"
    assert train([WORLD], model, workers=1)["fresh"]
    return model


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "model")
    shutil.copytree(work_folder(trained), tmp_path / "model.work")
    return tmp_path / "model"


def test_running_again_does_nothing(model: Path) -> None:
    before = (model / "model.json").stat().st_mtime_ns
    assert not train([WORLD], model, workers=1)["fresh"]
    assert (model / "model.json").stat().st_mtime_ns == before


def test_a_changed_option_redoes_only_what_depends_on_it(model: Path) -> None:
    assert did(model, building=BuildOptions(fuzzy=False)) >= {"build"}
    changed = did(model, counting=replace(COUNTING, min_word_count=3))
    assert {stage for stage in changed if stage.startswith("count ")} == {"count word_entity", "count totals"}


def test_without_the_work_folder(tmp_path: Path) -> None:
    train([WORLD], tmp_path / "model", workers=1, keep_work=False)
    assert not work_folder(tmp_path / "model").exists()
    assert not train([WORLD], tmp_path / "model", workers=1, keep_work=False)["fresh"]


def test_stopped_while_counting_it_goes_on(tmp_path: Path) -> None:
    def stop(done: float, total: float | None = None, detail: str = "") -> None:
        if detail.startswith("count: incidences"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train([WORLD], tmp_path / "model", workers=1, report=stop)
    assert not (tmp_path / "model").exists()
    rest = did(tmp_path / "model")
    assert "count incidences" in rest and "count anchors" not in rest and "build" in rest


def test_missing_dump(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        train([tmp_path / "nowhere.bz2"], tmp_path / "model")
    assert not work_folder(tmp_path / "model").exists()


def test_command(model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["pboh", "train", str(WORLD), "--out", str(model), "--json", str(model.parent / "f.json")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    assert "nothing to do" in capsys.readouterr().err
    assert json.loads((model.parent / "f.json").read_text())["entities"] > 0
