"""`pboh train`: one command, resumable, nothing done twice, and a model that is finished at the end."""

from __future__ import annotations

import gc
import json
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pboh.cli import main
from pboh.corpus.extract import Options
from pboh.detection.finder_training import FinderOptions
from pboh.errors import InputError, OutputError
from pboh.evaluation.breakdowns import calibration_of
from pboh.evaluation.datasets import read_dataset
from pboh.evaluation.end_to_end import evaluate_end_to_end
from pboh.evaluation.leakage import check_not_tuned_on
from pboh.evaluation.runner import evaluate
from pboh.linker import load
from pboh.model.build import BuildOptions
from pboh.model.store import verify
from pboh.train import COUNTING, HELD_OUT, FitOptions, train, work_folder

WORLD = Path(__file__).parent / "data" / "world.xml"
QUICK = FitOptions(finder=FinderOptions(rows=1 << 12, epochs=1, per_page=20))
ASIDE = 24  # pages, half of which are enough to fit on
SOME: dict[str, Any] = {
    "extraction": Options(hold_out=ASIDE),
    "fitting": QUICK,
    "workers": 1,
    "keep_work": True,
}


class Stages(list[str]):
    """A report that remembers the stages and checks that the bar only moves forward."""

    last = 0.0

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        assert total == 1 and self.last <= done + 1e-9 <= 1 + 1e-8
        self.last = done
        stage, _, step = detail.partition(": ")
        self.append(f"{stage} {step.split()[0]}" if stage == "count" and step else stage)


def did(model: Path, **options: Any) -> set[str]:
    stages = Stages()
    train([WORLD], model, **SOME | options, report=stages)
    return {stage for stage in stages if stage not in ("done", "count done")}


def content(model: Path) -> dict[str, Any]:
    """All that a model consists of, but for the time it was made."""
    files = {path.name: path.read_bytes() for path in model.iterdir() if path.suffix != ".json"}
    described = json.loads((model / "model.json").read_text())
    del described["created"], described["checksum"]  # the checksum vouches for the time too
    described["corpus"] = [{**source, "folder": ""} for source in described["corpus"]]
    figures = json.loads((model / "train.json").read_text())["steps"]["judge"]["figures"]
    return {**files, "model.json": list(described.items()), "figures": figures}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a training returns, and the folder of its model."""
    model = tmp_path_factory.mktemp("trained") / "model"
    stages = Stages()
    made = train([WORLD], model, **SOME, report=stages)
    assert made["fresh"] and {"extract", "build", "finder", "fit", "judge"} <= set(stages)
    gc.collect()
    gc.freeze()  # kernels are loaded and stay; training collects garbage after each of its steps
    return made | {"folder": model}


@pytest.fixture(scope="module")
def trained(made: dict[str, Any]) -> Path:
    return Path(made["folder"])


@pytest.fixture
def model(trained: Path, tmp_path: Path) -> Path:
    shutil.copytree(trained, tmp_path / "model")
    shutil.copytree(work_folder(trained), tmp_path / "model.work")
    return tmp_path / "model"


def test_the_model_is_finished(trained: Path) -> None:
    verify(trained)
    linker = load(trained)
    assert {"finder_weights", "finder_words", "entity_nameness"} <= set(linker.model.arrays)
    assert {"calibration", "detection", "names", "tuned_on"} <= set(linker.model.info)
    assert linker.finder is not None
    assert linker.settings.threshold == linker.model.info["calibration"]["threshold"]
    assert linker.engine.reliability is not None


def test_the_summary_is_what_evaluation_says_about_pages_it_was_not_fitted_on(trained: Path) -> None:
    figures = json.loads((trained / "train.json").read_text())["steps"]["judge"]["figures"]["held_out"]
    linker, pages = load(trained), read_dataset(f"{trained / HELD_OUT}#{ASIDE // 2}:{ASIDE}")
    check_not_tuned_on(linker.model.info, [pages])
    [run] = evaluate(linker, [pages]).runs
    [raw] = evaluate_end_to_end(linker, [pages], mentions="all")
    assert (figures["pages"], figures["links"]) == (ASIDE // 2, pages.mentions)
    assert figures["given_mentions"]["f1"] == run.row.micro.f1 > 0.5
    assert figures["given_mentions"]["calibration_error"] == calibration_of([run.judgement]).error
    assert figures["raw_text"]["precision"] == raw.a2kb["strong"].precision
    assert figures["raw_text"]["recall"] == raw.a2kb["strong"].recall
    with pytest.raises(InputError, match="chose the settings"):
        check_not_tuned_on(linker.model.info, [read_dataset(f"{trained / HELD_OUT}#0:{ASIDE // 2}")])


def test_running_again_does_nothing(model: Path) -> None:
    before = (model / "model.json").stat().st_mtime_ns
    again = train([WORLD], model, **SOME)
    assert not again["fresh"] and again["held_out"]["pages"] == ASIDE // 2
    assert (model / "model.json").stat().st_mtime_ns == before


@pytest.mark.slow
def test_a_changed_option_redoes_only_what_depends_on_it(model: Path, tmp_path: Path) -> None:
    finish = {"finder", "fit", "judge"}
    assert did(model, building=BuildOptions(fuzzy=False)) >= {"build", *finish}
    changed = did(model, counting=replace(COUNTING, min_word_count=3))
    assert {stage for stage in changed if stage.startswith("count ")} == {"count word_entity", "count totals"}
    assert did(model, fitting=replace(QUICK, finder=replace(QUICK.finder, epochs=2))) >= finish


@pytest.mark.slow
def test_own_gold_redoes_only_the_fit(model: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    text = "Müller scored for Bayern."
    mentions = [{"start": 0, "end": 6, "gold": "Thomas Müller"}, {"start": 18, "end": 24, "gold": None}]
    gold.write_text(json.dumps({"id": "1", "text": text, "mentions": mentions}) + "\n")
    own = replace(QUICK, gold=(str(gold),))
    assert did(model, fitting=own) == {"fit", "judge"}
    assert "gold" in load(model).model.info["tuned_on"]["datasets"]
    assert did(model, fitting=own) == set()
    gold.write_text(gold.read_text().replace("Thomas", "Gerd"))
    assert did(model, fitting=own) == {"fit", "judge"}


def test_gold_that_is_not_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such dataset"):
        train([WORLD], tmp_path / "m", fitting=FitOptions(gold=(str(tmp_path / "no.jsonl"),)))
    assert not work_folder(tmp_path / "m").exists()


def test_without_fitting_every_page_is_counted(tmp_path: Path) -> None:
    made = train([WORLD], tmp_path / "model", fitting=None, workers=1)
    assert made["totals"]["documents"] == 146 and "held_out" not in made
    assert not (tmp_path / "model" / HELD_OUT).exists()
    info = load(tmp_path / "model").model.info
    assert not {"calibration", "detection"} & set(info) and "finder_weights" not in info["arrays"]


def test_too_few_pages_are_not_fitted_on(tmp_path: Path) -> None:
    made = train([WORLD], tmp_path / "model", extraction=Options(hold_out=4), fitting=QUICK, workers=1)
    assert made["fitted"] is False
    assert made["held_out"]["pages"] == 2
    assert "calibration" not in load(tmp_path / "model").model.info


def test_without_the_work_folder(tmp_path: Path) -> None:
    options = {**SOME, "fitting": None, "keep_work": False}
    train([WORLD], tmp_path / "model", **options)
    assert not work_folder(tmp_path / "model").exists()
    assert not train([WORLD], tmp_path / "model", **options)["fresh"]


class Stop:
    """A report that stops the training at the first detail that begins like this."""

    def __init__(self, detail: str) -> None:
        self.detail = detail

    def __call__(self, done: float, total: float | None = None, detail: str = "") -> None:
        if detail.startswith(self.detail):
            raise KeyboardInterrupt


@pytest.mark.slow
def test_stopped_while_counting_it_goes_on(tmp_path: Path, trained: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train([WORLD], tmp_path / "model", **SOME, report=Stop("count: incidences"))
    assert not (tmp_path / "model").exists()
    rest = did(tmp_path / "model")
    assert "count incidences" in rest and "count anchors" not in rest and "build" in rest
    assert content(tmp_path / "model") == content(trained)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("at", "rest"),
    [
        ("finder: weights", {"finder", "fit", "judge"}),
        ("fit: detection", {"fit", "judge"}),
        ("judge", {"judge"}),
    ],
)
def test_stopped_while_finishing_it_goes_on(at: str, rest: set[str], model: Path, trained: Path) -> None:
    """First the model is built anew with other options, so that it is stopped amid a change."""
    other = replace(QUICK, finder=replace(QUICK.finder, epochs=2))
    with pytest.raises(KeyboardInterrupt):
        train([WORLD], model, **SOME | {"fitting": other}, report=Stop(at))
    assert did(model, fitting=other) == rest
    assert content(model) != content(trained)
    did(model)
    assert content(model) == content(trained)


KILLED = """
import gc, os, sys
from pathlib import Path
from test_train import SOME, STAGES, WORLD, train

def spared(wanted, changes):
    # A report and, for the functions that change files, others that kill before so many changes in a stage.
    stage, left = 0, changes
    def told(done, total=None, detail=""):
        nonlocal stage
        name = detail.partition(":")[0]
        stage = STAGES.index(name) if name in STAGES else stage
    def killing(function):
        def changed(*arguments, **options):
            nonlocal left
            left -= wanted in (stage, None)
            if left < 0 or (wanted is not None and stage > wanted):
                os.kill(os.getpid(), 9)
            return function(*arguments, **options)
        return changed
    return told, killing

gc.collect()
gc.freeze()
for line in sys.stdin:
    model, functions, wanted, changes, options = eval(line)
    child = os.fork()  # all that is imported is there already
    if not child:
        told, killing = spared(wanted, changes)
        for name in functions:
            setattr(os, name, killing(getattr(os, name)))
        train([WORLD], Path(model), **SOME | options, report=told)
        os._exit(0)
    print(-os.waitpid(child, 0)[1])
"""
STAGES = ["extract", "count", "build", "finder", "fit", "judge"]


def killed(*runs: tuple[str, list[str], int | None, int, dict[str, Any]]) -> list[int]:
    """Train again and again, each time to be killed before it changes one file too many.

    What is counted are calls of these functions, in one stage or in all. Returns how each run ended: a kill
    is -9.
    """
    done = subprocess.run(
        [sys.executable, "-c", KILLED],
        input="\n".join(map(repr, runs)), stdout=subprocess.PIPE, text=True, check=True,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    return [int(line) for line in done.stdout.split()]


@pytest.mark.slow
def test_killed_before_any_file_is_in_place_it_goes_on(model: Path, trained: Path, tmp_path: Path) -> None:
    """From a model that is built and no more; the process is killed before it renames some file."""
    record = json.loads((model / "train.json").read_text())
    record["recipe"], record["steps"] = None, {"build": record["steps"]["build"]}
    (model / "train.json").write_text(json.dumps(record))
    copies = {renamed: tmp_path / str(renamed) for renamed in (0, 3, 6, 9, 12)}
    for copy in copies.values():
        shutil.copytree(model, copy / "model")
        shutil.copytree(work_folder(model), copy / "model.work")
    runs = [(str(copy / "model"), ["replace"], None, renamed, {}) for renamed, copy in copies.items()]
    assert killed(*runs) == [-9] * len(runs)
    for renamed, copy in copies.items():
        did(copy / "model")
        assert content(copy / "model") == content(trained), renamed


KILLS = 3  # in every stage


@pytest.mark.slow
def test_killed_at_random_moments_of_every_stage(tmp_path: Path, trained: Path) -> None:
    """The process is killed before it changes a random file, again and again; nothing of it stays."""
    draw, model = random.Random(7), tmp_path / "model"
    functions, options = ["replace", "rename", "unlink", "rmdir", "mkdir"], {"keep_work": False}
    stages = [stage for stage in range(len(STAGES)) for _ in range(KILLS)]
    ended = killed(*((str(model), functions, stage, draw.randrange(12), options) for stage in stages))
    assert set(ended) <= {-9, 0} and ended.count(-9) > 2 * KILLS
    train([WORLD], model, **SOME | options)
    assert content(model) == content(trained)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(tmp_path: Path, trained: Path) -> None:
    train([WORLD], tmp_path / "model", **SOME | {"workers": 2})
    assert content(tmp_path / "model") == content(trained)


@pytest.mark.slow
def test_the_memory_changes_nothing(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is sorted in parts, and words are counted for a few entities at a time."""
    monkeypatch.setattr("pboh.counts.contexts.SHARE_OF_MEMORY", 1e-6)
    monkeypatch.setattr("pboh.counts.pairs.BYTES_PER_INCIDENCE", 1 << 20)
    train([WORLD], tmp_path / "model", **SOME | {"memory": 512 << 20, "keep_work": False})
    assert content(tmp_path / "model") == content(trained)


def test_other_options_need_what_was_removed(tmp_path: Path) -> None:
    """The training is stopped when its tokens are spent, and goes on with another threshold for words."""
    options = SOME | {"fitting": None, "keep_work": False}
    with pytest.raises(KeyboardInterrupt):
        train([WORLD], tmp_path / "model", **options, report=Stop("build"))
    other = replace(COUNTING, min_word_count=3)
    train([WORLD], tmp_path / "model", **options, counting=other)
    train([WORLD], tmp_path / "fresh", **options, counting=other)
    arrays = [
        json.loads((tmp_path / name / "model.json").read_text())["arrays"] for name in ("model", "fresh")
    ]
    assert arrays[0] == arrays[1]


def test_it_is_refused_where_it_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("pboh.train.SPARE", 10**15)
        with pytest.raises(OutputError, match="of disk space"):
            train([WORLD], tmp_path / "model", **SOME)
    with pytest.raises(InputError, match="more memory than this machine has"):
        train([WORLD], tmp_path / "model", **SOME, memory=1 << 50)
    assert list(tmp_path.iterdir()) == []


def test_it_says_what_it_used(made: dict[str, Any]) -> None:
    assert list(made["used"]) == [*STAGES, "ids"]
    assert all(stage["memory_megabytes"] > 50 for stage in made["used"].values())
    assert max(stage["disk_megabytes"] for stage in made["used"].values()) > 0


def test_missing_dump(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        train([tmp_path / "nowhere.bz2"], tmp_path / "model")
    assert not work_folder(tmp_path / "model").exists()


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    options = ["--out", str(tmp_path / "m"), "--hold-out", "40", "--workers", "1"]
    for said in ("trained", "nothing to do"):
        monkeypatch.setattr(sys, "argv", ["pboh", "train", str(WORLD), *options, "--json", str(figures)])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert not stopped.value.code
        shown = capsys.readouterr().err
        assert said in shown and "on 20 pages it has not seen" in shown and "names alone" in shown
        made = json.loads(figures.read_text())
        assert made["entities"] > 0 and made["fitted"] and 0 < made["held_out"]["raw_text"]["f1"] < 1
        assert made["names"] == json.loads((tmp_path / "m" / "model.json").read_text())["totals"]["names"]
        assert set(made["found_names"]) == {"precision", "recall", "f1", "calibration_error"}


@pytest.mark.slow
def test_a_real_wiki_is_finished_with_the_defaults(shared: Path, tmp_path: Path) -> None:
    made = train([shared / "corpus" / "enwiki-tiny-pages-articles.xml.bz2"], tmp_path / "tiny", workers=1)
    assert made["fitted"]
    achieved = made["held_out"]
    assert achieved["pages"] == 30
    assert achieved["given_mentions"]["calibration_error"] < 0.1
